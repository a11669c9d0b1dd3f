package transcript

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mem/core/change"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/project"
	"mem/core/settings"
	"mem/core/store"
)

// AdoptOptions says what is taken over, and into what.
type AdoptOptions struct {
	// Old is the directory that the project had, or its memory directory, or the
	// client's folder for it, or the id that FindMoved gives it.
	Old     string
	Project project.Project // into which
	Store   *store.Store    // of its memory directory
	Guard   store.Scanner   // what it finds stays behind, unless How allows it
	// Redact gives a text without secrets: a path has to be named in what is kept of the
	// adoption. nil leaves texts as they are.
	Redact  func(string) string
	How     store.How
	Limits  memdir.Limits
	Version string // of mem, noted in the copies of the sessions
	// StillThere lets a project be taken over whose directory exists.
	StillThere bool
	// Progress, which may be nil, is told the bytes of transcripts that are done and those
	// to be done, for each part of the work.
	Progress func(what string, done, total int64)
}

// of gives what is told of one part of the work, nil where nobody listens.
func (o AdoptOptions) of(what string) func(done, total int64) {
	if o.Progress == nil {
		return nil
	}
	return func(done, total int64) { o.Progress(what, done, total) }
}

// redacted is a text for people and for what is kept.
func (o AdoptOptions) redacted(s string) string {
	if o.Redact == nil {
		return s
	}
	return o.Redact(s)
}

// Adopted is what was taken over.
type Adopted struct {
	// ID names the adoption: undoing the change of this id takes the memory back, and
	// Reinstate the sessions. It is "" when there was nothing.
	ID     string `json:"adoption"`
	From   string `json:"from"`
	To     string `json:"to"`
	Memory string `json:"memory,omitempty"` // the old memory directory, where there is one
	// Files are those that the old memory had, with what became of them here.
	Files    []Taken       `json:"files"`
	Result   *store.Result `json:"-"` // of the change of the memory; nil where there was none
	Change   string        `json:"change,omitempty"`
	Sessions *Archived     `json:"sessions,omitempty"`

	came map[string]Arrived
}

// Taken is one file of a memory that was taken over.
type Taken struct {
	Path string `json:"path"` // in the old memory
	To   string `json:"to,omitempty"`
	// Action is "taken over", "under another name" where there was another text of this name,
	// "merged" (index and daily logs), "there already", or "left behind".
	Action string `json:"action"`
	Reason string `json:"reason,omitempty"`
}

// Adopt takes the memory and the sessions of a project over into another one: the
// one that it became when its directory was renamed or moved. Topics, index and
// daily logs come into the memory as one change that can be undone; nothing that is
// there is overwritten. Sessions are copied to the archive with a note. The old memory and the
// client's transcripts are not touched. Doing it again takes over what is new.
func Adopt(ctx context.Context, env settings.Env, o AdoptOptions) (*Adopted, error) {
	m, err := findOld(ctx, env, o)
	if err != nil {
		return nil, err
	}
	directory := o.Store.Directory()
	if _, err := StateOf(env, directory); err != nil {
		return nil, fmt.Errorf("taking %s over: %w", memdir.ShownName(m.Root), err)
	}
	before := readAdoptions(env).between(env, m.Root, o.Project.Root)
	out := &Adopted{From: m.Root, To: o.Project.Root, Memory: m.Memory, Files: []Taken{}, came: map[string]Arrived{}}
	if m.Memory != "" && !sameFolder(m.Memory, directory) {
		if err := out.memory(ctx, o, m, before); err != nil {
			return nil, fmt.Errorf("taking over the memory of %s: %w", memdir.ShownName(m.Root), err)
		}
	}
	if len(m.list) == 0 && out.Change == "" && len(out.Files) == 0 {
		return nil, fmt.Errorf("there is neither memory nor a session of %s. Give the directory that the project had, as it was spelled, or its memory directory", memdir.ShownName(o.Old))
	}
	return out, out.sessions(ctx, env, o, m, before)
}

