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
		if r.room != nil {
			without = r.makeRoom(without, waits, &now)
		}
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

// waiting makes the unit of a group that deletes, on the index as it was; where room was made
// in that one, on what it is then.
func (r *result) waiting(g []*touchedFile) proposal.Unit {
	u := proposal.Unit{State: proposal.Open}
	x := r.base
	if r.room != nil {
		x = r.without
	}
	base := x.Text().String()
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
		u.Change.Files = append(u.Change.Files, f.waitingFile())
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
	for _, c := range slices.Concat(r.claims, r.took) {
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
