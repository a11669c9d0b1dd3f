package dream

import (
	"fmt"
	"slices"
	"strings"

	"mem/core/change"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/proposal"
	"mem/core/text"
)

// result is what a run left, as it is cut into units.
type result struct {
	claims []claim
	files  []*touchedFile // all but the index
	by     map[string]*touchedFile
	index  *change.File // nil where it did not change
	// base and want are the index before and after.
	base, want *memfile.Index
	// without is the index where what deletes waits, nil where it did not change.
	without *memfile.Index
}

// touchedFile is one file that changed.
type touchedFile struct {
	change.File
	before, after string
	stays         bool
	loses         bool // it goes, or more than half of its body does
	set           []uint64
	group         *touchedFile // the first file of its group; itself in one of its own
}

func (f *touchedFile) root() *touchedFile {
	for f.group != f {
		f = f.group
	}
	return f
}

func (r *result) join(a, b *touchedFile) {
	if a, b := a.root(), b.root(); a != b {
		b.group = a
	}
}

// resultOf sorts what a run left: a file that goes belongs with the edits that took in
// what it said. What the agent claims decides that only where the files bear it out.
func resultOf(c change.Change, claims []claim) *result {
	r := &result{claims: claims, by: map[string]*touchedFile{}}
	for i, f := range c.Files {
		if f.Path == memfile.IndexName {
			r.index = &c.Files[i]
			continue
		}
		t := &touchedFile{File: f, before: f.Base}
		var err error
		if t.after, t.stays, err = f.After(); err != nil {
			continue // the stage made it; it cannot be
		}
		t.group = t
		t.loses = !t.stays || proposal.Deletes(change.Change{Files: []change.File{f}})
		r.files = append(r.files, t)
		r.by[f.Path] = t
		if f.Kind == change.Rename {
			r.by[f.To] = t
		}
	}
	r.base, r.want = memfile.NoIndex(), memfile.NoIndex()
	if r.index != nil {
		if after, _, err := r.index.After(); err == nil {
			r.base, r.want = memfile.ParseIndex(r.index.Base), memfile.ParseIndex(after)
		} else {
			r.index = nil
		}
	}
	for _, f := range r.files {
		if f.loses {
			r.belongs(f)
		}
	}
	r.links()
	return r
}

// leastMoved is the share of a text's phrases that another text has to have taken in for
// the two to be one matter: a merge that rewords keeps some, a note that happens to name
// the same things has next to none (see nearContained for the share of unrelated ones).
const leastMoved = 0.2

// belongs joins a file that goes with those that took in what it said: those that the
// agent names, where they changed; else those that gained most of its phrases; else the one
// whose entry took the place of its own.
func (r *result) belongs(gone *touchedFile) {
	named := false
	for _, c := range r.claims {
		into := r.by[c.Into]
		if c.Did == "merged" && into != nil && into != gone && into.stays && slices.Contains(c.Files, gone.Path) {
			r.join(into, gone)
			named = true
		}
	}
	if named {
		return
	}
	phrases := gone.phrases(gone.before)
	var best *touchedFile
	share := 0.0
	for _, f := range r.files {
		if f == gone || !f.stays || f.Kind == change.Append {
			continue
		}
		had, has := shingles(memfile.Parse(f.before).BodyText()), f.phrases(f.after)
		n := 0
		for _, h := range phrases {
			if _, is := slices.BinarySearch(has, h); !is {
				continue
			}
			if _, was := slices.BinarySearch(had, h); !was {
				n++
			}
		}
		if s := float64(n) / float64(max(len(phrases), 1)); s > share {
			best, share = f, s
		}
	}
	if best != nil && share >= leastMoved {
		r.join(best, gone)
		return
	}
	if gone.stays {
		return
	}
	for _, e := range r.base.Entries {
		if e.Target != gone.Path {
			continue
		}
		for _, now := range r.want.Entries {
			if f := r.by[now.Target]; now.Title == e.Title && f != nil && f != gone && f.stays {
				r.join(f, gone)
				return
			}
		}
	}
}

