package memdir

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestCheckPath(t *testing.T) {
	for _, p := range []string{
		"MEMORY.md", "a.md", "A.MD", "sub/a.md", "a/b/c/d.md", "部署.md", "user_role.md", "with space.md", "c#.md", "100%.md", "a..b.md", "a'b (c).md",
		"logs/2026/01/2026-01-02.md", "logs.md", "sub/logs/x.md", "naïve.md", "👩‍👩‍👧.md", "com.md", "com10.md", "auxiliary.md", "a~b.md", "readme-first.md", strings.Repeat("a", 252) + ".md",
	} {
		if err := CheckPath(p); err != nil {
			t.Errorf("%q is refused: %v", p, err)
		}
	}
	for p, say := range map[string]string{
		"": "empty", ".": "Markdown", "/": "absolute", "..": "..", "../a.md": "..", "a/../../b.md": "..", "a/../b.md": "..", "./a.md": ".", "a//b.md": "empty elements", "a.md/": "empty elements",
		"/etc/passwd.md": "absolute", "//host/share/a.md": "absolute", `\\host\a.md`: "backslash", `..\a.md`: "backslash", `C:\a.md`: "backslash", "C:/a.md": "Windows", "c:a.md": "Windows", "a.md:stream.md": "Windows",
		"~/a.md": "home directory", "~root/a.md": "home directory",
		".hidden.md": "hidden", ".md": "hidden", "sub/.git/a.md": "hidden", ".claude/a.md": "hidden", "...md": "hidden",
		"%2e%2e/a.md": "encoded", "a%2Fb.md": "encoded", "a%5cb.md": "encoded", "a%00.md": "encoded", "%252e%252e/a.md": "encoded",
		"a\x00.md": "hidden character", "a\n.md": "hidden character", "a\u202egnp.md": "hidden character", "a\u200bb.md": "hidden character", "a\ufeff.md": "hidden character", "a\u2060b.md": "hidden character", "a\u00adb.md": "hidden character", "a\u2028b.md": "hidden character", "a\U000e0041b.md": "hidden character",
		"a\xff.md": "UTF-8", "a.txt": "Markdown", "a": "Markdown", "a.md.exe": "Markdown", "a.md.": "Markdown", "a.md ": "Markdown",
		"sub./a.md": "dot", "sub /a.md": "space", "a<b.md": "Windows", "a|b.md": "Windows", "a?.md": "Windows", "a*.md": "Windows", `a".md`: "Windows",
		"con.md": "device", "CON.md": "device", "nul.tar.md": "device", "aux/a.md": "device", "com1.md": "device", "LPT9.md": "device", "com¹.md": "device", "con .md": "device", "conin$.md": "device",
		"CLAUDE~1.MD": "shortens", "PROGRA~1/a.md": "shortens",
		strings.Repeat("a", 253) + ".md": "longer than 255", strings.Repeat("中", 90) + ".md": "longer than 255", strings.Repeat("abc/", 300) + "a.md": "1,024",
		"memory.md": "only the index", "sub/MEMORY.md": "only the index", "Memory.MD": "only the index", "MEMO\u200cRY.md": "only the index",
		"CLAUDE.md": "never written", "sub/claude.md": "never written", "AGENTS.md": "never written", "AGENT\u017f.md": "never written", "README.md": "never written", "ReadMe.MD": "never written", "CLA\u200dUDE.md": "never written",
		"logs/a.md": "daily logs", "logs/2026/01/2026-02-01.md": "daily logs", "logs/2026/13/2026-13-01.md": "daily logs", "logs/2026/02/2026-02-30.md": "daily logs", "Logs/2026/01/2026-01-02.md": "daily logs", "logs/2026/01/2026-01-02.MD": "daily logs", "logs/2026/1/2026-1-2.md": "daily logs",
		"a.md/b.md": "name of a memory file",
	} {
		err := CheckPath(p)
		if err == nil {
			t.Errorf("%q is accepted", p)
			continue
		}
		if !strings.Contains(err.Error(), say) {
			t.Errorf("%q: %v; want it to say %q", p, err, say)
		}
		if !utf8.ValidString(err.Error()) || strings.ContainsAny(err.Error(), "\x00\u202e") {
			t.Errorf("%q: the message itself holds what it refuses: %q", p, err)
		}
		if CheckTopicPath(p) == nil {
			t.Errorf("%q is accepted as a topic", p)
		}
	}
}

func TestCheckTopicPath(t *testing.T) {
	if err := CheckTopicPath("sub/a.md"); err != nil {
		t.Error(err)
	}
	for p, say := range map[string]string{"MEMORY.md": "is the index", "logs/2026/01/2026-01-02.md": "memory_log"} {
		if err := CheckTopicPath(p); err == nil || !strings.Contains(err.Error(), say) {
			t.Errorf("%q: %v", p, err)
		}
	}
}