// sessions copies the sessions, and records the adoption first: what a crash leaves
// half copied is then already known as taken over, and the next call completes it.
func (out *Adopted) sessions(ctx context.Context, env settings.Env, o AdoptOptions, m *Moved, before []*Adoption) error {
	directory := o.Store.Directory()
	list := m.list
	a := &Adoption{Version: adoptionVersion, ID: out.Change, Time: env.Time().UTC(), From: m.Root, To: o.Project.Root, Change: out.Change, Files: out.came}
	if a.ID == "" && len(before) > 0 {
		a = before[len(before)-1]
	}
	if a.ID == "" && len(list) == 0 {
		return nil
	}
	if a.ID == "" {
		a.ID = newID()
	}
	list = slices.DeleteFunc(slices.Clone(list), func(s *Session) bool {
		// Those that came with an earlier adoption, and did not grow, stay with it.
		return s.Archived && slices.ContainsFunc(before, func(b *Adoption) bool { return b.ID != a.ID && slices.Contains(b.Sessions, s.ID) })
	})
	for _, s := range list {
		if !slices.Contains(a.Sessions, s.ID) {
			a.Sessions = append(a.Sessions, s.ID)
		}
	}
	path, err := adoptionPath(env, directory, a.ID)
	if err != nil {
		return err
	}
	if err := a.write(path); err != nil {
		return fmt.Errorf("the memory was taken over (change %s), the sessions were not: %w", out.Change, err)
	}
	out.ID = a.ID
	out.Sessions, err = Archive(ctx, env, list, ArchiveOptions{Directory: directory, Version: o.Version, Progress: o.of("copying sessions"), adopted: a.ID})
	if err != nil {
		return fmt.Errorf("the memory was taken over, and not all sessions; call again to go on: %w", err)
	}
	return nil
}

// findOld finds what there is of the project that is asked for.
func findOld(ctx context.Context, env settings.Env, o AdoptOptions) (*Moved, error) {
	m, err := byID(ctx, env, o)
	if m != nil || err != nil {
		return m, err
	}
	old, err := project.Absolute(o.Old, env.ProjectOptions())
	if err != nil {
		return nil, err
	}
	m = &Moved{Root: old}
	switch {
	case filepath.Base(filepath.Dir(old)) == projectsDir && isFolder(filepath.Join(old, "memory")): // the client's folder
		err = m.ofMemory(ctx, env, o, filepath.Join(old, "memory"))
	case hasIndex(old):
		err = m.ofMemory(ctx, env, o, old)
	case !o.StillThere && !gone(old):
		err = fmt.Errorf("%s is still there, so it did not move: its sessions and memory are its own. mem-mcp adopt --still-there takes them over all the same", memdir.ShownName(old))
	default:
		// Clients know a directory by its real path, or by the one that they were given.
		m.Root = realPath(old)
		if err = m.ofPath(ctx, env, o); err == nil && len(m.list) == 0 && !isFolder(memoryOf(env, m.Root)) {
			m.Root = old
			err = m.ofPath(ctx, env, o)
		}
	}
	if err != nil {
		return nil, err
	}
	if project.SamePath(env.GOOS, m.Root, o.Project.Root) {
		return nil, fmt.Errorf("%s is this project: there is nothing to take over", memdir.ShownName(m.Root))
	}
	m.fill(env)
	return m, nil
}

// byID finds the project of an id, nil where none is given or it is that of none.
func byID(ctx context.Context, env settings.Env, o AdoptOptions) (*Moved, error) {
	if !isMovedID(o.Old) {
		return nil, nil
	}
	list, err := lost(ctx, env, o.Project, o.Progress)
	if err != nil {
		return nil, err
	}
	var found *Moved
	for _, m := range list {
		if !strings.HasPrefix(movedID(m.Root), o.Old) {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("%s begins the ids of several projects: give more of it, as mem-mcp adopt shows it", o.Old)
		}
		found = m
	}
	return found, nil
}

