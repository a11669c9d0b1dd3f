package dream

import (
	"slices"

	"mem/core/change"
	"mem/core/memfile"
	"mem/core/proposal"
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
	// room makes the applied index shorter; nil leaves it as long as it is.
	room *roomFor
	took []claim // what took details for it
}

// touchedFile is one file that changed.
type touchedFile struct {
	change.File
	before, after string
	stays         bool
	loses         bool // it goes, or more than half of its body does
	set           []uint64
	group         *touchedFile // the first file of its group; itself in one of its own
	// first is what a file that waits gets at once, and later what it gets then; "" where that
	// is before and after.
	first, later string
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
	r.strays()
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
