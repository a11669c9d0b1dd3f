package index

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mem/core/settings"
	"mem/internal/need"
)

func TestOpenWithoutPlace(t *testing.T) {
	for _, o := range []Options{{}, {Dir: t.TempDir(), MaxBytes: 5}} {
		if x, err := Open(t.Context(), o); err == nil {
			x.Close()
			t.Errorf("%+v opens", o)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(file, "below")} {
		_, err := Open(t.Context(), Options{Dir: dir})
		if !errors.Is(err, ErrReadOnly) || !strings.Contains(err.Error(), "XDG_CACHE_HOME") {
			t.Errorf("%s: %v", dir, err)
		}
	}
	// A directory where the index should be.
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, FileName), 0o700); err != nil {
		t.Fatal(err)
	}
	if x, err := Open(t.Context(), Options{Dir: dir}); err == nil {
		x.Close()
		t.Error("a directory opens")
	}
}

func TestModes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "odd?name#with %41 signs")
	x := open(t, Options{Dir: dir})
	s := newSession(t, t.TempDir(), "s")
	s.prompt("word")
	update(t, x, s.source("p"))
	names, err := os.ReadDir(dir)
	if err != nil || !slices.ContainsFunc(names, func(e os.DirEntry) bool { return e.Name() == FileName }) {
		t.Fatal(names, err)
	}
	for _, e := range names {
		if st, err := e.Info(); err != nil || st.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: others may read it: %v (%v)", e.Name(), st.Mode(), err)
		}
	}
}

