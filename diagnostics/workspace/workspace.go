// Package workspace owns a memory directory under check: opened, with what
// surrounds it (the user's settings, .mem.yaml, the project's instructions), for
// Snapshots of the disk or of open buffers over it.
package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"mem/core/change"
	"mem/core/memdir"
	"mem/core/project"
	"mem/core/settings"
	"mem/diagnostics"
	"mem/diagnostics/fixes"
	"mem/diagnostics/rules"
)

// NewEngine gives the engine with every rule and fix. allow holds the fingerprints
// (guard.allow of config.yaml) of what the safety rules may leave alone.
func NewEngine(allow []string) *diagnostics.Engine {
	known := map[string]bool{}
	for _, fp := range allow {
		known[strings.ToLower(strings.TrimSpace(fp))] = true
	}
	return &diagnostics.Engine{Rules: rules.All(), Fixes: fixes.All(), Allowed: func(fp string) bool { return known[strings.ToLower(fp)] }}
}

// Options says on whose behalf a directory is checked.
type Options struct {
	Env settings.Env
	// Project is a folder of the project that is worked on, "" when unknown. It
	// counts where the memory directory lies in it or is where its memory is kept.
	Project string
	Origin  string // the session that topics made by a fix carry
	// BodyBytes bounds the texts of topics that are kept between a Snapshot and its
	// check; 0 means what suits a server. With less than there is, files are read
	// twice.
	BodyBytes int64
	// Cache is what somebody else keeps of the directory's files, nil for one of its own.
	Cache *memdir.Cache
}

// Directory is a memory directory under check. It is safe for concurrent use.
type Directory struct {
	Engine   *diagnostics.Engine
	Warnings []string // what is wrong with the user's settings, and with Options
	// Accept refuses a change that would write a secret where it does not stand yet.
	Accept func(change.Change) error

	path    string
	env     settings.Env
	origin  string
	limits  memdir.Limits
	base    *diagnostics.Config // before any .mem.yaml
	project string              // top folder of the project; "" where there is none
	isTop   bool                // the directory is that folder itself
	views   *memdir.Cache
	found   *diagnostics.Cache

	sharing sharing

	mu     sync.Mutex
	root   *os.Root // nil while there is no directory
	closed bool
	around around
}

// Open prepares the check of the memory directory at an absolute path, which need
// not exist yet. Nothing is created.
func Open(dir string, o Options) (*Directory, error) {
	dir, err := project.Absolute(dir, o.Env.ProjectOptions())
	if err != nil {
		return nil, fmt.Errorf("opening a memory directory: %w", err)
	}
	d := &Directory{path: dir, env: o.Env, origin: o.Origin, views: o.Cache, found: diagnostics.NewCache()}
	switch {
	case d.views != nil:
	case o.BodyBytes > 0:
		d.views = memdir.NewCacheOf(o.BodyBytes)
	default:
		d.views = memdir.NewCache()
	}
	config, err := settings.LoadConfig(o.Env)
	d.warn(err)
	d.Engine = NewEngine(config.Guard.Allow)
	d.Accept = NoNewSecrets(config.Guard.Allow)
	d.limits = memdir.Limits{TopicBytes: config.Limits.TopicBytes, ScanLines: config.Limits.ScanLines, EntryLength: config.Limits.EntryLength, IndexMayFail: true}
	d.base = baseConfig(config)
	d.project, err = projectOf(dir, o, config.Memory.TrustProjectSettings)
	d.warn(err)
	d.isTop = d.project == real(dir)
	if _, err := d.disk(); err != nil {
		return nil, err
	}
	return d, nil
}

// warn notes each error of a joined one.
func (d *Directory) warn(err error) {
	var joined interface{ Unwrap() []error }
	switch {
	case err == nil:
	case errors.As(err, &joined):
		for _, e := range joined.Unwrap() {
			d.warn(e)
		}
	default:
		d.Warnings = append(d.Warnings, err.Error())
	}
}

// baseConfig gives the limits that the user's own settings name: rules warn of what
// mem's own readers would leave out.
func baseConfig(c settings.Config) *diagnostics.Config {
	base := diagnostics.DefaultConfig()
	base.Limits.IndexLines, base.Limits.IndexSize = c.Limits.IndexLines, int(c.Limits.IndexBytes)
	base.Limits.EntryLength = c.Limits.EntryLength
	base.Limits.ScanLines, base.Limits.Topics = c.Limits.ScanLines, c.Limits.ScanTopics
	return base
}

// Path gives the directory, absolute and clean.
func (d *Directory) Path() string { return d.path }

// Project gives the top folder of the project whose instructions and .mem.yaml
// count here, "" where there is none.
func (d *Directory) Project() string { return d.project }

// Close lets go of the directory. Snapshots can no longer load what they have not.
func (d *Directory) Close() error {
	shared := d.sharing.close()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	if d.root == nil {
		return shared
	}
	return errors.Join(shared, d.root.Close())
}

// disk gives what lies on disk now. The directory may have come, gone, or made room
// for another of its name since the last look. A root that was left is closed by
// the collector: Snapshots may still read from it.
func (d *Directory) disk() (fs.FS, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, fmt.Errorf("%s was closed: open it again", memdir.ShownName(d.path))
	}
	now, err := os.Stat(d.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.root = nil
		return nowhere{}, nil
	case err != nil:
		return nil, fmt.Errorf("opening %s: %w: check its permissions", memdir.ShownName(d.path), project.Reason(err))
	case !now.IsDir():
		return nil, fmt.Errorf("%s is a file, not a memory directory: name the folder that it lies in", memdir.ShownName(d.path))
	}
	if d.root != nil {
		if was, err := d.root.Stat("."); err == nil && os.SameFile(was, now) {
			return memdir.Disk(d.root), nil
		}
		d.root = nil
	}
	root, err := os.OpenRoot(d.path)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w: check its permissions", memdir.ShownName(d.path), project.Reason(err))
	}
	d.root = root
	return memdir.Disk(root), nil
}

