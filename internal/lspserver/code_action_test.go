package lspserver

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"go.lsp.dev/uri"

	"mem/core/text"
)

type textEdit struct {
	Range   span   `json:"range"`
	NewText string `json:"newText"`
}

type documentChange struct {
	Kind         string `json:"kind"`
	URI          string `json:"uri"`
	OldURI       string `json:"oldUri"`
	NewURI       string `json:"newUri"`
	TextDocument struct {
		URI     string `json:"uri"`
		Version *int   `json:"version"`
	} `json:"textDocument"`
	Edits []textEdit `json:"edits"`
}

type action struct {
	Title       string       `json:"title"`
	Kind        string       `json:"kind"`
	IsPreferred bool         `json:"isPreferred"`
	Diagnostics []diagnostic `json:"diagnostics"`
	Disabled    *struct {
		Reason string `json:"reason"`
	} `json:"disabled"`
	Edit *struct {
		DocumentChanges []documentChange      `json:"documentChanges"`
		Changes         map[string][]textEdit `json:"changes"`
	} `json:"edit"`
	Data json.RawMessage `json:"data"`

	raw json.RawMessage
}

// lightbulb asks for what can be done at a place.
func (e *editor) lightbulb(name string, at span, context string) []action {
	e.t.Helper()
	if context == "" {
		context = `{"diagnostics":[]}`
	}
	var raws []json.RawMessage
	e.ask("textDocument/codeAction", map[string]any{"textDocument": map[string]any{"uri": e.uri(name)}, "range": at, "context": json.RawMessage(context)}, &raws)
	out := make([]action, len(raws))
	for i, raw := range raws {
		if err := json.Unmarshal(raw, &out[i]); err != nil {
			e.t.Fatal(err)
		}
		out[i].raw = raw
	}
	return out
}

func titled(t *testing.T, all []action, title string) action {
	t.Helper()
	for _, a := range all {
		if a.Title == title {
			return a
		}
	}
	t.Fatalf("%q is not offered: %s", title, titles(all))
	return action{}
}

func titles(all []action) string {
	var out []string
	for _, a := range all {
		s := a.Title
		if a.IsPreferred {
			s += "*"
		}
		if a.Disabled != nil {
			s += "(disabled)"
		}
		out = append(out, s)
	}
	return strings.Join(out, "; ")
}

func (e *editor) take(a action) action {
	e.t.Helper()
	m := e.answer(e.post("codeAction/resolve", string(a.raw)))
	if m.Error != nil {
		e.t.Fatalf("%s: %+v", a.Title, m.Error)
	}
	var out action
	if err := json.Unmarshal(m.Result, &out); err != nil {
		e.t.Fatal(err)
	}
	return out
}

func (e *editor) refused(a action, code int, words string) {
	e.t.Helper()
	m := e.answer(e.post("codeAction/resolve", string(a.raw)))
	if m.Error == nil || m.Error.Code != code || !strings.Contains(m.Error.Message, words) {
		e.t.Errorf("%s: %+v in %s, want %d %s", a.Title, m.Error, m.Result, code, words)
	}
}

