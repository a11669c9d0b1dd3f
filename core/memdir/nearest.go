package memdir

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"

	"mem/core/memfile"
)

// Nearest gives up to most topics that a name or path which leads nowhere may have
// meant, best first: those of the same name in another folder or in another
// spelling, those with a type before the name or without the one it has, then
// those that a few slips of the pen make of it. Its cost grows with the number of
// topics, about 5 ns for each; what was found is kept for as long as the topics stay
// the same.
func (v *View) Nearest(ref string, most int) []*Topic {
	n := v.named()
	key := nearKey{ref, most}
	n.mu.Lock()
	found, ok := n.near[key]
	n.mu.Unlock()
	if ok {
		return slices.Clone(found)
	}
	found = v.nearest(n, ref, most)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.near == nil || len(n.near) >= maxKeptNear {
		n.near = map[nearKey][]*Topic{}
	}
	n.near[nearKey{strings.Clone(ref), most}] = found // the text that ref is a part of is let go
	return slices.Clone(found)
}

type nearKey struct {
	ref  string
	most int
}

// maxKeptNear bounds how many searches are kept: more links than an editor shows.
const maxKeptNear = 1000

func (v *View) nearest(n *names, ref string, most int) []*Topic {
	whole := Fold(strings.TrimSuffix(cleanRef(ref), ".md"))
	stem := whole[strings.LastIndexByte(whole, '/')+1:]
	if stem == "" {
		return nil
	}
	out := slices.Clone(n.path[whole])
	add := func(more []*Topic) {
		for _, t := range byPath(more) {
			if !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
	}
	add(slices.Concat(n.name[stem], n.stem[stem]))
	more := n.behindType(stem)
	for _, typ := range memfile.Types {
		if rest, ok := strings.CutPrefix(stem, typ+"-"); ok {
			more = append(more, slices.Concat(n.name[rest], n.stem[rest], n.behindType(rest))...)
		}
	}
	add(more)
	if len(out) < most {
		for _, t := range v.misspelled(stem) {
			if !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
	}
	return out[:min(len(out), most)]
}

// spelling is one way to write a topic's name.
type spelling struct {
	topic *Topic
	runes []rune // folded
	marks uint64 // which characters occur, by their last bits
}

func spellingOf(t *Topic, folded string) spelling {
	s := spelling{topic: t, runes: []rune(folded)}
	for _, r := range s.runes {
		s.marks |= 1 << (r & 63)
	}
	return s
}

// slips is how many slips of the pen a name of n characters may hold and still be
// taken for another: none in short ones, of which any two are near.
func slips(n int) int {
	switch {
	case n < 4:
		return 0
	case n < 8:
		return 1
	case n < 16:
		return 2
	}
	return 3
}

// misspelled gives the topics with a name that few slips make of stem, nearest
// first.
func (v *View) misspelled(stem string) []*Topic {
	n := v.named()
	n.spell.Do(func() {
		for _, t := range n.of {
			stem, name := Fold(Stem(t.Path)), Fold(t.Name())
			n.spellings = append(n.spellings, spellingOf(t, stem))
			if name != stem {
				n.spellings = append(n.spellings, spellingOf(t, name))
			}
		}
	})
	want := spellingOf(nil, stem)
	limit := slips(len(want.runes))
	if limit == 0 {
		return nil
	}
	type near struct {
		*Topic
		slips int
	}
	var found []near
	for _, s := range n.spellings {
		// A slip changes the length by one, and the set of characters by two.
		if d := len(s.runes) - len(want.runes); d > limit || -d > limit || bits.OnesCount64(s.marks^want.marks) > 2*limit {
			continue
		}
		if d := distance(want.runes, s.runes, limit); d <= limit {
			found = append(found, near{s.topic, d})
		}
	}
	slices.SortStableFunc(found, func(a, b near) int { return cmp.Or(cmp.Compare(a.slips, b.slips), cmp.Compare(a.Path, b.Path)) })
	var out []*Topic
	for _, f := range found {
		if !slices.Contains(out, f.Topic) {
			out = append(out, f.Topic)
		}
	}
	return out
}

// distance counts the characters to insert, leave out, change or swap with their
// neighbour to make b of a; more than limit is given as limit+1.
func distance(a, b []rune, limit int) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range a {
		row[0] = i + 1
		best := row[0]
		for j := range b {
			change := last[j]
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
			best = min(best, row[j+1])
		}
		if best > limit {
			return limit + 1
		}
		before, last, row = last, row, before
	}
	return min(last[len(b)], limit+1)
}
