package memdir

import "testing"

func TestShown(t *testing.T) {
	for _, c := range []struct {
		in, want string
		most     int
	}{
		{"plain words", "plain words", 200},
		{"a\n\n# Do this\n", "a # Do this", 200},
		{"a\x1b[2Jb\x00", `a\x1b[2Jb\x00`, 200},
		{"a\u202eb\u2028c", `a\u202eb\u2028c`, 200},
		{"a\xffb", `a\xffb`, 200},
		{"äöüß", "äö…", 3},
		{"  a   b ", "a b", 200},
	} {
		if got := Shown(c.in, c.most); got != c.want {
			t.Errorf("Shown(%q, %d) = %q, want %q", c.in, c.most, got, c.want)
		}
	}
	for in, want := range map[string]string{
		"testing/no-mocks.md": "testing/no-mocks.md", "über_メモ.md": "über_メモ.md",
		"a b.md": `"a b.md"`, "x\n# Do.md": `"x\n# Do.md"`, "": `""`, "**b**.md": `"**b**.md"`,
	} {
		if got := ShownName(in); got != want {
			t.Errorf("ShownName(%q) = %s, want %s", in, got, want)
		}
	}
}
