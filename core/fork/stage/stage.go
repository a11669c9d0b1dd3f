// Package stage is the scratch copy of a memory that a forked agent works on: real
// files below the state of the memory, with the texts that they began as. What became
// of them is a change against that base, checked file by file, so that whoever did the
// work, an agent behind the gate, a command line of its own or a host, is held to the
// same rules.
package stage

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/memory"
)

// Options says what a stage is for.
type Options struct {
	// Job is the id of the job; the stage is found by it. "" is a stage of its own name.
	Job string
	// Origin is the session that new topics name; "" is the memory's own.
	Origin string
	// LogOnly is the daily log that may be appended to, where nothing else may change.
	LogOnly string
}

// Stage is a scratch copy of a memory.
type Stage struct {
	// Skipped are files of the memory that are not in it, with the reason.
	Skipped []memdir.Problem

	m      *memory.Memory
	view   *memdir.View
	dir    string // of the stage; the copy is in its folder "memory"
	about  manifest
	base   map[string]string
	pinned map[string]bool
	folded map[string]string // every file and folder of the base, by its name without case
	paths  []string
}

// Limits of a stage.
const (
	// MaxFiles is how many files a stage takes: ten times the largest memory measured.
	MaxFiles = 20_000
	// MaxBytes is how much text it takes.
	MaxBytes = 256 << 20
	// MaxNew is how many files may come in one run.
	MaxNew = 500
	// MaxText is the size of a file that a run may leave, in bytes, unless it was larger
	// before. It is what a write of a memory takes.
	MaxText = memdir.DefaultTopicBytes / 2
)

const (
	folder       = "stages"
	copyName     = "memory"
	baseName     = "base"
	keepName     = "keep"
	attachedName = "attached"
	// staleAfter is when a stage that nobody closed is taken for a crashed run's.
	staleAfter = 24 * time.Hour
	// keptFor is how long a stage waits for a host.
	keptFor = 30 * 24 * time.Hour
)

// GoneError says that there is no stage for a job.
type GoneError struct {
	Name, Reason string
}

func (e *GoneError) Error() string {
	return fmt.Sprintf("the staged memory of %s cannot be used: %s. Start the job anew", memdir.ShownName(e.Name), e.Reason)
}

