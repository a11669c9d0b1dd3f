package memfile

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mem/core/text"
)

func replaceBody(t testing.TB, src, body string) string {
	t.Helper()
	out, ok := text.Apply(src, Parse(src).ReplaceBody(body))
	if !ok {
		t.Fatalf("the edits of %q overlap", src)
	}
	return out
}

func TestReplaceBody(t *testing.T) {
	const head = "---\nname: a\n---\n"
	for _, c := range []struct{ name, src, body, want string }{
		{"keeps one blank line", head + "\nold\n", "new", head + "\nnew\n"},
		{"keeps none", head + "old\n", "new", head + "new\n"},
		{"keeps three", head + "\n\n\nold\n", "new\n\n", head + "\n\n\nnew\n"},
		{"keeps a missing final newline", head + "\nold", "new\n", head + "\nnew"},
		{"keeps blank lines at the end", head + "\nold\n\n", "new", head + "\nnew\n\n"},
		{"CRLF", "---\r\nname: a\r\n---\r\n\r\nold\r\n", "a\nb\n", "---\r\nname: a\r\n---\r\n\r\na\r\nb\r\n"},
		{"CRLF given to an LF file", head + "\nold\n", "a\r\nb", head + "\na\nb\n"},
		{"indent of the first line stays", head + "\nold\n", "\n    code\n", head + "\n    code\n"},
		{"no body yet", head, "new", head + "\nnew\n"},
		{"no body but blank lines", head + "\n\n", "new", head + "\nnew\n"},
		{"no body, no newline behind the fence", "---\nname: a\n---", "new", "---\nname: a\n---\n\nnew\n"},
		{"no frontmatter", "old\n", "new", "new\n"},
		{"BOM, no frontmatter", bom + "old", "new", bom + "new"},
		{"empty file", "", "new", "new\n"},
		{"only spaces", "   ", "new", "new\n"},
		{"emptied", head + "\nold\n", "", head + "\n\n"},
		{"empty stays empty", head, "\n", head},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := replaceBody(t, c.src, c.body); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestReplaceBodyRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom(shapes).Draw(t, "shape")
		body := rapid.StringOf(rapid.SampledFrom([]rune("ab #-\n中👍"))).Draw(t, "body")
		f := Parse(c.src)
		out, ok := text.Apply(c.src, f.ReplaceBody(body))
		if !ok {
			t.Fatal("edits overlap")
		}
		if f.Front == nil {
			return // a body may look like frontmatter
		}
		g := Parse(out)
		if want := c.src[:f.Body.Start]; !strings.HasPrefix(out, want) {
			t.Fatalf("the frontmatter changed: %q", out)
		}
		if !f.Front.Closed {
			return
		}
		got := strings.Trim(text.WithEOL(g.BodyText(), "\n"), "\n")
		if want := strings.Trim(body, "\n"); strings.TrimRight(got, " \n") != strings.TrimRight(want, " \n") {
			t.Fatalf("the body is %q, want %q", got, want)
		}
		// The same body again changes nothing.
		if again := g.ReplaceBody(g.BodyText()); len(again) > 0 {
			t.Fatalf("replacing by the same gives %v", again)
		}
	})
}

func TestNew(t *testing.T) {
	m := Meta{Name: "a", Description: "has: colon", Type: "user", OriginSessionID: "1699bcea-277c-4ce7-9b12-5399f46852df", Modified: "2026-11-30T11:42:25.169Z"}
	for _, c := range []struct {
		form Form
		body string
		want string
	}{
		{FormFlat, "\nbody \n\n", "---\nname: a\ndescription: \"has: colon\"\ntype: user\noriginSessionId: 1699bcea-277c-4ce7-9b12-5399f46852df\nmodified: 2026-11-30T11:42:25.169Z\n---\n\nbody\n"},
		{FormNone, "a\r\nb", "---\nname: a\ndescription: \"has: colon\"\ntype: user\noriginSessionId: 1699bcea-277c-4ce7-9b12-5399f46852df\nmodified: 2026-11-30T11:42:25.169Z\n---\n\na\nb\n"},
		// As the client writes it, byte for byte.
		{FormNested, "body", "---\nname: a\ndescription: \"has: colon\"\nmetadata:\n  node_type: memory\n  type: user\n  originSessionId: 1699bcea-277c-4ce7-9b12-5399f46852df\n  modified: 2026-11-30T11:42:25.169Z\n---\n\nbody\n"},
		{FormNested, "", "---\nname: a\ndescription: \"has: colon\"\nmetadata:\n  node_type: memory\n  type: user\n  originSessionId: 1699bcea-277c-4ce7-9b12-5399f46852df\n  modified: 2026-11-30T11:42:25.169Z\n---\n"},
	} {
		got := New(c.form, m, c.body)
		if got != c.want {
			t.Errorf("%s: got  %q\nwant %q", c.form, got, c.want)
		}
		if f := Parse(got); f.Meta() != m || len(f.Problems) > 0 {
			t.Errorf("%s: read back as %+v %v", c.form, f.Meta(), f.Problems)
		}
	}
	if got := New(FormFlat, Meta{}, ""); got != "---\nname: \"\"\ndescription: \"\"\ntype: \"\"\n---\n" {
		t.Errorf("stub: %q", got)
	}
}

func TestScalar(t *testing.T) {
	for v, want := range map[string]string{
		"plain words": "plain words", "3 ways to deploy": "3 ways to deploy", "a-b_c.d/e": "a-b_c.d/e", "it's": "it's", "a#b": "a#b", "a:b": "a:b",
		"": `""`, "3": `"3"`, "3.14": `"3.14"`, "v1": "v1", "1699bcea": "1699bcea", "2026-01-01": `"2026-01-01"`, "Yes": `"Yes"`, "off": `"off"`,
		"a # b": `"a # b"`, "a: b": `"a: b"`, "say \"x\"": `"say \"x\""`, "a\nb": `"a\nb"`, "中文": "中文", "a\u2028b": `"a\u2028b"`, "\ufffe": `"\ufffe"`,
		"x\x7f": `"x\u007f"`, "<b>": `"<b>"`, "5 > 3": "5 > 3",
	} {
		if got := Scalar(v); got != want {
			t.Errorf("Scalar(%q) = %s, want %s", v, got, want)
		}
	}
}
