package term_test

import (
	"bytes"
	"strings"
	"testing"

	"mem/core/settings"
	"mem/internal/term"
)

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\n":              "plain\ttext\n",
		"记忆 🧠":                       "记忆 🧠",
		"a\x1b[2Jb":                  `a\x1b[2Jb`,
		"a\u009b2Jb":                 `a\u009b2Jb`,
		"\ufeffa\u200bb\u2060":       `\ufeffa\u200bb\u2060`,
		"👨\u200d👩\ufe0f":             "👨\u200d👩\ufe0f",
		"a\u202eb":                   `a\u202eb`,
		"bad \xff byte":              `bad \xff byte`,
		"\x1bone\r\ntwo\rthree":      `\x1bone` + "\n" + `two\rthree`,
		"the replacement \uFFFD \a":  "the replacement \uFFFD " + `\a`,
		"crlf\r\nstays in good text": "crlf\nstays in good text",
	} {
		if got := term.Visible(in); got != want {
			t.Errorf("Visible(%q) = %q, want %q", in, got, want)
		}
	}
	if got := term.Clean("a\n b\x1b[2J\tc "); got != "a b [2J c" {
		t.Errorf("Clean gives %q", got)
	}
}

// Colours are for terminals, and for those that want them.
func TestStyle(t *testing.T) {
	env := func(noColor string) settings.Env {
		return settings.Env{Lookup: func(k string) (string, bool) { return noColor, k == "NO_COLOR" && noColor != "" }}
	}
	for _, c := range []struct {
		terminal bool
		noColor  string
		colour   bool
	}{{true, "", true}, {false, "", false}, {true, "1", false}} {
		p := term.NewPrinter(term.Streams{Terminal: c.terminal}, env(c.noColor))
		if got := strings.Contains(p.Style(term.Red, "x"), "\x1b"); got != c.colour {
			t.Errorf("%+v: coloured is %v", c, got)
		}
	}
}

// A table in a pipe is a row a line; on a terminal CJK is as wide as it shows.
func TestTable(t *testing.T) {
	rows := func() [][]string { return [][]string{{"a\nb", "x"}, {"记忆", "y\tz"}} }
	var out bytes.Buffer
	term.Printer{Streams: term.Streams{Out: &out}}.Table([]string{"name", "what"}, rows())
	if got := out.String(); got != "a b\tx\n记忆\ty z\n" {
		t.Errorf("into a pipe: %q", got)
	}
	out.Reset()
	term.Printer{Streams: term.Streams{Out: &out, Terminal: true, Width: 40}}.Table([]string{"name", "what"}, rows())
	if got := out.String(); got != "name  what\na b   x\n记忆  y z\n" {
		t.Errorf("on a terminal: %q", got)
	}
}