// stageName is what a stage may be called; it is a folder's name.
var stageName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z_-]{0,63}$`) })

// Make copies what a View of the memory sees into a folder of the state. What crashed
// runs left there is removed.
func Make(ctx context.Context, m *memory.Memory, o Options) (*Stage, error) {
	name := o.Job
	if name == "" {
		name = strings.ToLower(rand.Text())
	}
	if !stageName().MatchString(name) {
		return nil, fmt.Errorf("%s cannot name a stage: give letters and digits", memdir.ShownName(name))
	}
	if o.LogOnly != "" && (memdir.CheckPath(o.LogOnly) != nil || memdir.CheckTopicPath(o.LogOnly) == nil || o.LogOnly == memfile.IndexName) {
		return nil, fmt.Errorf("%s is no daily log", memdir.ShownName(o.LogOnly))
	}
	if err := m.MayWrite(); err != nil {
		return nil, err
	}
	prune(m)
	v, _, err := m.View(ctx)
	if err != nil {
		return nil, err
	}
	s := &Stage{m: m, view: v, dir: filepath.Join(m.StateDirectory(), folder, name)}
	s.about = manifest{Version: version, ID: name, Job: o.Job, Created: m.Now().UTC(), Directory: m.Location.Directory,
		Origin: o.Origin, LogOnly: o.LogOnly, Form: v.Form()}
	files, err := s.read(ctx)
	if err != nil {
		return nil, err
	}
	s.index(files)
	if err := os.MkdirAll(filepath.Dir(s.dir), 0o700); err != nil {
		return nil, fmt.Errorf("staging: %w", err)
	}
	if err := os.Mkdir(s.dir, 0o700); errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("%s is staged already; close that stage first", name)
	} else if err != nil {
		return nil, fmt.Errorf("staging: %w", err)
	}
	if err := s.write(ctx, files); err != nil {
		return nil, errors.Join(fmt.Errorf("staging: %w", err), s.Close())
	}
	return s, nil
}

// Open opens a stage that an earlier process made, by its name: the id of its job. A
// *GoneError says that there is none that can be used.
func Open(ctx context.Context, m *memory.Memory, name string) (*Stage, error) {
	if !stageName().MatchString(name) {
		return nil, &GoneError{name, "there is no stage of this name"}
	}
	s := &Stage{m: m, dir: filepath.Join(m.StateDirectory(), folder, name)}
	files, err := s.load()
	if err != nil {
		return nil, err
	}
	if info, err := os.Lstat(s.Dir()); err != nil || !info.IsDir() {
		return nil, &GoneError{name, "its folder is gone"}
	}
	if s.view, _, err = m.View(ctx); err != nil {
		return nil, err
	}
	s.index(files)
	return s, nil
}

// index fills what is looked up by path.
func (s *Stage) index(files []file) {
	s.base, s.pinned, s.folded = make(map[string]string, len(files)), map[string]bool{}, map[string]string{}
	for _, f := range files {
		s.base[f.Path] = f.text
		if f.Pinned {
			s.pinned[f.Path] = true
		}
		s.paths = append(s.paths, f.Path)
		for _, p := range prefixes(f.Path) {
			s.folded[Fold(p)] = p
		}
	}
	slices.Sort(s.paths)
}

// Name gives the name by which Open finds the stage.
func (s *Stage) Name() string { return s.about.ID }

// Dir gives the folder of the copy, for the gate and for commands.
func (s *Stage) Dir() string { return filepath.Join(s.dir, copyName) }

// Made tells when the memory was copied.
func (s *Stage) Made() time.Time { return s.about.Created }

// Base gives the text that a file began as.
func (s *Stage) Base(rel string) (string, bool) {
	base, ok := s.base[rel]
	return base, ok
}

// Paths gives the files that were copied, sorted.
func (s *Stage) Paths() []string { return slices.Clone(s.paths) }

// Keep makes the stage outlive this run: it waits for a host, for a month.
func (s *Stage) Keep() error {
	if err := os.WriteFile(filepath.Join(s.dir, keepName), nil, 0o600); err != nil {
		return fmt.Errorf("keeping the stage: %w", err)
	}
	return nil
}

// Attach keeps something of the job's beside the copy, for whoever opens the stage.
func (s *Stage) Attach(content []byte) error {
	if err := os.WriteFile(filepath.Join(s.dir, attachedName), content, 0o600); err != nil {
		return fmt.Errorf("keeping what belongs to a stage: %w", err)
	}
	return nil
}

// Attached gives what was attached, nil where nothing was.
func (s *Stage) Attached() ([]byte, error) {
	b, err := os.ReadFile(filepath.Join(s.dir, attachedName))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("reading what belongs to a stage: %w", err)
	}
	return b, nil
}

// Close removes the stage.
func (s *Stage) Close() error {
	if err := remove(s.dir); err != nil {
		return fmt.Errorf("removing a stage: %w. It holds a copy of memory; remove it by hand", err)
	}
	return nil
}

// remove removes a stage; folders that a command made unreadable are opened first.
func remove(dir string) error {
	err := os.RemoveAll(dir)
	if err == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(p, 0o700) // what could not be opened is met again by RemoveAll
		}
		return nil
	})
	return os.RemoveAll(dir)
}

// prune removes stages that nobody will come back to.
func prune(m *memory.Memory) {
	root := filepath.Join(m.StateDirectory(), folder)
	entries, err := os.ReadDir(root)
	if err != nil {
		return // there are none
	}
	for _, e := range entries {
		dir := filepath.Join(root, e.Name())
		info, err := os.Lstat(dir)
		if err != nil {
			continue
		}
		age := time.Since(info.ModTime()) // the file system's clock, which made the time
		if age <= staleAfter {
			continue
		}
		if _, err := os.Lstat(filepath.Join(dir, keepName)); err == nil && age <= keptFor {
			continue
		}
		_ = remove(dir) // tried again by the next run
	}
}

// Scratch makes a folder for what an agent may read besides the copy, and gives it with
// what removes it. It lies beside the stages, so that what a crash leaves there is removed
// with theirs.
func Scratch(m *memory.Memory, name string) (dir string, remove func() error, err error) {
	if !stageName().MatchString(name) {
		return "", nil, fmt.Errorf("%s cannot name a folder: give letters and digits", memdir.ShownName(name))
	}
	root := filepath.Join(m.StateDirectory(), folder)
	if err := os.MkdirAll(root, 0o700); err != nil {
		return "", nil, fmt.Errorf("staging: %w", err)
	}
	if dir, err = os.MkdirTemp(root, name+"-"); err != nil {
		return "", nil, fmt.Errorf("staging: %w", err)
	}
	return dir, func() error {
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("removing what an agent was to read: %w. It holds parts of conversations; remove it by hand", err)
		}
		return nil
	}, nil
}