// phrases gives the shingles of a body; those of the last text are kept.
func (f *touchedFile) phrases(src string) []uint64 {
	if f.set == nil {
		f.set = shingles(memfile.Parse(src).BodyText())
	}
	return f.set
}

// links joins files whose links to one that went, or moved, changed: without that one they
// would lead nowhere.
func (r *result) links() {
	for _, f := range r.files {
		if !f.stays || f.before == "" {
			continue
		}
		had, has := linked(f.Path, f.before), linked(f.Target(), f.after)
		for p := range had {
			if gone := r.by[p]; !has[p] && gone != nil && gone != f && (!gone.stays || gone.Kind == change.Rename && p == gone.Path) {
				r.join(gone, f)
			}
		}
	}
}

// linked gives the paths that a text links.
func linked(from, src string) map[string]bool {
	f := memfile.Parse(src)
	out := map[string]bool{}
	for _, k := range memfile.Links(f.Text, f.Body, f.Outline()) {
		if p := targetOf(from, k); p != "" {
			out[p] = true
		}
	}
	return out
}

// units makes the units, on the memory as it was: a file that goes is one with the edits
// that belong to it, each other file with its entries is one, and what else changed in the
// index is one.
func (r *result) units() []proposal.Unit {
	groups := map[*touchedFile][]*touchedFile{}
	var roots []*touchedFile
	for _, f := range r.files {
		root := f.root()
		if groups[root] == nil {
			roots = append(roots, root)
		}
		groups[root] = append(groups[root], f)
	}
	var now change.Change
	var waits [][]*touchedFile
	free := map[string]*touchedFile{}
	for _, root := range roots {
		g := groups[root]
		if slices.ContainsFunc(g, func(f *touchedFile) bool { return f.loses }) {
			waits = append(waits, g)
			continue
		}
		for _, f := range g {
			now.Files = append(now.Files, f.File)
			free[f.Path] = f
		}
	}
	if r.index != nil {
		without := r.indexWithout(waits)
		r.without = memfile.ParseIndex(without)
		if f, ok := change.EditFile(memfile.IndexName, r.base.Text().String(), change.Lines(r.base.Text().String(), without)); ok {
			f.Kind = r.index.Kind
			if r.index.Kind == change.Create {
				f = change.File{Path: memfile.IndexName, Kind: change.Create, New: without}
			}
			now.Files = append(now.Files, f)
		}
	}
	var out []proposal.Unit
	for _, u := range r.gathered(proposal.Split(now), free) {
		r.explain(&u)
		out = append(out, u)
	}
	for _, g := range waits {
		u := r.waiting(g)
		r.explain(&u)
		out = append(out, u)
	}
	return out
}

// gathered makes one unit of those whose files are of one group: a move with the links
// that follow it.
func (r *result) gathered(units []proposal.Unit, free map[string]*touchedFile) []proposal.Unit {
	byRoot := map[*touchedFile]int{}
	var out []proposal.Unit
	for _, u := range units {
		var root *touchedFile
		for _, f := range u.Change.Files {
			if t := free[f.Path]; t != nil {
				root = t.root()
			}
		}
		i, known := byRoot[root]
		if root == nil || !known {
			if root != nil {
				byRoot[root] = len(out)
			}
			out = append(out, u)
			continue
		}
		if whole, ok := together([]proposal.Unit{out[i], u}); ok {
			whole.Title = memdir.Shortened(out[i].Title+"; "+u.Title, maxTitle)
			whole.Change.Title = whole.Title
			out[i] = whole
		} else {
			out = append(out, u)
		}
	}
	return out
}

