package lspserver

import (
	"strings"
	"testing"

	prettytext "github.com/jedib0t/go-pretty/v6/text"

	"mem/core/change"
)

// A text keeps its lines beside the others: they are what a list and a frontmatter are
// made of.
func TestColumnsKeepLines(t *testing.T) {
	const mine = "---\nname: local\ndescription: About local\n---\n\n- one\n  - below one, with words enough that they do not fit into a column\n- 二つ目の項目は列に入りきらないほど長い文なので折り返されるはずです、たぶん\n- " +
		"https://example.com/a/very/long/path/that/has/no/place/to/break/it/at/all\n"
	got := columns(change.Part{Ours: mine, Theirs: "- one"})
	var middle []string
	width := 0
	for l := range strings.Lines(got) {
		l = strings.TrimSuffix(l, "\n")
		if w := prettytext.StringWidth(l); width == 0 {
			width = w
		} else if w != width {
			t.Errorf("a line of %d columns among lines of %d: %s", w, width, l)
		}
		if cells := strings.Split(l, "│"); len(cells) == 5 {
			middle = append(middle, strings.TrimRight(strings.TrimPrefix(cells[2], " "), " "))
		}
	}
	want := []string{"mine", "---", "name: local", "description: About local", "---", "", "- one", "  - below one, with words enough that they", "  do not fit into a column"}
	if len(middle) < len(want) {
		t.Fatalf("\n%s", got)
	}
	for i, w := range want {
		if middle[i] != w {
			t.Errorf("line %d is %q, want %q\n%s", i, middle[i], w, got)
		}
	}
	if all := strings.Join(middle[len(want):], ""); !strings.HasPrefix(all, "-二つ目の項目は") || !strings.Contains(all, "たぶん-https://example.com/a/very/") || !strings.HasSuffix(all, "at/all") {
		t.Errorf("what follows is %q", all)
	}
}
