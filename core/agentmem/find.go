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

// inSubdirectories finds agents' memory in the subdirectories of a checkout, those
// nearest to its root first. Other repositories in it are projects of their own.
func inSubdirectories(ctx context.Context, base string) (found []place, notes []string) {
	ctx, cancel := context.WithTimeout(ctx, walkWithin)
	defer cancel()
	queue := []string{base}
	for walked := 0; len(queue) > 0; walked++ {
		if walked == maxWalked || ctx.Err() != nil || len(found) >= maxAgents {
			return found, append(notes, fmt.Sprintf("%d folders of %s were searched for memory of agents, and not all: what lies deeper is not told", walked, memdir.ShownName(base)))
		}
		dir := queue[0]
		queue = queue[1:]
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue // nobody keeps memory where nobody may read
		}
		if dir != base && slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == ".git" }) {
			continue
		}
		for _, e := range entries {
			switch name := e.Name(); {
			case !e.IsDir():
			case name == clientFolder && dir != base:
				more, told := placesIn(filepath.Join(dir, name), memdir.ScopeProject, memdir.ScopeLocal)
				found, notes = append(found, more...), append(notes, told...)
			case strings.HasPrefix(name, "."), slices.Contains(notWalked, name):
			default:
				queue = append(queue, filepath.Join(dir, name))
			}
		}
	}
	return found, notes
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