// TestDamaged: whatever stands in the place of the index, it is built anew, by
// each of several processes that find it so.
func TestDamaged(t *testing.T) {
	s := newSession(t, t.TempDir(), "s")
	want := s.prompt("findable")
	for i := range 300 {
		s.answer(fmt.Sprint("words that fill pages ", i))
	}
	good := func(dir string) {
		x := open(t, Options{Dir: dir})
		update(t, x, s.source("p"))
		if err := x.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for name, damage := range map[string]func(path string) error{
		"text":  func(p string) error { return os.WriteFile(p, []byte("this is no database at all\n"), 0o600) },
		"zeros": func(p string) error { return os.WriteFile(p, make([]byte, 20_000), 0o600) },
		"cut":   func(p string) error { return os.Truncate(p, 5000) },
		"other tables": func(p string) error {
			x := &Index{path: p, opts: Options{Dir: filepath.Dir(p)}}
			if err := x.connect(context.Background()); err != nil {
				return err
			}
			defer x.Close()
			_, err := x.db.Exec("DROP TABLE source")
			return err
		},
		"another tokeniser": func(p string) error {
			x := &Index{path: p, opts: Options{Dir: filepath.Dir(p)}}
			if err := x.connect(context.Background()); err != nil {
				return err
			}
			defer x.Close()
			_, err := x.db.Exec("UPDATE meta SET value = '0' WHERE key = 'tokenizer'")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			good(dir)
			if err := damage(filepath.Join(dir, FileName)); err != nil {
				t.Fatal(err)
			}
			var wg sync.WaitGroup
			notices := make([]string, 4)
			for i := range notices {
				wg.Go(func() {
					x, err := Open(context.Background(), Options{Dir: dir})
					if err != nil {
						t.Error(err)
						return
					}
					notices[i] = strings.Join(x.Notices(), "")
					if err := x.Close(); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			slices.Sort(notices)
			if notices[2] != "" || !strings.Contains(notices[3], "anew") {
				t.Errorf("one of them builds it anew and says so: %q", notices)
			}
			x := open(t, Options{Dir: dir})
			update(t, x, s.source("p"))
			first(t, x, "findable", want)
		})
	}
}

// TestDamagedLater: whole pages are damaged behind what Open looks at.
func TestDamagedLater(t *testing.T) {
	dir := t.TempDir()
	s := newSession(t, t.TempDir(), "s")
	for i := range 3000 {
		s.answer(fmt.Sprint("words that fill pages ", i))
	}
	x := open(t, Options{Dir: dir})
	update(t, x, s.source("p"))
	x.Close()
	f, err := os.OpenFile(x.Path(), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	st, _ := f.Stat()
	for at := int64(16 << 10); at < st.Size(); at += 4096 {
		if _, err := f.WriteAt([]byte(strings.Repeat("damage", 600)), at); err != nil {
			t.Fatal(err)
		}
	}
	f.Close()
	x = open(t, Options{Dir: dir})
	if r, err := x.Search(t.Context(), Query{Text: "words"}); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "anew") {
		t.Fatalf("%v: %.500s", err, fmt.Sprintf("%+v", r))
	}
	s.answer("words at the end")
	if r := update(t, x, s.source("p")); !r.Rebuilt || r.Entries != 3001 {
		t.Errorf("%+v", r)
	}
	r := search(t, x, Query{Text: "words"})
	if r.Total != 3001 {
		t.Errorf("%d entries, %q", r.Total, r.Reason)
	}
}

func TestFull(t *testing.T) {
	s := newSession(t, t.TempDir(), "s")
	for i := range 9000 {
		s.answer(fmt.Sprintf("words%d that%d fill%d pages%d", i, i, i, i))
	}
	x := open(t, Options{})
	x.db.SetMaxOpenConns(2) // one is held for reading, so the pragma meets the writer
	if _, err := x.db.Exec("PRAGMA max_page_count = 60"); err != nil {
		t.Fatal(err)
	}
	_, err := x.Update(t.Context(), []Source{s.source("p")}, UpdateOptions{})
	if !errors.Is(err, ErrFull) || !strings.Contains(err.Error(), "free some space") {
		t.Fatalf("%v", err)
	}
	if _, err := x.db.Exec("PRAGMA max_page_count = 1000000"); err != nil {
		t.Fatal(err)
	}
	update(t, x, s.source("p"))
	if n := countEntries(t, x); n != 9000 {
		t.Errorf("%d entries once there is room", n)
	}
}

func TestOldVersionsAreRemoved(t *testing.T) {
	dir := t.TempDir()
	old, used := filepath.Join(dir, "transcripts-0.1.db"), filepath.Join(dir, "transcripts-0.2.db")
	for _, p := range []string{old, used, filepath.Join(dir, "other.db")} {
		if err := os.WriteFile(p, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(old, time.Time{}, time.Now().Add(-oldAge-time.Hour)); err != nil {
		t.Fatal(err)
	}
	open(t, Options{Dir: dir})
	if _, err := os.Stat(old); !errors.Is(err, os.ErrNotExist) {
		t.Error("an index that nobody uses any more stays:", err)
	}
	for _, p := range []string{used, filepath.Join(dir, "other.db")} {
		if _, err := os.Stat(p); err != nil {
			t.Error(err)
		}
	}
}

func TestReadOnly(t *testing.T) {
	dir := t.TempDir()
	s := newSession(t, t.TempDir(), "s")
	want := s.prompt("findable")
	x := open(t, Options{Dir: dir})
	update(t, x, s.source("p"))
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	ro := &Index{path: x.path, opts: x.opts, guard: x.guard}
	if err := ro.connectReadOnly(t.Context(), errors.New("permission denied")); err != nil {
		t.Fatal(err)
	}
	defer ro.Close()
	first(t, ro, "findable", want)
	if _, err := ro.Update(t.Context(), []Source{s.source("p")}, UpdateOptions{}); !errors.Is(err, ErrReadOnly) {
		t.Error(err)
	}
	if len(ro.Notices()) != 1 {
		t.Error(ro.Notices())
	}
	empty := &Index{path: filepath.Join(t.TempDir(), FileName), opts: x.opts, guard: x.guard}
	cause := errors.New("cause")
	if err := empty.connectReadOnly(t.Context(), cause); err != cause {
		t.Error(err)
	}
}

func TestClosed(t *testing.T) {
	x := open(t, Options{})
	x.Close()
	if _, err := x.Search(t.Context(), Query{Text: "a word"}); err == nil {
		t.Error("a closed index searches")
	}
	if _, err := x.Update(t.Context(), nil, UpdateOptions{}); err == nil {
		t.Error("a closed index updates")
	}
}

func TestDir(t *testing.T) {
	if got, want := Dir(settings.Env{CacheDir: filepath.Join("c", "mem")}), filepath.Join("c", "mem", "transcripts"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := Dir(settings.Env{}); got != "" {
		t.Error(got)
	}
}

// inMemory is a transcript that does not lie on disk as it is.
type inMemory struct{ *strings.Reader }

func (inMemory) Close() error { return nil }

// TestOpener: a transcript that is kept in another form, as archived ones are.
func TestOpener(t *testing.T) {
	dir := t.TempDir()
	packed := filepath.Join(dir, "session.jsonl.gz")
	if err := os.WriteFile(packed, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	text := `{"type":"user","uuid":"one","message":{"content":"unpacked words"}}` + "\n"
	x := open(t, Options{Open: func(path string) (File, error) {
		if path != packed {
			t.Errorf("opens %s", path)
		}
		return inMemory{strings.NewReader(text)}, nil
	}})
	var done, total int64
	r, err := x.Update(t.Context(), []Source{{packed, "session", "p"}}, UpdateOptions{Progress: func(d, n int64) { done, total = d, n }})
	if err != nil || r.Entries != 1 {
		t.Fatalf("%+v %v", r, err)
	}
	if done != total || total != int64(len(text)) {
		t.Errorf("%d of %d bytes, want %d", done, total, len(text))
	}
	first(t, x, "unpacked", "one")
	if r := update(t, x, Source{packed, "session", "p"}); r.Changed != 0 {
		t.Errorf("%+v", r)
	}
}

func TestNoPermission(t *testing.T) {
	if need.AsNobody(t) {
		return
	}
	dir := t.TempDir()
	s := newSession(t, t.TempDir(), "s")
	want := s.prompt("findable")
	x := open(t, Options{Dir: dir})
	update(t, x, s.source("p"))
	x.Close()
	for path, mode := range map[string]os.FileMode{x.Path(): 0o400, dir: 0o500} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	defer os.Chmod(dir, 0o700)
	x = open(t, Options{Dir: dir})
	first(t, x, "findable", want)
	if _, err := x.Update(t.Context(), nil, UpdateOptions{}); !errors.Is(err, ErrReadOnly) {
		t.Error(err)
	}
}

// TestNewFile: the index is deleted, or built anew by another process, while this
// one has it open.
func TestNewFile(t *testing.T) {
	need.System(t, runtime.GOOS != "windows", "nothing that is open can be deleted")
	dir := filepath.Join(t.TempDir(), "cache")
	s := newSession(t, t.TempDir(), "s")
	want := s.prompt("findable")
	x, other := open(t, Options{Dir: dir}), open(t, Options{Dir: dir})
	update(t, x, s.source("p"))
	if err := other.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r := search(t, x, Query{Text: "findable"}); len(r.Hits) != 0 {
		t.Errorf("the search sees a file that is no more: %+v", r)
	}
	update(t, other, s.source("p"))
	first(t, x, "findable", want)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if r := update(t, x, s.source("p")); r.Entries != 1 {
		t.Errorf("%+v", r)
	}
	first(t, x, "findable", want)
	first(t, other, "findable", want)
}
