package gate

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"mem/core/fork/shell"
	"mem/core/memdir"
)

// world is what the agent can see: the mounts, and "/" which lists them.
type world struct {
	mounts []*mount
	names  []alias // longest first
	redact *redactor
	cache  cache
}

type mount struct {
	Mount
	root    *os.Root
	files   map[string]bool // nil: all
	folders map[string]bool // that lead to files
}

type alias struct {
	path string // slash-separated, clean
	fold bool   // a path of Windows: case makes no difference
	m    *mount
}

// place is a path that was understood. The zero value is "/".
type place struct {
	m   *mount
	rel string // slash-separated, "." is the mount itself
}

// String gives the place as the agent names it.
func (p place) String() string {
	switch {
	case p.m == nil:
		return "/"
	case p.rel == ".":
		return "/" + p.m.Name
	}
	return "/" + p.m.Name + "/" + p.rel
}

func (p place) join(name string) place { return place{p.m, path.Join(p.rel, name)} }

func openWorld(mounts []Mount) (*world, error) {
	w := &world{}
	for _, m := range mounts {
		if m.Name == "" || strings.ContainsAny(m.Name, `/\.`) || w.mount(m.Name) != nil {
			w.close()
			return nil, fmt.Errorf("a mount cannot be named %q: give each a name of its own without slashes and dots", m.Name)
		}
		root, err := os.OpenRoot(m.Dir)
		if err != nil {
			w.close()
			return nil, fmt.Errorf("%s cannot be opened for the agent as /%s: %w", memdir.ShownName(m.Dir), m.Name, err)
		}
		mm := &mount{Mount: m, root: root}
		if m.Files != nil {
			mm.files, mm.folders = map[string]bool{}, map[string]bool{".": true}
			for _, f := range m.Files {
				f = path.Clean(filepath.ToSlash(f))
				mm.files[f] = true
				for d := path.Dir(f); d != "."; d = path.Dir(d) {
					mm.folders[d] = true
				}
			}
		}
		w.mounts = append(w.mounts, mm)
		for _, a := range append([]string{m.Dir}, m.Aliases...) {
			if a, fold, ok := absolute(a); ok && a != "/" {
				w.names = append(w.names, alias{a, fold, mm})
			}
		}
		w.names = append(w.names, alias{"/" + m.Name, false, mm})
	}
	slices.SortStableFunc(w.names, func(a, b alias) int { return len(b.path) - len(a.path) })
	return w, nil
}

func (w *world) close() {
	for _, m := range w.mounts {
		m.root.Close()
	}
}

func (w *world) mount(name string) *mount {
	for _, m := range w.mounts {
		if m.Name == name {
			return m
		}
	}
	return nil
}

var drive = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z]:[/\\]`) })

// absolute gives an absolute path, of this system or of Windows, clean and with
// slashes. fold: its case makes no difference.
func absolute(p string) (clean string, fold, ok bool) {
	if drive().MatchString(p) {
		p = strings.ReplaceAll(p, `\`, "/")
		return strings.ToLower(p[:1]) + path.Clean(p[1:]), true, true
	}
	if strings.HasPrefix(p, "/") && !strings.HasPrefix(p, "//") {
		return path.Clean(p), false, true
	}
	return p, false, false
}

// below gives the part of p below a, if it lies there.
func (a alias) below(p string, fold bool) (rel string, ok bool) {
	if fold != a.fold || len(p) < len(a.path) {
		return "", false
	}
	head, tail := p[:len(a.path)], p[len(a.path):]
	if head != a.path && !(fold && strings.EqualFold(head, a.path)) {
		return "", false
	}
	if tail == "" {
		return ".", true
	}
	if tail[0] != '/' {
		return "", false
	}
	return tail[1:], true
}

// maxPath bounds a path in bytes, as common systems do.
const maxPath = 4096

// resolve says which place p means in the folder cwd. Whether it is there is not
// looked at.
func (w *world) resolve(cwd, p string) (place, error) {
	no := func(why string, a ...any) (place, error) {
		return place{}, &shell.RefusedError{What: memdir.ShownName(p), Reason: fmt.Sprintf(why, a...)}
	}
	switch {
	case p == "":
		return no("the path is empty. %s", w.allowed())
	case len(p) > maxPath:
		return no("a path has at most %d bytes. %s", maxPath, w.allowed())
	case !utf8.ValidString(p):
		return no("the path is not valid UTF-8. %s", w.allowed())
	case strings.ContainsRune(p, 0):
		return no("the path holds a NUL. %s", w.allowed())
	case strings.HasPrefix(p, `\\`) || strings.HasPrefix(p, "//"):
		return no("network and device paths are not open to you. %s", w.allowed())
	case p == "~":
		p = "/" + w.mounts[0].Name
	case strings.HasPrefix(p, "~/"):
		p = "/" + w.mounts[0].Name + p[1:]
	case p[0] == '~':
		return no("homes of users are not open to you. %s", w.allowed())
	}
	abs, fold, ok := absolute(p)
	if !ok {
		if strings.ContainsRune(p, '\\') {
			return no("write paths with forward slashes. %s", w.allowed())
		}
		abs = path.Join(cwd, p)
	}
	if abs == "/" {
		return place{}, nil
	}
	pl, ok := w.find(abs, fold)
	if !ok {
		return no("it lies outside of what is open to you. %s", w.allowed())
	}
	if pl.rel != "." {
		for el := range strings.SplitSeq(pl.rel, "/") {
			if err := memdir.CheckElement(el); err != nil {
				return no("%v; such names are not open to you. %s", err, w.allowed())
			}
		}
		// A mount may lie inside another one: its own name is what counts there.
		if inner, ok := w.find(hostPath(pl)); ok {
			pl = inner
		}
	}
	if pl.m.files != nil && !pl.m.files[pl.rel] && !pl.m.folders[pl.rel] {
		return no("it is not among the %d files that were chosen in /%s for this run; list the folder with Glob to see them", len(pl.m.files), pl.m.Name)
	}
	return pl, nil
}

func hostPath(pl place) (string, bool) {
	abs, fold, ok := absolute(pl.m.Dir)
	if !ok {
		return "", false
	}
	return path.Join(abs, pl.rel), fold
}

func (w *world) find(abs string, fold bool) (place, bool) {
	for _, a := range w.names {
		if rel, ok := a.below(abs, fold); ok {
			return place{a.m, rel}, true
		}
	}
	return place{}, false
}

// allowed says what is open to the agent.
func (w *world) allowed() string {
	list := make([]string, len(w.mounts))
	for i, m := range w.mounts {
		list[i] = "/" + m.Name
		if m.Write == nil {
			list[i] += " (read only)"
		}
	}
	return "Use a path below " + strings.Join(list, ", ") + "."
}
