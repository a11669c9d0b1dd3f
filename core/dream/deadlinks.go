package dream

import (
	"fmt"
	"maps"
	"slices"

	"mem/core/memdir"
	"mem/core/memfile"
)

// leastDead is how many dead links there must be before their share says something.
const leastDead = 4

// maxDead bounds the proposals about dead links in one dream.
const maxDead = 50

// deadLinks proposes to take out what leads nowhere. In a copy of a part of a memory
// nearly all links are dead, and right: there nothing is proposed.
func (p *plan) deadLinks() {
	if len(p.dead) == 0 {
		return
	}
	if n := len(p.dead); n >= leastDead && 2*n > p.links {
		p.report.Notes = append(p.report.Notes, fmt.Sprintf("%d of the %d files that are linked do not exist. This looks like a copy of a part of a memory, in which links are right though they lead nowhere; none is proposed for removal.", n, p.links))
		return
	}
	done := 0
	for _, target := range slices.Sorted(maps.Keys(p.dead)) {
		if done == maxDead {
			p.report.Notes = append(p.report.Notes, fmt.Sprintf("%d more dead links are left for the next dream.", len(p.dead)-done))
			return
		}
		if p.deadLink(target) {
			done++
		}
	}
}

func (p *plan) deadLink(target string) bool {
	name := memdir.ShownName
	to := ""
	if meant := p.view.Nearest(target, 2); len(meant) == 1 && memdir.Fold(memdir.Stem(meant[0].Path)) == memdir.Fold(memdir.Stem(target)) {
		if t := p.by[meant[0].Path]; t != nil && t.entries == 0 {
			to = t.Path
		}
	}
	now := map[string]string{}
	inIndex := false
	for _, from := range p.dead[target] {
		if from == memfile.IndexName {
			inIndex = true
			continue
		}
		if p.pinned(from) || memdir.CheckTopicPath(from) != nil {
			p.report.Notes = append(p.report.Notes, fmt.Sprintf("%s links %s, which does not exist, and is not to be changed.", name(from), name(target)))
			continue
		}
		src, ok := p.text(from)
		if !ok {
			continue
		}
		if after, ok := unlink(from, src, target); ok {
			now[from] = after
		}
	}
	if len(now) == 0 && !inIndex {
		return false
	}
	from := slices.Clone(p.dead[target])
	o := p.propose("Take out links to "+name(target), slices.Sorted(maps.Keys(now))...)
	o.copies = false
	maps.Copy(o.now, now)
	why := fmt.Sprintf("%s does not exist", name(target))
	if inIndex {
		if to != "" {
			o.retarget[target] = to
			why += fmt.Sprintf("; the index links %s instead", name(to))
		} else if p.detailed(target) {
			o.unlink = append(o.unlink, target)
			why += "; what stands below its entry stays"
		} else {
			o.entries = append(o.entries, target)
		}
	}
	o.reasons = append(o.reasons, why+".")
	o.sources = append(o.sources, from...)
	o.items = append(o.items, Item{What: "Take out links to " + name(target), Why: why, Sources: from})
	return true
}

// detailed reports whether details stand below an entry of a path in the index.
func (p *plan) detailed(path string) bool {
	x := p.parsed(p.texts[memfile.IndexName])
	return slices.ContainsFunc(listed(x, path), func(e memfile.Entry) bool { return detailsOf(x, e).Len() > 0 })
}
