package mending

import (
	"context"
	"errors"

	"mem/core/memory"
	"mem/diagnostics/workspace"
)

// Of makes the Fixer of an opened memory, with the rules, the configuration and the
// exceptions that hold there.
func Of(ctx context.Context, m *memory.Memory) (f *Fixer, err error) {
	dir, err := workspace.Open(m.Location.Directory, workspace.Options{Env: m.Env(), Project: m.Location.Project.Root, Origin: m.Origin()})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	s, err := dir.Snapshot(ctx, nil)
	if err != nil {
		return nil, err
	}
	f = New(dir.Engine, s.Config, s.Guide, s.Stamp)
	f.Accept = dir.Accept
	return f, nil
}
