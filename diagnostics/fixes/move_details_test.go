package fixes

import (
	"context"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/text"
	"mem/diagnostics"
)

// moved makes move-details for the entry on the first line of an index.
func moved(t *testing.T, files map[string]string) (map[string]string, error) {
	t.Helper()
	fsys := fstest.MapFS{}
	for p, s := range files {
		fsys[p] = &fstest.MapFile{Data: []byte(s), Mode: 0o644}
	}
	v, err := memdir.Read(context.Background(), fsys, nil, memdir.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	s := diagnostics.NewSnapshot(v, nil, nil, memdir.Stamp{Origin: "a-session"}, nil)
	c, err := moveDetails().Make(context.Background(), s, diagnostics.Finding{Path: memfile.IndexName, Span: text.Span{Start: 1, End: 1}, Text: v.Index.Text()}, "")
	if err != nil {
		return nil, err
	}
	after, err := c.Apply(files)
	if err != nil {
		t.Fatal(err)
	}
	return after, nil
}

const longWords = "Say this first of all. Then say all of the rest, of which there is so much that no line of an index would hold it, let alone one that is read at a glance by an agent."

func TestMoveDetailsRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"unclosed frontmatter":     {map[string]string{"MEMORY.md": "- [A](a.md) — " + longWords + "\n", "a.md": "---\nname: a\n\nText.\n"}, "close it first"},
		"unclosed code":            {map[string]string{"MEMORY.md": "- [A](a.md) — " + longWords + "\n", "a.md": "Text.\n\n```\ncode\n"}, "never closed"},
		"another memory directory": {map[string]string{"MEMORY.md": "- [A](sub/a.md) — " + longWords + "\n", "sub/MEMORY.md": "- [A](a.md)\n", "sub/a.md": "Text.\n"}, "memory directory of its own"},
		"no topic":                 {map[string]string{"MEMORY.md": "- [A](README.md) — " + longWords + "\n"}, "no entry of a topic"},
		"not UTF-8":                {map[string]string{"MEMORY.md": "- [A](a.md) — \xff " + longWords + "\n"}, "not valid UTF-8"},
		"gone":                     {map[string]string{"MEMORY.md": "Text.\n"}, "no entry of a topic"},
	} {
		if _, err := moved(t, c.files); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", name, err, c.want)
		}
	}
}

// TestWithDetails: where details go in topics of every shape; all else stays byte
// for byte.
func TestWithDetails(t *testing.T) {
	const head = "---\nname: a\n---\n"
	for _, c := range []struct{ name, src, want string }{
		{"empty", "", "## Details from the index\n\nMore.\n"},
		{"only a byte order mark", text.BOM, text.BOM + "## Details from the index\n\nMore."},
		{"no newline at the end", "Text.", "Text.\n\n## Details from the index\n\nMore."},
		{"blank lines at the end", "Text.\n\n\n", "Text.\n\n## Details from the index\n\nMore.\n\n\n"},
		{"only frontmatter", head, head + "\n## Details from the index\n\nMore.\n"},
		{"only frontmatter, without a newline", "---\nname: a\n---", "---\nname: a\n---\n\n## Details from the index\n\nMore."},
		{"CRLF", "Text.\r\n", "Text.\r\n\r\n## Details from the index\r\n\r\nMore.\r\n"},
		{"heading with text", "# T\n\n## Details from the index\n\nOld.\n", "# T\n\n## Details from the index\n\nOld.\n\nMore.\n"},
		{"heading without text", "## Details from the index\n", "## Details from the index\n\nMore.\n"},
		{"another section behind", "## Details from the index\n\nOld.\n### Sub\n\nx\n## Next\n", "## Details from the index\n\nOld.\n### Sub\n\nx\n\nMore.\n\n## Next\n"},
		{"said already", "Text. And\n  More.\n", "Text. And\n  More.\n"},
		{"said in the description", "---\ndescription: x, and More.\n---\n", "---\ndescription: x, and More.\n---\n"},
		{"in another word", "NoMore.\n", "NoMore.\n\n## Details from the index\n\nMore.\n"},
		{"heading in code", "```\n## Details from the index\n```\n", "```\n## Details from the index\n```\n\n## Details from the index\n\nMore.\n"},
	} {
		got, err := withDetails(c.src, []string{"More."})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, d)
		}
		if again, err := withDetails(got, []string{"More."}); err != nil || again != got {
			t.Errorf("%s, again: %q, %v", c.name, again, err)
		}
	}
}

// TestDetailsOfOneTopic: two changes that each add the heading for details do not
// go together, so that it is added once.
func TestDetailsOfOneTopic(t *testing.T) {
	for _, src := range []string{"Text.\n", "Text.\r\n", "Text", "Text 👩‍👧"} {
		after, err := withDetails(src, []string{"More."})
		if err != nil {
			t.Fatal(err)
		}
		edits := claimed(src, text.Diff(src, after))
		if len(edits) != 1 || edits[0].Len() == 0 {
			t.Errorf("%q: %+v", src, edits)
		}
		if got, ok := text.Apply(src, edits); !ok || got != after {
			t.Errorf("%q: %q", src, got)
		}
	}
}

func TestMoveDetailsTwice(t *testing.T) {
	files := map[string]string{"MEMORY.md": "- [A](a.md) — " + longWords + "\n", "a.md": ""}
	once, err := moved(t, files)
	if err != nil {
		t.Fatal(err)
	}
	once["MEMORY.md"] = files["MEMORY.md"] // somebody writes it again
	twice, err := moved(t, once)
	if err != nil {
		t.Fatal(err)
	}
	if twice["a.md"] != once["a.md"] || twice["MEMORY.md"] != "- [A](a.md) — Say this first of all.\n" {
		t.Errorf("%q", twice)
	}
}
