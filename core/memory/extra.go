package memory

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"mem/core/memdir"
)

// whose tells the reader of a store's context which memory it is about.
func (m *Memory) whose() string {
	n := m.Location.Store
	if n.Auto() {
		return ""
	}
	if m.Location.ReadOnly {
		return fmt.Sprintf("\n\nWhat follows is of the store %q, a folder that is only read: give `store` with this name to `memory_read` and `memory_search`.", m.StoreName())
	}
	return fmt.Sprintf("\n\nWhat follows is the memory of the agent %q, %s: give `store` with %q to every memory tool.", memdir.ShownName(n.Agent),
		map[memdir.Scope]string{memdir.ScopeUser: "for all projects of this user", memdir.ScopeProject: "in the checkout of this project, for everybody who works on it",
			memdir.ScopeLocal: "in the checkout of this project, for this user alone"}[n.Scope], m.StoreName())
}

// extras keeps the folders of the configuration opened.
type extras struct {
	mu     sync.Mutex
	opened map[string]*Memory // by name
	closed bool
}

func (x *extras) close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.closed = true
	var err error
	for _, m := range x.opened {
		err = errors.Join(err, m.Close())
	}
	clear(x.opened)
	return err
}

// Extra opens a folder that the configuration names beside this memory, by its name
// there. It is closed with this memory.
func (m *Memory) Extra(name string) (*Memory, error) {
	m.extra.mu.Lock()
	defer m.extra.mu.Unlock()
	if o := m.extra.opened[name]; o != nil {
		return o, nil
	}
	if m.extra.closed {
		return nil, errors.New("the memory was closed")
	}
	opt := m.opt
	opt.Store, opt.MemoryDir = memdir.StoreName{Extra: name}.String(), ""
	o, err := Open(opt)
	if err != nil {
		return nil, err
	}
	if m.extra.opened == nil {
		m.extra.opened = map[string]*Memory{}
	}
	m.extra.opened[name] = o
	return o, nil
}

// ExtraNames lists the folders that the configuration names.
func (m *Memory) ExtraNames() []string { return slices.Sorted(maps.Keys(m.Config.Stores)) }

const (
	// besideWithin is how long the start of a conversation looks at folders beside the
	// memory, all together: they may lie anywhere, and the conversation waits.
	besideWithin = time.Second
	maxBeside    = 10 // of them that are told, one line each
)

// beside offers, one line each, the folders that can be searched beside this memory.
func (m *Memory) beside(ctx context.Context) string {
	names := m.ExtraNames()
	if len(names) == 0 || m.Location.ReadOnly {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, besideWithin)
	defer cancel()
	var b strings.Builder
	b.WriteString("\nBeside this memory, these folders can be searched and read; nothing is written there:\n\n")
	for i, name := range names {
		if i == maxBeside {
			fmt.Fprintf(&b, "- … %d more: memory_stores\n", len(names)-i)
			break
		}
		fmt.Fprintf(&b, "- %s\n", m.besideWords(ctx, name))
	}
	return b.String()
}

func (m *Memory) besideWords(ctx context.Context, name string) string {
	id := memdir.StoreName{Extra: name}.String()
	o, err := m.Extra(name)
	if err != nil {
		return fmt.Sprintf("`%s` cannot be used: %s", id, memdir.Shown(err.Error(), maxNote))
	}
	v, err := o.store.View(ctx)
	switch {
	case err != nil:
		return fmt.Sprintf("`%s` (%s) cannot be read: %s", id, memdir.ShownName(o.Location.Directory), memdir.Shown(err.Error(), maxNote))
	case !v.Exists:
		return fmt.Sprintf("`%s` (%s) does not exist", id, memdir.ShownName(o.Location.Directory))
	}
	topics := "1 topic"
	if n := len(v.Topics); n != 1 {
		topics = fmt.Sprint(n, " topics")
	}
	return fmt.Sprintf("`%s` (%s), %s: `memory_search` with store %q, or with stores \"all\" for everything at once", id, memdir.ShownName(o.Location.Directory), topics, id)
}