// made gives the texts that an editor has after an edit: of open documents from
// what the server has, of others from disk without a byte order mark.
func (e *editor) made(a action) map[string]string {
	e.t.Helper()
	out := map[string]string{}
	apply := func(u string, edits []textEdit) {
		name, err := filepath.Rel(e.dir, must(pathOf(u)))
		if err != nil {
			e.t.Fatal(err)
		}
		src, ok := out[name]
		if !ok {
			if doc := e.server.documents().at(filepath.Join(e.dir, name)); doc != nil {
				src = doc.text.String()
			} else if b, err := os.ReadFile(filepath.Join(e.dir, name)); err == nil {
				src = strings.TrimPrefix(string(b), bom)
			}
		}
		t := text.New(src)
		var all []text.Edit
		for _, x := range edits {
			s, err := t.SpanOf(text.Position(x.Range.Start), text.Position(x.Range.End), e.server.features.encoding)
			if err != nil {
				e.t.Errorf("%s: %v", name, err)
			}
			all = append(all, text.Edit{Span: s, New: x.NewText})
		}
		if out[name], ok = text.Apply(src, all); !ok {
			e.t.Errorf("%s: the edits overlap: %+v", name, edits)
		}
	}
	if a.Edit == nil {
		e.t.Fatalf("%s has no edit", a.Title)
	}
	for _, c := range a.Edit.DocumentChanges {
		if c.Kind == "delete" {
			out[strings.TrimPrefix(must(pathOf(c.URI)), e.dir+string(filepath.Separator))] = gone
			continue
		}
		if c.Kind == "rename" {
			from, to := strings.TrimPrefix(must(pathOf(c.OldURI)), e.dir+string(filepath.Separator)), strings.TrimPrefix(must(pathOf(c.NewURI)), e.dir+string(filepath.Separator))
			if _, changed := out[from]; !changed {
				apply(c.OldURI, nil)
			}
			out[to], out[from] = out[from], gone
			continue
		}
		if c.Kind == "create" {
			out[strings.TrimPrefix(must(pathOf(c.URI)), e.dir+string(filepath.Separator))] = ""
			continue
		}
		doc := e.server.documents().find(uri.URI(c.TextDocument.URI))
		if (doc == nil) != (c.TextDocument.Version == nil) || doc != nil && int(doc.version) != *c.TextDocument.Version {
			e.t.Errorf("%s: the version is %v", c.TextDocument.URI, c.TextDocument.Version)
		}
		apply(c.TextDocument.URI, c.Edits)
	}
	for u, edits := range a.Edit.Changes {
		apply(u, edits)
	}
	return out
}

// gone stands for a file that an edit deletes.
const gone = "\x00gone"

func must(path string, ok bool) string {
	if !ok {
		panic("no path")
	}
	return path
}

func printed(files map[string]string) string {
	var out []string
	for name, t := range files {
		out = append(out, fmt.Sprintf("%s=%q", name, t))
	}
	sort.Strings(out)
	return strings.Join(out, " ")
}

const badLine = "中😀 bad\r\nok\r\n"

var badAt = span{point{0, 4}, point{0, 4}}

func TestActions(t *testing.T) {
	for _, enc := range []string{"utf-8", "utf-16", "utf-32"} {
		e := start(t, map[string]string{"other.md": bom + "中文\r\n😀 last"}, testEngine)
		e.initialize(offering(enc))
		e.open("a.md", badLine)
		at := span{point{0, 0}, point{0, 20}}
		all := e.lightbulb("a.md", at, "")
		if got, want := titles(all), "Write good*; Create a topic; Change the other; Do the impossible(disabled); Mend everything in this file that is safe to mend"; got != want {
			t.Fatalf("offered: %s", got)
		}
		for title, want := range map[string]string{
			"Write good":       `a.md="中😀 good\r\nok\r\n"`,
			"Create a topic":   `a.md="中😀 moved\r\nok\r\n" new topic.md="中😀 bad\r\n"`,
			"Change the other": `other.md="中文\r\n¡😀 last!"`,
			"Mend everything in this file that is safe to mend": `a.md="中😀 good\r\nok\r\n"`,
		} {
			a := titled(t, all, title)
			if a.Edit != nil {
				t.Errorf("%s has its edit before it is taken", title)
			}
			if got := printed(e.made(e.take(a))); got != want {
				t.Errorf("%s, %s: %s", enc, title, got)
			}
		}
		if a := all[0]; a.Kind != "quickfix" || len(a.Diagnostics) != 1 || a.Diagnostics[0].Code != "word" {
			t.Errorf("the first is %+v", a)
		}
		if d := titled(t, all, "Do the impossible").Disabled; !strings.Contains(d.Reason, "that cannot be done") {
			t.Errorf("the reason is %q", d.Reason)
		}
	}
}

