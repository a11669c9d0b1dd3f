package agentmem

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"mem/core/memdir"
	"mem/core/memory"
)

// Names lists the stores that exist and that a name addresses, for those who look into
// all of them: the project's memory first, then its agents', the user's, and the folders
// of the configuration.
func Names(ctx context.Context, m *memory.Memory) ([]string, error) {
	l := newLister(m, Options{})
	l.auto()
	l.agents(ctx)
	l.extra()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var names []string
	for _, s := range l.out.Stores {
		if s.Name != "" && s.Exists {
			names = append(names, s.Name)
		}
	}
	return names, nil
}

// only leaves the stores of one agent in the list.
func (s *Stores) only(agent string) error {
	folder, err := memdir.AgentFolder(agent)
	if err != nil {
		return err
	}
	s.Stores = slices.DeleteFunc(s.Stores, func(x Store) bool { return x.Agent != folder })
	s.Split = slices.DeleteFunc(s.Split, func(p Part) bool { return filepath.Base(p.Directory) != folder })
	if len(s.Stores)+len(s.Split) == 0 {
		return fmt.Errorf("no agent %s has memory here, or is defined with one; leave agent out to see all stores", memdir.ShownName(agent))
	}
	return nil
}