// ofMemory finds the sessions that lie beside a memory directory, as the client
// keeps them.
func (m *Moved) ofMemory(ctx context.Context, env settings.Env, o AdoptOptions, dir string) error {
	m.Memory = dir
	folder := filepath.Dir(dir)
	if filepath.Base(filepath.Dir(folder)) != projectsDir {
		return nil
	}
	all, err := Find(ctx, env, FindOptions{Dirs: []string{folder}, Shallow: true, Progress: o.of("looking for sessions")})
	if err != nil {
		return err
	}
	for _, s := range all.List {
		if filepath.Dir(s.Path) != folder {
			continue
		}
		m.list = append(m.list, s)
		if s.Cwd != "" && filepath.IsAbs(s.Cwd) && gone(s.Cwd) {
			m.Root = lostRoot(env, s.Cwd)
		}
	}
	return nil
}

// ofPath finds the sessions of a directory and of those below it.
func (m *Moved) ofPath(ctx context.Context, env settings.Env, o AdoptOptions) error {
	all, err := Find(ctx, env, FindOptions{Shallow: true, Progress: o.of("looking for sessions")})
	if err != nil {
		return err
	}
	for _, s := range all.List {
		if s.Cwd != "" && samePlace(env.GOOS, s.Cwd, m.Root) {
			m.list = append(m.list, s)
		}
	}
	return nil
}

// samePlace reports whether a path is a directory or lies below it.
func samePlace(goos, path, dir string) bool {
	return project.SamePath(goos, path, dir) || below(goos, path, dir)
}

func isFolder(dir string) bool {
	info, err := os.Stat(dir)
	return err == nil && info.IsDir()
}

func hasIndex(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, memfile.IndexName))
	return err == nil && info.Mode().IsRegular()
}

func sameFolder(a, b string) bool {
	fa, err := os.Stat(a)
	if err != nil {
		return false
	}
	fb, err := os.Stat(b)
	return err == nil && os.SameFile(fa, fb)
}

// memory takes the memory over.
func (out *Adopted) memory(ctx context.Context, o AdoptOptions, m *Moved, before []*Adoption) error {
	root, err := os.OpenRoot(m.Memory)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	old, err := memdir.Read(ctx, memdir.Disk(root), nil, o.Limits)
	if err != nil {
		return err
	}
	here, err := o.Store.View(ctx)
	if err != nil {
		return err
	}
	name := lastElement(m.Root)
	if o.redacted(m.Root) != m.Root {
		name = "" // the second names of topics are made from it
	}
	t := takeover{old: old, here: here.View, name: name, guard: o.Guard, allow: o.How.AllowSecrets,
		to: map[string]string{}, taken: map[string]bool{}, before: map[string]Arrived{}, came: out.came, out: out}
	for _, a := range before {
		maps.Copy(t.before, a.Files)
	}
	c := change.Change{Op: "adopt", Title: "take over the memory of " + memdir.Shown(o.redacted(m.Root), 120)}
	if c.Files, err = t.files(ctx); err != nil || len(c.Files) == 0 {
		return err
	}
	if out.Result, err = o.Store.Apply(ctx, c, o.How); err != nil {
		return err
	}
	out.Change = out.Result.ID
	return nil
}

// Words tells in a sentence what was taken over.
func (out *Adopted) Words() string {
	count := map[string]int{}
	for _, f := range out.Files {
		count[f.Action]++
	}
	var parts []string
	for _, action := range []string{TakenOver, TakenRenamed, TakenMerged, TakenSame, TakenLeft} {
		if n := count[action]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, action))
		}
	}
	files := "no memory"
	if len(parts) > 0 {
		files = "memory files: " + strings.Join(parts, ", ")
	}
	sessions := 0
	if out.Sessions != nil {
		sessions = len(out.Sessions.Sessions)
	}
	return fmt.Sprintf("From %s: %s; %d sessions in the archive.", memdir.ShownName(out.From), files, sessions)
}
