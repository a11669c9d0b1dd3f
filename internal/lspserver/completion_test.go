package lspserver

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// An item as a client has it, made of a list and what its items share.
type offered struct {
	Label         string          `json:"label"`
	Detail        string          `json:"detail,omitempty"`
	SortText      string          `json:"sortText,omitempty"`
	FilterText    string          `json:"filterText,omitempty"`
	TextEditText  string          `json:"textEditText,omitempty"`
	Kind          int             `json:"kind,omitempty"`
	Documentation any             `json:"documentation,omitempty"`
	TextEdit      *textEdit       `json:"textEdit,omitempty"`
	Data          json.RawMessage `json:"data,omitempty"`
}

type offer struct {
	IsIncomplete bool
	ItemDefaults *struct {
		EditRange span
		Data      json.RawMessage
	}
	Items []offered
}

// What a client has of each item when it shows it: what it inserts and where, what it
// compares, sorts and shows.
func (o offer) shown(t *testing.T, e *editor) []string {
	t.Helper()
	var out []string
	for i, it := range o.Items {
		if i > 0 && it.SortText <= o.Items[i-1].SortText {
			t.Errorf("%s stands behind %s and is sorted by %q", it.Label, o.Items[i-1].Label, it.SortText)
		}
		edit := it.TextEdit
		if edit == nil {
			if o.ItemDefaults == nil {
				t.Fatalf("%s has no edit", it.Label)
			}
			edit = &textEdit{Range: o.ItemDefaults.EditRange, NewText: it.Label}
			if it.TextEditText != "" {
				edit.NewText = it.TextEditText
			}
		}
		if it.Documentation == nil && o.ItemDefaults != nil {
			it.Data = o.ItemDefaults.Data
			var whole offered
			e.ask("completionItem/resolve", it, &whole)
			if whole.Label != it.Label || whole.SortText != it.SortText || whole.Detail != it.Detail {
				t.Errorf("resolved %+v to %+v", it, whole)
			}
			it.Documentation = whole.Documentation
		}
		filter := it.FilterText
		if filter == "" {
			filter = it.Label
		}
		out = append(out, fmt.Sprintf("%s %d %s by %s says %v edits %v to %q", it.Label, it.Kind, it.Detail, filter, it.Documentation, edit.Range, edit.NewText))
	}
	slices.Sort(out) // of files of one time, any may be the newest
	return out
}

const lazyCompletion = `"completion":{"completionItem":{"resolveSupport":{"properties":["documentation","detail"]}},` +
	`"completionList":{"itemDefaults":["commitCharacters","editRange","data"]}}`

// A client that takes lists in parts has the same of each item as one that does not.
func TestCompletionsInParts(t *testing.T) {
	files := map[string]string{"sub/a b.md": topicOf("a b", "what a is"), "b.md": topicOf("second", "what b is"), "c.md": "---\ntype: p\n---\nc\n"}
	for i := range 60 {
		files[fmt.Sprintf("many-%02d.md", i)] = topicOf(fmt.Sprintf("many-%02d", i), strings.Repeat("what is said of it, ", 4))
	}
	for _, c := range []struct {
		name, file, marked string
	}{
		{"link", "MEMORY.md", "# M\n\n- [a](\u2038)\n"},
		{"link in angles", "MEMORY.md", "# M\n\n- [a](<su\u2038b.md>)\n"},
		{"name", "MEMORY.md", "# M\n\n[[sec\u2038\n"},
		{"type", "c.md", "---\ntype: \"p\u2038\n---\nc\n"},
		{"rule", "MEMORY.md", "# M\n\n<!-- mem-ignore-next-line \u2038 -->\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var want []string
			var size [2]int
			for i, caps := range []string{`{}`, `{"textDocument":{` + lazyCompletion + `}}`} {
				e := start(t, files)
				e.initialize(caps)
				text, at := mark(t, "utf-16", c.marked)
				e.open(c.file, text)
				params := map[string]any{"textDocument": map[string]any{"uri": e.uri(c.file)}, "position": at}
				var raw json.RawMessage
				e.ask("textDocument/completion", params, &raw)
				size[i] = len(raw)
				var list offer
				if err := json.Unmarshal(raw, &list); err != nil {
					t.Fatal(err)
				}
				if (list.ItemDefaults != nil) != (i == 1) {
					t.Errorf("what items share: %v, for a client %s", list.ItemDefaults, caps)
				}
				got := list.shown(t, e)
				if len(got) == 0 {
					t.Fatal("nothing is offered")
				}
				if i == 0 {
					want = got
				} else if strings.Join(got, "\n") != strings.Join(want, "\n") {
					t.Errorf("in parts:\n%s\nwhole:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			}
			if c.name == "link" && size[1]*5 > size[0]*2 {
				t.Errorf("%d bytes in parts, %d whole", size[1], size[0])
			}
		})
	}
}

// What stands in front of the cursor is part of the text to compare: a client would
// drop an item that has no quotation mark otherwise.
func TestCompletionsAreComparedWithTheirMarks(t *testing.T) {
	e := start(t, map[string]string{"c.md": "---\ntype: p\n---\nc\n"})
	e.initialize(`{}`)
	text, at := mark(t, "utf-16", "---\ntype: \"p\u2038\n---\nc\n")
	e.open("c.md", text)
	var list offer
	e.ask("textDocument/completion", map[string]any{"textDocument": map[string]any{"uri": e.uri("c.md")}, "position": at}, &list)
	for _, it := range list.Items {
		if !strings.HasPrefix(it.FilterText, `"p`) {
			t.Errorf("%s is compared as %q with what was typed: %q", it.Label, it.FilterText, `"p`)
		}
	}
	if len(list.Items) == 0 {
		t.Error("nothing is offered")
	}
}

func TestCompletionResolveOfWhatIsGone(t *testing.T) {
	e := start(t, map[string]string{"MEMORY.md": "# M\n", "a.md": topicOf("a", "what a is")})
	e.initialize(`{"textDocument":{` + lazyCompletion + `}}`)
	e.open("MEMORY.md", "# M\n")
	var it offered
	e.ask("completionItem/resolve", map[string]any{"label": "b.md", "kind": 17, "data": e.uri("MEMORY.md")}, &it)
	if it.Label != "b.md" || it.Documentation != nil {
		t.Errorf("a topic that is none: %+v", it)
	}
	e.ask("completionItem/resolve", map[string]any{"label": "a.md", "kind": 17, "data": "file:///nowhere/MEMORY.md"}, &it)
	if it.Label != "a.md" || it.Documentation != nil {
		t.Errorf("a file that is not open: %+v", it)
	}
	if m := e.answer(e.post("completionItem/resolve", map[string]any{"label": "a.md", "kind": 17, "data": map[string]any{"x": 1}})); m.Error == nil {
		t.Error("data of somebody else is taken")
	}
}

func topicOf(name, description string) string {
	return fmt.Sprintf("---\nname: %s\ndescription: %s\ntype: project\n---\n\n# %s\n", name, description, name)
}
