package agentmem

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"mem/core/atomicfile"
	"mem/core/memfile"
	"mem/core/project"
)

// tempPrefix begins the names of files that a publish has under way; hidden names are no
// memory.
const tempPrefix = ".mem-publish-"

// step is one write to the snapshot; steps are made in order, so that a test can end the
// process before any of them.
type step struct {
	path   string // in the snapshot
	text   string
	remove bool
}

// write makes the snapshot what was decided: topics, then the index, then deletions, then
// snapshot.json. All of it goes through the root of the checkout, and no link is followed.
func (p *publishing) write(ctx context.Context) (time.Time, error) {
	steps, at, err := p.steps()
	if err != nil {
		return at, err
	}
	if err := p.unchanged(); err != nil {
		return at, err
	}
	root, err := p.openSnapshot()
	if err != nil {
		return at, err
	}
	defer root.Close()
	p.sweep(root)
	for _, s := range steps {
		if err := ctx.Err(); err != nil {
			return at, fmt.Errorf("publishing to %s was interrupted; publish again to complete it: %w", p.Snapshot, err)
		}
		if p.instant != nil {
			if err := p.instant(s.path); err != nil {
				return at, err
			}
		}
		if err := s.make(root); err != nil {
			return at, fmt.Errorf("publishing to %s: %w. It is incomplete now, and nobody takes it for newer; publish again to complete it", p.Snapshot, project.Reason(err))
		}
	}
	return at, nil
}

// steps gives the writes, and the time that the snapshot gets.
func (p *publishing) steps() ([]step, time.Time, error) {
	var first, write, remove []step
	var index *step
	total := 0
	files := map[string]string{}
	for _, o := range p.all {
		if o.path != "" {
			sum, size := sumOf(o.text), len(o.text)
			if l := p.theirs.files[o.it.theirs]; o.same && l != nil {
				sum, size = l.sum, int(l.size)
			}
			files[o.path] = sum
			total += size
		}
		if total > MaxSnapshot || len(files) > MaxFiles {
			return nil, time.Time{}, fmt.Errorf("the snapshot of %s would have %d files or more, or %d bytes; readers take %d files and %d bytes. Nothing was published. Publish less, with --only", p.Agent, len(files), total, MaxFiles, MaxSnapshot)
		}
	}
	for _, o := range p.all {
		if o.same {
			continue
		}
		if old := o.it.theirs; old != "" && old != o.path && p.theirs.files[old] != nil {
			if _, used := files[old]; !used && folded(old) == folded(o.path) {
				first = append(first, step{path: old, remove: true}) // it may be the same file
			} else if !used {
				remove = append(remove, step{path: old, remove: true})
			}
		}
		switch {
		case o.path == memfile.IndexName:
			index = &step{path: o.path, text: o.text}
		case o.path != "":
			write = append(write, step{path: o.path, text: o.text})
		}
	}
	byPath := func(s []step) { sort.Slice(s, func(i, j int) bool { return s[i].path < s[j].path }) }
	byPath(write)
	byPath(remove)
	if index != nil {
		write = append(write, *index)
	}
	at := p.m.Env().Time().UTC().Truncate(time.Millisecond)
	if last := p.manifest.UpdatedAt; !last.Before(at) && last.Before(at.Add(futureSlack)) {
		at = last.Add(time.Millisecond) // a clock that is ahead must not make this one look older
	}
	m := *p.manifest
	m.UpdatedAt, m.Files, m.Author = at, files, p.author()
	if p.opt.Note != "" {
		m.Note = p.opt.Note
	}
	data, err := m.bytes()
	if err != nil {
		return nil, at, err
	}
	if len(data) > maxManifest {
		return nil, at, fmt.Errorf("%s of %s would have %d bytes; readers take %d. Nothing was published. Publish less, with --only, or under shorter names", ManifestName, p.Agent, len(data), maxManifest)
	}
	p.manifest.UpdatedAt = at
	steps := append(append(append(first, write...), remove...), step{path: ManifestName, text: string(data)})
	return steps, at, nil
}

