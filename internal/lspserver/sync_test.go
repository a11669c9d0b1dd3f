package lspserver

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"mem/core/text"
	"mem/internal/need"
)

// settled waits until everything that was sent has been handled.
func (e *editor) settled() {
	e.t.Helper()
	e.answer(e.post("textDocument/hover", map[string]any{"textDocument": map[string]any{"uri": e.uri("settled.md")}, "position": point{}}))
}

// text gives what the server has of a file.
func (e *editor) text(name string) string {
	e.t.Helper()
	e.settled()
	doc := e.server.documents().at(filepath.Join(e.dir, filepath.FromSlash(name)))
	if doc == nil {
		e.t.Fatalf("%s is not open", name)
	}
	if doc.lost {
		return "(lost)"
	}
	return doc.text.String()
}

func offering(encodings ...string) string {
	return strings.Replace(capable, `["utf-16"]`, `["`+strings.Join(encodings, `","`)+`"]`, 1)
}

// units gives the length of s as an editor counts it.
func units(enc text.Encoding, s string) int {
	switch enc {
	case text.UTF8:
		return len(s)
	case text.UTF32:
		return utf8.RuneCountInString(s)
	}
	return len(utf16.Encode([]rune(s)))
}

// Random edits, of one place or several in one message, give the text that an
// editor has, whose lines and characters are counted here in the plainest way.
func TestEditsInEveryEncoding(t *testing.T) {
	pieces := []string{"a", "中文", "😀", "é", "\n", "\r\n", "\ufeff", "- [x](y.md) — z", "", "\t"}
	for _, enc := range []text.Encoding{text.UTF8, text.UTF16, text.UTF32} {
		t.Run(string(enc), func(t *testing.T) {
			e := start(t, nil)
			e.initialize(offering(string(enc)))
			r := rand.New(rand.NewPCG(1, 2))
			want := "# 记忆 😀\r\n\r\n- [a](a.md) — b\n"
			e.open("MEMORY.md", want)
			for range 200 {
				var changes []map[string]any
				for range 1 + r.IntN(3) {
					runes := []rune(want)
					from := r.IntN(len(runes) + 1)
					to := from + r.IntN(min(6, len(runes)-from)+1)
					place := func(at int) point {
						before := string(runes[:at])
						line := strings.LastIndex(before, "\n") + 1
						return point{strings.Count(before, "\n"), units(enc, before[line:])}
					}
					// No place lies between the two characters of a line end.
					if from > 0 && from < len(runes) && runes[from-1] == '\r' && runes[from] == '\n' ||
						to > 0 && to < len(runes) && runes[to-1] == '\r' && runes[to] == '\n' {
						continue
					}
					with := pieces[r.IntN(len(pieces))]
					a, b := place(from), place(to)
					changes = append(changes, replace(a.Line, a.Character, b.Line, b.Character, with))
					want = string(runes[:from]) + with + string(runes[to:])
				}
				e.edit("MEMORY.md", changes...)
			}
			if got := e.text("MEMORY.md"); got != want {
				t.Errorf("the server has\n%q\nwant\n%q", got, want)
			}
		})
	}
}

