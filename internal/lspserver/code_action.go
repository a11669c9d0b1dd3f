package lspserver

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"go.lsp.dev/protocol"

	"mem/core/change"
	"mem/core/text"
	"mem/diagnostics"
)

func announceActions(f *features, c *protocol.ServerCapabilities) {
	if f.actions {
		actionOptions(c).CodeActionKinds = []protocol.CodeActionKind{
			protocol.CodeActionKindQuickFix, protocol.CodeActionKindRefactorExtract, protocol.CodeActionKindSourceFixAll}
	}
}

func actionOptions(c *protocol.ServerCapabilities) *protocol.CodeActionOptions {
	o, ok := c.CodeActionProvider.(*protocol.CodeActionOptions)
	if !ok {
		o = &protocol.CodeActionOptions{}
		c.CodeActionProvider = o
	}
	return o
}

// triedAhead is how many fixes are tried before they are offered. Who selects more
// is told when one cannot be made.
const triedAhead = 40

// Bounds of one answer: a menu is read by a person, and without resolve each entry
// costs its edit.
const (
	maxActions = 50
	maxTried   = 200 // offers, of which some may not apply
)

// codeAction offers what mends the findings at a place.
func (s *server) codeAction(ctx context.Context, docs *documents, p *protocol.CodeActionParams) ([]protocol.CommandOrCodeAction, error) {
	out := []protocol.CommandOrCodeAction{}
	doc := docs.find(p.TextDocument.URI)
	d := s.directory(doc)
	if d == nil || doc.lost || !s.features.actions {
		return out, nil
	}
	c, err := d.find(ctx, docs.in(d.path), fresh, false)
	if err != nil {
		return nil, err
	}
	a := actions{s: s, d: d, docs: docs, doc: doc, c: c, line: int(p.Range.Start.Line), only: p.Context.Only, known: p.Context.Diagnostics}
	a.at, _ = spanOf(doc.text, p.Range, s.reading())
	chosen := a.chosen()
	offers := 0
	for _, f := range chosen {
		offers += len(f.Offers)
	}
	a.ahead = offers <= triedAhead || !s.features.lazyEdits
	tried := 0
nearest:
	for _, f := range chosen {
		for i, o := range f.Offers {
			if fix := c.ws.Engine.Fix(o.Fix); fix == nil || !a.wanted(protocol.CodeActionKind(fix.Kind)) {
				continue
			}
			if tried++; len(out) == maxActions || tried > maxTried {
				break nearest
			}
			action, err := a.offer(ctx, f, o, i == 0)
			if err != nil {
				return nil, err
			}
			if action != nil {
				out = append(out, action)
			}
		}
	}
	if p.Context.TriggerKind != protocol.CodeActionTriggerKindAutomatic || len(p.Context.Only) > 0 {
		action, err := a.fixAll(ctx)
		if err != nil {
			return nil, err
		}
		if action != nil {
			out = append(out, action)
		}
	}
	return out, nil
}

// actions is what code actions are made of.
type actions struct {
	s     *server
	d     *directory
	docs  *documents
	doc   *document
	c     checked
	at    text.Span
	line  int // of its start, from 0
	only  []protocol.CodeActionKind
	known []protocol.Diagnostic // that the client has at the place
	ahead bool                  // fixes are tried before they are offered
}

// wanted reports whether the client asked for actions of a kind.
func (a *actions) wanted(kind protocol.CodeActionKind) bool {
	if len(a.only) == 0 {
		return true
	}
	for _, o := range a.only {
		if o == "" || o == kind || strings.HasPrefix(string(kind), string(o)+".") {
			return true
		}
	}
	return false
}

// chosen gives the findings that are meant: those at the place, those that the
// client names, and where there are none those of the cursor's line. A finding is
// often the far end of a line that somebody stands at the start of.
func (a *actions) chosen() []diagnostics.Finding {
	var at, line []diagnostics.Finding
	for _, f := range a.c.found[a.doc.rel] {
		switch {
		case overlaps(f.Span, a.at) || a.theirs(f) != nil:
			at = append(at, f)
		case a.at.Len() == 0 && f.Text.LineAt(f.Span.Start) == a.line:
			line = append(line, f)
		}
	}
	if len(at) == 0 {
		at = line
	}
	// Where there are more than fit, the nearest to the start of what is selected.
	slices.SortStableFunc(at, func(f, g diagnostics.Finding) int { return cmp.Compare(a.away(f), a.away(g)) })
	return at
}

// away gives how many bytes lie between a finding and the start of what is selected.
func (a *actions) away(f diagnostics.Finding) int {
	return max(f.Span.Start-a.at.Start, a.at.Start-f.Span.End, 0)
}

