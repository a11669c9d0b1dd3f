package diagnostics

import (
	"slices"
	"strings"
	"sync"
	"time"

	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/text"
)

// Kind is what a file is to a memory directory.
type Kind int

// The kinds of files that rules look at.
const (
	Index Kind = iota
	Topic
	Log
)

// AllKinds is every kind of file.
var AllKinds = []Kind{Index, Topic, Log}

// Doc is one file as rules see it. What is expensive to know of it is found once,
// when it is first asked for.
type Doc struct {
	Path    string
	Kind    Kind
	ModTime time.Time // zero for an index, whose time decides nothing
	File    *memfile.File
	Topic   *memdir.Topic  // of a topic
	Index   *memfile.Index // of an index

	outline func() memfile.Outline
	links   func() []memfile.Link
	refs    func() []memfile.Reference
	dests   func() map[text.Span]memfile.Link
	ignores func() []Ignore
}

func newDoc(path string, kind Kind, modTime time.Time, f *memfile.File) *Doc {
	d := &Doc{Path: path, Kind: kind, ModTime: modTime, File: f}
	d.outline = sync.OnceValue(func() memfile.Outline {
		if d.Index != nil {
			return d.Index.Outline()
		}
		return f.Outline()
	})
	d.links = sync.OnceValue(func() []memfile.Link {
		if d.Index != nil {
			return d.Index.Links
		}
		// Most topics link nothing, and the outline is what costs.
		if body := f.BodyText(); !strings.Contains(body, "](") && !strings.Contains(body, "[[") {
			return nil
		}
		return memfile.Links(f.Text, f.Body, d.Outline())
	})
	d.refs = sync.OnceValue(func() []memfile.Reference {
		return memfile.References(f.Text, f.Body, d.Links(), d.Outline)
	})
	d.dests = sync.OnceValue(func() map[text.Span]memfile.Link {
		all := make(map[text.Span]memfile.Link, len(d.Links()))
		for _, r := range slices.Backward(d.References()) {
			all[r.Dest] = r.Link
		}
		for _, l := range slices.Backward(d.Links()) { // before a reference, the first before the others
			all[l.Dest] = l
		}
		return all
	})
	d.ignores = sync.OnceValue(func() []Ignore { return findIgnores(d) })
	return d
}

// Source gives the whole text.
func (d *Doc) Source() string { return d.File.Text.String() }

// Outline gives the block structure of the body.
func (d *Doc) Outline() memfile.Outline { return d.outline() }

// Links gives the links in the body, [[name]] links included.
func (d *Doc) Links() []memfile.Link { return d.links() }

// References gives what else in the body leads somewhere.
func (d *Doc) References() []memfile.Reference { return d.refs() }

// LinkAt gives the link, or what else leads somewhere, whose destination stands there.
func (d *Doc) LinkAt(dest text.Span) (memfile.Link, bool) {
	l, ok := d.dests()[dest]
	return l, ok
}

// FirstLine gives the span of the first line, for what is said of a whole file.
func (d *Doc) FirstLine() text.Span {
	s := d.File.Text.Line(0)
	if d.File.Text.HasBOM() {
		s.Start = min(s.Start+len(text.BOM), s.End)
	}
	return s
}

// Ignores gives the ignore comments, one for each rule that they name. Whether they
// were of use is not told: only a check knows.
func (d *Doc) Ignores() []Ignore { return d.ignores() }
