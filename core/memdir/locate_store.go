package memdir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mem/core/project"
	"mem/core/settings"
)

// clientFolder is the client's folder inside of a project.
const clientFolder = ".claude"

// StoreBase gives the directory in which a project keeps what clients put into its
// checkout: its root, and for worktrees of a bare repository, which has no files, the
// worktree itself.
func StoreBase(p project.Project) (string, error) {
	if p.CommonDir == "" || p.Root != p.CommonDir {
		return p.Root, nil
	}
	if p.Worktree != "" {
		return p.Worktree, nil
	}
	return "", fmt.Errorf("%s is a bare git repository, which has no files: start in one of its worktrees, or name one with --project", ShownName(p.Root))
}

// locateStore finds the directory of a store that is not the project's own memory.
func (loc *Location) locateStore(env settings.Env, n StoreName, extra map[string]string) error {
	loc.Store, loc.Source = n, "store "+n.String()
	switch {
	case n.Extra != "":
		return loc.locateExtra(env, n.Extra, extra)
	case n.Scope == ScopeUser:
		base := env.ClientDir()
		if base == "" {
			return fmt.Errorf("the store %s: the home directory is unknown: set HOME or CLAUDE_CONFIG_DIR", n)
		}
		if !filepath.IsAbs(base) {
			return fmt.Errorf("the store %s: CLAUDE_CONFIG_DIR is relative (%s) and the working directory is unknown: make it absolute", n, base)
		}
		loc.Directory, loc.Rule = n.Below(base), RuleStore
		loc.Why = fmt.Sprintf("the memory of the agent %s for all projects of this user, below %s", n.Agent, base)
		return nil
	}
	base, err := StoreBase(loc.Project)
	if err != nil {
		return fmt.Errorf("the store %s: %w", n, err)
	}
	loc.Directory, loc.Rule, loc.Within = n.Below(filepath.Join(base, clientFolder)), RuleStore, base
	loc.Why = fmt.Sprintf("the memory of the agent %s in the checkout of %s, %s", n.Agent, base,
		map[Scope]string{ScopeProject: "for everybody who works on it", ScopeLocal: "for this user alone"}[n.Scope])
	if err := CheckWithin(base, loc.Directory); err != nil {
		return fmt.Errorf("the store %s: %w", n, err)
	}
	loc.Warnings = append(loc.Warnings, loc.besides(base)...)
	return nil
}

func (loc *Location) locateExtra(env settings.Env, name string, extra map[string]string) error {
	given, ok := extra[name]
	if !ok {
		return fmt.Errorf("there is no folder %q under stores in %s; memory_stores lists those that there are", cutMark(Shown(name, MaxShown), MaxShown), env.ConfigFile())
	}
	dir, refuse := settingDir(env, given)
	if refuse != "" {
		return fmt.Errorf("the store extra/%s in %s: %q cannot be used: %s", name, env.ConfigFile(), given, refuse)
	}
	loc.Directory, loc.Rule, loc.ReadOnly = dir, RuleExtra, true
	loc.Why = "stores." + name + " of " + env.ConfigFile() + " names it; it is only read"
	return nil
}

// CheckWithin says why a store's directory in a checkout cannot be used. A checkout may
// hold any link: one that leads out of the project would read and write files of another
// place, one inside of it files that are no memory. A link to the same kind of folder
// elsewhere in the project is how people share one store, and is followed.
func CheckWithin(base, dir string) error {
	real, top := resolveExisting(dir), resolveExisting(base)
	if rel, err := filepath.Rel(top, real); err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return fmt.Errorf("%s leads out of the project, to %s, by a symbolic link in the checkout, which is not followed: replace the link by a folder, or open that folder with --memory-dir", ShownName(dir), ShownName(real))
	}
	if p := PlaceOf(real); p != PlaceAgent && p != PlaceLocal {
		return fmt.Errorf("%s leads, by a symbolic link in the checkout, to %s, which is no agent's memory: replace the link by a folder", ShownName(dir), ShownName(real))
	}
	return checkFolderIs(dir)
}

// checkFolderIs says that something other than a folder, such as a link that leads
// nowhere, stands in a directory's way.
func checkFolderIs(dir string) error {
	for d := dir; d != filepath.Dir(d); d = filepath.Dir(d) {
		if _, err := os.Lstat(d); err != nil {
			continue
		}
		info, err := os.Stat(d)
		switch {
		case err != nil:
			return fmt.Errorf("%s is a symbolic link that leads nowhere: replace it by a folder", ShownName(d))
		case !info.IsDir():
			return fmt.Errorf("%s is not a directory: move that file away", ShownName(d))
		}
		return nil
	}
	return nil
}

// maxAbove bounds the folders between the working directory and the root of its
// checkout that are looked at.
const maxAbove = 40

// besides tells of other memory of the same agent and scope: a client looks in its
// working directory alone, so one that was started in a subdirectory or in another
// worktree has a store of its own there.
func (loc *Location) besides(base string) []string {
	var found []string
	real := resolveExisting(loc.Directory)
	look := func(dir, what string) {
		other := loc.Store.Below(filepath.Join(dir, clientFolder))
		if info, err := os.Stat(other); err != nil || !info.IsDir() || resolveExisting(other) == real || slices.Contains(found, other) {
			return
		}
		found = append(found, fmt.Sprintf("this agent has another memory in %s %s: %s; a client that is started there uses that one: bring both together with mem-mcp stores merge %s",
			what, ShownName(dir), ShownName(other), ShownName(other)))
	}
	top := loc.Project.Worktree
	for d, n := loc.Project.Dir, 0; n < maxAbove && d != base && d != top && d != filepath.Dir(d); d, n = filepath.Dir(d), n+1 {
		look(d, "the subdirectory")
	}
	if top != "" && top != base {
		look(top, "the worktree")
	}
	return found
}

var errBothNamed = errors.New("--memory-dir names a memory directory and --store another one: give one of them")
