package recall

import (
	"cmp"
	"slices"
	"strings"
)

type scored struct {
	slot  uint32
	score float64
}

// compare orders better hits first, equal ones by ID.
func (x *Index) compare(p, q scored) int {
	if p.score != q.score {
		return cmp.Compare(q.score, p.score)
	}
	return strings.Compare(x.docs[p.slot].id, x.docs[q.slot].id)
}

// best counts the matches that pass the filter and returns those of the page.
// It keeps no more than the page needs, in a heap with the worst on top.
func (x *Index) best(scores []float64, opts *Options, res *Result) []scored {
	limit, offset := opts.Limit, max(0, opts.Offset)
	if limit <= 0 {
		limit = DefaultLimit
	}
	limit = min(limit, MaxLimit)
	if offset >= len(scores) {
		offset = len(scores)
	}
	var top []scored
	for slot, score := range scores {
		if score <= 0 || opts.Filter != nil && !opts.Filter(x.docs[slot].id) {
			continue
		}
		res.Total++
		s := scored{uint32(slot), score}
		if len(top) < offset+limit {
			top = append(top, s)
			if len(top) == offset+limit {
				for i := len(top)/2 - 1; i >= 0; i-- {
					x.sink(top, i)
				}
			}
		} else if x.compare(s, top[0]) < 0 {
			top[0] = s
			x.sink(top, 0)
		}
	}
	slices.SortFunc(top, x.compare)
	return top[min(offset, len(top)):]
}

func (x *Index) sink(heap []scored, i int) {
	for {
		worst := 2*i + 1
		if worst >= len(heap) {
			return
		}
		if worst+1 < len(heap) && x.compare(heap[worst], heap[worst+1]) < 0 {
			worst++
		}
		if x.compare(heap[i], heap[worst]) >= 0 {
			return
		}
		heap[i], heap[worst] = heap[worst], heap[i]
		i = worst
	}
}
