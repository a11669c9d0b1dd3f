package agentmem

import (
	"mem/core/change"
	"mem/core/memfile"
)

// index merges the index: entries of topics that are held back stay as they are there.
func (p *publishing) index() (*published, []Conflict, error) {
	const index = memfile.IndexName
	it := &item{base: index, mine: index, theirs: index}
	f := p.st.Files[index]
	mine, here, err := p.side(p.mine, index)
	if err != nil {
		return nil, nil, err
	}
	theirs, there, err := p.side(p.theirs, index)
	if err != nil {
		return nil, nil, err
	}
	o := &published{it: it, path: index, text: theirs, same: true}
	if !there {
		o.path = ""
	}
	if !here || mine == theirs {
		if here {
			o.state, o.set = fileState{Base: p.keep(mine, true)}, true
		}
		return o, nil, nil
	}
	names := map[string]string{}
	for _, t := range p.all {
		for _, n := range t.it.names() {
			if t.path != "" && n != t.path && !p.hold[n] {
				names[n] = t.path
			}
		}
	}
	base, ours, news := retarget(p.known(f.Base), names), retarget(mine, names), retarget(theirs, names)
	held := func(q change.Part) bool { return q.Target != "" && p.hold[q.Target] }
	merged, open := change.Resolve(index, base, ours, news, func(q change.Part) change.Decision {
		if held(q) {
			return change.Decision{Choice: change.Theirs}
		}
		return change.Decision{}
	})
	if len(open) > 0 {
		var all []Conflict
		for _, c := range open {
			all = append(all, Conflict{Conflict: c})
		}
		return o, all, nil
	}
	merged = normal(merged)
	o.set = true
	common := normal(change.Advance(index, base, ours, func(q change.Part) bool { return !held(q) }))
	o.state = fileState{Base: p.keep(common, common != "")}
	if f.Seen != nil && p.theirs.sum(index) == *f.Seen {
		sum := p.keep(merged, true)
		o.state.Seen = &sum
	}
	o.text, o.same = merged, merged == theirs
	switch {
	case o.same:
	case merged == "":
		o.path, o.same = "", !there
		o.action = "removed"
	case there:
		o.path, o.action = index, "changed"
	default:
		o.path, o.action = index, "added"
	}
	return o, nil, nil
}
