package agentmem

import (
	"fmt"
	"slices"

	"mem/core/change"
	"mem/core/memfile"
)

// pullIndex merges the index, after its topics: entries of topics whose news were not
// taken wait with them.
func (a *analysis) pullIndex(topics []*outcome, w wishes) (*outcome, error) {
	const index = memfile.IndexName
	it := &item{base: index, mine: index, theirs: index}
	f := a.st.Files[index]
	o := &outcome{it: it, state: f, kept: true, settle: true}
	if a.mine.unread(index) {
		if a.theirs.sum(index) != f.seen() {
			o.team, o.waits, o.settle = "changed", true, false
		}
		return o, nil
	}
	entries := map[string]change.Choice{}
	for _, t := range topics {
		for _, n := range t.it.names() {
			if t.entry != "" {
				entries[n] = t.entry
			}
		}
	}
	switch sum := a.theirs.sum(index); {
	case sum == a.mine.sum(index):
		o.state = fileState{Base: sum}
		return o, nil
	case sum == f.seen() && len(entries) == 0:
		return o, nil
	}
	mine, here, err := a.side(a.mine, index)
	if err != nil {
		return nil, err
	}
	theirs, there, err := a.side(a.theirs, index)
	if err != nil {
		return nil, err
	}
	o.kept, o.text = false, mine
	if here {
		o.path = index
	}
	theirSum := a.keep(theirs, there)
	held, skipped, taken, names := a.heldEntries(topics, w)
	renamed := names
	if w.noted { // the index is compared as it lies there
		names = map[string]string{}
		for _, t := range topics {
			if t.renamedByBoth() {
				names[t.it.base] = t.it.theirs
			}
		}
	}
	base, ours, news := retarget(a.known(f.seen()), names), retarget(mine, names), retarget(theirs, names)
	wish := w.file(index)
	notTaken, waits := map[string]bool{}, false
	merged, open := change.Resolve(index, base, ours, news, func(p change.Part) change.Decision {
		if e := entries[p.Target]; p.Target != "" && e != "" {
			return change.Decision{Choice: e}
		}
		if p.Target != "" && held[p.Target] {
			notTaken[p.Key] = true
			waits = waits || !skipped[p.Target]
			return change.Decision{Choice: change.Ours}
		}
		d := decide(p, w.part(p, index), wish)
		if d.Choice == change.Merged && p.Conflict && p.Target != "" {
			d = decide(p, "", w.file(p.Target))
		}
		follows := p.Target != "" && taken[p.Target]
		if p.Ours == p.Base && !w.apply && wish == "" && d.Choice == change.Merged && !follows {
			notTaken[p.Key], waits = true, true
			return change.Decision{Choice: change.Ours}
		}
		if d.Choice == change.Merged && p.Conflict {
			notTaken[p.Key] = true
		}
		return d
	})
	for _, c := range open {
		o.open = append(o.open, Conflict{Conflict: c})
	}
	if !there && here {
		merged = ours // nobody deletes an index by pulling
	}
	o.waits, o.settle = waits, len(notTaken) == 0
	if waits || len(open) > 0 || merged != mine {
		o.team = "changed"
		if !here && f.seen() == none {
			o.team = "added"
		}
	}
	if merged != "" {
		o.path, o.text = index, merged
	}
	now := theirs
	if len(notTaken) > 0 {
		now = normal(change.Advance(index, base, news, func(p change.Part) bool { return !notTaken[p.Key] }))
	}
	as := func(s string) string { return retarget(s, renamed) } // as a pull compares it
	if w.noted && len(w.list) == 0 && (!sameNews(index, base, now, mine, theirs) || !sameNews(index, as(base), as(now), as(mine), as(theirs))) {
		now, o.settle = base, false
	}
	sum := a.keep(now, now != "")
	if wish == Skip {
		o.state.Seen, o.text, o.team = &theirSum, mine, ""
		return o, nil
	}
	if f.Seen != nil {
		o.state.Seen = &sum
	} else {
		o.state = fileState{Base: sum}
	}
	return o, nil
}

// heldEntries tells which topics' entries stay as they are here, which of them since the
// topic was skipped, which follow their topic, and how topics are called from now on.
func (a *analysis) heldEntries(topics []*outcome, w wishes) (held, skipped, taken map[string]bool, names map[string]string) {
	held, skipped, taken, names = map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]string{}
	for _, o := range topics {
		left := o.state.Seen != nil
		wholly := len(o.open) == 1 && o.open[0].Whole
		for _, n := range o.it.names() {
			switch {
			case o.waits || left || wholly:
				held[n], skipped[n] = true, left && !o.waits && !wholly
			case o.team != "" && w.follows(o.it.names()...):
				taken[n] = true
			}
		}
		if o.path != "" && !held[o.path] {
			for _, n := range o.it.names() {
				if n != o.path {
					names[n] = o.path
				}
			}
		}
	}
	return held, skipped, taken, names
}

// pull decides about everything.
func (a *analysis) pull(w wishes) ([]*outcome, error) {
	var all []*outcome
	for _, it := range a.items {
		o, err := a.pullItem(it, w)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", it.path(), err)
		}
		if w.noted && o.renamedByBoth() {
			// Until the index here follows a new name, its entry is to be told by the old one.
			linked, err := a.linkedHere(it.base)
			if err != nil {
				return nil, err
			}
			o.moved = !linked
		}
		all = append(all, o)
	}
	x, err := a.pullIndex(all, w)
	if err != nil {
		return nil, err
	}
	return append(all, x), nil
}

// renamedByBoth tells whether the name that a topic has on both sides is noted as its name
// from now on.
func (o *outcome) renamedByBoth() bool {
	return o.moved && o.it.base != "" && o.it.base != o.it.theirs && o.it.mine == o.it.theirs
}

// linkedHere tells whether the index of this memory links a topic.
func (a *analysis) linkedHere(p string) (bool, error) {
	index, _, err := a.side(a.mine, memfile.IndexName)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(memfile.ParseIndex(index).Entries, func(e memfile.Entry) bool { return e.Target == p }), nil
}
