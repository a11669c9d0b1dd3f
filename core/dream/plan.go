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
	unlink   []string          // paths whose entries become words, since details stand below
	retarget map[string]string // links of the index that lead elsewhere: from → to
	copies   bool              // all that it drops stands word for word elsewhere
	items    []Item
}

func newPart(title string) *part {
	return &part{title: title, now: map[string]string{}, drop: map[string]bool{}, retarget: map[string]string{}}
}

// plan is what the mechanical part makes. What is applied stands on the files as they
// are, and no topic is part of two units of it. What waits stands on what these leave, and
// again no topic is part of two, so that each can be applied or left without the others.
type plan struct {
	*library
	disk   map[string]string // of all files, as they are
	texts  map[string]string // of all files, as what is applied leaves them
	times  map[string]time.Time
	owner  map[string]*part // path → the proposal that has it
	parts  []*part          // proposals
	units  int
	out    *Outcome
	report *Report
	limits memdir.Limits
	most   int // units of each list
	// declined says that somebody discarded a unit before; may be nil.
	declined func(proposal.Unit) bool
	// undone says that an earlier dream did this and somebody took it back; may be nil.
	undone    func(proposal.Unit) bool
	takenBack int // units that are left out for that
	// last is the parse of the index that was asked for last: all proposals stand on one.
	last *memfile.Index
	said map[string][][2]string // title and summary of its entries, by topic, folded
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
		o.copies = true
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
	o.unlink = append(o.unlink, other.unlink...)
	maps.Copy(o.now, other.now)
	maps.Copy(o.drop, other.drop)
	maps.Copy(o.retarget, other.retarget)
	o.copies = o.copies && other.copies
	o.items = append(o.items, other.items...)
}

// maxTitle bounds the title of a unit, in characters.
const maxTitle = 200

// unit turns a part into a unit on the texts of base.
func (p *plan) unit(o *part, base map[string]string) (proposal.Unit, bool) {
	title := memdir.Shortened(o.title, maxTitle)
	p.units++
	u := proposal.Unit{ID: strconv.Itoa(p.units), Title: title, Reason: strings.Join(o.reasons, " "),
		Sources: compact(o.sources), State: proposal.Open, Change: change.Change{Op: "dream", Title: title}}
	if index, ok := base[memfile.IndexName]; ok && len(o.entries)+len(o.unlink)+len(o.retarget) > 0 {
		o.now[memfile.IndexName] = o.inIndex(p.parsed(index))
	}
	var last []change.File
	for _, path := range slices.Sorted(maps.Keys(o.now)) {
		if o.drop[path] {
			continue
		}
		f := change.File{Path: path, Kind: change.Create, New: o.now[path]}
		if was, exists := base[path]; exists {
			var ok bool
			if f, ok = change.EditFile(path, was, change.Lines(was, o.now[path])); !ok {
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
		u.Change.Files = append(u.Change.Files, change.File{Path: path, Kind: change.Delete, Base: base[path]})
	}
	if u.Change.Empty() {
		p.units--
		return u, false
	}
	// What goes is known here; proposal.Deletes would parse the index for each unit.
	u.Deletes = len(o.drop) > 0 || len(o.entries)+len(o.unlink) > 0 || proposal.Deletes(u.Change)
	return u, true
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
	for _, path := range o.unlink {
		var edits []text.Edit
		for _, k := range x.Links {
			if targetOf(memfile.IndexName, k) == path {
				edits = append(edits, text.Edit{Span: k.Span, New: x.Text().Slice(k.Text)})
			}
		}
		change(edits)
	}
	for i, path := range o.entries {
		edits := without(x, path)
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

// look gives a View of the memory as what is applied leaves it.
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
