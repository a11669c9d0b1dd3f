package memory

import (
	"context"

	"mem/core/store"
)

// Look reads the directory for those who work on all of it, with what must be said
// of it.
func (m *Memory) Look(ctx context.Context) (*store.Reading, Notice, error) { return m.view(ctx) }

// Other opens another memory on the same behalf, by the name of its store.
func (m *Memory) Other(name string) (*Memory, error) {
	opt := m.opt
	opt.Store, opt.MemoryDir = name, ""
	return Open(opt)
}

// AllowsSecrets reports whether secrets may be written on behalf of this context.
func (m *Memory) AllowsSecrets(ctx context.Context) bool { return m.mayWriteSecrets(ctx) }