func TestSlug(t *testing.T) {
	for name, want := range map[string]string{
		"API style": "api-style", "user_role": "user_role", "  a -- b  ": "a-b", "Größe": "größe", "部署 说明": "部署-说明", "don't!": "don-t", "a/b\\c": "a-b-c", "../../etc": "etc",
		"": "", "!!!": "", "---": "", "_a_": "a", "CON": "con-note", "Memory": "memory-note", "README": "readme-note", "claude": "claude-note", "Agents": "agents-note", "com1": "com1-note",
		"v1.2": "v1-2", "\xff": "", "a\u202eb": "a-b", "e\u0301": "e\u0301",
	} {
		if got := Slug(name); got != want {
			t.Errorf("Slug(%q) = %q, want %q", name, got, want)
		}
	}
	if s := Slug(strings.Repeat("long name ", 50)); len(s) > 90 {
		t.Errorf("%d bytes", len(s))
	}
}

// Whatever a memory is called, its slug is a path that can be written.
func TestSlugIsAPath(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { slugIsAPath(t, rapid.String().Draw(t, "name")) })
}

func slugIsAPath(t interface{ Fatalf(string, ...any) }, name string) {
	s := Slug(name)
	if s == "" {
		return
	}
	if err := CheckTopicPath(s + ".md"); err != nil {
		t.Fatalf("the slug of %q: %v", name, err)
	}
	if Slug(s) != s && !strings.HasSuffix(s, "-note") {
		t.Fatalf("the slug of %q is %q, and of that %q", name, s, Slug(s))
	}
}

func TestFold(t *testing.T) {
	for _, same := range [][]string{{"user_role", "user-role", "User Role", " USER-ROLE "}, {"größe", "Größe", "GRÖßE"}, {"部署", " 部署"}} {
		for _, s := range same {
			if Fold(s) != Fold(same[0]) {
				t.Errorf("%q and %q are two names", s, same[0])
			}
		}
	}
	if Fold("a.b") == Fold("a-b") {
		t.Error("a dot is no dash")
	}
}

func TestStem(t *testing.T) {
	for p, want := range map[string]string{"a.md": "a", "sub/a.b.md": "a.b", "a": "a", "sub/A.MD": "A"} {
		if got := Stem(p); got != want {
			t.Errorf("Stem(%q) = %q", p, got)
		}
	}
}

func TestLogPath(t *testing.T) {
	// The day is that of the time's own place.
	at := time.Date(2026, 1, 2, 23, 30, 0, 0, time.FixedZone("", 9*3600))
	if got := LogPath(at); got != "logs/2026/01/2026-01-02.md" {
		t.Error(got)
	}
	if got := LogPath(at.In(time.FixedZone("", 11*3600))); got != "logs/2026/01/2026-01-03.md" {
		t.Error(got)
	}
	if err := CheckPath(LogPath(at)); err != nil {
		t.Error(err)
	}
}

func FuzzNames(f *testing.F) {
	for _, s := range []string{"a.md", "../a.md", "logs/2026/01/2026-01-02.md", "con", "部署", "a\x00", "%2e", "~", "é\u0301"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		slugIsAPath(t, s)
		if Fold(Fold(s)) != Fold(s) {
			t.Fatalf("folding %q twice gives another name", s)
		}
		if CheckPath(s) != nil {
			return
		}
		if !utf8.ValidString(s) || strings.ContainsAny(s, "\\\x00\n") || strings.HasPrefix(s, "/") || strings.Contains("/"+s+"/", "/../") || !strings.EqualFold(s[len(s)-3:], ".md") {
			t.Fatalf("%q is accepted", s)
		}
	})
}

func TestPathsThatNoViewLists(t *testing.T) {
	deep := strings.Repeat("d/", maxDepth)
	if err := CheckTopicPath(deep + "x.md"); err != nil {
		t.Error(err)
	}
	if err := CheckTopicPath(deep + "d/x.md"); err == nil || !strings.Contains(err.Error(), "deeper than 16 folders") {
		t.Errorf("err = %v", err)
	}
	if err := CheckTopicPath("a\xff.md"); err == nil || !strings.Contains(err.Error(), "Rename the file") {
		t.Errorf("err = %v", err)
	}
}

func TestCheckElement(t *testing.T) {
	for _, el := range []string{"a.md", "MEMORY.md", "日记.md", "a b", "~x", "page[1].tsx", "می\u200cخواهم.md"} {
		if err := CheckElement(el); err != nil {
			t.Errorf("%q: %v", el, err)
		}
	}
	for _, el := range []string{"", ".", "..", ".x", "a/b", `a\b`, "a\xff", "a.", "a ", "CON", "x:y", "%2e", "ABCDEF~1", "a\u202eb", "\u200d.x", "CO\u200dN"} {
		if CheckElement(el) == nil {
			t.Errorf("%q passes", el)
		}
	}
}
