package lspserver

import (
	"path/filepath"
	"strings"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"mem/core/text"
)

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
	return strings.Clone(filepath.Clean(p)), true
}

// uriOf gives the URI of a path, as the client wrote it where the file is open.
func (d *documents) uriOf(path string) uri.URI {
	if doc := d.at(path); doc != nil {
		return doc.uri
	}
	return uri.File(path)
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