// Past an end, the end is meant, and that is said once. After an edit of any other
// place that cannot be, nobody knows the text: an edit is never computed from one that
// the editor does not have.
func TestImpossiblePlaces(t *testing.T) {
	for _, c := range []struct {
		name, enc, text string
		change          map[string]any
		want            string
		logged          bool
	}{
		{"past the end of a line", "utf-16", "ab\ncd\n", replace(0, 99, 0, 99, "!"), "ab!\ncd\n", false},
		{"past the end of a line with CRLF", "utf-16", "ab\r\ncd\r\n", replace(0, 99, 0, 99, "!"), "ab!\r\ncd\r\n", false},
		{"past the last line", "utf-16", "ab\n", replace(0, 0, 99, 0, "x"), "x", true},
		{"inside a surrogate pair", "utf-16", "😀\n", replace(0, 1, 0, 1, "!"), "(lost)", false},
		{"half of a surrogate pair", "utf-16", "😀 b\n", replace(0, 1, 0, 2, ""), "(lost)", false},
		{"up to the middle of a surrogate pair, from past the end", "utf-16", "a\n😀\n", replace(0, 9, 1, 1, ""), "(lost)", false},
		{"inside a character", "utf-8", "中\n", replace(0, 1, 0, 2, "!"), "(lost)", false},
		{"from inside a character to past the last line", "utf-8", "中\n", replace(0, 1, 9, 0, "!"), "(lost)", false},
		{"backwards", "utf-32", "中文\n", replace(0, 2, 0, 1, "!"), "(lost)", false},
		{"backwards from past the last line", "utf-16", "ab\n", replace(2, 0, 0, 1, "!"), "(lost)", false},
		{"backwards past the end of a line", "utf-16", "ab\n", replace(0, 9, 0, 8, "!"), "ab!\n", false},
		{"a line behind the last one", "utf-16", "ab\n", replace(2, 0, 2, 0, "c\n"), "ab\nc\n", true},
		{"a line behind the last one without line end", "utf-16", "ab", replace(1, 0, 1, 0, "c"), "abc", true},
		{"lines that are far from there", "utf-16", "ab\n", replace(5, 0, 6, 0, "c\n"), "(lost)", false},
		{"huge", "utf-16", "ab\n", map[string]any{"range": `{}`, "text": "x"}, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := start(t, nil)
			e.initialize(offering(c.enc))
			e.open("MEMORY.md", c.text)
			if c.name == "huge" {
				e.notify("textDocument/didChange", fmt.Sprintf(`{"textDocument":{"uri":%q,"version":2},"contentChanges":[{"range":{"start":{"line":0,"character":0},"end":{"line":4294967295,"character":4294967295}},"text":"x"}]}`, e.uri("MEMORY.md")))
				c.want, c.logged = "x", true
			} else {
				e.edit("MEMORY.md", c.change)
				e.edit("MEMORY.md", c.change, map[string]any{"text": c.text}, c.change) // said once only
			}
			if got := e.text("MEMORY.md"); got != c.want {
				t.Errorf("the text is %q, want %q", got, c.want)
			}
			told := 0
			if c.want == "(lost)" {
				told = 1 // it is lost again at the end of the second message
			}
			e.wait("the warnings", func() bool { return e.heard("window/showMessage") == told })
			want := 0
			if c.logged {
				want = 1
			}
			if n := strings.Count(e.log.String(), "nearest place"); n != want {
				t.Errorf("said %d times:\n%s", n, e.log)
			}
		})
	}
}

// A change that cannot be understood leaves a text that nobody knows: nothing is
// said of it until the whole text comes again.
func TestUnintelligibleChange(t *testing.T) {
	for _, changes := range []string{`[{"range":{"start":{"line":-1,"character":0},"end":{"line":0,"character":0}},"text":"x"}]`, `[5]`, `5`, `[null]`} {
		e := start(t, nil)
		e.initialize(capable)
		e.open("MEMORY.md", bom+"# 1\n")
		e.until("MEMORY.md", "the finding", has("encoding"))
		e.notify("textDocument/didChange", fmt.Sprintf(`{"textDocument":{"uri":%q,"version":2},"contentChanges":%s}`, e.uri("MEMORY.md"), changes))
		if got := e.text("MEMORY.md"); got != "(lost)" {
			t.Fatalf("after %s the server has %q", changes, got)
		}
		e.until("MEMORY.md", "nothing", lacks("encoding"))
		e.edit("MEMORY.md", replace(0, 0, 0, 0, "x"))
		if got := e.text("MEMORY.md"); got != "(lost)" {
			t.Fatalf("an edit of an unknown text gave %q", got)
		}
		e.change("MEMORY.md", bom+"# 2\n")
		if got := e.text("MEMORY.md"); got != bom+"# 2\n" {
			t.Fatalf("the whole text gave %q", got)
		}
		e.until("MEMORY.md", "the finding again", has("encoding"))
	}
}

// A change that does not follow what is here was made in another text. A whole text
// is the text, whatever its number: there are clients that always send 1.
func TestVersionsThatDoNotRise(t *testing.T) {
	send := func(e *editor, version int, changes string) {
		e.notify("textDocument/didChange", fmt.Sprintf(`{"textDocument":{"uri":%q,"version":%d},"contentChanges":[%s]}`, e.uri("MEMORY.md"), version, changes))
	}
	const edit, whole = `{"range":{"start":{"line":0,"character":0},"end":{"line":0,"character":0}},"text":"x"}`, `{"text":"whole\n"}`
	for _, version := range []int{7, 6, -1} {
		e := start(t, nil)
		e.initialize(capable)
		e.version = 6
		e.open("MEMORY.md", "7\n")
		send(e, version, edit)
		if got := e.text("MEMORY.md"); got != "(lost)" {
			t.Errorf("version %d after 7 gave %q", version, got)
		}
		if want := fmt.Sprintf("not known after version %d: it follows version 7", version); !strings.Contains(e.log.String(), want) {
			t.Errorf("the log does not say %q:\n%s", want, e.log)
		}
		send(e, 8, edit)
		if got := e.text("MEMORY.md"); got != "(lost)" {
			t.Errorf("an edit after that gave %q", got)
		}
		send(e, version, whole)
		if got := e.text("MEMORY.md"); got != "whole\n" {
			t.Errorf("the whole text with version %d gave %q", version, got)
		}
		send(e, version, whole+","+edit)
		if got := e.text("MEMORY.md"); got != "xwhole\n" {
			t.Errorf("the whole text and an edit with version %d gave %q", version, got)
		}
	}
}

