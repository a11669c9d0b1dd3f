package memdir

import "testing"

func TestRelative(t *testing.T) {
	for _, c := range [][3]string{
		{".", "a.md", "a.md"},
		{".", "b/a.md", "b/a.md"},
		{"b", "b/a.md", "a.md"},
		{"b", "a.md", "../a.md"},
		{"b/c", "b/d/a.md", "../d/a.md"},
		{"b", "bc/a.md", "../bc/a.md"},
	} {
		if got := Relative(c[0], c[1]); got != c[2] {
			t.Errorf("%s seen from %s is %s, want %s", c[1], c[0], got, c[2])
		}
	}
}
