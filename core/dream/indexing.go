package dream

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mem/core/memdir"
	"mem/core/memfile"
)

// index makes the unit of the index: in order, cut to what readers load, with every topic.
func (p *plan) index(ctx context.Context, o MechanicalOptions, linkedOnly bool) (*part, error) {
	u := newPart("Put the index in order and make it fit")
	sorted, err := p.sort(ctx, o, u)
	if err != nil {
		return nil, err
	}
	if o.Fixer != nil && !linkedOnly {
		// Moving is safe enough: every word stays.
		left, err := p.mendIndex(ctx, o, u, MendOptions{Only: []string{ruleTooLong, ruleTooLarge}, Unsafe: true, Accept: p.keepsPinned})
		if err != nil {
			return nil, err
		}
		p.leave(left)
		if err := p.orphans(ctx, o, u); err != nil {
			return nil, err
		}
		// Links that went with details into topics count for the order, too.
		again, err := p.sort(ctx, o, u)
		if err != nil {
			return nil, err
		}
		sorted = sorted || again
	}
	after := p.texts[memfile.IndexName]
	if now, ok := u.now[memfile.IndexName]; ok {
		after = now
	}
	if sorted {
		words := "the most useful entries come first in each list"
		u.reasons = append(u.reasons, "The most useful entries come first in each list.")
		p.report.Corrected = append(p.report.Corrected, Item{What: memfile.IndexName, Why: words})
	}
	p.report.After = memdir.FillOf(memfile.ParseIndex(after), o.Rule)
	if w := p.report.After.Warning; w != "" {
		p.report.Left = append(p.report.Left, Item{What: memfile.IndexName, Why: w})
	}
	for path := range u.now {
		if _, had := p.times[path]; !had {
			p.times[path] = o.Now
		}
	}
	return u, nil
}

// withPart gives a View of the memory as the units so far and this part leave it.
func (p *plan) withPart(ctx context.Context, u *part) (*memdir.View, error) {
	q := *p
	q.texts = maps.Clone(p.texts)
	maps.Copy(q.texts, u.now)
	return q.look(ctx)
}

// sort puts the entries of the index in order, where it takes enough of what readers load.
func (p *plan) sort(ctx context.Context, o MechanicalOptions, u *part) (changed bool, err error) {
	now, exists := p.texts[memfile.IndexName]
	if mine, ok := u.now[memfile.IndexName]; ok {
		now, exists = mine, true
	}
	if !exists || memdir.FillOf(memfile.ParseIndex(now), o.Rule).Percent < orderPercent {
		return false, nil
	}
	v, err := p.withPart(ctx, u)
	if err != nil {
		return false, err
	}
	lib, err := gather(ctx, v, v.Exists)
	if err != nil {
		return false, err
	}
	after := ordered(now, func(target string) int { return usefulness(lib.by[target], o.Now) })
	if after == now {
		return false, nil
	}
	u.now[memfile.IndexName] = after
	return true, nil
}

// orphans gives topics that the index does not lead to their entries. Where it has no room
// for all, details that stand in it move into their topics; entries are not moved for others.
func (p *plan) orphans(ctx context.Context, o MechanicalOptions, u *part) error {
	add := MendOptions{Only: []string{ruleOrphan}, Accept: p.keepsPinned}
	left, err := p.mendIndex(ctx, o, u, add)
	if err != nil {
		return err
	}
	most := p.details(u)
	for _, room := range []int{most, most / 2} { // some may have no topic that takes them
		room = min(room, len(left))
		if room == 0 {
			break
		}
		was := u.now[memfile.IndexName]
		if _, err := p.mendIndex(ctx, o, u, MendOptions{Only: []string{ruleTooLong, ruleTooLarge}, Accept: p.keepsPinned, Room: room}); err != nil {
			return err
		}
		if u.now[memfile.IndexName] != was {
			if left, err = p.mendIndex(ctx, o, u, add); err != nil {
				return err
			}
			break
		}
	}
	p.leave(left)
	return nil
}

// details counts the lines of the index, as a part leaves it, that stand below entries.
func (p *plan) details(u *part) (n int) {
	src, ok := u.now[memfile.IndexName]
	if !ok {
		src = p.texts[memfile.IndexName]
	}
	x := memfile.ParseIndex(src)
	entries := map[int]bool{}
	for _, e := range x.Entries {
		entries[e.Line] = true
	}
	t := x.Text()
	for _, e := range x.Entries {
		for i := e.Line + 1; e.List && i < t.Lines() && !entries[i] && deeper(t.Slice(t.Line(i)), e.Indent); i++ {
			n++
		}
	}
	return n
}

// leave reports what nothing mends.
func (p *plan) leave(left []Mend) {
	for _, x := range left {
		p.report.Left = append(p.report.Left, Item{What: fmt.Sprintf("%s:%d", memdir.ShownName(x.Path), x.Line), Why: x.Words})
	}
}

// mendIndex cuts the index or adds what it lacks, and gives what is left of that; topics
// that take details of it become part of its unit.
func (p *plan) mendIndex(ctx context.Context, o MechanicalOptions, u *part, opt MendOptions) ([]Mend, error) {
	v, err := p.withPart(ctx, u)
	if err != nil {
		return nil, err
	}
	m, err := o.Fixer.Mend(ctx, v, opt)
	if err != nil {
		return nil, err
	}
	for _, f := range m.Change.Files {
		after, exists, err := f.After()
		if err != nil {
			return nil, err
		}
		if exists {
			u.now[f.Path] = after
		}
	}
	words := map[string]int{}
	var order, indexed []string
	for _, x := range m.Made {
		if x.Rule == ruleOrphan {
			indexed = append(indexed, memdir.ShownName(x.Path))
			continue
		}
		w := memdir.Shown(x.Words, maxItemText)
		if words[w]++; words[w] == 1 {
			order = append(order, w)
		}
	}
	if n := len(indexed); n > 0 {
		w := "Add the entry of "
		if n > 1 {
			w = "Add the entries of "
		}
		w += strings.Join(indexed[:min(n, maxNames)], ", ")
		if n > maxNames {
			w += fmt.Sprintf(" and %d more", n-maxNames)
		}
		order = append(order, w)
	}
	for _, w := range order {
		u.reasons = append(u.reasons, w+".")
		p.report.Corrected = append(p.report.Corrected, Item{What: memfile.IndexName, Why: w})
	}
	return slices.Concat(m.Refused, m.Left), nil
}
