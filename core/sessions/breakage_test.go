package sessions

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mem/internal/need"
)

// What bears the name that was asked for, and is no session, is named before other
// things that were skipped; what names no directory is not told to be of another one.
func TestPickTellsWhatIsWrong(t *testing.T) {
	d := newDesk(t)
	d.put(first, talk(first, d.env.Cwd, "x", "y"), time.Hour)
	for _, name := range []string{"aaa.jsonl", "dir.jsonl"} {
		if err := os.MkdirAll(filepath.Join(d.folder(d.env.Cwd), name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	d.put("empty", "", time.Hour)
	s := d.open(Options{})
	if _, err := s.Resume(t.Context(), ResumeOptions{Session: "dir"}); err == nil || !strings.Contains(err.Error(), "dir.jsonl: it is no regular file") {
		t.Errorf("%v", err)
	}
	r, err := s.Resume(t.Context(), ResumeOptions{Session: "empty"})
	if err != nil {
		t.Fatal(err)
	}
	if notes := strings.Join(r.Notes, " "); !strings.Contains(notes, "name no directory") || !strings.Contains(notes, "holds no message") {
		t.Errorf("%q", notes)
	}
}

// A row that stands in a file thousands of times does not hide what others said.
func TestSearchPassesCopies(t *testing.T) {
	d := newDesk(t)
	one := talk(second, d.env.Cwd, "the zebra crossing")
	d.put(second, strings.Repeat(one, 3000), time.Minute)
	d.put(first, talk(first, d.env.Cwd, "about a zebra and many other things that were said before", "Yes."), 2*time.Hour)
	s := d.open(Options{})
	f, err := s.Search(t.Context(), SearchOptions{Query: "zebra", Wait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, h := range f.Hits {
		found = append(found, fmt.Sprint(h.Session, " ", h.UUID))
	}
	if len(found) != 2 || f.NextCursor != "" {
		t.Errorf("%q, next %q", found, f.NextCursor)
	}
}

// What may not be read or written is told by name; the rest works.
func TestNoPermission(t *testing.T) {
	if need.AsNobody(t) {
		return
	}
	d := newDesk(t)
	d.put(first, talk(first, d.env.Cwd, "the zebra crossing", "Yes."), time.Hour)
	locked := d.put(second, talk(second, d.env.Cwd, "locked", "Yes."), time.Hour)
	s := d.open(Options{Files: true})
	close := func(path string, mode os.FileMode) {
		t.Helper()
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(path, 0o700) })
	}
	close(locked, 0)
	for _, name := range []string{"bbbb", locked} {
		if _, err := s.Resume(t.Context(), ResumeOptions{Session: name}); err == nil || !strings.Contains(err.Error(), "permission") || !strings.Contains(err.Error(), second) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if l, err := s.List(t.Context(), ListOptions{}); err != nil || l.Total != 1 || len(l.Skipped) != 1 || !strings.Contains(l.Skipped[0].Reason, "permission") {
		t.Errorf("%+v %v", l, err)
	}
	if a, err := s.Archive(t.Context(), ArchiveOptions{Every: true}); err != nil || len(a.Sessions) != 1 || len(a.Skipped) != 1 || !strings.Contains(a.Skipped[0].Reason, "permission") {
		t.Errorf("%+v %v", a, err)
	}
	// A cache that cannot be written costs the search, with a way out, and nothing else.
	if err := os.RemoveAll(d.env.CacheDir); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(d.env.CacheDir, 0o700); err != nil {
		t.Fatal(err)
	}
	close(d.env.CacheDir, 0o500)
	if _, err := s.Search(t.Context(), SearchOptions{Query: "zebra"}); err == nil || !strings.Contains(err.Error(), "XDG_CACHE_HOME") {
		t.Errorf("%v", err)
	}
	if r, err := s.Resume(t.Context(), ResumeOptions{Session: first}); err != nil || len(r.Messages) != 2 {
		t.Errorf("%+v %v", r, err)
	}
	if l, err := s.List(t.Context(), ListOptions{}); err != nil || l.Total != 1 || !strings.Contains(strings.Join(l.Notes, " "), "could not be kept") {
		t.Errorf("%+v %v", l, err)
	}
}

// What a reader would not see is spelled out in every field, since a model reads it all the same.
func TestHiddenTextIsShown(t *testing.T) {
	d := newDesk(t)
	const hidden = "zebra \u202eevil \x1b[31m red \u200b\U000e0041 end"
	row := talk(first, d.env.Cwd, hidden, "the zebra "+hidden)
	title, _ := json.Marshal(hidden)
	d.put(first, strings.ReplaceAll(row, `"gitBranch":"main"`, `"gitBranch":`+string(title))+`{"type":"custom-title","customTitle":`+string(title)+`,"sessionId":"x"}`+"\n", time.Hour)
	s := d.open(Options{})
	l, err := s.List(t.Context(), ListOptions{})
	if err != nil || l.Total != 1 {
		t.Fatalf("%+v %v", l, err)
	}
	f, err := s.Search(t.Context(), SearchOptions{Query: "zebra", Wait: time.Minute})
	if err != nil || len(f.Hits) != 2 {
		t.Fatalf("%+v %v", f, err)
	}
	r, err := s.Resume(t.Context(), ResumeOptions{Session: first, Format: "brief"})
	if err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]any{"list": l, "search": f, "resume": r} {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []string{"\u202e", `\u001b`, "\u200b", "\U000e0041"} {
			if bytes.Contains(b, []byte(c)) {
				t.Errorf("%s holds %q: %s", name, c, b)
			}
		}
		if !bytes.Contains(b, []byte(`\\u202e`)) {
			t.Errorf("%s does not show it: %s", name, b)
		}
	}
}
