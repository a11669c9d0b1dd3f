package memfile

import (
	"iter"
	"sync"
)

// few is up to how many entries or links an index is looked through from its start,
// which takes a microsecond: an index that is read to its end is shorter.
const few = 512

// places tells where the paths stand in a long index, so that what asks for each of
// them does not take quadratic time.
type places struct {
	once  sync.Once
	entry map[string]int   // the first entry of each path
	links map[string][]int // the links of each
}

func (x *Index) place() *places {
	p := &x.places
	p.once.Do(func() {
		p.entry, p.links = make(map[string]int, len(x.Entries)), make(map[string][]int, len(x.Links))
		for i := range x.Entries {
			if _, seen := p.entry[x.Entries[i].Target]; !seen {
				p.entry[x.Entries[i].Target] = i
			}
		}
		for i := range x.Links {
			p.links[x.Links[i].Path()] = append(p.links[x.Links[i].Path()], i)
		}
	})
	return p
}

// linksTo gives the links that lead to a path, in order.
func (x *Index) linksTo(path string) iter.Seq[Link] {
	return func(yield func(Link) bool) {
		if len(x.Links) > few {
			for _, i := range x.place().links[path] {
				if !yield(x.Links[i]) {
					return
				}
			}
			return
		}
		for _, l := range x.Links {
			if l.Path() == path && !yield(l) {
				return
			}
		}
	}
}
