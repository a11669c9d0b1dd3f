package memory

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"mem/core/memdir"
	"mem/core/recall"
	"mem/core/store"
)

// Shelf searches several memories as one: a word's rarity is that in all of them
// together, so that their hits can be ranked in one list. It keeps what it read for
// the next search. The zero value is ready; it is safe for concurrent use.
type Shelf struct {
	mu    sync.Mutex
	index *recall.Index
}

// MaxShelf bounds the memories of one search.
const MaxShelf = 64

// Search ranks the topics of all memories by a query. Each hit names its store. What
// cannot be read is told, and the others are searched all the same.
func (s *Shelf) Search(ctx context.Context, all []*Memory, o SearchOptions) (*Found, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	var n Notice
	if left := len(all) - MaxShelf; left > 0 {
		n.note(fmt.Sprintf("%d more stores were not searched; name one with store to search it.", left))
		all = all[:MaxShelf]
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var docs []recall.Doc
	var names []string
	views := map[string]*store.Reading{}
	for _, m := range all {
		name := m.StoreName()
		if views[name] != nil {
			continue
		}
		v, told, err := m.view(ctx)
		var more []recall.Doc
		var notes []string
		if err == nil {
			more, notes, err = documents(ctx, s.index, name+"\x00", v)
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			n.note(fmt.Sprintf("The store %s was not searched: %v", name, err))
			continue
		}
		views[name] = v
		if v.Exists {
			names = append(names, name)
		}
		docs = append(docs, more...)
		n.lose(told.Vanished...)
		for _, w := range append(unread(v), notes...) {
			n.note(name + ": " + w)
		}
	}
	s.index = s.index.Update(docs)
	f, err := o.search(s.index, n, func(id string) (*store.Reading, string, string) {
		name, p, _ := strings.Cut(id, "\x00")
		return views[name], name, p
	})
	if err != nil {
		return nil, err
	}
	f.Stores = []string{}
	for _, name := range names {
		f.Stores = append(f.Stores, memdir.Shown(name, maxName))
	}
	return f, nil
}
