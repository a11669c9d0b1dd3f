package transcript

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mem/core/project"
	"mem/internal/need"
)

func TestFindProject(t *testing.T) {
	h := newHome(t)
	p := h.repository("proj")
	sub, gone := h.mkdir("w/proj/core"), h.path("w", "proj", "deleted")
	tree := h.worktree(p, h.path("w", "elsewhere"))
	h.repository("proj/vendored")
	h.repository("proj-2")
	h.mkdir("w/proj.core") // has the slug of w/proj/core

	h.session(p.Root, id(1), chat(p.Root, "hello", "hi"), 5*time.Hour)
	h.session(sub, id(2), chat(sub, "in a subdirectory", "hi"), 4*time.Hour)
	h.session(tree, id(3), chat(tree, "in a worktree", "hi"), 3*time.Hour)
	h.session(gone, id(4), chat(gone, "in a directory that is gone", "hi"), 2*time.Hour)
	h.session(p.Root, id(5), chat(h.path("w", "proj-2"), "moved in", "hi")+chat(p.Root, "now here"), time.Hour)
	// Near misses.
	h.session(h.path("w", "proj.core"), id(11), chat(h.path("w", "proj.core"), "the same slug", "hi"), time.Hour)
	h.session(h.path("w", "proj-2"), id(12), chat(h.path("w", "proj-2"), "slug with a suffix", "hi"), time.Hour)
	h.session(h.path("w", "proj", "vendored"), id(13), chat(h.path("w", "proj", "vendored"), "a repository inside", "hi"), time.Hour)
	h.session(p.Root, id(14), jsonl("type", "mode", "mode", "normal"), time.Hour)
	h.session(p.Root, id(15), "", time.Hour)
	h.session(h.path("w", "other"), id(16), chat(p.Root, "in a folder that is not the project's"), time.Hour)
	h.untouched()

	for _, ask := range []string{p.Root, sub, tree} {
		got := h.find(FindOptions{Project: h.project(ask)})
		want := []string{id(5), id(4), id(3), id(2), id(1)}
		if d := cmp.Diff(want, ids(got)); d != "" {
			t.Errorf("asked in %s (-want +got):\n%s", ask, d)
		}
		if len(got.Skipped) != 4 {
			t.Errorf("skipped: %v", got.Skipped)
		}
	}
	if got := h.find(FindOptions{}); len(got.List) != 11 {
		t.Errorf("all projects: %v, skipped %v", ids(got), got.Skipped)
	}
}

func TestFindWithoutGit(t *testing.T) {
	h := newHome(t)
	dir, sub := h.mkdir("w/plain"), h.mkdir("w/plain/sub")
	h.session(dir, id(1), chat(dir, "here"), time.Hour)
	h.session(sub, id(2), chat(sub, "a project of its own"), time.Hour)
	if got := ids(h.find(FindOptions{Project: h.project(dir)})); !slices.Equal(got, []string{id(1)}) {
		t.Errorf("got %v", got)
	}
}

