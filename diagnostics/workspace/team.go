package workspace

import (
	"sync"

	"mem/core/agentmem"
	"mem/core/memdir"
	"mem/core/memory"
	"mem/diagnostics"
)

// sharing is how a directory is shared with a team, opened when it is first needed.
type sharing struct {
	mu         sync.Mutex
	looked     bool
	shared     *agentmem.Shared // nil where it is not
	inSnapshot bool
	err        error
}

// Shared gives the memory and the snapshot that the directory is one side of, nil where it
// is neither.
func (d *Directory) Shared() (*agentmem.Shared, error) {
	if p := memdir.PlaceOf(d.path); p != memdir.PlaceAgent && p != memdir.PlaceSnapshot {
		return nil, nil
	}
	x := &d.sharing
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.looked {
		x.shared, x.inSnapshot, x.err = agentmem.OpenAt(memory.Options{Env: d.env, Project: d.project, Actor: "mem-lsp"}, d.path)
		x.looked = true
	}
	return x.shared, x.err
}

// close lets go of both. Snapshots that look at them later open nothing again.
func (x *sharing) close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.looked = true
	s := x.shared
	x.shared = nil
	if s == nil {
		return nil
	}
	return s.Close()
}

// team gives the other side of the directory, nil where it has none. One that cannot be
// opened has none: what is wrong with where it lies, other rules and the servers say.
func (d *Directory) team(buffers map[string]memdir.Buffer) *diagnostics.Team {
	s, err := d.Shared()
	if s == nil || err != nil {
		return nil
	}
	d.sharing.mu.Lock()
	inSnapshot := d.sharing.inSnapshot
	d.sharing.mu.Unlock()
	var over map[string]string
	if !inSnapshot {
		over = map[string]string{}
		for p, b := range buffers {
			over[p] = b.Text
		}
	}
	return diagnostics.NewTeam(s, inSnapshot, over)
}