// waiting makes the unit of a group that deletes, on the index as it was.
func (r *result) waiting(g []*touchedFile) proposal.Unit {
	u := proposal.Unit{State: proposal.Open}
	x := r.base
	apply := func(edits []text.Edit) {
		if after, ok := text.Apply(x.Text().String(), edits); ok && len(edits) > 0 {
			x = memfile.ParseIndex(after)
		}
	}
	var gone, kept []string
	for _, f := range g {
		apply(r.handedOn(x, f.Path))
	}
	for _, f := range g {
		u.Change.Files = append(u.Change.Files, f.File)
		if !f.stays {
			gone = append(gone, f.Path)
		} else {
			kept = append(kept, f.Target())
			r.follow(x, f, apply)
			x = r.reworded(x, f)
		}
	}
	for _, p := range gone {
		apply(r.outOf(x, p))
	}
	base := r.base.Text().String()
	if r.index != nil && r.index.Kind != change.Create {
		if f, ok := change.EditFile(memfile.IndexName, base, change.Lines(base, x.Text().String())); ok {
			u.Change.Files = append(u.Change.Files, f)
		}
	}
	slices.SortStableFunc(u.Change.Files, func(a, b change.File) int { return order(a) - order(b) })
	names := func(l []string) string {
		shown := []string{}
		for _, p := range l[:min(len(l), 4)] {
			shown = append(shown, memdir.ShownName(p))
		}
		if n := len(l) - 4; n > 0 {
			shown = append(shown, fmt.Sprintf("%d more", n))
		}
		return strings.Join(shown, ", ")
	}
	switch {
	case len(gone) > 0 && len(kept) > 0:
		u.Title = fmt.Sprintf("merge %s into %s", names(gone), names(kept))
	case len(gone) > 0:
		u.Title = "delete " + names(gone)
	default:
		u.Title = "cut " + names(kept)
	}
	u.Title = memdir.Shortened(u.Title, maxTitle)
	u.Change.Title, u.Change.Op = u.Title, "dream"
	u.Deletes = true
	return u
}

// follow lets the entries of a file that moved lead to where it is.
func (r *result) follow(x *memfile.Index, f *touchedFile, apply func([]text.Edit)) {
	if f.Kind != change.Rename {
		return
	}
	var edits []text.Edit
	for _, k := range x.Links {
		if targetOf(memfile.IndexName, k) == f.Path {
			edits = append(edits, memdir.Retarget(x.Text(), k, memfile.IndexName, f.To))
		}
	}
	apply(edits)
}

// reworded gives an index in which a topic's entries say what the result has them say.
func (r *result) reworded(x *memfile.Index, f *touchedFile) *memfile.Index {
	old, now := listed(x, f.Target()), listed(r.want, f.Target())
	var edits []text.Edit
	for i, e := range now {
		words := r.want.Text().Slice(e.Span)
		switch {
		case i < len(old):
			span, kept := r.rest(x, old[i])
			if kept != "" {
				words = ended(words, "\n") + kept
			}
			if x.Text().Slice(span) != words {
				edits = append(edits, text.Edit{Span: span, New: words})
			}
		case i == 0:
			edits = append(edits, x.Insert(strings.TrimSpace(r.want.Text().Slice(r.want.Text().Line(e.Line))))...)
		}
	}
	if after, ok := text.Apply(x.Text().String(), edits); ok && len(edits) > 0 {
		return memfile.ParseIndex(after)
	}
	return x
}

// order puts what is new first and what goes last, with the index before that.
func order(f change.File) int {
	switch {
	case f.Path == memfile.IndexName:
		return 2
	case f.Kind == change.Delete:
		return 3
	case f.Kind == change.Create:
		return 0
	}
	return 1
}

// explain gives a unit the reasons and sources that the agent names for its files.
func (r *result) explain(u *proposal.Unit) {
	var reasons, sources []string
	seen := map[string]bool{}
	alone := len(u.Change.Files) == 1
	for _, c := range r.claims {
		about := slices.ContainsFunc(u.Change.Files, func(f change.File) bool {
			return (alone || f.Path != memfile.IndexName) && (c.about(f.Path) || c.about(f.Target()))
		})
		if !about || c.Why == "" || seen[c.Why] {
			continue
		}
		seen[c.Why] = true
		reasons = append(reasons, c.Why)
		sources = append(sources, c.From...)
	}
	if u.Reason == "" {
		u.Reason = strings.Join(reasons, "; ")
	}
	u.Sources = compact(append(u.Sources, sources...))
}
