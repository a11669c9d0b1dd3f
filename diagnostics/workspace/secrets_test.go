package workspace_test

import (
	"strings"
	"testing"

	"mem/core/change"
	"mem/core/guard"
	"mem/core/text"
	"mem/diagnostics/workspace"
)

// token looks like a credential; it is put together here so that no scanner of
// sources stumbles over it.
var token = "ghp_" + "1B4nK7qXw9RtYp2LmZc8" + "VdHs5JfGa3TeUoQi"

// A change may leave a secret where it stands. It may not write one anew, a moved
// one included, unless the user allows it.
func TestNoNewSecrets(t *testing.T) {
	line := "The token is " + token + "\n"
	edit := func(path, base string, edits ...text.Edit) change.File {
		return change.File{Path: path, Kind: change.Edit, Base: base, Edits: edits}
	}
	insert := func(at int, s string) text.Edit { return text.Edit{Span: text.Span{Start: at, End: at}, New: s} }
	kept := edit("a.md", line, insert(0, "Note: "))
	removed := edit("a.md", line, text.Edit{Span: text.Span{End: len(line)}})
	added := edit("b.md", "text\n", insert(5, line))
	created := change.File{Path: "c.md", Kind: change.Create, New: line}
	unseen := strings.Repeat("a\u200bb ", 3000)
	named := change.File{Path: token + ".md", Kind: change.Create, New: "text\n"}
	for _, c := range []struct {
		name  string
		files []change.File
		ok    bool
	}{
		{"kept where it stands", []change.File{kept}, true},
		{"removed", []change.File{removed}, true},
		{"twice in one file", []change.File{edit("a.md", line, insert(len(line), line))}, true},
		{"added", []change.File{added}, false},
		{"moved into another file", []change.File{removed, added}, false},
		{"moved into a new file", []change.File{removed, created}, false},
		{"one of many characters that do not show is removed", []change.File{edit("a.md", unseen, text.Edit{Span: text.Span{Start: 1, End: 4}})}, true},
		{"a secret among many characters that do not show", []change.File{edit("a.md", unseen, insert(0, line+unseen))}, false},
		{"in a name", []change.File{named}, false},
	} {
		err := workspace.NoNewSecrets(nil)(change.Change{Files: c.files})
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
		if err != nil && strings.Contains(err.Error(), token) {
			t.Errorf("%s: the secret is in the error: %v", c.name, err)
		}
	}
	s, err := guard.New(guard.Options{})
	if err != nil {
		t.Fatal(err)
	}
	allow := []string{s.Scan([]byte(line))[0].Fingerprint}
	if err := workspace.NoNewSecrets(allow)(change.Change{Files: []change.File{created}}); err != nil {
		t.Errorf("an allowed one: %v", err)
	}
	if workspace.NoNewSecrets([]string{"no fingerprint"})(change.Change{Files: []change.File{created}}) == nil {
		t.Error("a bad guard.allow goes unnoticed")
	}
}
