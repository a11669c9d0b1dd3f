package agentmem

import (
	"sort"
	"strings"

	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/text"
)

// item is one topic with the paths that it has in the last common state, here, and in
// the snapshot; "" where it is not there. They differ where a side renamed it.
type item struct {
	base, mine, theirs string
}

// path is how the item is called: as here, else as the team has it.
func (it *item) path() string {
	for _, p := range []string{it.mine, it.theirs, it.base} {
		if p != "" {
			return p
		}
	}
	return ""
}

// names gives every path that it has or had.
func (it *item) names() []string {
	var out []string
	for _, p := range []string{it.base, it.mine, it.theirs} {
		if p != "" {
			out = append(out, p)
		}
	}
	return out
}

// items pairs the topics of the three versions; renames are recognised on both sides.
func (a *analysis) findItems() error {
	mine, err := a.renames(func(f fileState) string { return f.Base }, a.mine)
	if err != nil {
		return err
	}
	theirs, err := a.renames(fileState.seen, a.theirs)
	if err != nil {
		return err
	}
	for from, to := range theirs {
		other, both := mine[from]
		switch {
		case both && other != to:
			delete(theirs, from) // two names: both stay
		case !both && a.mine.files[to] != nil:
			delete(theirs, from) // the name is taken here
		}
	}
	for from, to := range mine {
		if theirs[from] != to && a.theirs.files[to] != nil {
			delete(mine, from)
		}
	}
	taken := map[string]bool{memfile.IndexName: true}
	seen := map[string]bool{}
	for p := range a.st.Files {
		if taken[p] || (a.st.Files[p].Base == none && a.st.Files[p].Seen == nil) {
			continue
		}
		it := &item{base: p}
		if a.mine.files[p] != nil {
			it.mine = p
		} else if to := mine[p]; to != "" {
			it.mine = to
		}
		if a.theirs.files[p] != nil {
			it.theirs = p
		} else if to := theirs[p]; to != "" {
			it.theirs = to
		}
		if it.mine == "" && it.theirs == "" && a.st.Files[p].Seen == nil {
			continue // gone everywhere
		}
		a.items = append(a.items, it)
		seen[p] = true
		for _, n := range it.names() {
			seen[n] = true
		}
	}
	for _, t := range []*tree{a.mine, a.theirs} {
		for p := range t.files {
			if taken[p] || seen[p] {
				continue
			}
			seen[p] = true
			it := &item{}
			if a.mine.files[p] != nil {
				it.mine = p
			}
			if a.theirs.files[p] != nil {
				it.theirs = p
			}
			a.items = append(a.items, it)
		}
	}
	sort.Slice(a.items, func(i, j int) bool { return a.items[i].path() < a.items[j].path() })
	return nil
}

// renames finds topics of the common state that have another name in a tree: the same
// text first, then one that has most of its lines.
func (a *analysis) renames(of func(fileState) string, t *tree) (map[string]string, error) {
	gone, fresh := map[string]string{}, map[string]string{}
	for p, f := range a.st.Files {
		if p == memfile.IndexName || of(f) == none || t.files[p] != nil || t.unread(p) {
			continue
		}
		if s, ok := a.state.text(a.st, of(f)); ok {
			gone[p] = s
		}
	}
	if len(gone) == 0 {
		return nil, nil
	}
	for p := range t.files {
		if f, ok := a.st.Files[p]; p == memfile.IndexName || (ok && of(f) != none) {
			continue
		}
		s, err := t.text(p)
		if err != nil {
			return nil, err
		}
		fresh[p] = s
	}
	out := map[string]string{}
	for _, from := range sorted(gone) {
		for _, to := range sorted(fresh) {
			if gone[from] == fresh[to] {
				out[from] = to
				delete(gone, from)
				delete(fresh, to)
				break
			}
		}
	}
	const most = 40_000 // pairs that are compared
	if len(gone)*len(fresh) > most {
		return out, nil
	}
	lines := map[string]map[string]bool{}
	for p, s := range fresh {
		lines[p] = lineSet(s)
	}
	for _, from := range sorted(gone) {
		best, share := "", 0.0
		old := lineSet(gone[from])
		for _, to := range sorted(fresh) {
			if s := overlap(old, lines[to]); s > share {
				best, share = to, s
			}
		}
		if share >= 0.6 {
			out[from] = best
			delete(fresh, best)
		}
	}
	return out, nil
}

func sorted(m map[string]string) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}

// lineSet gives the lines of a body that tell it from others.
func lineSet(s string) map[string]bool {
	set := map[string]bool{}
	for _, line := range strings.Split(memfile.Parse(s).BodyText(), "\n") {
		if line = strings.TrimSpace(line); len(line) > 3 {
			set[line] = true
		}
	}
	return set
}

func overlap(a, b map[string]bool) float64 {
	n := 0
	for line := range a {
		if b[line] {
			n++
		}
	}
	if n == 0 {
		return 0
	}
	return float64(n) / float64(max(len(a), len(b)))
}

// retarget makes the links of an index lead to the new names of topics.
func retarget(index string, names map[string]string) string {
	if len(names) == 0 || index == "" {
		return index
	}
	x := memfile.ParseIndex(index)
	t := x.Text()
	var edits []text.Edit
	for _, e := range x.Entries {
		if to, ok := names[e.Target]; ok {
			edits = append(edits, memdir.Retarget(t, e.Link, memfile.IndexName, to))
		}
	}
	out, ok := text.Apply(index, edits)
	if !ok {
		return index // the links overlap; entries then count as removed and added
	}
	return out
}

// without gives an index without the entries of some topics.
func without(index string, drop map[string]bool) string {
	if len(drop) == 0 || index == "" {
		return index
	}
	var edits []text.Edit
	end := 0
	for _, e := range memfile.ParseIndex(index).Entries {
		if e.List && drop[e.Target] && e.Span.Start >= end {
			edits = append(edits, text.Edit{Span: e.Span})
			end = e.Span.End
		}
	}
	out, ok := text.Apply(index, edits)
	if !ok {
		return index
	}
	return out
}
