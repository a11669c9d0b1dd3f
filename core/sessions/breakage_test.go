package sessions

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
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
