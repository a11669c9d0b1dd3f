package agentmem

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mem/core/project"
	"mem/core/store"
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
	Asked string `json:"asked"` // what was looked for, and from where
	Known bool   `json:"known"` // git tells about this snapshot
	Whole bool   `json:"whole"` // all that has to be found was found, or is not there
	// Texts tells how many versions ago a text of a file was there last.
	Texts map[string]map[string]int `json:"texts"`
}

// from tells whether the text now of a file comes from the text sum. Where now is one from
// before sum, and not that of the commit, git put it back or is about to say which commit it
// checks out.
func (l *lineage) from(path, now, sum string) bool {
	at, ok := l.Texts[path][sum]
	return ok && at >= l.Texts[path][now]
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
	var want []string
	for p, f := range a.st.Files {
		if f.Shared != "" && a.theirs.sum(p) != f.Shared {
			want = append(want, p)
		}
	}
	if len(want) == 0 {
		return nil
	}
	slices.Sort(want)
	l, err := a.lineage(ctx, want)
	if err != nil {
		a.notes = append(a.notes, fmt.Sprintf("Whether the snapshot comes from the one that was synced last could not be looked up in git: %v.", err))
	}
	older, back := a.older(), 0
	for _, p := range want {
		f, now := a.st.Files[p], a.theirs.sum(p)
		if l.from(p, now, f.Shared) || !older && (!l.Known || !l.Whole) {
			continue
		}
		i := slices.IndexFunc(f.Before, func(c common) bool { return c.Shared == now || l.from(p, now, c.Shared) })
		switch {
		case i >= 0:
			a.st.Files[p] = fileState{Base: f.Before[i].Base, Shared: f.Before[i].Shared}
		case l.Known && l.Whole:
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

// lineage looks for the texts that the states of some files name in the history of the
// snapshot, no further back than it has to.
func (a *analysis) lineage(ctx context.Context, want []string) (*lineage, error) {
	l := &lineage{Known: a.st.Git, Texts: map[string]map[string]int{}}
	o, head, rel, err := a.history()
	if o == nil || err != nil {
		l.Known = false
		return l, err
	}
	defer o.close()
	sought := map[string][]string{} // hashes by path: that of the state, what is there now, and earlier ones
	asked := []string{lineageHead, head, fmt.Sprint(a.st.Git)}
	for _, p := range want {
		f := a.st.Files[p]
		sought[p] = []string{f.Shared, a.theirs.sum(p)}
		for _, c := range f.Before {
			sought[p] = append(sought[p], c.Shared)
		}
		asked = append(asked, p, strings.Join(sought[p], " "))
	}
	l.Asked = sumOf(strings.Join(asked, "\n"))
	if kept := a.keptLineage(); kept != nil && kept.Asked == l.Asked {
		a.st.Git = kept.Known
		return kept, nil
	}
	n, err := a.walk(ctx, o, head, rel, l, sought)
	if n > fewVersions && l.Whole {
		a.keepLineage(l)
	}
	return l, err
}

// walk fills a lineage, and tells how many versions it looked at.
func (a *analysis) walk(ctx context.Context, o *objects, head, rel string, l *lineage, sought map[string][]string) (n int, err error) {
	sums := map[string]string{} // of blobs
	left := maps.Clone(sought)
	whole, err := folders(ctx, o, head, rel, maxLineage, func(_, folder string) (bool, error) {
		blobs := map[string]string{}
		if err := o.paths(folder, "", 0, func(p, id string) error { blobs[p] = id; return nil }); err != nil {
			return false, err
		}
		for p, list := range sought {
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
			seen := l.Texts[p]
			if seen == nil {
				seen = map[string]int{}
				l.Texts[p] = seen
			}
			if _, ok := seen[sums[id]]; !ok && slices.Contains(list, sums[id]) {
				seen[sums[id]] = n
			}
			_, then := seen[list[0]]
			_, now := seen[list[1]]
			if then && (now || list[1] == none) {
				delete(left, p)
			}
		}
		l.Known, a.st.Git = true, true
		n++
		return len(left) > 0, nil
	})
	l.Whole = err == nil && (whole || len(left) == 0)
	return n, err
}

// lineageHead says what a file of a lineage is, and its version.
const lineageHead = "mem snapshot lineage 1"

// fewVersions are looked at again each time.
const fewVersions = 20

func (a *analysis) lineageFile() string {
	if a.m.Env().CacheDir == "" {
		return ""
	}
	return filepath.Join(a.m.Env().CacheDir, "snapshots", store.Key(a.Snapshot)+".lineage")
}

// keptLineage gives what was found the last time, nil where that is not known. An editor asks
// the same at each key.
func (a *analysis) keptLineage() *lineage {
	data, err := project.ReadFile(a.lineageFile(), 4<<20)
	if err != nil {
		return nil
	}
	l := &lineage{}
	if json.Unmarshal(data, l) != nil {
		return nil
	}
	return l
}

// keepLineage keeps what was found. Failing to costs the next reader its time only.
func (a *analysis) keepLineage(l *lineage) {
	name := a.lineageFile()
	data, err := json.Marshal(l)
	if name == "" || err != nil || os.MkdirAll(filepath.Dir(name), 0o700) != nil {
		return
	}
	_ = writeAtomic(name, data, 0o600)
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
