package lspserver

import (
	"context"
	"fmt"
	"strings"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"mem/core/agentmem"
	"mem/core/memdir"
	"mem/core/memfile"
)

func announceLenses(_ *features, c *protocol.ServerCapabilities) {
	if c.CodeLensProvider == nil {
		c.CodeLensProvider = &protocol.CodeLensOptions{}
	}
}

func announceLensResolve(f *features, c *protocol.ServerCapabilities) {
	announceLenses(f, c)
	c.CodeLensProvider.ResolveProvider = ptr(true)
}

// lensData is what a lens is made of when it comes into view.
type lensData struct {
	Dir     string `json:"dir"` // URI
	Command string `json:"command"`
}

// codeLens gives what can be done about the snapshot of a memory, above its index.
func (s *server) codeLens(ctx context.Context, docs *documents, p *protocol.CodeLensParams) ([]protocol.CodeLens, error) {
	out := []protocol.CodeLens{}
	doc := docs.find(p.TextDocument.URI)
	d := s.directory(doc)
	if d == nil || doc.rel != memfile.IndexName || doc.lost {
		return out, nil
	}
	x, err := s.side(docs, d)
	if err != nil || x == nil {
		return out, err
	}
	r, err := x.review(ctx)
	if err != nil {
		return nil, err
	}
	for _, command := range lensesOf(r.Status) {
		raw, err := protocol.Marshal(&lensData{Dir: string(uri.File(d.path)), Command: command})
		if err != nil {
			return nil, err
		}
		out = append(out, protocol.CodeLens{Data: raw})
	}
	return out, nil
}

// lensesOf gives the commands that are of use in a state. The state itself, which takes
// the most words, stands last: an editor cuts off what does not fit into its window.
func lensesOf(st *agentmem.Status) []string {
	var out []string
	switch st.State {
	case agentmem.StateNone:
		if st.Topics == 0 {
			return nil
		}
		out = append(out, commandPublish)
	case agentmem.StateInvalid:
	case agentmem.StateInitialize:
		out = append(out, commandTakeAll)
	default:
		if st.Team.Sum()+st.Mine.Sum() > 0 {
			out = append(out, commandReview)
		}
		if st.Team.Sum() > 0 {
			out = append(out, commandTakeAll)
		}
		if st.Mine.Sum() > 0 {
			out = append(out, commandPublish)
		}
	}
	return append(out, commandStatus)
}

// resolveLens gives a lens its words.
func (s *server) resolveLens(ctx context.Context, docs *documents, l *protocol.CodeLens) (*protocol.CodeLens, error) {
	var data lensData
	if err := protocol.Unmarshal(l.Data, &data); err != nil || data.Dir == "" {
		return nil, jsonrpc2.NewError(jsonrpc2.InvalidParams, "the data of the lens is none of this server's")
	}
	x, err := s.sideOf(docs, data.Dir)
	if err != nil {
		return nil, err
	}
	r, err := x.review(ctx)
	if err != nil {
		return nil, err
	}
	arg, err := protocol.Marshal(protocol.String(data.Dir))
	if err != nil {
		return nil, err
	}
	title := lensTitle(data.Command, r)
	if data.Command == commandPublish && r.Status.State == agentmem.StateNone {
		if title, err = firstTitle(ctx, r); err != nil {
			return nil, err
		}
	}
	l.Command = protocol.Command{Title: title, Command: data.Command, Arguments: []protocol.LSPAny{arg}}
	return l, nil
}

func lensTitle(command string, r *agentmem.Review) string {
	st := r.Status
	switch command {
	case commandReview:
		return fmt.Sprintf("Review %s", count(len(r.Files), "file"))
	case commandTakeAll:
		if st.State == agentmem.StateInitialize {
			return fmt.Sprintf("Copy %s of the team", count(st.Shared, "topic"))
		}
		title := "Take all that conflicts with nothing"
		if r.Older {
			title = "An older snapshot is checked out"
		}
		return title
	case commandPublish:
		return fmt.Sprintf("Publish %s…", count(st.Mine.Sum(), "change"))
	}
	title := memdir.Shown(strings.TrimSuffix(st.Words(), "."), 200)
	if at := st.UpdatedAt; at != "" {
		title += " · snapshot of " + at
	}
	return title
}

// firstTitle says what the first publish would bring to the team, and how much of it would
// be held back.
func firstTitle(ctx context.Context, r *agentmem.Review) (string, error) {
	held, err := r.FirstHeld(ctx)
	if err != nil {
		return "", err
	}
	paths := map[string]bool{}
	for _, h := range held {
		if h.Path == memfile.IndexName { // without an index nothing goes
			return fmt.Sprintf("Publish to the team… (line %d of MEMORY.md has to be changed first)", h.Line), nil
		}
		paths[h.Path] = true
	}
	title := "Publish " + count(max(0, r.Status.Topics-r.Status.Private-len(paths)), "topic") + " to the team…"
	if n := r.Status.Private + len(paths); n > 0 {
		title += fmt.Sprintf(" (%d held back)", n)
	}
	return title, nil
}

func count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// lensesAgain has lenses and made-up documents asked for again where what they say is not
// so any more.
func (d *directory) lensesAgain(ctx context.Context, c checked) {
	if c.snap == nil || c.snap.Team == nil {
		return
	}
	r, err := c.snap.Team.Review(ctx)
	if err != nil {
		return
	}
	now := fmt.Sprintf("no snapshot, %s", count(len(c.snap.View.Topics), "topic"))
	if r != nil {
		now = strings.Join(statusLines(r), "\n")
	}
	d.mu.Lock()
	was := d.lens
	d.lens = now
	d.mu.Unlock()
	if was != "" && was != now {
		d.s.refreshLenses()
		d.s.refreshReviews(d.path)
	}
}

// refreshLenses tells the client that lenses are out of date, where it can be told.
func (s *server) refreshLenses() {
	if !s.features.lensRefresh || !s.askingLenses.CompareAndSwap(false, true) {
		return
	}
	s.running.Go(func() {
		err := s.client.CodeLensRefresh(s.ctx)
		s.askingLenses.Store(false)
		if err != nil && s.ctx.Err() == nil {
			s.logOnce("lenses", "the client does not ask for lenses again: %v", err)
		}
	})
}