// nowhere is a directory that does not exist yet, as a source of Views.
type nowhere struct{}

var _ fs.ReadLinkFS = nowhere{}

func absent(op, name string) error {
	return &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
}

func (nowhere) Open(name string) (fs.File, error)      { return nil, absent("open", name) }
func (nowhere) Lstat(name string) (fs.FileInfo, error) { return nil, absent("lstat", name) }
func (nowhere) ReadLink(name string) (string, error)   { return "", absent("readlink", name) }

// ReadDir lists nothing, so that the directory reads as an empty one.
func (nowhere) ReadDir(name string) ([]fs.DirEntry, error) {
	if name != "." {
		return nil, absent("readdir", name)
	}
	return nil, nil
}

// Snapshot reads the directory with open buffers over it, keyed by slash-separated
// paths inside it; one of .mem.yaml counts, too.
func (d *Directory) Snapshot(ctx context.Context, buffers map[string]memdir.Buffer) (*diagnostics.Snapshot, error) {
	return d.snapshot(ctx, nil, buffers)
}

// Typed is Snapshot for the moment after a key was pressed: where last was read with
// the same buffers open, other files than these are not looked at again.
func (d *Directory) Typed(ctx context.Context, last *diagnostics.Snapshot, buffers map[string]memdir.Buffer) (*diagnostics.Snapshot, error) {
	return d.snapshot(ctx, last, buffers)
}

func (d *Directory) snapshot(ctx context.Context, last *diagnostics.Snapshot, buffers map[string]memdir.Buffer) (*diagnostics.Snapshot, error) {
	src, err := d.disk()
	if err != nil {
		return nil, err
	}
	if len(buffers) > 0 {
		src = memdir.Overlay(src, buffers)
	}
	var v *memdir.View
	ok := false
	if last != nil {
		v, ok = last.View.Typed(ctx, buffers)
	}
	if !ok {
		if v, err = memdir.Read(ctx, src, d.views, d.limits); err != nil {
			return nil, fmt.Errorf("reading %s: %w", memdir.ShownName(d.path), err)
		}
	}
	return d.snapshotOf(v, src, buffers), nil
}

func (d *Directory) snapshotOf(v *memdir.View, src fs.FS, buffers map[string]memdir.Buffer) *diagnostics.Snapshot {
	config, guide := d.surroundings(src)
	s := diagnostics.NewSnapshot(v, config, guide, memdir.Stamp{Origin: d.origin, Now: d.env.Time()}, d.found)
	s.Beside = d.beside()
	s.Team = d.team(buffers)
	return s
}

// Check runs the rules over a Snapshot of this directory.
func (d *Directory) Check(ctx context.Context, s *diagnostics.Snapshot, scope diagnostics.Scope) (*diagnostics.Result, error) {
	return d.Engine.Check(ctx, s, scope)
}

// FixAll mends what the options admit, from a Snapshot of this directory. Nothing
// is written. Unless the options say otherwise, what Accept refuses is left.
func (d *Directory) FixAll(ctx context.Context, s *diagnostics.Snapshot, o diagnostics.FixOptions) (*diagnostics.Fixed, error) {
	if o.Accept == nil {
		o.Accept = d.Accept
	}
	return d.Engine.FixAll(ctx, s, o)
}

// projectOf gives the top folder of the project that a memory directory belongs to,
// "" where it belongs to none.
func projectOf(dir string, o Options, trustProjectSettings bool) (string, error) {
	var failed error
	if o.Project != "" {
		p, err := project.Find(o.Project, o.Env.ProjectOptions())
		if err != nil {
			failed = err
		} else if top := topOf(p); within(dir, top) || within(dir, p.Root) {
			return top, nil
		} else if loc, err := memdir.Locate(o.Env, memdir.LocateOptions{Project: o.Project, TrustProjectSettings: trustProjectSettings}); err == nil && loc.Real == real(dir) {
			return top, nil
		}
	}
	place := memdir.PlaceOf(dir)
	if place == memdir.PlaceProject {
		return "", failed // a slug cannot be turned back into its project
	}
	from := dir
	if place != "" {
		from = filepath.Dir(filepath.Dir(filepath.Dir(dir))) // the folder that holds .claude
	}
	p, err := project.Find(existing(from), o.Env.ProjectOptions())
	switch {
	case err != nil:
		return "", errors.Join(failed, err)
	case p.Worktree != "":
		return topOf(p), failed
	case place != "" && real(from) != real(o.Env.Home):
		return real(from), failed // a project without git
	}
	return "", failed
}

// topOf gives the folder in which a project keeps its instructions: the top of the
// checkout, which in a linked worktree is not the root that keys the memory.
func topOf(p project.Project) string {
	if p.Worktree != "" {
		return p.Worktree
	}
	return p.Root
}

func within(p, dir string) bool {
	rel, err := filepath.Rel(real(dir), real(p))
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// real resolves the symlinks of the part of p that exists.
func real(p string) string {
	at := existing(p)
	resolved, err := filepath.EvalSymlinks(at)
	if err != nil {
		return p
	}
	rel, err := filepath.Rel(at, p)
	if err != nil {
		return p
	}
	return filepath.Join(resolved, rel)
}

// existing gives the nearest folder at or above p that exists.
func existing(p string) string {
	for dir := p; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			return dir
		}
	}
}