func TestWhichActions(t *testing.T) {
	e := start(t, map[string]string{"other.md": "x\n"}, testEngine)
	e.initialize(capable)
	e.open("a.md", "bad\nok\nbad\n\nall that is so very bad\n")
	for _, c := range []struct {
		at            span
		context, want string
	}{
		{span{point{1, 0}, point{1, 1}}, "", "Mend everything in this file that is safe to mend"},
		{span{point{1, 0}, point{1, 1}}, `{"diagnostics":[],"triggerKind":2}`, ""},
		{span{point{0, 3}, point{0, 3}}, `{"diagnostics":[],"only":["quickfix"]}`, "Write good*; Change the other; Do the impossible(disabled)"},
		{span{point{0, 3}, point{0, 3}}, `{"diagnostics":[],"only":["refactor"]}`, "Create a topic"},
		{span{point{0, 3}, point{0, 3}}, `{"diagnostics":[],"only":["source"]}`, "Mend everything in this file that is safe to mend"},
		{span{point{0, 3}, point{0, 3}}, `{"diagnostics":[],"only":["source.fixAll"],"triggerKind":2}`, "Mend everything in this file that is safe to mend"},
		{span{point{0, 3}, point{0, 3}}, `{"diagnostics":[],"only":["source.organizeImports","refactor.inline"]}`, ""},
		// The cursor is elsewhere in the line; the client says which finding is meant.
		{span{point{1, 0}, point{1, 0}}, `{"only":["refactor.extract"],"diagnostics":[{"range":{"start":{"line":2,"character":0},"end":{"line":2,"character":3}},"code":"word","message":"old words"}]}`, "Create a topic"},
		// As Neovim counts columns where others than ASCII stand before.
		{span{point{1, 0}, point{1, 0}}, `{"only":["refactor.extract"],"diagnostics":[{"range":{"start":{"line":2,"character":9},"end":{"line":2,"character":19}},"code":"word","message":"old words"}]}`, "Create a topic"},
		{span{point{1, 0}, point{1, 0}}, `{"only":["refactor.extract"],"diagnostics":[{"range":{"start":{"line":2,"character":0},"end":{"line":2,"character":3}},"code":"other","message":""}]}`, ""},
		{span{point{4, 2}, point{4, 2}}, `{"diagnostics":[],"only":["refactor"]}`, "Create a topic"}, // of the line
		{span{point{4, 1}, point{4, 2}}, `{"diagnostics":[],"only":["refactor"]}`, ""},
		{span{point{99, 0}, point{99, 99}}, `{"diagnostics":[],"triggerKind":2}`, ""},
		{span{point{2, 3}, point{0, 0}}, `{"diagnostics":[],"only":["refactor"]}`, "Create a topic"}, // backwards
	} {
		if got := titles(e.lightbulb("a.md", c.at, c.context)); got != c.want {
			t.Errorf("at %s with %s: %q, want %q", c.at, c.context, got, c.want)
		}
	}
	for _, name := range []string{"README.md", "never opened.md"} {
		if got := e.lightbulb(name, span{}, ""); len(got) > 0 {
			t.Errorf("%s: %s", name, titles(got))
		}
	}
}

// An edit is never computed from a text that the editor no longer has.
func TestActionsOfAnOldText(t *testing.T) {
	e := start(t, map[string]string{"other.md": "x\n"}, testEngine)
	e.initialize(capable)
	e.open("a.md", badLine)
	all := e.lightbulb("a.md", badAt, "")
	better, create, other := titled(t, all, "Write good"), titled(t, all, "Create a topic"), titled(t, all, "Change the other")

	// The other file changes on disk, and in a buffer: its edit is of what it is.
	e.write("other.md", "first\nsecond\n")
	if got := printed(e.made(e.take(other))); got != `other.md="first\n¡second!\n"` {
		t.Errorf("after a change on disk: %s", got)
	}
	e.open("other.md", "buffer")
	if got := printed(e.made(e.take(other))); got != `other.md="¡buffer!"` {
		t.Errorf("after it was opened: %s", got)
	}
	// The new file exists by now.
	e.write("new topic.md", "mine\n")
	e.refused(create, -32803, "there is one")

	e.edit("a.md", replace(1, 0, 1, 0, "x"))
	e.refused(better, -32801, "has changed since")
	e.edit("a.md", replace(1, 0, 1, 1, ""))
	e.take(better) // it is the same text again
	e.close("a.md")
	e.refused(better, -32801, "has changed since")
	e.refused(action{raw: json.RawMessage(`{"title":"x","data":5}`)}, -32602, "none of this server's")
	e.refused(action{raw: json.RawMessage(`{"title":"x","data":{"uri":"file:///etc/passwd","hash":"x"}}`)}, -32801, "")
	if a := e.take(action{raw: json.RawMessage(`{"title":"no data"}`)}); a.Title != "no data" || a.Edit != nil {
		t.Errorf("an action without data: %+v", a)
	}
}

