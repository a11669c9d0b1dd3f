package lspserver

import (
	"context"
	"io/fs"
	"os"

	"mem/core/memdir"
	"mem/core/settings"
	"mem/diagnostics"
	"mem/diagnostics/fixes"
	"mem/diagnostics/rules"
)

// A stand-in for diagnostics/workspace until that is merged.
type workspaceOptions struct {
	Env     settings.Env
	Project string
	Origin  string
}

type workspaceDirectory struct {
	Engine   *diagnostics.Engine
	Warnings []string
	path     string
	o        workspaceOptions
	root     *os.Root
	base     fs.FS
	views    *memdir.Cache
	cache    *diagnostics.Cache
	config   *diagnostics.Config
	src      fs.FS
}

type emptyFS struct{}

func (emptyFS) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

func openWorkspace(dir string, o workspaceOptions) (*workspaceDirectory, error) {
	d := &workspaceDirectory{path: dir, o: o, views: memdir.NewCache(), cache: diagnostics.NewCache(), config: diagnostics.DefaultConfig(),
		Engine: &diagnostics.Engine{Rules: rules.All(), Fixes: fixes.All()}, base: emptyFS{}}
	if root, err := os.OpenRoot(dir); err == nil {
		d.root, d.base = root, memdir.Disk(root)
	} else if !os.IsNotExist(err) {
		return nil, err
	}
	return d, nil
}

func (d *workspaceDirectory) Close() error {
	if d.root != nil {
		return d.root.Close()
	}
	return nil
}

func (d *workspaceDirectory) Snapshot(ctx context.Context, buffers map[string]memdir.Buffer) (*diagnostics.Snapshot, error) {
	d.src = d.base
	if len(buffers) > 0 {
		d.src = memdir.Overlay(d.base, buffers)
	}
	v, err := memdir.Read(ctx, d.src, d.views, memdir.Limits{})
	if err != nil {
		return nil, err
	}
	return diagnostics.NewSnapshot(v, d.config, nil, memdir.Stamp{Origin: d.o.Origin, Now: d.o.Env.Time()}, d.cache), nil
}

func (d *workspaceDirectory) Check(ctx context.Context, s *diagnostics.Snapshot, scope diagnostics.Scope) (*diagnostics.Result, error) {
	return d.Engine.Check(ctx, s, scope)
}

func (d *workspaceDirectory) FixAll(ctx context.Context, s *diagnostics.Snapshot, o diagnostics.FixOptions) (*diagnostics.Fixed, error) {
	return d.Engine.FixAll(ctx, d.src, d.views, memdir.Limits{}, s, o)
}
