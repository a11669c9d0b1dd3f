package lspserver

import (
	"context"
	"path/filepath"
	"strings"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"mem/core/text"
	"mem/diagnostics"
	"mem/internal/lspserver/language"
)

// file is one file of a memory that is open, as a request sees it.
type file struct {
	s    *server
	docs *documents
	doc  *document
	snap *diagnostics.Snapshot
	memo *diagnostics.Doc
}

// file gives the file that a URI means, nil where it is none of a memory.
func (s *server) file(ctx context.Context, docs *documents, u uri.URI) (*file, error) {
	doc := docs.find(u)
	d := s.directory(doc)
	if d == nil || doc.lost {
		return nil, nil
	}
	_, snap, err := d.snapshot(ctx, docs.in(d.path), rested)
	if err != nil {
		return nil, err
	}
	memo, err := d.parsed(snap, doc.rel)
	if err != nil {
		return nil, nil // a README, the configuration
	}
	return &file{s, docs, doc, snap, memo}, nil
}

func (f *file) offset(p protocol.Position) int {
	return offsetOf(f.doc.text, p, f.s.features.encoding)
}

func (f *file) rangeOf(s text.Span) protocol.Range {
	return rangeOf(f.doc.text, s, f.s.features.encoding)
}

// uri gives the URI of a file of the same memory.
func (f *file) uri(rel string) uri.URI {
	return f.docs.uriIn(f.doc.dir, rel)
}

func (f *file) location(l language.Location) protocol.Location {
	return protocol.Location{URI: f.uri(l.Path), Range: rangeOf(l.Text, l.Span, f.s.features.encoding)}
}

// pathOf gives the clean path of a file URI, by which documents are kept. The
// spellings of one URI (drive letters, percent escapes) have one path.
func pathOf(raw string) (string, bool) {
	u, err := uri.Parse(raw)
	if err != nil || !u.IsFile() || !strings.HasPrefix(strings.ToLower(raw), "file:") {
		return "", false
	}
	p := u.FsPath()
	if p == "" || strings.ContainsRune(p, 0) {
		return "", false
	}
	return upperDrive(strings.Clone(filepath.Clean(p))), true
}

// upperDrive spells the drive of a Windows path as Windows itself does, so that a file
// of a client and one that was found on disk have one path: URIs have "c:".
func upperDrive(p string) string {
	if v := filepath.VolumeName(p); len(v) == 2 && v[1] == ':' {
		return strings.ToUpper(v) + p[2:]
	}
	return p
}

// uriIn gives the URI of a file of a memory directory, as the client wrote it where
// the file is open.
func (d *documents) uriIn(dir, rel string) uri.URI {
	if doc := d.of(dir, rel); doc != nil {
		return doc.uri
	}
	return uri.File(filepath.Join(dir, filepath.FromSlash(rel)))
}

func position(t *text.Text, offset int, enc text.Encoding) protocol.Position {
	p := t.Position(offset, enc)
	return protocol.Position{Line: uint32(p.Line), Character: uint32(p.Character)}
}

func rangeOf(t *text.Text, s text.Span, enc text.Encoding) protocol.Range {
	return protocol.Range{Start: position(t, s.Start, enc), End: position(t, s.End, enc)}
}

// placeOf gives a position as core/text has it. Numbers that no document reaches
// stay such numbers where an int has 32 bits.
func placeOf(p protocol.Position) text.Position {
	const most = 1<<31 - 1
	return text.Position{Line: int(min(p.Line, most)), Character: int(min(p.Character, most))}
}

// offsetOf gives the offset of a position, the nearest where there is none.
func offsetOf(t *text.Text, p protocol.Position, enc text.Encoding) int {
	o, _ := t.Offset(placeOf(p), enc)
	return o
}

func spanOf(t *text.Text, r protocol.Range, enc text.Encoding) (text.Span, error) {
	return t.SpanOf(placeOf(r.Start), placeOf(r.End), enc)
}
