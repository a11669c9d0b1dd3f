package lspcli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/project"
	"mem/diagnostics"
)

// target is a memory directory with what is asked of it.
type target struct {
	dir string // absolute
	// only are the files and folders in it that were named, as slash-separated
	// paths, folders with a slash at the end; nil is all of it.
	only []string
	// given and at are an argument that led here, as it was typed and absolute.
	given, at string
}

// all reports whether the whole directory is asked for.
func (t *target) all() bool { return t.only == nil }

// wants reports whether a path in the directory is asked for.
func (t *target) wants(p string) bool {
	return t.all() || slices.ContainsFunc(t.only, func(o string) bool {
		return o == p || strings.HasSuffix(o, "/") && strings.HasPrefix(p, o)
	})
}

// targets finds the memory directories that arguments mean: each is one, a file or
// folder in one, or a tree that holds some. problems are what could not be looked at.
func (a *app) targets(ctx context.Context, args []string) (found []*target, problems []memdir.Problem, err error) {
	if len(args) == 0 {
		args = []string{"."}
	}
	byDir := map[string]*target{}
	for _, given := range args {
		at, err := project.Absolute(given, a.env.ProjectOptions())
		if err != nil {
			return nil, nil, err
		}
		info, err := os.Stat(at)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w. Name a memory directory, a file in one, or a folder to search", memdir.ShownName(given), project.Reason(err))
		}
		dirs, unread, err := memdir.Find(ctx, at)
		if err != nil {
			return nil, nil, err
		}
		problems = append(problems, unread...)
		if len(dirs) == 0 {
			return nil, nil, notFound(given, info)
		}
		for _, dir := range dirs {
			t := byDir[dir]
			if t == nil {
				t = &target{dir: dir, given: given, at: at, only: []string{}}
				byDir[dir] = t
				found = append(found, t)
			}
			t.ask(at, info.IsDir())
		}
	}
	return found, problems, nil
}

func notFound(given string, info os.FileInfo) error {
	if info.IsDir() {
		where := memdir.ShownName(given)
		if given == "." {
			where = "this folder" // "in .." would be another one
		}
		return fmt.Errorf("no memory directory was found in %s. One holds %s, or lies where agents keep theirs; mem-mcp where tells where that is for a project", where, memfile.IndexName)
	}
	return fmt.Errorf("%s lies in no memory directory. Name a file in one: a folder that holds %s", memdir.ShownName(given), memfile.IndexName)
}

// ask adds what an argument names.
func (t *target) ask(at string, folder bool) {
	rel, err := filepath.Rel(t.dir, at)
	if t.only == nil || err != nil {
		return
	}
	rel = filepath.ToSlash(rel)
	switch {
	case rel == "." || rel == ".." || strings.HasPrefix(rel, "../"):
		t.only = nil
	case folder:
		t.only = append(t.only, rel+"/")
	default:
		t.only = append(t.only, rel)
	}
}

// scope gives the files to check, nil for all. A file that was named and is none of
// the memory is an error.
func (t *target) scope(s *diagnostics.Snapshot) ([]string, error) {
	if t.all() {
		return nil, nil
	}
	paths := []string{}
	for _, p := range s.Paths() {
		if t.wants(p) {
			paths = append(paths, p)
		}
	}
	for _, p := range t.only {
		switch {
		case strings.HasSuffix(p, "/"), slices.Contains(paths, p):
		case p == diagnostics.ConfigName: // only what is wrong with it
			paths = append(paths, p)
		default:
			if slices.ContainsFunc(s.View.Problems, func(x memdir.Problem) bool { return x.Path == p }) {
				continue // it is told as unread
			}
			return nil, noMemory(s, p, t.dir)
		}
	}
	return paths, nil
}

// noMemory says why a file in a memory directory is none of its memory.
func noMemory(s *diagnostics.Snapshot, p, dir string) error {
	why := s.View.CheckPlace(p)
	if why == nil {
		why = memdir.CheckPath(p)
	}
	reason := "no topic, log or index"
	if why != nil {
		reason = why.Error()
	}
	return fmt.Errorf("%s is no file of the memory in %s: %s. Name one that is, or the directory", memdir.ShownName(p), memdir.ShownName(dir), reason)
}

// shown gives a path of a target as people can follow it: relative to the working
// directory where it lies below that, else as the argument was given, else absolute.
func (a *app) shown(t *target, p string) string {
	full := filepath.FromSlash(p)
	if !filepath.IsAbs(full) {
		full = filepath.Join(t.dir, full)
	}
	if rel, err := filepath.Rel(a.env.Cwd, full); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	if rel, err := filepath.Rel(t.at, full); err == nil && filepath.IsLocal(rel) {
		return filepath.Join(t.given, rel)
	}
	return full
}
