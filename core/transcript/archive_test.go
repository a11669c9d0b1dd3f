package transcript

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mem/core/atomicfile"
	"mem/internal/need"
)

func (h *home) archive(list []*Session) *Archived {
	h.t.Helper()
	got, err := Archive(h.t.Context(), h.env, list, ArchiveOptions{Directory: h.path("memory"), Version: "test"})
	if err != nil {
		h.t.Fatal(err)
	}
	return got
}

func (h *home) read(path string) string {
	h.t.Helper()
	src, err := Open(path)
	if err != nil {
		h.t.Fatal(err)
	}
	defer src.Close()
	text, err := io.ReadAll(io.NewSectionReader(src, 0, src.Size()))
	if err != nil {
		h.t.Fatal(err)
	}
	return string(text)
}

func actions(a *Archived) []string {
	var list []string
	for _, o := range a.Sessions {
		list = append(list, o.Session+" "+o.Action)
	}
	return list
}

func TestArchive(t *testing.T) {
	h := newHome(t)
	p := h.repository("proj")
	words := make([]string, 9000)
	for i := range words {
		words[i] = strings.Repeat("word ", 40)
	}
	content := chat(p.Root, words...) + `{"torn`
	if len(content) < 2*archiveBlock {
		t.Fatal("too small for several blocks")
	}
	path := h.session(p.Root, id(1), content, 20*24*time.Hour)
	h.session(p.Root, id(2), "", time.Hour)
	companion := strings.TrimSuffix(path, ".jsonl")
	h.write(filepath.Join(companion, "subagents", "agent-a.jsonl"), chat(p.Root, "sub"))
	h.write(filepath.Join(companion, "subagents", "agent-a.meta.json"), `{"agentType":"Explore"}`)
	h.write(filepath.Join(companion, "tool-results", "long.txt"), strings.Repeat("long ", 1000))
	if err := os.Symlink(path, filepath.Join(companion, "link")); err != nil && runtime.GOOS != "windows" {
		t.Fatal(err)
	}
	h.untouched()
	before := h.find(FindOptions{Dirs: []string{filepath.Dir(path)}})
	done, total := int64(0), int64(0)
	got, err := Archive(t.Context(), h.env, before.List, ArchiveOptions{Directory: h.path("memory"), Progress: func(d, n int64) { done, total = d, n }})
	if err != nil {
		t.Fatal(err)
	}
	if done != total || total != int64(len(content)) {
		t.Errorf("progress ended at %d of %d", done, total)
	}
	if d := cmp.Diff([]string{id(2) + " copied", id(1) + " copied"}, actions(got)); d != "" {
		t.Fatal(d)
	}
	if o := got.Sessions[1]; o.Files != 4 || o.Size != int64(len(content)) || o.Stored*5 > o.Size || len(got.Skipped) > 1 {
		t.Errorf("%+v, skipped %v", o, got.Skipped)
	}
	if h.read(got.Sessions[1].Path) != content || h.read(got.Sessions[0].Path) != "" {
		t.Error("a copy reads back as something else")
	}
	// Any program can read it.
	f, err := os.Open(got.Sessions[1].Path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := io.ReadAll(z); err != nil || string(plain) != content {
		t.Errorf("gzip reads something else: %v", err)
	}
	if runtime.GOOS != "windows" {
		for name, mode := range map[string]os.FileMode{"": 0o700, id(1) + archiveExt: 0o600, id(1) + "/subagents/agent-a.meta.json": 0o600} {
			if info, err := os.Stat(filepath.Join(got.Directory, name)); err != nil || info.Mode().Perm() != mode {
				t.Errorf("%s: %v, %v", name, info, err)
			}
		}
	}
	if got := h.archive(before.List); !slices.Equal(actions(got), []string{id(2) + " unchanged", id(1) + " unchanged"}) {
		t.Errorf("again: %v", actions(got))
	}
}

func TestArchivedSessionsAreFound(t *testing.T) {
	h := newHome(t)
	p := h.repository("proj")
	path := h.session(p.Root, id(1), chat(p.Root, "first prompt", "answer"), 29*24*time.Hour)
	h.write(filepath.Join(strings.TrimSuffix(path, ".jsonl"), "subagents", "agent-a.jsonl"), chat(p.Root, "sub"))
	h.write(filepath.Join(strings.TrimSuffix(path, ".jsonl"), "subagents", "agent-a.meta.json"), `{"agentType":"Explore"}`)
	o := FindOptions{Project: p}
	was := h.find(o)
	if n := len(was.Expiring(h.now, 7*24*time.Hour)); n != 1 {
		t.Fatalf("%d expire", n)
	}
	h.archive(was.List)
	both := h.find(o)
	if len(both.List) != 1 || both.List[0].Origin != OriginClient || !both.List[0].Archived || len(both.Expiring(h.now, 7*24*time.Hour)) != 0 {
		t.Errorf("with both: %+v", both.List[0])
	}
	// The client deletes it.
	if err := os.RemoveAll(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	got := h.find(o)
	if len(got.List) != 1 {
		t.Fatalf("%d sessions, skipped %v", len(got.List), got.Skipped)
	}
	s, want := got.List[0], was.List[0]
	if d := cmp.Diff(want.Facts, s.Facts); d != "" {
		t.Errorf("facts: %s", d)
	}
	if s.ID != want.ID || s.Origin != OriginArchive || !s.Modified.Equal(want.Modified) || s.Size != want.Size || !s.Expires.IsZero() || s.Live {
		t.Errorf("%+v", s)
	}
	if len(s.Subagents) != 1 || s.Subagents[0].Type != "Explore" || h.read(s.Subagents[0].Path) != chat(p.Root, "sub") {
		t.Errorf("subagents: %+v", s.Subagents)
	}
	h.chain(s.Path, "first prompt", "answer")
	if _, err := Pick(t.Context(), h.env, o, id(1)[:4]); err != nil {
		t.Error(err)
	}
}

// What processes left that died is removed once nobody can be at work on it.
// The latest session is the one that was written last, not the one that was archived last;
// where the original is there, it is the original.
func TestLatestAmongCopies(t *testing.T) {
	h := newHome(t)
	p := h.repository("proj")
	for i, age := range []time.Duration{2 * time.Hour, time.Hour, 3 * time.Hour} {
		h.session(p.Root, id(i+1), chat(p.Root, "words"), age)
	}
	o := FindOptions{Project: p}
	list := h.find(o).List
	for i, at := range []int{1, 0, 2} { // the oldest is archived last
		got := h.archive(list[at : at+1])
		h.age(got.Sessions[0].Path, -time.Duration(i)*time.Minute)
	}
	for _, gone := range []bool{false, true} {
		if gone {
			for _, s := range list {
				if err := os.Remove(s.Path); err != nil {
					t.Fatal(err)
				}
			}
		}
		s, err := Pick(t.Context(), h.env, o, "latest")
		if err != nil || s.ID != id(2) || (s.Origin == OriginArchive) != gone {
			t.Errorf("originals gone %v: %+v, %v", gone, s, err)
		}
		o.Except = id(2)
		if s, err = Pick(t.Context(), h.env, o, "latest"); err != nil || s.ID != id(1) {
			t.Errorf("originals gone %v, but for the newest: %+v, %v", gone, s, err)
		}
		o.Except = ""
	}
}

func TestArchiveSweeps(t *testing.T) {
	h := newHome(t)
	p := h.repository("proj")
	h.session(p.Root, id(1), chat(p.Root, "x"), time.Hour)
	list := h.find(FindOptions{Project: p}).List
	got := h.archive(list)
	for name, ago := range map[string]time.Duration{".mem-1.tmp": 2 * time.Hour, ".mem-2.tmp": 10 * time.Minute, id(1) + "/tool-results/.mem-3.tmp": 2 * time.Hour, "mine.tmp": 3 * time.Hour} {
		path := filepath.Join(got.Directory, filepath.FromSlash(name))
		h.write(path, "half of a copy")
		if at := h.now.Add(-ago); os.Chtimes(path, at, at) != nil {
			t.Fatal("times")
		}
	}
	if again := h.archive(list); len(again.Skipped) > 0 || again.Failed > 0 {
		t.Errorf("%+v", again)
	}
	for name, want := range map[string]bool{".mem-1.tmp": false, ".mem-2.tmp": true, id(1) + "/tool-results/.mem-3.tmp": false, "mine.tmp": true, id(1) + archiveExt: true} {
		if _, err := os.Stat(filepath.Join(got.Directory, filepath.FromSlash(name))); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestArchiveOfWhatChanged(t *testing.T) {
	h := newHome(t)
	p := h.repository("proj")
	path := h.session(p.Root, id(1), chat(p.Root, "one"), time.Hour)
	find := func() []*Session { return h.find(FindOptions{Dirs: []string{filepath.Dir(path)}}).List }
	h.archive(find())
	h.session(p.Root, id(1), chat(p.Root, "one", "two"), time.Minute)
	if got := h.archive(find()); !slices.Equal(actions(got), []string{id(1) + " updated"}) || h.read(got.Sessions[0].Path) != chat(p.Root, "one", "two") {
		t.Errorf("grown: %v", actions(got))
	}
	// Written anew: the archive keeps both.
	h.session(p.Root, id(1), chat(p.Root, "other"), 0)
	got := h.archive(find())
	if !slices.Equal(actions(got), []string{id(1) + " kept both"}) {
		t.Errorf("another: %v", actions(got))
	}
	files, err := filepath.Glob(filepath.Join(got.Directory, "*"+archiveExt))
	if err != nil || len(files) != 2 {
		t.Fatalf("%v, %v", files, err)
	}
	texts := []string{h.read(files[0]), h.read(files[1])}
	slices.Sort(texts)
	want := []string{chat(p.Root, "one", "two"), chat(p.Root, "other")}
	slices.Sort(want)
	if d := cmp.Diff(want, texts); d != "" {
		t.Error(d)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if list := h.find(FindOptions{Project: p}).List; len(list) != 1 || len(list[0].Also) != 1 || list[0].ID != id(1) {
		t.Errorf("found: %+v", list)
	}
	// A damaged copy is put aside, not trusted and not deleted.
	path = h.session(p.Root, id(2), chat(p.Root, "kept"), 0)
	first := h.archive(find()).Sessions[0].Path
	h.write(first, "garbage")
	if got := h.archive(find()); !slices.Equal(actions(got), []string{id(2) + " copied"}) || h.read(first) != chat(p.Root, "kept") {
		t.Errorf("damaged: %v, %v", actions(got), got.Skipped)
	}
}

func TestArchiveBadInput(t *testing.T) {
	h := newHome(t)
	p := h.repository("proj")
	path := h.session(p.Root, id(1), chat(p.Root, "one"), time.Hour)
	list := h.find(FindOptions{Project: p}).List
	h.session(p.Root, id(2), chat(p.Root, "two"), time.Hour)
	list = append(list, h.find(FindOptions{Project: p}).List[1:]...)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	for i, s := range list {
		if s.ID == id(2) {
			list[0], list[i] = list[i], list[0]
		}
	}
	bad := *list[0]
	bad.ID = "../../escape"
	dir := *list[0]
	dir.Path = h.path("w")
	got := h.archive(append(list, &bad, &dir))
	if len(got.Sessions) != 1 || len(got.Skipped) != 3 {
		t.Errorf("%v, skipped %v", actions(got), got.Skipped)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	h.session(p.Root, id(3), chat(p.Root, "three"), time.Hour)
	if _, err := Archive(ctx, h.env, h.find(FindOptions{Project: p}).List, ArchiveOptions{Directory: h.path("memory")}); !errors.Is(err, context.Canceled) {
		t.Errorf("broken off: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(got.Directory, atomicfile.TempPrefix+"*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	h.env.StateDir = ""
	if _, err := Archive(t.Context(), h.env, list, ArchiveOptions{Directory: h.path("memory")}); !errors.Is(err, errNoState) {
		t.Errorf("without a place: %v", err)
	}
}

// shrinking is a file that is cut while it is copied.
type shrinking struct {
	text []byte
	cut  int64
}

func (s *shrinking) ReadAt(p []byte, off int64) (int, error) {
	return bytes.NewReader(s.text[:s.cut]).ReadAt(p, off)
}

func TestArchiveOfWhatIsCut(t *testing.T) {
	text := bytes.Repeat([]byte("x"), 3*archiveBlock)
	src := &shrinking{text, int64(len(text))}
	hash, err := hashOf(t.Context(), src, 0, int64(len(text)), nil)
	if err != nil {
		t.Fatal(err)
	}
	src.cut = archiveBlock + 5
	err = writeArchive(t.Context(), io.Discard, src, ArchiveHead{Size: int64(len(text)), SHA256: hash}, nil)
	if !errors.Is(err, errShort) {
		t.Errorf("cut: %v", err)
	}
	src.cut, src.text = int64(len(text)), bytes.Repeat([]byte("y"), len(text))
	if err = writeArchive(t.Context(), io.Discard, src, ArchiveHead{Size: int64(len(text)), SHA256: hash}, nil); err == nil {
		t.Error("a file that changed is copied")
	}
}

// packed writes a copy of bytes that compress badly.
func packed(t testing.TB, size int) (path string, text []byte) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	text = make([]byte, size)
	for i := range text {
		text[i] = byte(r.Uint32())
	}
	hash, err := hashOf(t.Context(), bytes.NewReader(text), 0, int64(size), nil)
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "x"+archiveExt)
	err = replaceFile(path, func(f *os.File) error {
		return writeArchive(t.Context(), f, bytes.NewReader(text), ArchiveHead{Session: "x", Size: int64(size), SHA256: hash}, nil)
	}, atomicfile.Quick)
	if err != nil {
		t.Fatal(err)
	}
	return path, text
}

func TestArchiveReadAt(t *testing.T) {
	for _, size := range []int{0, 1, archiveBlock - 1, archiveBlock, archiveBlock + 1, 6*archiveBlock + 12345} {
		path, text := packed(t, size)
		a, err := openArchive(path)
		if err != nil {
			t.Fatalf("%d: %v", size, err)
		}
		r := rand.New(rand.NewPCG(3, 4))
		for range 60 {
			off := r.Int64N(int64(size) + 2)
			p := make([]byte, r.IntN(2*archiveBlock))
			want := make([]byte, len(p))
			wn, werr := bytes.NewReader(text).ReadAt(want, off)
			n, err := a.ReadAt(p, off)
			if len(p) == 0 {
				continue // both may say EOF or not
			}
			if n != wn || (err == nil) != (werr == nil) || !bytes.Equal(p[:n], want[:wn]) {
				t.Fatalf("%d: ReadAt(%d, %d) = %d, %v, want %d, %v", size, len(p), off, n, err, wn, werr)
			}
		}
		if _, err := a.ReadAt(make([]byte, 1), -1); err == nil {
			t.Error("reading before the start")
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestArchiveDamaged(t *testing.T) {
	path, _ := packed(t, archiveBlock+1000)
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(5, 6))
	for i := range 150 {
		bad := bytes.Clone(good)
		if i%2 == 0 {
			bad = bad[:r.IntN(len(bad))]
		} else {
			bad[r.IntN(len(bad))] ^= byte(1 + r.IntN(255))
			bad[r.IntN(600)] ^= 1
		}
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		a, err := openArchive(path)
		if err != nil {
			continue
		}
		hash, err := hashOf(t.Context(), a, 0, a.Size(), nil)
		if err == nil && hash != a.Head.SHA256 && bytes.Equal(bad[600:], good[600:]) {
			t.Errorf("damage is read as if it were none")
		}
		a.Close()
	}
}

func FuzzArchive(f *testing.F) {
	path, _ := packed(f, 1000)
	good, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add([]byte{})
	f.Add([]byte("\x1f\x8b\x08\x04"))
	f.Fuzz(func(t *testing.T, data []byte) {
		name := filepath.Join(t.TempDir(), "x"+archiveExt)
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		a, err := openArchive(name)
		if err != nil {
			return
		}
		defer a.Close()
		if a.Size() > int64(len(data))*2000 {
			t.Errorf("%d bytes say that they are %d", len(data), a.Size())
		}
		_, _ = io.Copy(io.Discard, io.NewSectionReader(a, 0, a.Size()))
	})
}

func TestNoPermission(t *testing.T) {
	if need.AsNobody(t) {
		return
	}
	h := newHome(t)
	p := h.repository("proj")
	closed := h.session(p.Root, id(1), chat(p.Root, "x"), time.Hour)
	open := h.session(p.Root, id(2), chat(p.Root, "y"), time.Hour)
	list := h.find(FindOptions{Project: p}).List
	if err := os.Chmod(closed, 0); err != nil {
		t.Fatal(err)
	}
	if got := h.archive(list); len(got.Sessions) != 1 || got.Failed != 1 || len(got.Skipped) != 1 || !strings.Contains(got.Skipped[0].Reason, "permission") {
		t.Errorf("%v, skipped %v", actions(got), got.Skipped)
	}
	if _, err := Open(closed); err == nil || !strings.Contains(err.Error(), "may not read it") {
		t.Errorf("opened: %v", err)
	}
	// Places of ours that may not be written.
	h.env.StateDir, h.env.CacheDir = h.mkdir("closed/state"), h.mkdir("closed/cache")
	for _, dir := range []string{h.env.StateDir, h.env.CacheDir} {
		if err := os.Chmod(dir, 0o500); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(dir, 0o700)
	}
	if _, err := Append(t.Context(), h.env, h.recording("s1", "x")); !errors.Is(err, os.ErrPermission) {
		t.Errorf("recorded: %v", err)
	}
	if _, err := Archive(t.Context(), h.env, list, ArchiveOptions{Directory: h.path("memory")}); !errors.Is(err, os.ErrPermission) {
		t.Errorf("archived: %v", err)
	}
	got := h.find(FindOptions{Project: p})
	if len(got.List) != 1 || got.List[0].Path != open || len(got.Notes) != 1 || !strings.Contains(got.Notes[0], "could not be kept") {
		t.Errorf("%v, notes %v", ids(got), got.Notes)
	}
}
