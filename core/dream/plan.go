package dream

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aymanbagabas/go-udiff"

	"mem/core/change"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/proposal"
	"mem/core/text"
)

// part is a unit while it is made: files with the text that they get.
type part struct {
	title    string
	reasons  []string
	sources  []string
	now      map[string]string // path → text; topics, and new files
	drop     map[string]bool   // topics that go
	entries  []string          // paths whose entries in the index go
	retarget map[string]string // links of the index that lead elsewhere: from → to
	deletes  bool
	items    []Item
}

func newPart(title string) *part {
	return &part{title: title, now: map[string]string{}, drop: map[string]bool{}, retarget: map[string]string{}}
}

// plan is what the mechanical part makes. Units that are applied come in order, each on
// what those before it leave. Proposals stand on what all of these leave, and no topic is
// part of two of them, so that each can be applied or left without the others.
type plan struct {
	*library
	texts  map[string]string // of all files, as the units so far leave them
	times  map[string]time.Time
	owner  map[string]*part // path → the proposal that has it
	parts  []*part          // proposals
	out    *Outcome
	report *Report
	limits memdir.Limits
	// last is the parse of the index that was asked for last: all proposals stand on one.
	last *memfile.Index
	said map[string][]string // what its entries say, by topic, folded
}

// parsed parses an index, or gives the last parse again.
func (p *plan) parsed(src string) *memfile.Index {
	if p.last == nil || p.last.Text().String() != src {
		p.last, p.said = memfile.ParseIndex(src), nil
	}
	return p.last
}

// text is what a topic has as far as the plan goes, false where it goes.
func (p *plan) text(path string) (string, bool) {
	if o := p.owner[path]; o != nil {
		if o.drop[path] {
			return "", false
		}
		if now, ok := o.now[path]; ok {
			return now, true
		}
	}
	now, ok := p.texts[path]
	return now, ok
}

// propose begins a proposal that will have these topics: one that has some of them already
// takes in the new one, so that what hangs together is decided together.
func (p *plan) propose(title string, paths ...string) *part {
	var o *part
	for _, path := range paths {
		have := p.owner[path]
		switch {
		case have == nil || have == o:
		case o == nil:
			o = have
		default:
			o.absorb(have)
			for q, by := range p.owner {
				if by == have {
					p.owner[q] = o
				}
			}
			p.parts = slices.DeleteFunc(p.parts, func(x *part) bool { return x == have })
		}
	}
	if o == nil {
		o = newPart(title)
		p.parts = append(p.parts, o)
	} else {
		o.title += "; " + title
	}
	for _, path := range paths {
		p.owner[path] = o
	}
	return o
}

func (o *part) absorb(other *part) {
	o.title += "; " + other.title
	o.reasons = append(o.reasons, other.reasons...)
	o.sources = append(o.sources, other.sources...)
	o.entries = append(o.entries, other.entries...)
	maps.Copy(o.now, other.now)
	maps.Copy(o.drop, other.drop)
	maps.Copy(o.retarget, other.retarget)
	o.deletes = o.deletes || other.deletes
	o.items = append(o.items, other.items...)
}

// commit makes a part the next unit that is applied.
func (p *plan) commit(o *part) {
	u, ok := p.unit(o)
	if !ok {
		return
	}
	p.out.Apply = append(p.out.Apply, u)
	for _, f := range u.Change.Files {
		if after, exists, err := f.After(); err == nil && exists {
			p.texts[f.Path] = after
		} else {
			delete(p.texts, f.Path)
		}
	}
}

// maxTitle bounds the title of a unit, in characters.
const maxTitle = 200

