package agentmem

import (
	"context"

	"mem/core/memory"
)

// lastPull is what a pull made of the state, so that undoing its change makes the news wait
// again. Else what was undone would pass for an edit, and a publish would take it back from
// the team.
type lastPull struct {
	Change string `json:"change"`
	// Files are the states before it, nil where there was none.
	Files map[string]*fileState `json:"files"`
	// After are the hashes of the files that it left here, "" for one that was removed. As long
	// as they stand, nobody undid it.
	After map[string]string `json:"after"`
}

// noteLast notes what a pull is about to make of the state.
func (st *syncState) noteLast(id string, before map[string]fileState, outcomes []*outcome) {
	l := &lastPull{Change: id, Files: map[string]*fileState{}, After: map[string]string{}}
	for p, f := range before {
		if now, ok := st.Files[p]; !ok || !sameState(f, now) {
			l.Files[p] = &f
		}
	}
	for p := range st.Files {
		if _, ok := before[p]; !ok {
			l.Files[p] = nil
		}
	}
	for _, o := range outcomes {
		if o.kept {
			continue
		}
		if o.it.mine != "" && o.it.mine != o.path {
			l.After[o.it.mine] = none
		}
		if o.path != "" {
			l.After[o.path] = sumOf(o.text)
		}
	}
	st.Last = l
}

func sameState(a, b fileState) bool {
	return a.Base == b.Base && a.Shared == b.Shared && (a.Seen == nil) == (b.Seen == nil) && a.seen() == b.seen()
}

// sums gives the hashes of the texts that it takes to go back.
func (l *lastPull) sums() []string {
	if l == nil {
		return nil
	}
	var out []string
	for _, f := range l.Files {
		if f != nil {
			out = append(out, f.sums()...)
		}
	}
	return out
}

// followUndo goes back to the state before the last pull where its change was undone.
func (a *analysis) followUndo(ctx context.Context) error {
	l := a.st.Last
	if l == nil {
		return nil
	}
	stands := true
	for p, sum := range l.After {
		stands = stands && a.mine.sum(p) == sum
	}
	if stands {
		return nil
	}
	h, err := a.m.History(ctx, memory.HistoryOptions{Change: l.Change})
	if err != nil {
		return nil // it is not in the history any more, so nobody can undo it
	}
	for _, e := range h.Changes {
		if e.ID != l.Change || e.UndoneBy == "" {
			continue
		}
		for p, f := range l.Files {
			if f == nil {
				delete(a.st.Files, p)
			} else {
				a.st.Files[p] = *f
			}
		}
		a.st.Last = nil
		a.notes = append(a.notes, "The last pull was undone: its news wait again. To leave them for good, skip them.")
	}
	return nil
}
