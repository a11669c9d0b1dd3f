package recall

import (
	"slices"
	"strings"
	"testing"
)

func TestVocabularyNearest(t *testing.T) {
	var v Vocabulary
	for _, w := range []string{"deploy", "deployed", "deny", "employ", "migration", "rollback", "ab", "sha256", "部署"} {
		v.Add(w)
	}
	if v.Has("ab") || v.Has("sha256") || !v.Has("deploy") || v.Add("deploy") {
		t.Fatal("what can be corrected, once")
	}
	uses := func(w string) int { return map[string]int{"deployed": 3, "deploy": 2, "migration": 1, "employ": 9}[w] }
	for _, c := range []struct {
		typed string
		want  []string
		edits int
	}{
		{"deplyo", []string{"deploy"}, 1},
		{"eploy", []string{"employ", "deploy"}, 1},
		{"migratoin", []string{"migration"}, 1},
		{"migartoin", []string{"migration"}, 2},
		{"rolback", nil, 0}, // known, but nothing uses it now
		{"xyzzy", nil, 0},
		{"dep", nil, 0},
	} {
		got, edits := v.Nearest(c.typed, uses)
		if !slices.Equal(got, c.want) || edits != c.edits {
			t.Errorf("%s: %v, %d edits; want %v, %d", c.typed, got, edits, c.want, c.edits)
		}
	}
}

func TestExcerpt(t *testing.T) {
	text := strings.Repeat("nothing here to see. ", 50) + "The rollback of the migration failed. " + strings.Repeat("More of the same. ", 50)
	var tok Tokenizer
	s := tok.Excerpt(text, map[string]float64{StemOf("migration"): 2, StemOf("rollback"): 1}, 60)
	if !strings.Contains(s.Text, "rollback of the migration") || len(s.Text) > 60 || len(s.Matches) != 2 || !s.More || text[s.Start:s.Start+len(s.Text)] != s.Text {
		t.Errorf("%+v", s)
	}
	if got := s.Text[s.Matches[1].Start:s.Matches[1].End]; got != "migration" {
		t.Errorf("marked %q", got)
	}
	if s := tok.Excerpt("short", nil, 60); s.Text != "short" || s.More {
		t.Errorf("%+v", s)
	}
}
