package transcript

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/unicode/norm"

	"mem/core/project"
	"mem/core/settings"
)

// owner answers whether a directory that a record names belongs to a project. The
// name of a session's folder cannot tell: slugs collide and cannot be decoded.
type owner struct {
	env   settings.Env
	root  string
	tops  []string // root, the linked worktrees, and the spelling that was asked for
	slugs []string // of tops
	git   bool     // subdirectories belong to it

	mu    sync.Mutex
	known map[string]bool // by directory
}

// maxWorktrees bounds how many linked worktrees of a repository are looked at.
const maxWorktrees = 1000

func newOwner(env settings.Env, p project.Project) *owner {
	o := &owner{env: env, root: p.Root, known: map[string]bool{}, git: p.CommonDir != "" || p.Problem != ""}
	o.add(p.Root)
	if p.Dir == p.Root || o.git {
		if asked, err := project.Absolute(p.Asked, env.ProjectOptions()); err == nil {
			o.add(asked) // a client may be told of a directory by a path with symlinks
		}
	}
	o.add(p.Worktree)
	for _, top := range worktrees(p) {
		o.add(top)
	}
	return o
}

func (o *owner) add(top string) {
	if top == "" || slices.Contains(o.tops, top) {
		return
	}
	o.tops = append(o.tops, top)
	// The description of the system normalises paths before it makes a slug, the
	// client does not.
	for _, s := range []string{project.Slug(top), project.Slug(norm.NFC.String(top))} {
		if !slices.Contains(o.slugs, s) {
			o.slugs = append(o.slugs, s)
		}
	}
}

// worktrees lists the tops of the linked worktrees that a repository knows, those
// that are gone included: their sessions are not.
func worktrees(p project.Project) []string {
	if p.CommonDir == "" {
		return nil
	}
	dir := filepath.Join(p.CommonDir, "worktrees")
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var tops []string
	for _, e := range list[:min(len(list), maxWorktrees)] {
		data, err := project.ReadFile(filepath.Join(dir, e.Name(), "gitdir"), 64<<10)
		if err != nil {
			continue
		}
		link := filepath.FromSlash(strings.TrimSpace(string(data)))
		if link == "" || strings.ContainsRune(link, 0) {
			continue
		}
		if !filepath.IsAbs(link) {
			link = filepath.Join(dir, e.Name(), link)
		}
		tops = append(tops, filepath.Dir(link))
	}
	return tops
}

// mayHold reports whether a folder of the client with this name can hold sessions
// of the project.
func (o *owner) mayHold(folder string) bool {
	for _, s := range o.slugs {
		if folder == s {
			return true
		}
		if !o.git {
			continue
		}
		// Of a long path the folder's name has the first MaxSlug characters and a hash.
		if len(s) >= project.MaxSlug {
			if strings.HasPrefix(folder, s[:project.MaxSlug]) {
				return true
			}
		} else if strings.HasPrefix(folder, s) && (strings.HasSuffix(s, "-") || strings.HasPrefix(folder[len(s):], "-")) {
			return true
		}
	}
	return false
}

// owns reports whether dir lies in the project. A directory that exists is asked
// for its own project, so that a repository inside of another one is told apart; one that is
// gone belongs where its path says.
func (o *owner) owns(dir string) bool {
	if dir == "" {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	yes, ok := o.known[dir]
	if !ok {
		yes = o.look(dir)
		o.known[dir] = yes
	}
	return yes
}

func (o *owner) look(dir string) bool {
	if filepath.IsAbs(dir) {
		p, err := project.Find(dir, o.env.ProjectOptions())
		if err == nil {
			return project.SamePath(o.env.GOOS, p.Root, o.root)
		}
	}
	for _, spelling := range []string{dir, realPath(dir)} {
		for _, top := range o.tops {
			if project.SamePath(o.env.GOOS, spelling, top) || o.git && below(o.env.GOOS, spelling, top) {
				return true
			}
		}
	}
	return false
}

// below reports whether an absolute path lies below dir, as a system spells paths.
func below(goos, p, dir string) bool {
	if goos == "windows" {
		p, dir = strings.ReplaceAll(windowsPath(p), `\`, "/"), strings.ReplaceAll(windowsPath(dir), `\`, "/")
	}
	return strings.HasPrefix(path.Clean(p), strings.TrimSuffix(path.Clean(dir), "/")+"/")
}

// windowsPath spells a path with backslashes and a capital drive letter.
func windowsPath(p string) string {
	p = strings.ReplaceAll(p, "/", `\`)
	if len(p) >= 2 && p[1] == ':' {
		p = strings.ToUpper(p[:1]) + p[1:]
	}
	return p
}

// lastElement is the name of a directory, whichever system wrote its path.
func lastElement(path string) string {
	path = strings.TrimRight(path, `/\`)
	if i := strings.LastIndexAny(path, `/\`); i >= 0 {
		return path[i+1:]
	}
	return path
}

// realPath resolves the symlinks of the part of p that exists and keeps the rest.
func realPath(p string) string {
	rest := ""
	for dir := p; ; dir = filepath.Dir(dir) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, rest)
		}
		if dir == filepath.Dir(dir) {
			return p
		}
		rest = filepath.Join(filepath.Base(dir), rest)
	}
}

// gone reports whether nothing is at a path, which is not so for one that may not
// be looked at.
func gone(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist) || isNotFolder(err)
}
