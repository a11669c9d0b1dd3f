package stage

import (
	"fmt"
	"maps"
	"slices"

	"mem/core/change"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/text"
)

// indexed takes the staged index, and makes it fit the topics that there will be:
// entries of topics that went go, moved ones follow, new topics that the agent forgot
// get theirs, and those of pinned topics come back.
func (r *comparison) indexed() {
	base, had := r.base[memfile.IndexName]
	now, exists := r.tree.files[memfile.IndexName]
	switch {
	case exists && now != base:
		if err := r.clean(memfile.IndexName, base, now); err != nil {
			r.refuse(memfile.IndexName, err.Error())
			now = base
		}
	case !exists && had && !r.tree.keeps(memfile.IndexName):
		r.refuse(memfile.IndexName, "was deleted; the index is never")
		now = base
	case !exists:
		now = base
	}
	// New entries come first, while the list that they join is there.
	targets := map[string]bool{}
	for _, to := range r.moved {
		targets[to] = true
	}
	now = r.newEntries(now, func(p string) bool { return !targets[p] })
	now = r.dropEntries(base, now)
	now = r.restoreEntries(base, now)
	now = r.newEntries(now, func(p string) bool { return targets[p] })
	if f, ok := change.EditFile(memfile.IndexName, base, change.Lines(base, now)); ok {
		r.out.Change.Files = append(r.out.Change.Files, f)
	}
}

// newEntries gives new topics the entries that the agent forgot.
func (r *comparison) newEntries(now string, of func(p string) bool) string {
	x := memfile.ParseIndex(now)
	for _, p := range slices.Sorted(maps.Keys(r.text)) {
		if !of(p) || slices.ContainsFunc(x.Links, func(l memfile.Link) bool { return l.Path() == p }) {
			continue
		}
		edits, err := memdir.EntryFor(x, p, memfile.Parse(r.text[p]).Meta(), r.entryLength())
		if err != nil {
			r.refuse(memfile.IndexName, fmt.Sprintf("%s gets no entry: %v", memdir.ShownName(p), err))
			continue
		}
		now = applied(now, edits)
		x = memfile.ParseIndex(now)
	}
	return now
}

func (s *Stage) entryLength() int {
	if n := s.m.Config.Limits.EntryLength; n > 0 {
		return n
	}
	return memdir.EntryLength
}

// applied makes edits; ones that do not fit are a fault of ours and change nothing.
func applied(src string, edits []text.Edit) string {
	if out, ok := text.Apply(src, edits); ok {
		return out
	}
	return src
}

// dropEntries takes out entries of topics that went, lets those of moved ones follow,
// and takes out new ones that lead nowhere.
func (r *comparison) dropEntries(base, now string) string {
	x := memfile.ParseIndex(now)
	before := x
	if base != now {
		before = memfile.ParseIndex(base)
	}
	change := func(edits []text.Edit) {
		now = applied(now, edits)
		x = memfile.ParseIndex(now)
	}
	for _, target := range targets(x) {
		to, moved := r.moved[target]
		switch {
		case moved && x.Entry(to) == nil:
			var edits []text.Edit
			for _, l := range x.Links {
				if l.Path() == target {
					edits = append(edits, memdir.Retarget(x.Text(), l, memfile.IndexName, to))
				}
			}
			change(edits)
		case moved || r.removed[target]:
			change(x.Remove(target))
		case !r.final[target] && before.Entry(target) == nil && !r.view.Exists(target):
			r.refuse(memfile.IndexName, "the new entry of "+memdir.ShownName(target)+" leads to no topic and was left out")
			change(x.Remove(target))
		}
	}
	return now
}

// restoreEntries puts back entries that may not vanish, where they stood: of pinned topics,
// and of those whose deletion was refused.
func (r *comparison) restoreEntries(base, now string) string {
	if base == now || len(r.pinned)+len(r.held) == 0 {
		return now
	}
	before, x := memfile.ParseIndex(base), memfile.ParseIndex(now)
	for _, e := range before.Entries {
		if !e.List || !r.final[e.Target] || !r.pinned[e.Target] && !r.held[e.Target] || x.Entry(e.Target) != nil {
			continue
		}
		now = applied(now, x.PutBack(before, e))
		x = memfile.ParseIndex(now)
		if r.pinned[e.Target] {
			r.refuse(memfile.IndexName, "the entry of "+memdir.ShownName(e.Target)+" was taken out; the topic is pinned, so the entry stays")
		}
	}
	return now
}

// targets gives what the entries of an index lead to, each once.
func targets(x *memfile.Index) []string {
	var out []string
	seen := map[string]bool{}
	for _, e := range x.Entries {
		if !seen[e.Target] {
			seen[e.Target] = true
			out = append(out, e.Target)
		}
	}
	return out
}
