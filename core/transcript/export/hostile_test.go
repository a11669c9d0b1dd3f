package export

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"mem/core/transcript"
	"pgregory.net/rapid"
)

var (
	tag   = regexp.MustCompile(`^<(/?)([a-z][a-z0-9]*)((?: [a-z-]+(?:="[^"<]*")?)*)>`)
	attr  = regexp.MustCompile(` ([a-z-]+)(?:="([^"]*)")?`)
	image = regexp.MustCompile(`^data:image/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]*$`)
	class = regexp.MustCompile(`^(user|client|assistant|summary|failure|contents|gap|tool|tool failed|thinking|agent|id|said (user|client|assistant|summary|failure))$`)
)

// unsafe says what in a page is not as we write it: a tag that is not ours, an
// attribute that could load or run something, elements that do not nest.
func unsafe(page string) string {
	rest, ok := strings.CutPrefix(page, "<!DOCTYPE html>\n")
	if !ok {
		return "no doctype"
	}
	var stack []string
	for {
		i := strings.IndexByte(rest, '<')
		if i < 0 {
			break
		}
		if strings.IndexByte(rest[:i], '>') >= 0 {
			return "a stray > in " + rest[:i]
		}
		rest = rest[i:]
		m := tag.FindStringSubmatch(rest)
		if m == nil {
			return "no tag of ours: " + rest[:min(len(rest), 80)]
		}
		rest = rest[len(m[0]):]
		name := m[2]
		switch name {
		case "html", "head", "body", "title", "header", "main", "footer", "section", "nav", "h1", "h2", "h3", "dl", "dt", "dd", "div", "p", "pre",
			"code", "details", "summary", "ul", "ol", "li", "a", "time", "span":
		case "style":
			if m[1] == "" && !strings.HasPrefix(rest, style+"</style>") {
				return "another style sheet"
			}
			rest = strings.TrimPrefix(rest, style)
		case "meta", "img":
		default:
			return "an element " + name
		}
		for _, a := range attr.FindAllStringSubmatch(m[3], -1) {
			fine := false
			switch a[1] {
			case "class":
				fine = class.MatchString(a[2])
			case "href":
				fine = strings.HasPrefix(a[2], "#")
			case "src":
				fine = name == "img" && image.MatchString(a[2])
			case "id", "datetime", "lang", "value", "alt", "aria-label", "role":
				fine = true
			case "charset", "content", "name", "http-equiv":
				fine = name == "meta"
			}
			if !fine {
				return "an attribute " + a[0]
			}
		}
		switch {
		case name == "meta" || name == "img":
		case m[1] == "":
			stack = append(stack, name)
		default:
			if len(stack) == 0 || stack[len(stack)-1] != name {
				return fmt.Sprintf("</%s> in %v", name, stack)
			}
			stack = stack[:len(stack)-1]
		}
	}
	if len(stack) > 0 {
		return fmt.Sprintf("%v is not closed", stack)
	}
	return ""
}

var hostile = []string{
	"<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "</pre></details></main><h1>x", "javascript:alert(1)", "<!--", "-->", "]]>", "&lt;b&gt;",
	"```\n</p>\n```", "````", "\x00\x1b[2J\u202e", "<style>*{}</style>", "'\" onload='x", "\n\n# head\n", "![x](http://example.com/x.png)", "記憶 🌱", token, "",
	strings.Repeat("long ", 300),
}

