package agentmem

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/project"
)

// tree is one side: the topics and the index of a directory by path.
type tree struct {
	dir      string
	exists   bool
	files    map[string]*leaf
	problems []Problem // of a snapshot: why it is not taken; of a store: what was left out
	notes    []string
	// left are topics of a store, and its index, that are there and were not read: nobody may
	// take them for deleted. partial says that more of them may be there.
	left    map[string]bool
	partial bool

	size   int64
	listed int
	root   *os.Root
	texts  map[string]string // normalised, where they were needed
	raws   map[string]string
	hashes *hashes
}

// leaf is one file of a tree.
type leaf struct {
	sum  string // SHA-256 of the normalised text
	user bool   // a topic of the type user
	size int64
}

func sumOf(s string) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:])
}

// readTree reads a directory. In a snapshot everything that does not belong there is a
// problem; in a store it is left out, as everywhere.
func readTree(ctx context.Context, dir string, snapshot bool, known *hashes) (*tree, error) {
	t := &tree{dir: dir, files: map[string]*leaf{}, left: map[string]bool{}, texts: map[string]string{}, raws: map[string]string{}, hashes: known}
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", dir, project.Reason(err))
	}
	t.root, t.exists = root, true
	w := walker{tree: t, snapshot: snapshot, known: known, folded: map[string]string{}, most: maxListed}
	if most, ok := ctx.Value(listedKey{}).(int); ok {
		w.most = most
	}
	if err := w.folder(ctx, "."); err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

// overlay puts texts in the place of files.
func (t *tree) overlay(over map[string]string) {
	for p, raw := range over {
		if checkFile(p) != nil || isPeoples(path.Base(p)) || len(raw) > MaxFile || !utf8.ValidString(raw) || strings.ContainsRune(raw, 0) {
			continue // what lies on disk counts
		}
		if t.texts == nil {
			t.texts, t.raws = map[string]string{}, map[string]string{}
		}
		s := normal(raw)
		t.files[p] = &leaf{sum: sumOf(s), user: p != memfile.IndexName && memfile.Parse(s).Meta().Type == "user", size: int64(len(raw))}
		t.texts[p], t.raws[p] = s, raw
	}
}

func (t *tree) close() {
	if t.root != nil {
		_ = t.root.Close()
		t.root = nil
	}
}

// listedKey is the key under which a context carries how many names are looked at, for tests.
type listedKey struct{}

type walker struct {
	*tree
	most     int // names that are looked at
	snapshot bool
	known    *hashes
	folded   map[string]string // name as a file system without case sees it -> path
	full     bool
}

// stop ends a walk that found more than a memory holds.
func (w *walker) stop(format string, args ...any) {
	if !w.full {
		w.full, w.partial = true, true
		w.problems = append(w.problems, Problem{Kind: ProblemShape, Reason: fmt.Sprintf(format, args...)})
	}
}

func (w *walker) bad(p, format string, args ...any) {
	const most = 50
	if memfile.IsMarkdown(p) {
		w.left[p] = true
	} else {
		w.left[p+"/"] = true // what lies in it, should it be a folder
	}
	if len(w.problems) == most {
		if w.snapshot {
			w.stop("there are more problems than are listed")
		}
		return
	}
	if len(w.problems) < most {
		w.problems = append(w.problems, Problem{Kind: ProblemShape, Path: p, Reason: fmt.Sprintf(format, args...)})
	}
}

