// Package text owns a document as bytes: its line table, its line endings and
// byte order mark, and edits expressed as byte spans. Nothing in it knows what
// the bytes mean.
package text

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"sort"
	"strings"
	"sync"
	"unicode/utf8"
)

// BOM is the byte order mark, three bytes in UTF-8.
const BOM = "\ufeff"

// Span is a half-open range of byte offsets.
type Span struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// Len gives the number of bytes in the span.
func (s Span) Len() int { return s.End - s.Start }

// Contains reports whether offset lies in the span.
func (s Span) Contains(offset int) bool { return s.Start <= offset && offset < s.End }

// Text is an immutable document with its line table, safe for concurrent use. Line numbers count from
// zero, as offsets do; what is shown to people adds one.
type Text struct {
	src    string
	starts []int // offset of the first byte of each line

	counting sync.Once
	counted  []checkpoint // of long lines

	crEnds    bool // a lone "\r" ends a line, too; see ProtocolLines
	splitting sync.Once
	split     *Text
}

// New makes the line table of src. Lines end at "\n"; a "\r" before it belongs
// to the line ending. A document that ends with a newline has no empty last line.
func New(src string) *Text {
	starts := make([]int, 0, 1+strings.Count(src, "\n"))
	for at := 0; at < len(src); {
		starts = append(starts, at)
		i := strings.IndexByte(src[at:], '\n')
		if i < 0 {
			break
		}
		at += i + 1
	}
	return &Text{src: src, starts: starts}
}

// String gives the whole document, every byte as it was read.
func (t *Text) String() string { return t.src }

// Len gives the length in bytes.
func (t *Text) Len() int { return len(t.src) }

// Slice gives the bytes of a span.
func (t *Text) Slice(s Span) string { return t.src[s.Start:s.End] }

// Lines gives the number of lines; an unterminated last line counts.
func (t *Text) Lines() int { return len(t.starts) }

// FullLine gives the span of line i with its line ending; a line past the last
// one is the empty span at the end of the document.
func (t *Text) FullLine(i int) Span {
	end := len(t.src)
	if i >= len(t.starts) {
		return Span{end, end}
	}
	if i+1 < len(t.starts) {
		end = t.starts[i+1]
	}
	return Span{t.starts[i], end}
}

// Line gives the span of line i without its line ending.
func (t *Text) Line(i int) Span {
	s := t.FullLine(i)
	if s.End > s.Start && t.src[s.End-1] == '\n' {
		s.End--
		if s.End > s.Start && t.src[s.End-1] == '\r' {
			s.End--
		}
	} else if t.crEnds && s.End > s.Start && t.src[s.End-1] == '\r' {
		s.End--
	}
	return s
}

// LineAt gives the line that holds offset; an offset past the end gives the
// last line, an empty document line 0.
func (t *Text) LineAt(offset int) int {
	i := sort.SearchInts(t.starts, offset+1) - 1
	return max(i, 0)
}

// HasBOM reports whether the document starts with a byte order mark.
func (t *Text) HasBOM() bool { return strings.HasPrefix(t.src, BOM) }

// EOL gives the line ending that new lines of this document take: the one most
// of its lines have, "\n" for a document without any.
func (t *Text) EOL() string { return EOL(t.src) }

// EOL gives the line ending most lines of src have, "\n" when there is none.
func EOL(src string) string {
	crlf := strings.Count(src, "\r\n")
	if crlf > 0 && 2*crlf > strings.Count(src, "\n") {
		return "\r\n"
	}
	return "\n"
}

// WithEOL rewrites every line ending of s as eol.
func WithEOL(s, eol string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	if eol == "\n" {
		return s
	}
	return strings.ReplaceAll(s, "\n", eol)
}

// Edit replaces the bytes of a span.
type Edit struct {
	Span
	New string `json:"new"`
}

// Apply gives src with all edits made. Offsets of every edit count in src;
// edits may come in any order. Edits at one offset are made in the order given.
// It returns false when two edits overlap or one lies outside src.
func Apply(src string, edits []Edit) (string, bool) {
	sorted := slices.Clone(edits)
	slices.SortStableFunc(sorted, func(a, b Edit) int { return a.Start - b.Start })
	var out strings.Builder
	at := 0
	for _, e := range sorted {
		if e.Start < at || e.End < e.Start || e.End > len(src) {
			return "", false
		}
		out.WriteString(src[at:e.Start])
		out.WriteString(e.New)
		at = e.End
	}
	out.WriteString(src[at:])
	return out.String(), true
}

// Invert gives the edits that turn Apply(src, edits) back into src. The edits
// must be ones that Apply accepts.
func Invert(src string, edits []Edit) []Edit {
	sorted := slices.Clone(edits)
	slices.SortStableFunc(sorted, func(a, b Edit) int { return a.Start - b.Start })
	out := make([]Edit, 0, len(sorted))
	shift := 0
	for _, e := range sorted {
		start := e.Start + shift
		out = append(out, Edit{Span{start, start + len(e.New)}, src[e.Start:e.End]})
		shift += len(e.New) - e.Len()
	}
	return out
}

// Diff gives the one edit that turns from into to: what is between their common
// start and their common end, widened to whole runes.
func Diff(from, to string) []Edit {
	if from == to {
		return nil
	}
	n := min(len(from), len(to))
	pre := 0
	for pre < n && from[pre] == to[pre] {
		pre++
	}
	for pre > 0 && (!boundary(from, pre) || !boundary(to, pre)) {
		pre--
	}
	suf := 0
	for suf < n-pre && from[len(from)-1-suf] == to[len(to)-1-suf] {
		suf++
	}
	for suf > 0 && (!boundary(from, len(from)-suf) || !boundary(to, len(to)-suf)) {
		suf--
	}
	return []Edit{{Span{pre, len(from) - suf}, to[pre : len(to)-suf]}}
}

func boundary(s string, at int) bool { return at >= len(s) || utf8.RuneStart(s[at]) }

// UTF16Len gives the number of UTF-16 code units of s; an invalid byte counts
// as one unit, since it is read as U+FFFD.
func UTF16Len(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

// Hash names a content: the first 128 bits of its SHA-256 in hexadecimal, long
// enough that no two texts of a memory share one and short enough for a model
// to copy.
func Hash(content string) string {
	sum := sha256.Sum256(Bytes(content))
	return hex.EncodeToString(sum[:16])
}
