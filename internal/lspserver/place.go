package lspserver

import (
	"context"
	"errors"
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
	return offsetOf(f.doc.text, p, f.s.reading())
}

func (f *file) rangeOf(s text.Span) protocol.Range {
	return rangeOf(f.doc.text, s, f.s.reading())
}

// uri gives the URI of a file of the same memory.
func (f *file) uri(rel string) uri.URI {
	return f.docs.uriIn(f.doc.dir, rel)
}

func (f *file) location(l language.Location) protocol.Location {
	return protocol.Location{URI: f.uri(l.Path), Range: rangeOf(l.Text, l.Span, f.s.reading())}
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

// reading is how a client counts the places of a text.
type reading struct {
	enc text.Encoding
	// crInLine is set for a client that takes a lone "\r" for a character of its line.
	// The protocol ends a line there; what other clients do, nobody knows.
	crInLine bool
}

// reading gives how this client counts.
func (s *server) reading() reading { return reading{s.features.encoding, s.features.crInLine} }

// of gives the text with the lines that the client counts, as far as it is known.
func (r reading) of(t *text.Text) *text.Text {
	if r.crInLine {
		return t
	}
	return t.ProtocolLines()
}

// sure reports whether a span is at the same place however the client counts lines.
func (r reading) sure(t *text.Text, s text.Span) bool {
	other := t.ProtocolLines()
	return r.crInLine || other == t || t.Position(s.Start, r.enc) == other.Position(s.Start, r.enc) && t.Position(s.End, r.enc) == other.Position(s.End, r.enc)
}

// errCarriageReturn is why nothing can be done with a place.
var errCarriageReturn = errors.New(`a "\r" without a "\n" stands before it, where editors do not agree what line it is; replace that by a line end`)

func position(t *text.Text, offset int, enc text.Encoding) protocol.Position {
	p := t.Position(offset, enc)
	return protocol.Position{Line: uint32(p.Line), Character: uint32(p.Character)}
}

func rangeOf(t *text.Text, s text.Span, r reading) protocol.Range {
	lines := r.of(t)
	return protocol.Range{Start: position(lines, s.Start, r.enc), End: position(lines, s.End, r.enc)}
}

// placeOf gives a position as core/text has it. Numbers that no document reaches
// stay such numbers where an int has 32 bits.
func placeOf(p protocol.Position) text.Position {
	const most = 1<<31 - 1
	return text.Position{Line: int(min(p.Line, most)), Character: int(min(p.Character, most))}
}

// offsetOf gives the offset of a position, the nearest where there is none.
func offsetOf(t *text.Text, p protocol.Position, r reading) int {
	o, _ := r.of(t).Offset(placeOf(p), r.enc)
	return o
}

func spanOf(t *text.Text, at protocol.Range, r reading) (text.Span, error) {
	return r.of(t).SpanOf(placeOf(at.Start), placeOf(at.End), r.enc)
}

// editedSpan is spanOf for a place at which a client has edited: of two readings that
// lead to different places, the one in which it exists letter for letter; where
// both do, an error.
func editedSpan(t *text.Text, at protocol.Range, r reading) (text.Span, error) {
	span, err := spanOf(t, at, r)
	if r.crInLine || t.ProtocolLines() == t {
		return span, err
	}
	exact := func(lines *text.Text, s text.Span) bool {
		return lines.Position(s.Start, r.enc) == placeOf(at.Start) && lines.Position(s.End, r.enc) == placeOf(at.End)
	}
	other, errOther := spanOf(t, at, reading{r.enc, true})
	is, isOther := err == nil && exact(t.ProtocolLines(), span), errOther == nil && exact(t, other)
	switch {
	case is && !isOther, span == other && errors.Is(err, errOther):
		return span, err
	case isOther && !is:
		return other, nil
	}
	return span, errCarriageReturn
}