func (w *walker) folder(ctx context.Context, rel string) error {
	f, err := memdir.Open(w.root, rel)
	if errors.Is(err, fs.ErrNotExist) {
		return changed(filepath.Join(w.dir, rel))
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", filepath.Join(w.dir, rel), project.Reason(err))
	}
	defer f.Close()
	var folders []string
	for !w.full {
		if err := ctx.Err(); err != nil {
			return err
		}
		list, err := f.ReadDir(512)
		for _, d := range list {
			if w.listed++; w.listed > w.most {
				w.stop("%s holds more than %d names; a memory has some hundred", w.dir, w.most)
				break
			}
			p := path.Join(rel, d.Name())
			if w.entry(p, d) {
				folders = append(folders, p)
			}
		}
		if errors.Is(err, io.EOF) || (err == nil && len(list) == 0) {
			break
		}
		if errors.Is(err, fs.ErrNotExist) {
			return changed(filepath.Join(w.dir, rel))
		}
		if err != nil {
			return fmt.Errorf("reading %s: %w", filepath.Join(w.dir, rel), project.Reason(err))
		}
	}
	sort.Strings(folders)
	for _, p := range folders {
		if w.full {
			break
		}
		if err := w.folder(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// entry looks at one name; it tells whether it is a folder to go into.
func (w *walker) entry(p string, d fs.DirEntry) (enter bool) {
	kind, name := d.Type(), d.Name()
	switch {
	case kind&fs.ModeSymlink != 0:
		w.bad(p, "it is a link; memory is plain files. Remove it")
		return false
	case d.IsDir():
		return w.enters(p, name)
	case !kind.IsRegular():
		w.bad(p, "it is no regular file (a pipe, socket or device). Remove it")
		return false
	case strings.HasPrefix(name, ".") || p == ManifestName:
		return false
	case !memfile.IsMarkdown(name):
		if w.snapshot {
			w.notes = append(w.notes, fmt.Sprintf("%s is no memory and is left alone.", memdir.ShownName(p)))
		}
		return false
	}
	if isPeoples(name) {
		return false
	}
	if err := checkFile(p); err != nil {
		w.bad(p, "%v", err)
		return false
	}
	if w.collides(p) {
		return false
	}
	info, err := d.Info()
	if err != nil {
		w.bad(p, "it cannot be looked at: %v", project.Reason(err))
		return false
	}
	w.file(p, info)
	return false
}

// enters tells whether a folder holds topics.
func (w *walker) enters(p, name string) bool {
	if strings.HasPrefix(name, ".") || (path.Dir(p) == "." && strings.EqualFold(name, memdir.LogsDir)) {
		return false
	}
	if strings.Count(p, "/") > 8 {
		w.bad(p, "it lies deeper than memory is looked for")
		return false
	}
	if !w.snapshot {
		if _, err := w.root.Lstat(filepath.FromSlash(path.Join(p, memfile.IndexName))); err == nil {
			return false // a memory directory of its own
		}
	}
	return true
}

func isPeoples(name string) bool {
	for _, n := range []string{"README.md", "CLAUDE.md", "AGENTS.md"} {
		if strings.EqualFold(n, name) {
			return true
		}
	}
	return false
}

// folded gives a path as a file system sees it to which letter case and the way in which
// letters are composed do not count.
func folded(p string) string { return strings.ToLower(norm.NFC.String(p)) }

// collides refuses two names that some file systems take for one.
func (w *walker) collides(p string) bool {
	low := folded(p)
	if other, ok := w.folded[low]; ok && w.snapshot {
		w.bad(p, "%s has the same name where letter case and how letters are composed do not count, so that one of them would be lost there. Rename one", memdir.ShownName(other))
		return true
	}
	w.folded[low] = p
	return false
}

func (w *walker) file(p string, info fs.FileInfo) {
	if info.Size() > MaxFile {
		w.bad(p, "it has %d bytes; a memory has at most %d. Shorten or remove it", info.Size(), MaxFile)
		return
	}
	if w.size += info.Size(); w.size > MaxSnapshot {
		w.stop("the files of %s have more than %d bytes together", w.dir, MaxSnapshot)
		return
	}
	if len(w.files) >= MaxFiles {
		w.stop("%s holds more than %d topics", w.dir, MaxFiles)
		return
	}
	if l := w.known.get(p, info); l != nil {
		w.files[p] = l
		return
	}
	raw, err := w.read(p)
	if err != nil {
		w.bad(p, "it cannot be read: %v", project.Reason(err))
		return
	}
	if !utf8.ValidString(raw) || strings.ContainsRune(raw, 0) {
		w.bad(p, "it is not text in UTF-8")
		return
	}
	s := normal(raw)
	if w.snapshot {
		if line := conflictMarker(s); line > 0 {
			w.problems = append(w.problems, Problem{Kind: ProblemShape, Path: p, Line: line,
				Reason: "here is a conflict of git that nobody resolved. Resolve it in the snapshot; where the merge driver was missing, mem-mcp snapshot setup --write and then git checkout --merge -- " + SnapshotsDir + " merge it again by parts"})
			return
		}
	}
	l := &leaf{sum: sumOf(s), user: p != memfile.IndexName && memfile.Parse(s).Meta().Type == "user", size: info.Size()}
	w.files[p], w.texts[p], w.raws[p] = l, s, raw
	w.known.put(p, info, l)
}

// conflictMarker gives the line, from 1, of a conflict that git left: all three marks in
// order, outside of fenced code.
func conflictMarker(s string) int {
	if !strings.Contains(s, "<<<<<<< ") || !strings.Contains(s, ">>>>>>> ") {
		return 0
	}
	fenced, start, stage := false, 0, 0
	for i, line := range strings.Split(s, "\n") {
		trimmed := strings.TrimLeft(line, " ")
		switch {
		case strings.HasPrefix(trimmed, "```") || strings.HasPrefix(trimmed, "~~~"):
			fenced = !fenced
		case fenced:
		case strings.HasPrefix(line, "<<<<<<< "):
			start, stage = i+1, 1
		case stage == 1 && line == "=======":
			stage = 2
		case stage == 2 && strings.HasPrefix(line, ">>>>>>> "):
			return start
		}
	}
	return 0
}
