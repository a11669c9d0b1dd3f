package agentmem

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mem/core/memdir"
	"mem/core/project"
)

// Limits of looking for stores in a checkout.
const (
	// maxWalked and walkWithin bound the walk through a checkout: large repositories
	// have some ten thousand folders, and who asks waits.
	maxWalked  = 20_000
	walkWithin = time.Second
	// maxAgents bounds the agents looked at in one place.
	maxAgents = 500
	// maxWorktrees bounds the other worktrees of a repository that are looked at.
	maxWorktrees = 50
)

// notWalked are folders that hold what tools put there; no client is started in them.
var notWalked = []string{"node_modules", "vendor", "bower_components", "__pycache__", "venv", "target", "dist", "build", "out"}

// place is the folder of an agent's memory, found on disk.
type place struct {
	dir   string // absolute
	agent string // the folder's name
	scope memdir.Scope
}

// placesIn lists the agents' folders below a client's folder. Links are not
// followed: what they lead to may be anybody's.
func placesIn(clientDir string, scopes ...memdir.Scope) (found []place, notes []string) {
	for _, s := range scopes {
		dir := filepath.Join(clientDir, s.Folder())
		if info, err := os.Lstat(dir); err != nil {
			continue
		} else if !info.IsDir() {
			notes = append(notes, fmt.Sprintf("%s is no folder but %s; it is not looked into", memdir.ShownName(dir), kindOf(info)))
			continue
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			notes = append(notes, fmt.Sprintf("%s cannot be read: %v", memdir.ShownName(dir), project.Reason(err)))
			continue
		}
		for _, e := range entries {
			switch {
			case e.Type()&os.ModeSymlink != 0:
				notes = append(notes, fmt.Sprintf("%s is a symbolic link, which is not followed", memdir.ShownName(filepath.Join(dir, e.Name()))))
			case !e.IsDir(), strings.HasPrefix(e.Name(), "."):
			case len(found) >= maxAgents:
				return found, append(notes, fmt.Sprintf("%s holds more than %d agents; the others were not looked at", memdir.ShownName(dir), maxAgents))
			default:
				found = append(found, place{filepath.Join(dir, e.Name()), e.Name(), s})
			}
		}
	}
	return found, notes
}

func kindOf(info os.FileInfo) string {
	if info.Mode()&os.ModeSymlink != 0 {
		return "a symbolic link"
	}
	return "a file"
}

// maxIgnoredNames is how many folders that were not searched are named.
const maxIgnoredNames = 3

// walk searches a checkout, the folders nearest to its top first.
type walk struct {
	base    string
	git     bool // what git ignores is not searched
	queue   []walked
	ignored []string // folders, below base
	found   []place
	notes   []string
}

// walked is a folder on the way.
type walked struct {
	dir   string
	way   []string // names from the top
	rules *ignoreRules
}

// inSubdirectories finds agents' memory in the subdirectories of a checkout, those
// nearest to its root first. Other repositories in it are projects of their own, and what
// git ignores is what tools put there: of those folders it looks at the top ones alone.
// gitDir is where git keeps the repository, "" where there is none.
func inSubdirectories(ctx context.Context, base, gitDir string) (found []place, notes []string) {
	ctx, cancel := context.WithTimeout(ctx, walkWithin)
	defer cancel()
	w := &walk{base: base, git: gitDir != "", queue: []walked{{dir: base}}}
	if w.git {
		if exclude := filepath.Join(gitDir, "info", "exclude"); isFile(exclude) {
			w.queue[0].rules, w.notes = (*ignoreRules)(nil).with(exclude, 0)
		}
	}
	for n := 0; len(w.queue) > 0; n++ {
		if n == maxWalked || ctx.Err() != nil || len(w.found) >= maxAgents {
			w.notes = append(w.notes, fmt.Sprintf("%d folders of %s were searched for memory of agents, and not all: what lies deeper is not told", n, memdir.ShownName(base)))
			break
		}
		at := w.queue[0]
		w.queue = w.queue[1:]
		w.look(at)
	}
	if n := len(w.ignored); n > 0 {
		names, more := w.ignored[:min(n, maxIgnoredNames)], ""
		if n > maxIgnoredNames {
			more = ", …"
		}
		w.notes = append(w.notes, fmt.Sprintf("Below what git ignores no memory of agents was searched: %d folders (%s%s).", n, memdir.Shown(strings.Join(names, ", "), memdir.MaxShown), more))
	}
	return w.found, w.notes
}

// look looks at one folder, and puts those in it behind the others.
func (w *walk) look(at walked) {
	entries, err := os.ReadDir(at.dir)
	if err != nil {
		return // nobody keeps memory where nobody may read
	}
	top := at.dir == w.base
	for _, e := range entries {
		switch e.Name() {
		case ".git":
			if !top {
				return
			}
		case ".gitignore":
			if w.git && e.Type().IsRegular() {
				var notes []string
				at.rules, notes = at.rules.with(filepath.Join(at.dir, e.Name()), len(at.way))
				w.notes = append(w.notes, notes...)
			}
		}
	}
	for _, e := range entries {
		switch name := e.Name(); {
		case !e.IsDir():
		case name == clientFolder:
			if !top {
				w.places(filepath.Join(at.dir, name))
			}
		case strings.HasPrefix(name, "."), slices.Contains(notWalked, name):
		default:
			next := walked{dir: filepath.Join(at.dir, name), way: append(at.way[:len(at.way):len(at.way)], name), rules: at.rules}
			if !at.rules.ignores(next.way) {
				w.queue = append(w.queue, next)
				continue
			}
			w.ignored = append(w.ignored, strings.Join(next.way, "/"))
			if len(w.ignored) <= maxAgents {
				w.places(filepath.Join(next.dir, clientFolder))
			}
		}
	}
}

func (w *walk) places(clientDir string) {
	found, notes := placesIn(clientDir, memdir.ScopeProject, memdir.ScopeLocal)
	w.found, w.notes = append(w.found, found...), append(w.notes, notes...)
}

// worktrees lists the other checkouts of the project's repository.
func worktrees(p project.Project, base string) (dirs, notes []string) {
	if p.CommonDir == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(filepath.Join(p.CommonDir, "worktrees"))
	if err != nil {
		return nil, nil // there are none
	}
	for i, e := range entries {
		if i == maxWorktrees {
			return dirs, append(notes, fmt.Sprintf("the repository has more than %d worktrees; the others were not looked at", maxWorktrees))
		}
		b, err := project.ReadFile(filepath.Join(p.CommonDir, "worktrees", e.Name(), "gitdir"), 64<<10)
		if err != nil {
			continue
		}
		link := strings.TrimSpace(string(b))
		if !filepath.IsAbs(link) {
			link = filepath.Join(p.CommonDir, "worktrees", e.Name(), link)
		}
		// Whether that place is a worktree of this repository, it has to say itself.
		w, err := project.Find(filepath.Dir(link), project.Options{})
		if err != nil || w.CommonDir != p.CommonDir || w.Worktree == base || w.Worktree == "" {
			continue
		}
		dirs = append(dirs, w.Worktree)
	}
	return dirs, notes
}