func TestOddNotifications(t *testing.T) {
	e := start(t, nil)
	e.initialize(capable)
	e.change("MEMORY.md", "never opened\n")
	e.close("MEMORY.md")
	e.notify("textDocument/didSave", map[string]any{"textDocument": map[string]any{"uri": e.uri("MEMORY.md")}})
	e.open("MEMORY.md", "1\n")
	e.open("MEMORY.md", "2\n") // twice
	if got := e.text("MEMORY.md"); got != "2\n" {
		t.Errorf("the text is %q", got)
	}
	e.notify("textDocument/didOpen", `{"textDocument":{"uri":"untitled:Untitled-1","languageId":"markdown","version":1,"text":"x"}}`)
	e.notify("textDocument/didOpen", `{"textDocument":{"uri":"file:","languageId":"markdown","version":1,"text":"x"}}`)
	e.notify("textDocument/didOpen", `{"textDocument":{"uri":"file:///a%00b.md","languageId":"markdown","version":1,"text":"x"}}`)
	e.notify("textDocument/didOpen", `{"textDocument":{"uri":"","languageId":"markdown","version":1,"text":"x"}}`)
	e.settled()
	for path := range e.server.documents().byPath {
		if strings.Contains(path, "ntitled") || strings.ContainsRune(path, 0) {
			t.Errorf("%q is open", path)
		}
	}
	if err := e.quit(); err != nil {
		t.Fatal(err)
	}
}

// One file has one document, however its URI is written.
func TestSpellingsOfURIs(t *testing.T) {
	for raw, want := range map[string]string{
		"file:///m/MEMORY.md":             "/m/MEMORY.md",
		"file:///m/%4DEMORY.md":           "/m/MEMORY.md",
		"file:///m/x/../MEMORY.md":        "/m/MEMORY.md",
		"file:///m//MEMORY.md":            "/m/MEMORY.md",
		"file:///m/a%20b%28%29.md":        "/m/a b().md",
		"file:///m/a b().md":              "/m/a b().md",
		"file:///m/%E8%AE%B0%E5%BF%86.md": "/m/记忆.md",
		"file:///m/记忆.md":                 "/m/记忆.md",
		"file:///m/MEMORY.md#L5":          "/m/MEMORY.md",
		"FILE:///m/MEMORY.md":             "",
		"untitled:MEMORY.md":              "",
		"vscode-vfs://github/m/MEMORY.md": "",
		"/m/MEMORY.md":                    "",
		"":                                "",
		"http://localhost/MEMORY.md":      "",
		"file:///m/100%.md":               "/m/100%.md",
	} {
		if got, ok := pathOf(raw); got != filepath.FromSlash(want) || ok != (want != "") {
			t.Errorf("pathOf(%q) = %q, %v; want %q", raw, got, ok, want)
		}
	}
}

// Half a surrogate pair, which an editor sends when somebody typed into one, is one
// unit that stands for no character.
func TestLoneSurrogate(t *testing.T) {
	e := start(t, nil)
	e.initialize(capable)
	e.notify("textDocument/didOpen", fmt.Sprintf(`{"textDocument":{"uri":%q,"languageId":"markdown","version":1,"text":"a\ud83d\ude00b\ud83dc\n"}}`, e.uri("MEMORY.md")))
	if got, want := e.text("MEMORY.md"), "a😀b\ufffdc\n"; got != want {
		t.Errorf("opened as %q, want %q", got, want)
	}
	e.notify("textDocument/didChange", fmt.Sprintf(`{"textDocument":{"uri":%q,"version":2},"contentChanges":[{"range":{"start":{"line":0,"character":5},"end":{"line":0,"character":6}},"text":"\ude00x"}]}`, e.uri("MEMORY.md")))
	if got, want := e.text("MEMORY.md"), "a😀b\ufffd\ufffdx\n"; got != want {
		t.Errorf("changed to %q, want %q", got, want)
	}
}

// On systems that do not tell case apart, a file has the name that its folder has.
func TestSpelled(t *testing.T) {
	need.System(t, runtime.GOOS == "linux", "the files of this test are two only where case tells them apart")
	e := start(t, map[string]string{"MEMORY.md": "", "Sub/Topic.md": "", "same.md": "", "SAME.md": ""})
	for rel, want := range map[string]string{"memory.md": "MEMORY.md", "sub/TOPIC.md": "Sub/Topic.md", "new.md": "new.md", "sub/new.md": "Sub/new.md",
		"same.md": "same.md", "SAME.md": "SAME.md", "none/x.md": "none/x.md"} {
		if got := spelled(e.dir, rel); got != want {
			t.Errorf("spelled(%q) = %q, want %q", rel, got, want)
		}
	}
}
