package lspserver

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

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
	e := editBuilder{s: s, docs: docs, dir: dir, inOrder: s.features.documentChanges}
	for _, f := range c.Files {
		e.inOrder = e.inOrder || f.Kind == change.Delete || f.Kind == change.Rename
	}
	for _, f := range c.Files {
		var err error
		switch f.Kind {
		case change.Create:
			err = e.create(f)
		case change.Edit:
			err = e.edit(f)
		case change.Delete:
			err = e.remove(f)
		case change.Rename:
			err = e.rename(f)
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
	dir     string
	touched []*document
	inOrder bool // as document changes, not as a map of edits
	out     protocol.WorkspaceEdit
}

// create adds a new file. The client refuses where it exists by then.
func (e *editBuilder) create(f change.File) error {
	if e.docs.of(e.dir, f.Path) != nil {
		return modified("%s is open already", shown(f.Path))
	}
	if _, err := os.Lstat(filepath.Join(e.dir, filepath.FromSlash(f.Path))); err == nil {
		return modified("%s exists by now", shown(f.Path))
	}
	if !utf8.ValidString(f.New) {
		return fmt.Errorf("%s: an editor cannot be sent text that is no UTF-8", shown(f.Path))
	}
	u := e.docs.uriIn(e.dir, f.Path)
	if e.s.features.create {
		e.out.DocumentChanges = append(e.out.DocumentChanges, &protocol.CreateFile{Kind: string(protocol.ResourceOperationKindCreate), URI: u})
	}
	e.add(u, nil, []protocol.TextEdit{{NewText: f.New}})
	return nil
}

// edit adds the edits of a file that is open, or lies on disk.
func (e *editBuilder) edit(f change.File) error {
	if err := e.s.sureOf(f); err != nil {
		return err
	}
	doc := e.docs.of(e.dir, f.Path)
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
		if !utf8.ValidString(x.New) {
			return fmt.Errorf("%s: an editor cannot be sent text that is no UTF-8", shown(f.Path))
		}
		edits = append(edits, protocol.TextEdit{Range: rangeOf(t, span, e.s.reading()), NewText: x.New})
	}
	if len(edits) == 0 {
		return fmt.Errorf("%s: an editor cannot make this change of a file that is not open", shown(f.Path))
	}
	e.add(e.docs.uriIn(e.dir, f.Path), version, edits)
	return nil
}

// remove deletes a file that is as the change expects it.
func (e *editBuilder) remove(f change.File) error {
	if !e.s.features.remove {
		return fmt.Errorf("%s would have to be deleted, which this editor does not do for a server: delete it yourself", shown(f.Path))
	}
	if err := e.expect(f); err != nil {
		return err
	}
	e.out.DocumentChanges = append(e.out.DocumentChanges, &protocol.DeleteFile{Kind: string(protocol.ResourceOperationKindDelete), URI: e.docs.uriIn(e.dir, f.Path)})
	return nil
}

// rename moves a file, after its text was changed where that is to be.
func (e *editBuilder) rename(f change.File) error {
	if !e.s.features.rename {
		return fmt.Errorf("%s would have to be renamed to %s, which this editor does not do for a server: mem-mcp snapshot pull does", shown(f.Path), shown(f.To))
	}
	if err := e.expect(f); err != nil {
		return err
	}
	to := filepath.Join(e.dir, filepath.FromSlash(f.To))
	if _, err := os.Lstat(to); err == nil || e.docs.of(e.dir, f.To) != nil {
		return modified("%s exists by now", shown(f.To))
	}
	if len(f.Edits) > 0 {
		if err := e.edit(f); err != nil {
			return err
		}
	}
	e.out.DocumentChanges = append(e.out.DocumentChanges, &protocol.RenameFile{Kind: string(protocol.ResourceOperationKindRename),
		OldURI: e.docs.uriIn(e.dir, f.Path), NewURI: uri.File(to)})
	return nil
}

// expect makes sure that a file is what a change was computed from.
func (e *editBuilder) expect(f change.File) error {
	if doc := e.docs.of(e.dir, f.Path); doc != nil {
		if doc.lost || doc.text.String() != f.Base {
			return modified("%s has changed meanwhile", shown(f.Path))
		}
		e.touched = append(e.touched, doc)
	}
	return nil
}

func (e *editBuilder) add(u uri.URI, version *int32, edits []protocol.TextEdit) {
	if !e.inOrder {
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
// that does not have it yet, or the client could make it at another place.
func (s *server) guarded(c change.Change) error {
	scanner := s.scanner()
	for _, f := range c.Files {
		if err := s.sureOf(f); err != nil {
			return err
		}
		after, exists, err := f.After()
		if err != nil {
			return err
		}
		if !exists {
			continue
		}
		for _, found := range scanner.Added([]byte(f.Base), []byte(after)) {
			if found.Kind == guard.KindSecret || found.Kind == guard.KindIncomplete {
				return fmt.Errorf("it would copy a secret into %s: redact it first, or allow it in the configuration. %s", shown(f.Path), found.Reason)
			}
		}
	}
	return nil
}

// sureOf says where an edit of a file would be made at another place by a client that
// counts lines in another way.
func (s *server) sureOf(f change.File) error {
	if len(f.Edits) == 0 || !strings.Contains(f.Base, "\r") {
		return nil
	}
	t := text.New(f.Base)
	for _, x := range f.Edits {
		if !s.reading().sure(t, x.Span) {
			return fmt.Errorf("%s cannot be mended: %w", shown(f.Path), errCarriageReturn)
		}
	}
	return nil
}