// What a client cannot do is not asked of it.
func TestActionsOfModestClients(t *testing.T) {
	files := map[string]string{"other.md": "x\n"}
	// Emacs: no creation of files, no versions, edits at once, nothing disabled.
	e := start(t, files, testEngine)
	e.initialize(`{"textDocument":{"codeAction":{"codeActionLiteralSupport":{"codeActionKind":{"valueSet":["quickfix"]}}}}}`)
	e.open("a.md", badLine)
	all := e.lightbulb("a.md", badAt, "")
	if got := titles(all); got != "Write good; Create a topic; Change the other; Mend everything in this file that is safe to mend" {
		t.Errorf("offered: %s", got)
	}
	create := titled(t, all, "Create a topic")
	if create.Data != nil || create.Edit == nil || create.Edit.DocumentChanges != nil {
		t.Fatalf("the action is %s", create.raw)
	}
	if got := printed(e.made(create)); got != `a.md="中😀 moved\r\nok\r\n" new topic.md="中😀 bad\r\n"` {
		t.Errorf("it makes %s", got)
	}
	// Versions, but no creation.
	e = start(t, files, testEngine)
	e.initialize(strings.Replace(capable, `"create",`, "", 1))
	e.open("a.md", badLine)
	create = e.take(titled(t, e.lightbulb("a.md", badAt, ""), "Create a topic"))
	for _, c := range create.Edit.DocumentChanges {
		if c.Kind != "" {
			t.Errorf("it asks to %s a file", c.Kind)
		}
	}
	if got := printed(e.made(create)); got != `a.md="中😀 moved\r\nok\r\n" new topic.md="中😀 bad\r\n"` {
		t.Errorf("it makes %s", got)
	}
	// Commands only.
	e = start(t, files, testEngine)
	e.initialize(`{"textDocument":{"codeAction":{}}}`)
	e.open("a.md", badLine)
	if got := e.lightbulb("a.md", badAt, ""); len(got) > 0 {
		t.Errorf("offered: %s", titles(got))
	}
}

// A capable client creates the file before it writes into it, and fails where it
// exists.
func TestCreateFile(t *testing.T) {
	e := start(t, map[string]string{"other.md": "x\n"}, testEngine)
	e.initialize(capable)
	e.open("a.md", badLine)
	a := e.take(titled(t, e.lightbulb("a.md", badAt, ""), "Create a topic"))
	raw, _ := json.Marshal(a.Edit.DocumentChanges)
	if c := a.Edit.DocumentChanges; len(c) != 3 || c[0].Kind != "create" || c[0].URI != e.uri("new topic.md") || strings.Contains(string(raw), "overwrite") {
		t.Errorf("the changes are %s", raw)
	}
	// Where the file is open, created and not saved yet, it exists.
	e.open("new topic.md", "half typed\n")
	if got := titled(t, e.lightbulb("a.md", badAt, ""), "Create a topic"); got.Disabled == nil {
		t.Errorf("offered: %s", got.raw)
	}
}

// A secret is not copied into another file.
func TestActionsPassTheGuard(t *testing.T) {
	secret := "ghp_" + "Zx8Kq2Lw9Rt4Yv7Bn3Mc6Df1Hj5Gs0PaQeUi"
	e := start(t, map[string]string{"other.md": "x\n"}, testEngine)
	e.initialize(capable)
	e.open("a.md", "bad token = "+secret+"\n")
	all := e.lightbulb("a.md", span{}, "")
	create := titled(t, all, "Create a topic")
	if create.Disabled == nil || !strings.Contains(create.Disabled.Reason, "would copy a secret into") || strings.Contains(string(create.raw), secret[4:]) {
		t.Errorf("offered: %s", create.raw)
	}
	if got := titles(all); !strings.HasPrefix(got, "Write good*; Create a topic(disabled); Change the other;") {
		t.Errorf("offered: %s", got)
	}
	// Where so much is offered that nothing is tried ahead, it is refused when taken.
	e.change("a.md", "bad token = "+secret+"\n"+strings.Repeat("bad\n", triedAhead))
	all = e.lightbulb("a.md", span{point{0, 0}, point{99, 0}}, "")
	e.refused(titled(t, all, "Create a topic"), -32803, "would copy a secret into")

	e = start(t, map[string]string{"other.md": "x\n"}, testEngine)
	e.initialize(strings.Replace(capable, `"disabledSupport":true,`, "", 1))
	e.open("a.md", "bad token = "+secret+"\n")
	if got := titles(e.lightbulb("a.md", span{}, "")); got != "Write good*; Change the other; Mend everything in this file that is safe to mend" {
		t.Errorf("offered: %s", got)
	}
}

