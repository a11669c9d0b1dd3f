package memdir

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"mem/core/memfile"
	"mem/core/project"
)

// Containing gives the memory directory that a file or folder lies in, whether or
// not it exists: the nearest folder, file itself included, that holds MEMORY.md
// or whose place is that of a memory directory. A file named MEMORY.md, saved or
// not, makes its folder one, unless that is the root of a file system: all that there
// is would be memory. file is absolute; it is taken as it is spelled.
//
// Not every file in a memory directory is memory: View.CheckPlace and CheckPath
// tell. ok is false where nothing above file is a memory directory.
func Containing(file string) (dir string, ok bool) {
	if !filepath.IsAbs(file) || strings.ContainsRune(file, 0) {
		return "", false
	}
	dir = filepath.Clean(file)
	if filepath.Base(dir) == memfile.IndexName && couldBeFile(dir) && !isRoot(filepath.Dir(dir)) {
		return aboveLogs(filepath.Dir(dir)), true
	}
	// No View reads deeper than maxDepth folders.
	for range maxDepth + 2 {
		if isMemory(dir) {
			return aboveLogs(dir), true
		}
		up := filepath.Dir(dir)
		if up == dir {
			break
		}
		dir = up
	}
	return "", false
}

// aboveLogs gives the memory directory whose logs dir lies in, else dir: what is
// below logs/ belongs to the directory above, even a file named MEMORY.md.
func aboveLogs(dir string) string {
	for at, n := dir, 0; n <= maxDepth && at != filepath.Dir(at); at, n = filepath.Dir(at), n+1 {
		if filepath.Base(at) == LogsDir && isMemory(filepath.Dir(at)) {
			return filepath.Dir(at)
		}
	}
	return dir
}

func isRoot(dir string) bool { return dir == filepath.Dir(dir) }

func isMemory(dir string) bool {
	if isRoot(dir) {
		return false
	}
	if info, err := os.Lstat(filepath.Join(dir, memfile.IndexName)); err == nil && info.Mode().IsRegular() {
		return true
	}
	return PlaceOf(dir) != PlaceNone && couldBeFolder(dir)
}

func couldBeFile(p string) bool {
	info, err := os.Lstat(p)
	return err != nil || info.Mode().IsRegular()
}

func couldBeFolder(p string) bool {
	info, err := os.Stat(p)
	return err != nil || info.IsDir()
}

// Place is a layout by which a folder is a memory directory, whatever it holds.
type Place string

// The places of memory directories.
const (
	PlaceNone     Place = ""
	PlaceProject  Place = "projects"               // …/projects/<slug>/memory
	PlaceAgent    Place = "agent-memory"           // .claude/agent-memory/<agent>
	PlaceLocal    Place = "agent-memory-local"     // .claude/agent-memory-local/<agent>
	PlaceSnapshot Place = "agent-memory-snapshots" // .claude/agent-memory-snapshots/<agent>
)

// PlaceOf gives the layout that an absolute path is in. It looks at the path only.
func PlaceOf(p string) Place { return placeOf(p, runtime.GOOS) }

