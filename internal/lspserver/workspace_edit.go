package lspserver

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.lsp.dev/jsonrpc2"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"mem/core/change"
	"mem/core/guard"
	"mem/core/text"
)

// modified says that something is no longer what the client asked about. Clients
// ask again.
func modified(format string, args ...any) error {
	return jsonrpc2.NewError(protocol.CodeContentModified, fmt.Sprintf(format, args...))
}

// workspaceEdit gives a change of a memory directory as the edit that this client
// can make. docs are what the change was computed from.
func (s *server) workspaceEdit(docs *documents, dir string, c change.Change) (*protocol.WorkspaceEdit, error) {
	e := editBuilder{s: s, docs: docs}
	for _, f := range c.Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Path))
		var err error
		switch f.Kind {
		case change.Create:
			err = e.create(path, f)
		case change.Edit:
			err = e.edit(path, f)
		default:
			err = fmt.Errorf("%s: an editor is not asked to %s files", shown(f.Path), f.Kind)
		}
		if err != nil {
			return nil, err
		}
	}
	// What was typed while this was computed makes it worthless, also to a client
	// that does not compare versions.
	now := s.documents()
	for _, doc := range e.touched {
		if now.at(doc.path) != doc {
			return nil, modified("%s has changed meanwhile", shown(doc.path))
		}
	}
	return &e.out, nil
}

type editBuilder struct {
	s       *server
	docs    *documents
	touched []*document
	out     protocol.WorkspaceEdit
}

// create adds a new file. The client refuses where it exists by then.
func (e *editBuilder) create(path string, f change.File) error {
	if e.docs.at(path) != nil {
		return modified("%s is open already", shown(f.Path))
	}
	if _, err := os.Lstat(path); err == nil {
		return modified("%s exists by now", shown(f.Path))
	}
	u := e.docs.uriOf(path)
	if e.s.features.create {
		e.out.DocumentChanges = append(e.out.DocumentChanges, &protocol.CreateFile{Kind: string(protocol.ResourceOperationKindCreate), URI: u})
	}
	e.add(u, nil, []protocol.TextEdit{{NewText: f.New}})
	return nil
}

// edit adds the edits of a file that is open, or lies on disk.
func (e *editBuilder) edit(path string, f change.File) error {
	doc := e.docs.at(path)
	var version *int32
	t := text.New(f.Base)
	shift := 0
	switch {
	case doc != nil && (doc.lost || doc.text.String() != f.Base):
		return modified("%s has changed meanwhile", shown(f.Path))
	case doc != nil:
		version = ptr(doc.version)
		e.touched = append(e.touched, doc)
	case t.HasBOM():
		// An editor that opens the file now takes the mark away from its text.
		shift = len(text.BOM)
		t = text.New(strings.TrimPrefix(f.Base, text.BOM))
	}
	sorted := slices.Clone(f.Edits)
	slices.SortStableFunc(sorted, func(a, b text.Edit) int { return cmp.Compare(a.Start, b.Start) })
	var edits []protocol.TextEdit
	for _, x := range sorted {
		span := text.Span{Start: max(x.Start-shift, 0), End: max(x.End-shift, 0)}
		if span.Len() == 0 && x.New == "" {
			continue // of the mark alone
		}
		edits = append(edits, protocol.TextEdit{Range: rangeOf(t, span, e.s.features.encoding), NewText: x.New})
	}
	if len(edits) == 0 {
		return fmt.Errorf("%s: an editor cannot make this change of a file that is not open", shown(f.Path))
	}
	e.add(e.docs.uriOf(path), version, edits)
	return nil
}

func (e *editBuilder) add(u uri.URI, version *int32, edits []protocol.TextEdit) {
	if !e.s.features.documentChanges {
		if e.out.Changes == nil {
			e.out.Changes = map[uri.URI][]protocol.TextEdit{}
		}
		e.out.Changes[u] = append(e.out.Changes[u], edits...)
		return
	}
	d := &protocol.TextDocumentEdit{TextDocument: protocol.OptionalVersionedTextDocumentIdentifier{
		TextDocumentIdentifier: protocol.TextDocumentIdentifier{URI: u}, Version: version}}
	for i := range edits {
		d.Edits = append(d.Edits, &edits[i])
	}
	e.out.DocumentChanges = append(e.out.DocumentChanges, d)
}

// guarded says why a change must not be made: it would put a secret into a file
// that does not have it yet.
func (s *server) guarded(c change.Change) error {
	for _, f := range c.Files {
		after, exists, err := f.After()
		if err != nil {
			return err
		}
		if !exists {
			continue
		}
		for _, found := range s.guard.Added([]byte(f.Base), []byte(after)) {
			if found.Kind == guard.KindSecret || found.Kind == guard.KindIncomplete {
				return fmt.Errorf("it would copy a secret into %s: redact it first, or allow it in the configuration. %s", shown(f.Path), found.Reason)
			}
		}
	}
	return nil
}
