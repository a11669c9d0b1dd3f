package agentmem

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"mem/core/change"
	"mem/core/memdir"
)

// maxWhoLook is how long the history is searched for who wrote a part: somebody waits for
// it with a cursor on the part.
const maxWhoLook = 500 * time.Millisecond

// Who is who gave a part of a snapshot its text, and when, as git has it.
type Who struct {
	// Committed says that the text is in the commit that is checked out. Nothing else is
	// known of one that is not.
	Committed bool      `json:"committed"`
	Author    string    `json:"author,omitempty"` // a name, as the commit has it
	Time      time.Time `json:"time,omitzero"`
	Commit    string    `json:"commit,omitempty"`
	Subject   string    `json:"subject,omitempty"`
	// AtLeast says that the history was not searched to its end: the text is that old or older.
	AtLeast bool `json:"atLeast,omitempty"`
}

// Words says it in a line.
func (w Who) Words() string {
	if !w.Committed {
		return "not committed yet"
	}
	s := memdir.Shown(w.Author, 80) + ", " + w.Time.UTC().Format("2006-01-02 15:04") + " UTC"
	if w.AtLeast {
		s += " or before"
	}
	if len(w.Commit) >= 8 {
		s += " (" + w.Commit[:8]
		if w.Subject != "" {
			s += ": " + memdir.Shown(w.Subject, 100)
		}
		s += ")"
	}
	return s
}

// Who finds in git's history which commit gave a part of a file of the snapshot the text
// that it has in the folder now; key and name of the part count. ok is false without git, or where the file is not there.
func (s *Shared) Who(ctx context.Context, path string, part change.Part) (who Who, ok bool, err error) {
	p := s.m.Location.Project
	if p.GitDir == "" || p.Worktree == "" || checkFile(path) != nil || checkFolders(s.Top, s.Snapshot) != nil {
		return Who{}, false, nil
	}
	now, err := s.snapshotText(path)
	if err != nil || now == "" {
		return Who{}, false, err
	}
	rel, err := filepath.Rel(p.Worktree, s.Snapshot)
	if err != nil {
		return Who{}, false, nil
	}
	head, err := headOf(p.GitDir, p.CommonDir)
	if err != nil || head == "" {
		return Who{}, head == "" && err == nil, err
	}
	o, err := openObjects(p.CommonDir)
	if err != nil {
		return Who{}, false, err
	}
	defer o.close()
	f := finder{objects: o, path: filepath.ToSlash(rel) + "/" + path, same: map[string]bool{},
		equal: func(old string) bool { return samePart(path, part, now, old) }}
	who, err = f.find(ctx, head)
	return who, err == nil, err
}

// snapshotText gives the text of a file of the snapshot, "" where there is none.
func (s *Shared) snapshotText(p string) (string, error) {
	root, err := os.OpenRoot(s.Snapshot)
	if err != nil {
		return "", nil // there is no snapshot; what is wrong with one, the state says
	}
	t := &tree{dir: s.Snapshot, root: root}
	defer t.close()
	raw, err := t.read(p)
	if err != nil || !utf8.ValidString(raw) {
		return "", nil
	}
	return normal(raw), nil
}

// samePart tells whether a part of the text now was in an older one already.
func samePart(path string, part change.Part, now, old string) bool {
	same := true
	change.Resolve(path, now, now, old, func(p change.Part) change.Decision {
		if p.Name == part.Name && (part.Key == "" || p.Key == part.Key) {
			same = false
		}
		return change.Decision{}
	})
	return same
}

// finder follows a part through the commits that have it.
type finder struct {
	*objects
	path  string // in the repository
	same  map[string]bool
	equal func(old string) bool
}

func (f *finder) find(ctx context.Context, head string) (Who, error) {
	blob, err := f.blob(head)
	if err != nil {
		return Who{}, err
	}
	if blob == "" || !f.has(blob) {
		return Who{}, nil
	}
	until := time.Now().Add(maxWhoLook)
	at, atLeast := head, false
	for n := 0; ; n++ {
		if err := ctx.Err(); err != nil {
			return Who{}, err
		}
		_, parents, err := f.commit(at)
		if err != nil {
			return Who{}, err
		}
		if n == maxCommits || time.Now().After(until) {
			atLeast = true
			break
		}
		next := ""
		for _, p := range parents {
			older, err := f.blob(p)
			if errors.Is(err, errNoObject) {
				atLeast = true // a shallow clone ends here
				continue
			}
			if err != nil {
				return Who{}, err
			}
			if older != "" && (older == blob || f.has(older)) {
				next, blob = p, older
				break
			}
		}
		if next == "" {
			break
		}
		at, atLeast = next, false
	}
	who, err := f.signature(at)
	who.AtLeast = atLeast
	return who, err
}

// blob gives the file as a commit has it, "" where it has none.
func (f *finder) blob(commit string) (string, error) {
	tree, _, err := f.commit(commit)
	if err != nil {
		return "", err
	}
	dir, name := filepath.ToSlash(filepath.Dir(filepath.FromSlash(f.path))), f.path[strings.LastIndexByte(f.path, '/')+1:]
	folder, err := f.below(tree, dir)
	if err != nil || folder == "" {
		return "", err
	}
	list, err := f.tree(folder)
	if err != nil {
		return "", err
	}
	for _, e := range list {
		if e.name == name && strings.HasPrefix(e.mode, "100") {
			return e.id, nil
		}
	}
	return "", nil
}

// has tells whether the part has its text in a version of the file.
func (f *finder) has(blob string) bool {
	if known, ok := f.same[blob]; ok {
		return known
	}
	_, data, err := f.read(blob)
	f.same[blob] = err == nil && len(data) <= MaxFile && utf8.Valid(data) && f.equal(normal(string(data)))
	return f.same[blob]
}

// signature reads who made a commit, and when.
func (f *finder) signature(id string) (Who, error) {
	_, data, err := f.read(id)
	if err != nil {
		return Who{}, err
	}
	who := Who{Committed: true, Commit: id}
	head, message, _ := strings.Cut(string(data), "\n\n")
	who.Subject, _, _ = strings.Cut(strings.TrimSpace(message), "\n")
	for _, line := range strings.Split(head, "\n") {
		v, ok := strings.CutPrefix(line, "author ")
		if !ok {
			continue
		}
		name, rest, _ := strings.Cut(v, " <")
		_, stamp, _ := strings.Cut(rest, "> ")
		who.Author = strings.ToValidUTF8(name, "\uFFFD")
		seconds, _, _ := strings.Cut(stamp, " ")
		if n, err := strconv.ParseInt(seconds, 10, 64); err == nil {
			who.Time = time.Unix(n, 0)
		}
	}
	who.Subject = strings.ToValidUTF8(who.Subject, "\uFFFD")
	return who, nil
}