// What the late rule found is offered and mended as what the others found.
func TestActionOfALateFinding(t *testing.T) {
	e := start(t, nil, testEngine)
	e.initialize(capable)
	e.open("a.md", "x late\n")
	e.until("a.md", "the late finding", has("later"))
	e.edit("a.md", replace(0, 0, 0, 0, "y"))
	a := titled(t, e.lightbulb("a.md", span{point{0, 4}, point{0, 4}}, ""), "Write early")
	if got := printed(e.made(e.take(a))); got != `a.md="yx early\n"` {
		t.Errorf("it makes %s", got)
	}
}

// Of hundreds of findings the nearest are offered, without trying each; one that cannot
// be mended says so when it is taken.
func TestManyActions(t *testing.T) {
	e := start(t, map[string]string{"other.md": "x\n"}, testEngine)
	e.initialize(capable)
	e.open("a.md", strings.Repeat("bad\n", 300))
	all := e.lightbulb("a.md", span{point{0, 0}, point{300, 0}}, "")
	if len(all) != maxActions+1 {
		t.Fatalf("%d actions", len(all))
	}
	e.refused(titled(t, all, "Do the impossible"), -32803, "that cannot be done")
	e.take(titled(t, all, "Write good"))
	if got := e.made(e.take(all[len(all)-1])); got["a.md"] != strings.Repeat("good\n", 300) {
		t.Errorf("all of them make %s", printed(got))
	}
	// Whose start is in the middle has what follows there.
	all = e.lightbulb("a.md", span{point{150, 0}, point{300, 0}}, `{"diagnostics":[],"only":["refactor"]}`)
	if len(all) != maxActions || all[0].Diagnostics[0].Range.Start.Line != 150 || all[maxActions-1].Diagnostics[0].Range.Start.Line != 150+maxActions-1 {
		t.Errorf("%d actions from line 150: %s", len(all), titles(all))
	}
	// Without resolve each has its edit, and those that cannot be made are not there.
	e = start(t, map[string]string{"other.md": "x\n"}, testEngine)
	e.initialize(`{"textDocument":{"codeAction":{"codeActionLiteralSupport":{"codeActionKind":{"valueSet":["quickfix"]}}}}}`)
	e.open("a.md", strings.Repeat("bad\n", 300))
	if all = e.lightbulb("a.md", span{point{0, 0}, point{300, 0}}, ""); len(all) != maxActions+1 {
		t.Errorf("%d actions for a client without resolve", len(all))
	}
}

// What the user allows is allowed at once, also in a server that runs already.
func TestExceptionsOfTheUser(t *testing.T) {
	secret := "ghp_" + "Zx8Kq2Lw9Rt4Yv7Bn3Mc6Df1Hj5Gs0PaQeUi"
	config := t.TempDir()
	e := start(t, map[string]string{"other.md": "x\n"}, testEngine, func(s *server) { s.o.Env.ConfigDir = config })
	e.initialize(capable)
	e.open("a.md", "bad token = "+secret+"\n")
	create := titled(t, e.lightbulb("a.md", span{}, ""), "Create a topic")
	if create.Disabled == nil {
		t.Fatalf("offered: %s", create.raw)
	}
	sum := sha256.Sum256([]byte(secret))
	if err := os.WriteFile(filepath.Join(config, "config.yaml"), []byte("guard:\n  allow: ["+hex.EncodeToString(sum[:])+"]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	create = titled(t, e.lightbulb("a.md", span{}, ""), "Create a topic")
	if create.Disabled != nil {
		t.Fatalf("offered: %s\n%s", create.raw, e.log)
	}
	e.take(create)
}