// unit turns a part into the next unit, from the texts as they are by now.
func (p *plan) unit(o *part) (proposal.Unit, bool) {
	title := memdir.Shortened(o.title, maxTitle)
	u := proposal.Unit{ID: strconv.Itoa(len(p.out.Apply) + len(p.out.Propose) + 1), Title: title, Reason: strings.Join(o.reasons, " "),
		Sources: compact(o.sources), Deletes: o.deletes, State: proposal.Open, Change: change.Change{Op: "fix", Title: title}}
	if index, ok := p.texts[memfile.IndexName]; ok && (len(o.entries) > 0 || len(o.retarget) > 0) {
		o.now[memfile.IndexName] = o.inIndex(p.parsed(index))
	}
	var last []change.File
	for _, path := range slices.Sorted(maps.Keys(o.now)) {
		if o.drop[path] {
			continue
		}
		f := change.File{Path: path, Kind: change.Create, New: o.now[path]}
		if base, exists := p.texts[path]; exists {
			var ok bool
			if f, ok = change.EditFile(path, base, lineEdits(base, o.now[path])); !ok {
				continue
			}
		}
		if path == memfile.IndexName {
			last = append(last, f)
		} else {
			u.Change.Files = append(u.Change.Files, f)
		}
	}
	u.Change.Files = append(u.Change.Files, last...)
	for _, path := range slices.Sorted(maps.Keys(o.drop)) {
		u.Change.Files = append(u.Change.Files, change.File{Path: path, Kind: change.Delete, Base: p.texts[path]})
	}
	return u, !u.Change.Empty()
}

// inIndex gives the text of an index without the entries that a part takes out.
func (o *part) inIndex(x *memfile.Index) string {
	change := func(edits []text.Edit) {
		if after, ok := text.Apply(x.Text().String(), edits); ok && len(edits) > 0 {
			x = memfile.ParseIndex(after)
		}
	}
	for _, from := range slices.Sorted(maps.Keys(o.retarget)) {
		var edits []text.Edit
		for _, k := range x.Links {
			if targetOf(memfile.IndexName, k) == from {
				edits = append(edits, memdir.Retarget(x.Text(), k, memfile.IndexName, o.retarget[from]))
			}
		}
		change(edits)
	}
	for i, path := range o.entries {
		edits := x.Remove(path)
		if i == len(o.entries)-1 { // the usual case: nobody needs the parse
			after, ok := text.Apply(x.Text().String(), edits)
			if !ok {
				break
			}
			return after
		}
		change(edits)
	}
	return x.Text().String()
}

func compact(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

// lineEdits gives edits of as few lines as turn from into to, so that what others write
// meanwhile elsewhere in the file is merged.
func lineEdits(from, to string) []text.Edit {
	var edits []text.Edit
	for _, e := range udiff.Lines(from, to) {
		edits = append(edits, text.Edit{Span: text.Span{Start: e.Start, End: e.End}, New: e.New})
	}
	return edits
}

// number is "1 topic", "2 topics".
func number(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if s, ok := strings.CutSuffix(what, "y"); ok {
		return fmt.Sprintf("%d %sies", n, s)
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// look gives a View of the memory as the units so far leave it.
func (p *plan) look(ctx context.Context) (*memdir.View, error) {
	buffers := make(map[string]memdir.Buffer, len(p.texts))
	for path, text := range p.texts {
		buffers[path] = memdir.Buffer{Text: text, ModTime: p.times[path]}
	}
	return memdir.Read(ctx, memdir.Overlay(nowhere{}, buffers), memdir.NewCache(), p.limits)
}

// nowhere is a directory without files, below those that a plan has.
type nowhere struct{}

func absent(op, name string) error { return &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist} }

func (nowhere) Open(name string) (fs.File, error)      { return nil, absent("open", name) }
func (nowhere) Lstat(name string) (fs.FileInfo, error) { return nil, absent("lstat", name) }
func (nowhere) ReadLink(name string) (string, error)   { return "", absent("readlink", name) }

func (nowhere) ReadDir(name string) ([]fs.DirEntry, error) {
	if name != "." {
		return nil, absent("readdir", name)
	}
	return nil, nil
}
