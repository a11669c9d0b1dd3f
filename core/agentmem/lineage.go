package agentmem

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
)

// common is a text that both sides had in common, and the team's text when that was noted.
type common struct {
	Base   string `json:"base"`
	Shared string `json:"shared"`
}

// maxBefore is how many earlier common texts of a file are kept: the last ones and the first.
const maxBefore = 4

// lineage tells which texts of the team's files are in the history of what is checked out.
type lineage struct {
	known bool // git tells about this snapshot
	whole bool // all that has to be found was found, or is not there
	// texts tells how many versions ago a text of a file was there last.
	texts map[string]map[string]int
}

// from tells whether the text now of a file comes from the text sum. Where now is one from
// before sum, and not that of the commit, git put it back or is about to say which commit it
// checks out.
func (l *lineage) from(path, now, sum string) bool {
	at, ok := l.texts[path][sum]
	return ok && at >= l.texts[path][now]
}

// followCheckout finds for each file the last common text that the snapshot in the checkout
// comes from. Git may have put back what stood there before the last sync: another commit,
// another branch, or a publish that was never committed and is overwritten. What such a
// snapshot lacks was taken away by nobody.
func (a *analysis) followCheckout(ctx context.Context) error {
	a.st.stored, a.st.dropped = maps.Clone(a.st.Files), map[string]bool{}
	if !a.theirs.exists {
		if len(a.problems) == 0 {
			a.drop(slices.Collect(maps.Keys(a.st.Files))...)
		}
		return nil
	}
	want := map[string]string{}
	for p, f := range a.st.Files {
		if f.Shared != "" && a.theirs.sum(p) != f.Shared {
			want[p] = f.Shared
		}
	}
	if len(want) == 0 {
		return nil
	}
	l, err := a.lineage(ctx, want)
	if err != nil {
		a.notes = append(a.notes, fmt.Sprintf("Whether the snapshot comes from the one that was synced last could not be looked up in git: %v.", err))
	}
	older, back := a.older(), 0
	for p := range want {
		f, now := a.st.Files[p], a.theirs.sum(p)
		if l.from(p, now, f.Shared) || !older && (!l.known || !l.whole) {
			continue
		}
		i := slices.IndexFunc(f.Before, func(c common) bool { return c.Shared == now || l.from(p, now, c.Shared) })
		switch {
		case i >= 0:
			a.st.Files[p] = fileState{Base: f.Before[i].Base, Shared: f.Before[i].Shared}
		case l.known && l.whole:
			a.drop(p)
		default:
			continue
		}
		back++
	}
	if back > 0 {
		a.notes = append(a.notes, fmt.Sprintf("The snapshot in the checkout does not come from the one that was synced last: another commit or branch is checked out, or what was published was never committed and git put back what stood there. What it lacks of that stays in this memory as its own (%d files).", back))
	}
	return nil
}

// drop takes nothing for common of some files.
func (a *analysis) drop(paths ...string) {
	for _, p := range paths {
		delete(a.st.Files, p)
		a.st.dropped[p] = true
	}
}

// lineage looks for texts of files in the history of the snapshot, no further back than it has
// to.
func (a *analysis) lineage(ctx context.Context, want map[string]string) (*lineage, error) {
	l := &lineage{texts: map[string]map[string]int{}}
	o, head, rel, err := a.history()
	if o == nil || err != nil {
		return l, err
	}
	defer o.close()
	l.known = a.st.Git
	sums := map[string]string{} // of blobs
	left, n := maps.Clone(want), 0
	whole, err := folders(ctx, o, head, rel, func(_, folder string) (bool, error) {
		blobs := map[string]string{}
		if err := o.paths(folder, "", 0, func(p, id string) error { blobs[p] = id; return nil }); err != nil {
			return false, err
		}
		for p := range want {
			id := blobs[p]
			if id == "" {
				continue
			}
			if sums[id] == "" {
				s, _, err := o.text(id)
				if err != nil {
					return false, err
				}
				sums[id] = sumOf(s)
			}
			if l.texts[p] == nil {
				l.texts[p] = map[string]int{}
			}
			if _, ok := l.texts[p][sums[id]]; !ok {
				l.texts[p][sums[id]] = n
			}
			_, then := l.texts[p][want[p]]
			_, now := l.texts[p][a.theirs.sum(p)]
			if then && (now || a.theirs.files[p] == nil) {
				delete(left, p)
			}
		}
		l.known, a.st.Git = true, true
		n++
		return len(left) > 0, nil
	})
	l.whole = err == nil && (whole || len(left) == 0)
	return l, err
}