// theirs gives the client's diagnostic of a finding. Neovim before 0.10 names those
// of the whole line, with columns that count bytes whatever was agreed on, so the
// rule and the line have to do where nothing fits better.
func (a *actions) theirs(f diagnostics.Finding) *protocol.Diagnostic {
	if len(a.known) == 0 {
		return nil // a place costs its line to convert
	}
	at := rangeOf(f.Text, f.Span, a.s.reading())
	var like *protocol.Diagnostic
	for i, k := range a.known {
		if code, ok := k.Code.(protocol.String); !ok || string(code) != f.Rule {
			continue
		}
		if k.Range == at {
			return &a.known[i]
		}
		if k.Range.Start.Line == at.Start.Line && like == nil {
			like = &a.known[i]
		}
	}
	return like
}

// offer gives the action for one offer of a finding, nil where there is none.
func (a *actions) offer(ctx context.Context, f diagnostics.Finding, o diagnostics.Offer, first bool) (*protocol.CodeAction, error) {
	fix := a.c.ws.Engine.Fix(o.Fix)
	if fix == nil || !a.wanted(protocol.CodeActionKind(fix.Kind)) {
		return nil, nil
	}
	action := &protocol.CodeAction{Title: o.Title, Kind: ptr(protocol.CodeActionKind(fix.Kind))}
	if known := a.theirs(f); known != nil {
		action.Diagnostics = []protocol.Diagnostic{*known}
	} else {
		action.Diagnostics = []protocol.Diagnostic{a.s.diagnosticOf(a.docs, a.doc, f)}
	}
	if choice := fix.Manual && len(f.Offers) > 1; first && !choice && a.s.features.preferred {
		action.IsPreferred = ptr(true)
	}
	if fix.Command != "" {
		command, err := commandOf(a.d.path, fix.Command, o)
		action.Command = command
		return action, err
	}
	data := actionData{URI: string(a.doc.uri), Hash: text.Hash(a.doc.text.String()), Rule: f.Rule, Span: f.Span, Offer: o}
	return a.finish(ctx, action, data, func() (change.Change, error) {
		return a.c.ws.Engine.Make(ctx, a.c.snap, f, o)
	})
}

// fixAll gives the action that mends all that is safe to mend in the document.
func (a *actions) fixAll(ctx context.Context) (*protocol.CodeAction, error) {
	if !a.wanted(protocol.CodeActionKindSourceFixAll) || !a.anySafe() {
		return nil, nil
	}
	action := &protocol.CodeAction{Title: "Mend everything in this file that is safe to mend", Kind: ptr(protocol.CodeActionKindSourceFixAll)}
	data := actionData{URI: string(a.doc.uri), Hash: text.Hash(a.doc.text.String()), All: true}
	return a.finish(ctx, action, data, func() (change.Change, error) {
		return a.s.fixAll(ctx, a.c, a.doc)
	})
}

func (a *actions) anySafe() bool {
	for _, f := range a.c.found[a.doc.rel] {
		for _, o := range f.Offers {
			if fix := a.c.ws.Engine.Fix(o.Fix); fix != nil && fix.Safe {
				return true
			}
		}
	}
	return false
}

// finish gives the action with its edit, or with what it takes to ask for that. An
// action that cannot be taken says so, or is not offered.
func (a *actions) finish(ctx context.Context, action *protocol.CodeAction, data actionData, compute func() (change.Change, error)) (*protocol.CodeAction, error) {
	lazy := a.s.features.lazyEdits
	if lazy {
		raw, err := protocol.Marshal(&data)
		if err != nil {
			return nil, err
		}
		action.Data = raw
		if data.All || !a.ahead {
			return action, nil
		}
	}
	c, err := compute()
	if err == nil && c.Empty() {
		return nil, nil
	}
	if err == nil {
		err = a.s.guarded(c)
	}
	var edit *protocol.WorkspaceEdit
	if err == nil && !lazy {
		edit, err = a.s.workspaceEdit(a.docs, a.d.path, c)
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err == nil:
		action.Edit = edit
	case a.s.features.disabled:
		action.Disabled = protocol.CodeActionDisabled{Reason: err.Error()}
		action.IsPreferred, action.Data = nil, nil
	default:
		return nil, nil
	}
	return action, nil
}

// fixAll mends what is safe to mend in a document.
func (s *server) fixAll(ctx context.Context, c checked, doc *document) (change.Change, error) {
	fixed, err := c.ws.FixAll(ctx, c.snap, diagnostics.FixOptions{Paths: []string{doc.rel}, Accept: s.guarded})
	if err != nil {
		return change.Change{}, err
	}
	return fixed.Change, nil
}