func placeOf(p, goos string) Place {
	same := func(a, b string) bool { return a == b }
	if goos == "windows" {
		p, same = strings.ReplaceAll(p, `\`, "/"), strings.EqualFold
	}
	els := strings.Split(strings.TrimRight(p, "/"), "/")
	if len(els) < 4 {
		return PlaceNone
	}
	client, kind, name, last := els[len(els)-4], els[len(els)-3], els[len(els)-2], els[len(els)-1]
	if same(kind, "projects") && same(last, "memory") && (same(client, ".claude") || slugOfPath(name)) {
		return PlaceProject
	}
	if same(kind, ".claude") && last != "" && last[0] != '.' && !memfile.IsMarkdown(last) {
		for _, f := range []Place{PlaceAgent, PlaceLocal, PlaceSnapshot} {
			if same(name, string(f)) {
				return f
			}
		}
	}
	return PlaceNone
}

// slugOfPath reports whether s can be the slug of an absolute path: one of a
// folder that people made, such as ~/projects/kernel/memory, is not.
func slugOfPath(s string) bool {
	for i := range len(s) {
		c := s[i] | 0x20
		if s[i] != '-' && (c < 'a' || c > 'z') && (s[i] < '0' || s[i] > '9') {
			return false
		}
	}
	return strings.HasPrefix(s, "-") || len(s) > 3 && s[1:3] == "--" // "/…", "\\…"; "C:\…"
}

// maxFindProblems bounds what Find lists of a tree that it may not read.
const maxFindProblems = 100

// Find gives every memory directory in a tree, sorted; those inside others, too.
// root is an absolute path; where it lies in a memory directory, or is a file of
// one, that directory is among them. Links are not followed, and of hidden folders
// only .claude is entered; problems, with absolute paths, are what could not be
// looked at. It fails when root cannot be, or when ctx ends.
func Find(ctx context.Context, root string) (dirs []string, problems []Problem, err error) {
	if !filepath.IsAbs(root) {
		return nil, nil, fmt.Errorf("looking for memory directories in %s: the path is not absolute", ShownName(root))
	}
	root = filepath.Clean(root)
	info, err := os.Stat(root)
	if err != nil {
		return nil, nil, fmt.Errorf("looking for memory directories in %s: %w: name an existing file or folder", ShownName(root), project.Reason(err))
	}
	above, inside := Containing(root)
	if !info.IsDir() {
		if inside {
			dirs = []string{above}
		}
		return dirs, nil, nil
	}
	f := finder{ctx: ctx}
	if inside && strings.HasPrefix(root+string(filepath.Separator), filepath.Join(above, LogsDir)+string(filepath.Separator)) {
		return []string{above}, nil, nil
	}
	if err := f.walk(root, 0); err != nil {
		return nil, nil, err
	}
	switch {
	case inside && readsBelow(above, root):
		f.dirs = append(f.dirs, above)
	case !inside && filepath.Base(root) == "memory" && filepath.Base(filepath.Dir(filepath.Dir(root))) == "projects":
		f.dirs = append(f.dirs, root) // who names it means it
	}
	slices.Sort(f.dirs)
	if f.more > 0 {
		f.problems = append(f.problems, Problem{Path: root, Message: fmt.Sprintf("holds %d more places that could not be looked at.", f.more)})
	}
	return slices.Compact(f.dirs), f.problems, nil
}

// readsBelow reports whether a memory directory reads what lies in a folder below
// it: it enters no hidden ones.
func readsBelow(dir, below string) bool {
	rel, err := filepath.Rel(dir, below)
	return err == nil && (rel == "." || !strings.HasPrefix(rel, ".") && !strings.Contains(filepath.ToSlash(rel), "/."))
}

type finder struct {
	ctx      context.Context
	dirs     []string
	problems []Problem
	more     int // problems left out
}

// maxTreeDepth ends a walk that a broken file system would make endless.
const maxTreeDepth = 200

func (f *finder) walk(dir string, depth int) error {
	if err := f.ctx.Err(); err != nil {
		return err
	}
	if depth > maxTreeDepth {
		f.problem(dir, "lies deeper than %d folders and was not looked at. Name it itself.", maxTreeDepth)
		return nil
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !isNotExist(err) { // what was listed before it failed is still looked at
		f.problem(dir, "cannot be read: %v. Check its permissions.", project.Reason(err))
	}
	place := PlaceOf(dir) != PlaceNone
	memory := place
	for _, e := range entries {
		if e.Name() != memfile.IndexName {
			continue
		}
		if e.Type().IsRegular() {
			if memory = memory || !isRoot(dir); !memory {
				f.problem(filepath.Join(dir, e.Name()), "stands at the root of a file system, all of which is no memory directory. Move it to a folder of its own.")
			}
		} else if info, err := e.Info(); err == nil && !place {
			f.problem(filepath.Join(dir, e.Name()), "%s, so its folder is no memory directory. Put a plain file in its place.", notRegular(info))
		}
	}
	if memory {
		f.dirs = append(f.dirs, dir)
	}
	for _, e := range entries {
		p := filepath.Join(dir, e.Name())
		switch {
		case isLink(e) && PlaceOf(p) != PlaceNone:
			f.problem(p, "is a symbolic link, which is not followed. Name the folder that it leads to.")
		case !e.IsDir(), memory && e.Name() == LogsDir, e.Name() == "node_modules",
			strings.HasPrefix(e.Name(), ".") && e.Name() != ".claude":
		default:
			if err := f.walk(p, depth+1); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *finder) problem(p, format string, args ...any) {
	if len(f.problems) == maxFindProblems {
		f.more++
		return
	}
	f.problems = append(f.problems, Problem{Path: p, Message: fmt.Sprintf(format, args...)})
}