// history opens the history of the snapshot; without one, it gives no objects.
func (a *analysis) history() (o *objects, head, rel string, err error) {
	p := a.m.Location.Project
	if p.GitDir == "" || p.Worktree == "" {
		return nil, "", "", nil
	}
	rel, err = filepath.Rel(p.Worktree, a.Snapshot)
	if err != nil {
		return nil, "", "", nil
	}
	head, err = headOf(p.GitDir, p.CommonDir)
	if err != nil || head == "" {
		return nil, "", "", err
	}
	o, err = openObjects(p.CommonDir)
	return o, head, filepath.ToSlash(rel), err
}

// settling makes of what is noted about files the states that are saved.
type settling struct {
	*analysis
	files map[string]fileState
	git   *objects          // opened where it is needed
	head  map[string]string // the objects of the snapshot in the commit that is checked out
	asked bool
}

func (s *settling) close() {
	if s.git != nil {
		s.git.close()
	}
}

// uncommitted tells whether git knows the snapshot and the commit that is checked out has
// another text of a file, or none.
func (s *settling) uncommitted(p, sum string) bool {
	if !s.asked {
		s.asked = true
		o, head, rel, err := s.history()
		if err != nil || o == nil {
			return false
		}
		s.git, s.head = o, map[string]string{}
		tree, _, err := o.commit(head)
		if err == nil {
			tree, err = o.below(tree, rel)
		}
		if err == nil && tree != "" {
			s.st.Git = true
			err = o.paths(tree, "", 0, func(p, id string) error { s.head[p] = id; return nil })
		}
		if err != nil {
			s.head = nil
		}
	}
	if s.head == nil {
		return false
	}
	if s.head[p] == "" {
		return true
	}
	text, _, err := s.git.text(s.head[p])
	return err == nil && sumOf(text) != sum
}

// now gives what is saved of a file: what was known of it where nothing changed, else the
// new state, with the earlier ones behind it.
func (s *settling) now(it *item, f fileState, shared string, equal bool) fileState {
	from := it.base
	for _, p := range []string{it.theirs, it.mine} {
		if from == "" && s.st.dropped[p] {
			from = p
		}
	}
	old, known := s.st.stored[from]
	f.Shared, f.Before = shared, nil
	if !known {
		return f
	}
	effective := s.st.Files[from]
	if effective.Shared = shared; sameState(f, effective) && !equal && !s.st.dropped[from] {
		if old.Shared == none && shared == f.seen() {
			old.Shared = shared // what wrote it did not know of that yet
		}
		return old // nothing new was noted
	}
	if sameState(f, old) {
		return old
	}
	f.Before = s.before(from, old)
	return f
}

// before gives the earlier common texts of a file that gets a new one. A text that only a
// publish put into the checkout, and that no commit has, comes from nowhere again.
func (s *settling) before(p string, old fileState) []common {
	list := old.Before
	if old.Base == none || old.Shared == none {
		return list
	}
	if s.theirs.sum(p) == old.Shared && s.uncommitted(p, old.Shared) {
		return list
	}
	list = append([]common{{old.Base, old.Shared}}, list...)
	if n := len(list); n > maxBefore {
		list = append(list[:maxBefore-1:maxBefore-1], list[n-1])
	}
	return list
}

// keepDropped keeps what is known of files for which nothing counts as common now.
func (s *settling) keepDropped() {
	for p := range s.st.dropped {
		if _, ok := s.files[p]; !ok {
			s.files[p] = s.st.stored[p]
		}
	}
}