func TestFindLongAndUnusualPaths(t *testing.T) {
	h := newHome(t)
	for i, name := range []string{strings.Repeat("long-name-", 20), "項目", "café", "with space", "emoji🙂"} {
		p := h.repository(name)
		sub := h.mkdir("w/" + name + "/sub")
		h.session(p.Root, id(2*i), chat(p.Root, "x"), 2*time.Hour)
		h.session(sub, id(2*i+1), chat(sub, "x"), time.Hour)
		if got := ids(h.find(FindOptions{Project: p})); !slices.Equal(got, []string{id(2*i + 1), id(2 * i)}) {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

func TestFindThroughSymlink(t *testing.T) {
	h := newHome(t)
	p := h.repository("proj")
	link := h.path("w", "link")
	need.Link(t, p.Root, link)
	// The client may have been told of the directory by the path with the link.
	h.session(link, id(1), chat(link, "through a link"), time.Hour)
	if got := ids(h.find(FindOptions{Project: h.project(link)})); !slices.Equal(got, []string{id(1)}) {
		t.Errorf("got %v", got)
	}
}

func TestOwnerOnWindows(t *testing.T) {
	h := newHome(t)
	h.env.GOOS = "windows"
	own := newOwner(h.env, project.Project{Root: `C:\Users\dev\proj`, Dir: `C:\Users\dev\proj`, Problem: "none"})
	for dir, want := range map[string]bool{
		`C:\Users\dev\proj`:        true,
		`c:\Users\dev\proj`:        true,
		`c:/Users/dev/proj/core`:   true,
		`C:\Users\dev\proj\a\b`:    true,
		`C:\Users\dev\proj2`:       false,
		`D:\Users\dev\proj`:        false,
		`C:\Users\dev`:             false,
		`\\server\share\proj`:      false,
		`C:\Users\dev\proj\..\out`: false,
	} {
		if got := own.owns(dir); got != want {
			t.Errorf("%s: %t", dir, got)
		}
	}
	if !own.mayHold("C--Users-dev-proj") || !own.mayHold("C--Users-dev-proj-core") || own.mayHold("C--Users-dev-projects") {
		t.Error("folders of the client are taken wrongly")
	}
}

func TestFindConfigDir(t *testing.T) {
	h := newHome(t)
	p := h.repository("proj")
	h.session(p.Root, id(1), chat(p.Root, "in the home"), time.Hour)
	h.vars["CLAUDE_CONFIG_DIR"] = h.path("config")
	h.vars["CLAUDE_CODE_REMOTE_MEMORY_DIR"] = h.path("remote") // moves memory, not transcripts
	h.write(filepath.Join("config", "projects", project.Slug(p.Root), id(2)+".jsonl"), chat(p.Root, "in the configured one"))
	h.write(filepath.Join("remote", "projects", project.Slug(p.Root), id(3)+".jsonl"), chat(p.Root, "elsewhere"))
	if got := ids(h.find(FindOptions{Project: p})); !slices.Equal(got, []string{id(2)}) {
		t.Errorf("got %v", got)
	}
}

func TestFindDirs(t *testing.T) {
	h := newHome(t)
	h.write("flat/"+id(1)+".jsonl", chat("/nowhere", "x"))
	h.write("nested/a/"+id(2)+".jsonl", chat("/nowhere", "x"))
	h.write("base/projects/-x/"+id(3)+".jsonl", chat("/nowhere", "x"))
	h.write("base/projects/-x/"+id(4)+".jsonl", "") // counts: the folder was named
	h.write("afile", "x")
	p := h.repository("proj")
	h.session(p.Root, id(9), chat(p.Root, "not asked for"), time.Hour)
	got := h.find(FindOptions{Project: p, Dirs: []string{h.path("flat"), "../nested", h.path("base"), h.path("flat"), h.path("missing"), h.path("afile")}})
	list := ids(got)
	slices.Sort(list)
	if d := cmp.Diff([]string{id(1), id(2), id(3), id(4)}, list); d != "" {
		t.Error(d)
	}
	if len(got.Skipped) != 2 || !strings.Contains(got.Skipped[0].Reason, "does not exist") || !strings.Contains(got.Skipped[1].Reason, "no folder") {
		t.Errorf("skipped: %v", got.Skipped)
	}
}

func TestFindCopiesInNamedFolder(t *testing.T) {
	h := newHome(t)
	p := h.repository("proj")
	h.session(p.Root, id(1), chat(p.Root, "x"), time.Hour)
	dir := h.archive(h.find(FindOptions{Project: p}).List).Directory
	h.write(filepath.Join(dir, "other.jsonl.gz"), "no copy of ours")
	got := h.find(FindOptions{Dirs: []string{dir}})
	if !slices.Equal(ids(got), []string{id(1)}) || got.List[0].FirstPrompt != "x" || len(got.Skipped) != 1 {
		t.Errorf("%v, skipped %v", ids(got), got.Skipped)
	}
}

func TestFindOfOneSessionInTwoFiles(t *testing.T) {
	h := newHome(t)
	p := h.repository("proj")
	path := h.session(p.Root, "s1", chat(p.Root, "of the client", "answer"), 2*time.Hour)
	r := h.recording("s1", "of ours")
	r.Cwd = p.Root
	ours := h.append(r)
	h.age(ours.Path, time.Hour)
	again := h.session(h.mkdir("w/proj/sub"), "s1", chat(p.Root, "resumed elsewhere"), 3*time.Hour)
	for _, s := range []func() (*Session, error){
		func() (*Session, error) { return h.find(FindOptions{Project: p}).List[0], nil },
		func() (*Session, error) { return Pick(t.Context(), h.env, FindOptions{Project: p}, "s1") },
	} {
		got, err := s()
		if err != nil || got.Path != path {
			t.Fatalf("%+v, %v", got, err)
		}
		also := slices.Sorted(slices.Values(got.Also))
		want := slices.Sorted(slices.Values([]string{ours.Path, again}))
		if d := cmp.Diff(want, also); d != "" {
			t.Error(d)
		}
	}
}

func TestFindNothing(t *testing.T) {
	h := newHome(t)
	got := h.find(FindOptions{Project: h.repository("proj")})
	if len(got.List) != 0 || len(got.Skipped) != 0 || len(got.Notes) != 0 {
		t.Errorf("got %+v", got)
	}
	h.env.Home, h.env.StateDir, h.env.CacheDir = "", "", ""
	if got := h.find(FindOptions{}); len(got.List) != 0 {
		t.Errorf("without a home: %+v", got)
	}
}

func TestFindBadFiles(t *testing.T) {
	h := newHome(t)
	p := h.repository("proj")
	good := h.session(p.Root, id(1), chat(p.Root, "good"), time.Hour)
	dir := filepath.Dir(good)
	h.mkdir(strings.TrimPrefix(filepath.Join(dir, id(2)+".jsonl"), h.dir+"/")) // a folder
	h.write(filepath.Join(dir, id(3)+".json"), chat(p.Root, "another extension"))
	h.write(filepath.Join(dir, ".hidden.jsonl"), chat(p.Root, "hidden"))
	h.write(filepath.Join(dir, "latest.jsonl"), chat(p.Root, "a word of ours"))
	h.write(filepath.Join(dir, id(4)+".jsonl"), "\x00\x00\x00")
	h.write(filepath.Join(dir, id(5)+".jsonl"), "{\n  \"pretty\": true\n}\n"+chat(p.Root, "after it"))
	unusual := 0
	if runtime.GOOS != "windows" {
		h.write(filepath.Join(dir, "a\nb.jsonl"), chat(p.Root, "a name with a line break"))
		h.write(filepath.Join(dir, "con.jsonl"), chat(p.Root, "a device"))
		for name, target := range map[string]string{id(6): "missing", id(7): os.DevNull, id(8): good} {
			if err := os.Symlink(target, filepath.Join(dir, name+".jsonl")); err != nil {
				t.Fatal(err)
			}
		}
		unusual = 4
	}
	h.untouched()
	got := h.find(FindOptions{Project: p})
	list := ids(got)
	slices.Sort(list)
	want := []string{id(1), id(5)}
	if unusual > 0 {
		want = append(want, id(8)) // a link to a transcript is one
	}
	if d := cmp.Diff(want, list); d != "" {
		t.Errorf("%s\nskipped: %v", d, got.Skipped)
	}
	if len(got.Skipped) != 3+unusual {
		t.Errorf("%d skipped: %v", len(got.Skipped), got.Skipped)
	}
	for _, s := range got.Skipped {
		if strings.Contains(s.String(), "\n") {
			t.Errorf("a name breaks the line: %q", s)
		}
	}
	for _, s := range got.List {
		if s.ID == id(5) && s.Damage != "2 lines malformed, 1 line no record" && !strings.Contains(s.Damage, "malformed") {
			t.Errorf("damage: %q", s.Damage)
		}
	}
}

func TestFindNoPermission(t *testing.T) {
	if need.AsNobody(t) {
		return
	}
	h := newHome(t)
	p := h.repository("proj")
	h.session(p.Root, id(1), chat(p.Root, "good"), time.Hour)
	closed := h.session(p.Root, id(2), chat(p.Root, "closed"), time.Hour)
	sub := filepath.Dir(h.session(h.path("w", "proj", "sub"), id(3), chat(p.Root, "in a closed folder"), time.Hour))
	for _, path := range []string{closed, sub} {
		if err := os.Chmod(path, 0); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(path, 0o755)
	}
	got := h.find(FindOptions{Project: p})
	if !slices.Equal(ids(got), []string{id(1)}) || len(got.Skipped) != 2 {
		t.Errorf("got %v, skipped %v", ids(got), got.Skipped)
	}
	for _, s := range got.Skipped {
		if !strings.Contains(s.Reason, "permission") {
			t.Errorf("%v", s)
		}
	}
}

func TestPick(t *testing.T) {
	h := newHome(t)
	p, other := h.repository("proj"), h.repository("other")
	h.session(p.Root, "aaaa-1", chat(p.Root, "older"), 3*time.Hour)
	h.session(p.Root, "aaaa-2", chat(p.Root, "newer"), 2*time.Hour)
	h.session(p.Root, "aaaa-22", chat(p.Root, "longer"), 4*time.Hour)
	h.session(other.Root, "bbbb", chat(other.Root, "another project's"), time.Hour)
	h.untouched()
	in := FindOptions{Project: p}
	for ref, want := range map[string]string{"latest": "aaaa-2", "aaaa-1": "aaaa-1", "aaaa-2": "aaaa-2", "aaaa-22": "aaaa-22"} {
		if s, err := Pick(t.Context(), h.env, in, ref); err != nil || s.ID != want {
			t.Errorf("%s: %v, %v", ref, s, err)
		}
	}
	var ambiguous *AmbiguousError
	if _, err := Pick(t.Context(), h.env, in, "aa"); !errors.As(err, &ambiguous) || !slices.Equal(ambiguous.Sessions, []string{"aaaa-2", "aaaa-1", "aaaa-22"}) {
		t.Errorf("aa: %v", err)
	}
	var missing *NotFoundError
	for _, ref := range []string{"", "zzzz", "bbbb", "../../x", "a\nb"} {
		if _, err := Pick(t.Context(), h.env, in, ref); !errors.As(err, &missing) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", ref, err)
		}
	}
	if s, err := Pick(t.Context(), h.env, FindOptions{}, "b"); err != nil || s.ID != "bbbb" {
		t.Errorf("in all projects: %v, %v", s, err)
	}
	if _, err := Pick(t.Context(), h.env, FindOptions{Project: h.repository("empty")}, "latest"); !errors.As(err, &missing) {
		t.Errorf("latest of none: %v", err)
	}
}

func TestPickReadsTheBeginningOnly(t *testing.T) {
	h := newHome(t)
	p := h.repository("proj")
	words := make([]string, 4000)
	for i := range words {
		words[i] = strings.Repeat("word ", 30)
	}
	content := chat(p.Root, words...)
	if len(content) < 3*headSize {
		t.Fatal("too small to tell")
	}
	h.session(p.Root, id(1), content, time.Hour)
	s, err := Pick(t.Context(), h.env, FindOptions{Project: p}, "latest")
	if err != nil || !s.Partial || s.Turns == 0 || s.Turns >= 2000 || s.Damage != "" {
		t.Fatalf("%+v, %v", s, err)
	}
	if full := h.find(FindOptions{Project: p}).List[0]; full.Partial || full.Turns != 2000 || full.Messages != 4000 {
		t.Errorf("%+v", full.Facts)
	}
	if s, err = Pick(t.Context(), h.env, FindOptions{Project: p}, "latest"); err != nil || s.Partial {
		t.Errorf("what is known by now is not used: %+v, %v", s, err)
	}
}

func TestFindIsBrokenOff(t *testing.T) {
	h := newHome(t)
	p := h.repository("proj")
	h.session(p.Root, id(1), chat(p.Root, "x"), time.Hour)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Find(ctx, h.env, FindOptions{Project: p}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if got := h.find(FindOptions{Project: p}); len(got.List) != 1 || got.List[0].Turns != 1 {
		t.Errorf("what was broken off is kept as known: %+v", got.List)
	}
}

func TestValidID(t *testing.T) {
	for _, good := range []string{id(1), "a", "Session_1.b", strings.Repeat("x", maxID)} {
		if err := ValidID(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{"", ".", "..", ".a", "a.", "a/b", `a\b`, "a b", "a\nb", "ä", "latest", "Latest", "con", "nul.x", "COM1", strings.Repeat("x", maxID+1), "a\x00"} {
		if err := ValidID(bad); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestFindWhileFilesGrow(t *testing.T) {
	h := newHome(t)
	p := h.repository("proj")
	path := h.session(p.Root, id(1), chat(p.Root, "0"), time.Hour)
	done := make(chan error)
	go func() {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		for i := 1; err == nil && i <= 200; i++ {
			row := chatOf(uint32(i), p.Root, "more")
			if _, err = f.WriteString(row[:len(row)/2]); err == nil { // a write that is seen half done
				_, err = f.WriteString(row[len(row)/2:])
			}
		}
		done <- errors.Join(err, f.Close())
	}()
	last := 0
	for writing := true; writing; {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			writing = false
		default:
		}
		got := h.find(FindOptions{Project: p})
		if len(got.List) != 1 || got.List[0].Turns < last || strings.Contains(got.List[0].Damage, "malformed") {
			t.Fatalf("%+v, skipped %v", got.List, got.Skipped)
		}
		last = got.List[0].Turns
	}
	if last != 201 {
		t.Errorf("%d turns at the end", last)
	}
}

// TestFindSamples looks for what the real client wrote.
func TestFindSamples(t *testing.T) {
	dir := os.Getenv("MEM_SAMPLES")
	need.Asked(t, dir != "", "MEM_SAMPLES names no folder of transcripts")
	h := newHome(t)
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var dirs []string
	for _, e := range list {
		dirs = append(dirs, filepath.Join(dir, e.Name()))
	}
	got := h.find(FindOptions{Dirs: dirs})
	agents := 0
	for _, s := range got.List {
		t.Logf("%s %q %q %d turns, %d messages, compacted %d, %v–%v %s %s waiting %t %s", s.ID, s.Title, s.FirstPrompt, s.Turns, s.Messages, s.Compacted, s.Start, s.End, s.Version, s.Branch, s.Waiting, s.Damage)
		torn := false // one of them is
		for l := range strings.Lines(h.read(s.Path)) {
			torn = torn || strings.TrimSpace(l) != "" && !json.Valid([]byte(l))
		}
		if s.Cwd == "" || torn != (s.Damage != "") || s.Turns == 0 || s.Start.IsZero() || s.FirstPrompt == "" {
			t.Errorf("%s: %+v", s.ID, s.Facts)
		}
		agents += len(s.Subagents)
	}
	if len(got.List) == 0 || agents == 0 {
		t.Errorf("%d sessions, %d subagents", len(got.List), agents)
	}
	// A copy of each reads back as it was.
	before := tree(t, dir)
	out := h.archive(got.List)
	if len(out.Skipped) > 0 || len(out.Sessions) != len(got.List) {
		t.Errorf("archived %v, skipped %v", actions(out), out.Skipped)
	}
	for path, was := range tree(t, dir) {
		if before[path] != was {
			t.Errorf("%s was touched", path)
		}
	}
}

// TestFindSince leaves out what nobody wrote to since a time, and looks into none of it.
func TestFindSince(t *testing.T) {
	h := newHome(t)
	p := h.repository("proj")
	h.session(p.Root, id(1), chat(p.Root, "old", "hi"), 5*time.Hour)
	h.session(p.Root, id(2), chat(p.Root, "new", "hi"), time.Hour)
	h.session(p.Root, id(3), "", 5*time.Hour) // would be skipped with a word
	h.untouched()
	all := h.find(FindOptions{Project: h.project(p.Root), Shallow: true})
	if d := cmp.Diff([]string{id(2), id(1)}, ids(all)); d != "" || len(all.Skipped) != 1 {
		t.Errorf("all (-want +got):\n%s\nskipped %v", d, all.Skipped)
	}
	since := all.List[1].Modified
	got := h.find(FindOptions{Project: h.project(p.Root), Shallow: true, Since: since})
	if d := cmp.Diff([]string{id(2)}, ids(got)); d != "" || len(got.Skipped) != 0 {
		t.Errorf("since (-want +got):\n%s\nskipped %v", d, got.Skipped)
	}
	if got := h.find(FindOptions{Project: h.project(p.Root), Since: all.List[0].Modified.Add(time.Minute)}); len(got.List) != 0 {
		t.Errorf("in the future: %v", ids(got))
	}
}
