package sessions

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// The pages of a search hold every hit once, in the order of one long page; however long the
// hits are, each page fits.
func TestSearchPages(t *testing.T) {
	d := newDesk(t)
	filler := strings.Repeat("記憶<&> talk about many things ", 60)
	var said []string
	for i := range 70 {
		said = append(said, fmt.Sprintf("needle %d %s", i, filler))
	}
	d.put(first, talk(first, d.env.Cwd, said...), 2*time.Hour)
	d.put(second, talk(second, d.env.Cwd, said[:5]...)+talk(first, d.env.Cwd, said...), time.Hour) // a copy, as older clients made
	s := d.open(Options{})
	seen := map[string]int{}
	pages := 0
	for cursor := ""; ; pages++ {
		f, err := s.Search(t.Context(), SearchOptions{Query: "needle", Limit: 20, Cursor: cursor, Wait: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range f.Hits {
			seen[h.UUID]++
		}
		if strings.Contains(strings.Join(f.Notes, " "), "order is another one") {
			t.Errorf("page %d: %v", pages, f.Notes)
		}
		if cursor = f.NextCursor; cursor == "" {
			break
		}
		if pages > 80 {
			t.Fatal("there is no end")
		}
	}
	if len(seen) != 75 || pages < 3 {
		t.Errorf("%d hits on %d pages", len(seen), pages)
	}
	for uuid, n := range seen {
		if n != 1 {
			t.Errorf("%s comes %d times", uuid, n)
		}
	}
}

func TestSearchCursor(t *testing.T) {
	d := newDesk(t)
	d.put(first, talk(first, d.env.Cwd, "zebra one", "zebra two", "zebra three", "zebra four"), 2*time.Hour)
	s := d.open(Options{})
	f, err := s.Search(t.Context(), SearchOptions{Query: "zebra", Limit: 2})
	if err != nil || f.NextCursor == "" {
		t.Fatalf("%+v %v", f, err)
	}
	for _, tt := range []struct {
		o    SearchOptions
		want string
	}{
		{SearchOptions{Query: "zebras", Cursor: f.NextCursor}, "belongs to another search"},
		{SearchOptions{Query: "zebra", Roles: []string{"prompt"}, Cursor: f.NextCursor}, "belongs to another search"},
		{SearchOptions{Query: "zebra", All: true, Cursor: f.NextCursor}, "belongs to another search"},
		{SearchOptions{Query: "zebra", Cursor: "x"}, "is no cursor"},
		{SearchOptions{Query: "zebra", Cursor: "-1" + f.NextCursor[1:]}, "is no cursor"},
		{SearchOptions{Query: "zebra", Cursor: f.NextCursor + "0"}, "is no cursor"},
		{SearchOptions{Query: "zebra", Cursor: "99999999999999999999" + f.NextCursor[1:]}, "is no cursor"},
	} {
		if _, err := s.Search(t.Context(), tt.o); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: %v", tt.o, err)
		}
	}
	// Behind the last hit there is none, and that is said.
	if f, err := s.Search(t.Context(), SearchOptions{Query: "zebra", Limit: 2, Cursor: "900" + f.NextCursor[1:]}); err != nil || len(f.Hits) != 0 || f.NextCursor != "" || f.Reason != "There are no more hits." {
		t.Errorf("%+v %v", f, err)
	}
	// Something was said in between: the page comes, with word of that.
	d.put(second, talk(second, d.env.Cwd, "zebra five", "zebra six"), time.Minute)
	if f, err := s.Search(t.Context(), SearchOptions{Query: "zebra", Limit: 2, Cursor: f.NextCursor}); err != nil || len(f.Hits) != 2 || !strings.Contains(strings.Join(f.Notes, " "), "order is another one") {
		t.Errorf("%+v %v", f, err)
	}
}