func TestHostile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := func() string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(hostile), 0, 4).Draw(t, "text"), rapid.SampledFrom([]string{"", "\n", " "}).Draw(t, "between"))
		}
		var rows []object
		for range rapid.IntRange(0, 12).Draw(t, "rows") {
			switch rapid.IntRange(0, 7).Draw(t, "row") {
			case 0:
				rows = append(rows, asked(text()))
			case 1:
				rows = append(rows, asked([]any{object{"type": "image", "source": object{"type": "base64", "media_type": rapid.SampledFrom([]string{"image/png", "image/svg+xml", text()}).Draw(t, "media"),
					"data": rapid.SampledFrom([]string{"aGVsbG8=", "\" onerror=\"x", text()}).Draw(t, "data")}}}))
			case 2:
				rows = append(rows, answer("m1", object{"type": "text", "text": text()}, object{"type": "thinking", "thinking": text()}))
			case 3:
				rows = append(rows, answer(text(), object{"type": "tool_use", "id": "t1", "name": text(), "input": object{"command": text(), text(): []any{text()}}}))
			case 4:
				rows = append(rows, asked([]any{object{"type": "tool_result", "tool_use_id": "t1", "content": []any{object{"type": "text", "text": text()}, object{"type": text(), "x": text()}}}}))
			case 5:
				rows = append(rows, object{"type": "attachment", "attachment": object{"type": text()}, "rendered": []any{object{"content": text()}}})
			case 6:
				rows = append(rows, object{"type": "custom-title", "uuid": nil, "customTitle": text()}, object{"type": "system", "subtype": text(), "content": text()})
			case 7:
				r := asked(text())
				r["cwd"], r["gitBranch"], r["sessionId"], r["version"], r["timestamp"] = text(), text(), text(), text(), text()
				rows = append(rows, r)
			}
		}
		data := session(rows...)
		sub := Subagent{ID: text(), Title: text(), Open: func(context.Context) (Source, func() error, error) {
			if len(rows)%2 == 0 {
				return Source{}, nil, errors.New(text())
			}
			return open(t, data), nil, nil
		}}
		o := Options{Attachments: rapid.Bool().Draw(t, "attachments"), Subagents: []Subagent{sub}}
		var h, m bytes.Buffer
		if _, err := HTML(context.Background(), &h, open(t, data), o); err != nil {
			t.Fatal(err)
		}
		if why := unsafe(h.String()); why != "" {
			t.Fatalf("%s\n%s", why, h.String())
		}
		if _, err := Markdown(context.Background(), &m, open(t, data), o); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(h.String(), token) || strings.Contains(m.String(), token) {
			t.Fatal("a secret shows")
		}
		for _, raw := range []string{"\x1b", "\u202e", "\x00"} {
			if strings.Contains(h.String(), raw) || strings.Contains(m.String(), raw) {
				t.Fatalf("%q shows", raw)
			}
		}
		if why := outsideFences(m.String()); why != "" {
			t.Fatalf("outside of a fence: %s\n%s", why, m.String())
		}
	})
}

var ours = regexp.MustCompile(`^(|#{1,2} .*|- .*|\*\*[A-Za-z, ]+\*\*.*|</?details>|<summary>.*</summary>|---|The record of line .* cannot be read\.|\(an image, image/[a-z]+, .*\)|The conversation .*)$`)

// outsideFences says which line outside of fences is not one of ours, or holds a
// tag that is not.
func outsideFences(md string) string {
	fence := ""
	for _, line := range strings.Split(md, "\n") {
		switch {
		case fence != "":
			if strings.TrimRight(line, "`") == "" && len(line) >= len(fence) {
				fence = ""
			}
		case strings.HasPrefix(line, "```"):
			fence = strings.TrimSuffix(line, "text")
		case !ours.MatchString(line):
			return line
		case strings.HasPrefix(line, "<summary>"):
			in := strings.NewReplacer("<code>", "", "</code>", "").Replace(line[len("<summary>") : len(line)-len("</summary>")])
			if strings.ContainsAny(in, "<>") {
				return line
			}
		}
	}
	if fence != "" {
		return "a fence is not closed"
	}
	return ""
}

func FuzzHTML(f *testing.F) {
	for _, s := range hostile {
		f.Add(session(asked(s), answer("m1", object{"type": "tool_use", "id": "t1", "name": s, "input": object{s: s}})))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		tr, err := transcript.Read(context.Background(), bytes.NewReader(data), int64(len(data)), transcript.Options{MaxRecord: 1 << 20})
		if tr == nil {
			t.Fatal(err)
		}
		s := Source{Src: bytes.NewReader(data), Transcript: tr}
		var h, m bytes.Buffer
		if _, err := HTML(context.Background(), &h, s, Options{Attachments: true}); err != nil {
			t.Fatal(err)
		}
		if why := unsafe(h.String()); why != "" {
			t.Fatal(why)
		}
		if _, err := Markdown(context.Background(), &m, s, Options{Attachments: true}); err != nil {
			t.Fatal(err)
		}
		if why := outsideFences(m.String()); why != "" {
			t.Fatalf("outside of a fence: %s", why)
		}
	})
}