// unchanged makes sure that the snapshot still is what was looked at: a git pull may have
// come in between.
func (p *publishing) unchanged() error {
	if err := p.unmoved(); err != nil {
		return err
	}
	for _, o := range p.all {
		old := o.it.theirs
		if o.same || p.theirs.files[old] == nil {
			continue
		}
		now, err := p.theirs.read(old)
		if err != nil || sumOf(normal(now)) != p.theirs.sum(old) {
			return fmt.Errorf("%s changed in the snapshot while it was being published. Nothing was written; try again", old)
		}
	}
	return nil
}

// openSnapshot makes the folder of the snapshot and opens it, through the checkout.
func (p *publishing) openSnapshot() (*os.Root, error) {
	fail := func(err error) error {
		return fmt.Errorf("publishing to %s: %w. Nothing was written", p.Snapshot, project.Reason(err))
	}
	top, err := os.OpenRoot(p.Top)
	if err != nil {
		return nil, fail(err)
	}
	defer top.Close()
	rel, err := filepath.Rel(p.Top, p.Snapshot)
	if err != nil {
		return nil, fail(err)
	}
	if err := top.MkdirAll(rel, 0o755); err != nil {
		return nil, fail(err)
	}
	if bad := checkFolders(p.Top, p.Snapshot); bad != nil {
		return nil, fail(errors.New(bad.Reason))
	}
	root, err := top.OpenRoot(rel)
	if err != nil {
		return nil, fail(err)
	}
	return root, nil
}

// sweep removes what an interrupted publish left under way.
func (p *publishing) sweep(root *os.Root) {
	folders := map[string]bool{".": true}
	for _, o := range p.all {
		for _, n := range []string{o.path, o.it.theirs} {
			if n != "" {
				folders[path.Dir(n)] = true
			}
		}
	}
	for dir := range folders {
		f, err := root.Open(filepath.FromSlash(dir))
		if err != nil {
			continue
		}
		names, _ := f.Readdirnames(maxListed) // what cannot be listed is left
		_ = f.Close()
		for _, n := range names {
			if strings.HasPrefix(n, tempPrefix) {
				_ = root.Remove(filepath.Join(filepath.FromSlash(dir), n))
			}
		}
	}
}

// make makes one step so that readers see the old or the new file whole.
func (s step) make(root *os.Root) error {
	name := filepath.FromSlash(s.path)
	dir := filepath.Dir(name)
	if s.remove {
		if err := atomicfile.RemoveIn(root, name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for d := dir; d != "."; d = filepath.Dir(d) {
			if root.Remove(d) != nil {
				break // it is not empty
			}
		}
		return syncFolder(root, dir)
	}
	if err := root.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for d := dir; d != "."; d = filepath.Dir(d) {
		if info, err := root.Lstat(d); err != nil || !info.IsDir() {
			return fmt.Errorf("%s is no folder", d)
		}
	}
	temp := filepath.Join(dir, tempPrefix+rand.Text()[:12]+".tmp")
	f, err := root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(s.text)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = atomicfile.RenameIn(root, temp, name)
	}
	if err != nil {
		_ = root.Remove(temp)
		return err
	}
	return syncFolder(root, dir)
}

// syncFolder makes a rename durable before the next step, where the system can.
func syncFolder(root *os.Root, dir string) error {
	f, err := root.Open(dir)
	if err != nil {
		return nil // it went with its last file
	}
	_ = f.Sync() // Windows and some file systems refuse it for folders
	return f.Close()
}

// author gives the name that git signs commits with here, "" where it is not set. Git
// publishes it with the commit anyway.
func (p *publishing) author() string {
	env := p.m.Env()
	files := []string{}
	if dir := p.m.Location.Project.CommonDir; dir != "" {
		files = append(files, filepath.Join(dir, "config"))
	}
	if g := env.Getenv("GIT_CONFIG_GLOBAL"); g != "" {
		files = append(files, g)
	} else if env.Home != "" {
		files = append(files, filepath.Join(env.Home, ".gitconfig"), filepath.Join(env.Home, ".config", "git", "config"))
	}
	for _, name := range files {
		data, err := project.ReadFile(name, 1<<20)
		if err != nil {
			continue
		}
		if who := project.GitConfig(string(data), "user", "name"); who != "" {
			return who
		}
	}
	return ""
}
