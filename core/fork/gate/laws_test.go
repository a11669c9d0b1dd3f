package gate

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestRandomPaths: whatever a path is made of, no tool gives what lies outside, and
// nothing outside changes.
func TestRandomPaths(t *testing.T) {
	s := newScene(t)
	s.prepare()
	before := s.outsideState()
	worked, not := 0, 0
	pieces := []string{
		"..", ".", "/", "//", "memory", "MEMORY.md", "out.md", "outdir", "notes.md", "inside.md", "logs", "2026", "transcripts", "project", "private.jsonl",
		".hidden", "x.md", ".consolidate-lock", "secret.md", "home", ".ssh", "id_rsa", "~", "~root", "%2e%2e", "%2f", `\`, `..\`, "C:", `C:\Users\Someone\memory`,
		"\x00", "\u202e", "∕", "．．", " ", "*", "**", "?", "[a-z]", "{a,b}", "$HOME", "proc", "environ", "stage", "main.go", ".env",
		filepath.ToSlash(s.root), filepath.ToSlash(s.memory), filepath.ToSlash(s.outside), "/home/someone/p", "/etc/passwd",
	}
	part := rapid.SampledFrom(pieces)
	path := rapid.Custom(func(t *rapid.T) string {
		sep := rapid.SampledFrom([]string{"/", "/", "/", "", `\`}).Draw(t, "sep")
		return rapid.SampledFrom([]string{"", "/", "/memory/"}).Draw(t, "root") + strings.Join(rapid.SliceOfN(part, 1, 7).Draw(t, "parts"), sep)
	})
	rapid.Check(t, func(rt *rapid.T) {
		p := path.Draw(rt, "path")
		q := strings.NewReplacer("\x00", "", "'", "").Replace(p)
		calls := [][]any{
			{"Read", "file_path", p}, {"Grep", "pattern", ".", "path", p, "output_mode", "content"}, {"Glob", "pattern", p}, {"Glob", "pattern", "**", "path", p},
			{"Write", "file_path", p, "content", "written\n"}, {"Edit", "file_path", p, "old_string", "CANARY", "new_string", "x"},
			{"Bash", "command", "cat '" + q + "'"}, {"Bash", "command", "cat " + q}, {"Bash", "command", "cd " + q + "; ls -laR; grep -r . ."}, {"Bash", "command", "cat < '" + q + "'"},
		}
		for _, c := range calls {
			got := s.call(c[0].(string), c[1:]...)
			if strings.Contains(got.Text+got.Refused, canary) {
				rt.Fatalf("%q reads what it may not:\n%s", c, got.Text)
			}
			if strings.Contains(got.Text, "fault") {
				rt.Fatalf("%q: %s", c, got.Text)
			}
			if got.Refused == "" && !got.Failed {
				worked++
			} else {
				not++
			}
		}
	})
	if after := s.outsideState(); after != before {
		t.Errorf("something outside has changed:\n%s\n---\n%s", before, after)
	}
	if t.Logf("%d calls worked, %d did not", worked, not); worked < 20 || not < 20 {
		t.Error("one kind of paths is hardly tested")
	}
}

// TestRedacted: secrets are gone before anything is made of a file.
func TestRedacted(t *testing.T) {
	s := newScene(t)
	secret := "ghp_" + strings.Repeat("a1B2c3D4e", 4)
	s.put("stage/memory/keys.md", "before\ntoken = "+secret+"\nafter\n")
	tail := secret[20:]
	for _, c := range [][]any{
		{"Read", "file_path", "keys.md"}, {"Grep", "pattern", "token", "output_mode", "content"}, {"Grep", "pattern", tail, "output_mode", "content"},
		{"Bash", "command", "cat keys.md"}, {"Bash", "command", "cut -c 20- keys.md"}, {"Bash", "command", "tail -c 30 keys.md"}, {"Bash", "command", "grep -o '" + tail[:8] + ".*' keys.md"},
		{"Bash", "command", "x=$(<keys.md); echo ${x:25:20}"}, {"Bash", "command", "tr -d '\\n' < keys.md"},
	} {
		got := s.call(c[0].(string), c[1:]...).Text
		if strings.Contains(got, tail[:8]) {
			t.Errorf("%v gives a secret:\n%s", c, got)
		}
	}
	s.want(s.ok("Read", "file_path", "keys.md"), "[redacted", "after")
	s.want(s.call("Edit", "file_path", "keys.md", "old_string", "[redacted github-pat]", "new_string", "x").Text, "a secret in it was shown to you")
	s.want(s.ok("Edit", "file_path", "keys.md", "old_string", "after", "new_string", "later"), "Changed")
	if got := s.text("stage/memory/keys.md"); got != "before\ntoken = "+secret+"\nlater\n" {
		t.Errorf("Edit wrote %q", got)
	}
	c := s.call("Write", "file_path", "new.md", "content", "key: "+secret+"\n")
	s.want(c.Refused, "line 1 holds what looks like a secret")
	if _, err := os.Lstat(filepath.Join(s.memory, "new.md")); err == nil {
		t.Error("the secret was written")
	}
}

// TestBounds: what one call gives is bounded, and says what it left out.
func TestBounds(t *testing.T) {
	s := newScene(t)
	s.put("stage/memory/long.md", strings.Repeat("a line of some length\n", 20000))
	s.put("stage/memory/wide.md", strings.Repeat("w", 1<<20)+"needle\n")
	s.put("stage/memory/bad.md", "a\xffb\r\nc\r\n")
	s.want(s.ok("Read", "file_path", "long.md"), "(lines 1 to 2000 of 20000; go on with offset 2001)")
	s.want(s.ok("Read", "file_path", "wide.md"), "more bytes in this line)")
	s.want(s.ok("Read", "file_path", "bad.md"), "     1\ta\ufffdb\n     2\tc\n")
	s.want(s.call("Read", "file_path", "bad.md", "offset", 3).Text, "has 2 lines")
	s.want(s.ok("Read", "file_path", "bad.md", "offset", "2"), "     2\tc\n")
	s.want(s.ok("Grep", "pattern", "line", "output_mode", "content"), "stopped at 64 KB of output")
	s.want(s.ok("Grep", "pattern", "needle", "path", "wide.md"), "of long lines the first 256 KB were searched")
	s.want(s.ok("Grep", "pattern", "line", "output_mode", "content", "head_limit", 3), "stopped at head_limit 3")
	s.want(s.ok("Grep", "pattern", "a\nb|three", "multiline", true, "output_mode", "count"), "/memory/logs/2026/11/a.md:1")
	s.want(s.call("Bash", "command", "cat long.md").Text, "the output was cut at 65536 bytes")
	s.want(s.call("Bash", "command", "for ((;;)); do x=1; done", "timeout", 100).Text, "stopped after 100ms")
	for i := range maxFound + 5 {
		if i == 0 {
			s.put("stage/memory/many/0000.md", "")
			continue
		}
		if err := os.WriteFile(filepath.Join(s.memory, "many", fmt.Sprintf("%04d.md", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.want(s.ok("Glob", "pattern", "many/*"), "(5 more; use a narrower pattern)")
	for _, c := range [][]any{{"Read", "file_path", "long.md"}, {"Grep", "pattern", "."}, {"Bash", "command", "cat long.md wide.md"}} {
		if got := s.call(c[0].(string), c[1:]...); len(got.Text) > maxGiven+2000 {
			t.Errorf("%v gives %d bytes", c, len(got.Text))
		}
	}
	_ = s.ok("Read", "file_path", "bad.md")
	s.want(s.ok("Edit", "file_path", "bad.md", "old_string", "c\n", "new_string", "d\ne\n"), "Changed")
	if got := s.text("stage/memory/bad.md"); got != "a\xffb\r\nd\r\ne\r\n" {
		t.Errorf("line ends: %q", got)
	}
}

// TestTogether: calls may come at the same time, and scripts wait for each other.
func TestTogether(t *testing.T) {
	s := newScene(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for _, c := range []struct{ tool, in string }{
				{"Read", `{"file_path":"tests.md"}`}, {"Bash", `{"command":"cat tests.md | wc -l"}`}, {"Grep", `{"pattern":"make"}`},
				{"Write", fmt.Sprintf(`{"file_path":"n%d.md","content":"x"}`, i)},
			} {
				if got := s.gate.Call(context.Background(), c.tool, json.RawMessage(c.in)); got.Failed || got.Refused != "" {
					t.Errorf("%s: %+v", c.tool, got)
				}
			}
		})
	}
	wg.Wait()
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(50*time.Millisecond, cancel)
	start := time.Now()
	got := s.gate.Call(ctx, "Bash", json.RawMessage(`{"command":"for ((;;)); do x=1; done"}`))
	if !got.Failed || time.Since(start) > time.Second {
		t.Errorf("a cancelled call gives %+v after %v", got, time.Since(start))
	}
	if got := s.gate.Call(ctx, "Read", json.RawMessage(`{"file_path":"tests.md"}`)); !got.Failed {
		t.Errorf("a call after the end gives %+v", got)
	}
}

func TestSchemas(t *testing.T) {
	s := newScene(t)
	for _, tool := range s.gate.Tools() {
		var schema struct {
			Type       string
			Properties map[string]struct{ Type, Description string }
			Required   []string
		}
		if err := json.Unmarshal(tool.Schema, &schema); err != nil || schema.Type != "object" || len(schema.Required) == 0 || tool.Description == "" {
			t.Errorf("%s: %v %+v", tool.Name, err, schema)
		}
		for name, p := range schema.Properties {
			if p.Type == "" || p.Description == "" {
				t.Errorf("%s.%s says nothing", tool.Name, name)
			}
		}
	}
	for _, in := range []string{``, `null`, `[]`, `"x"`, `{`, `{"file_path":null}`, `{"file_path":"a","offset":-1}`, `{"file_path":"a","offset":1e99}`, `{"file_path":"a","offset":1.5}`} {
		if got := s.gate.Call(context.Background(), "Read", json.RawMessage(in)); !got.Failed {
			t.Errorf("%s gives %+v", in, got)
		}
	}
}

func TestMountInsideMount(t *testing.T) {
	s := newScene(t)
	dir := filepath.Join(s.root, "project", "docs", "memory")
	s.put("project/docs/memory/MEMORY.md", "real\n")
	g, err := New(Options{Mounts: []Mount{
		{Name: "memory", Dir: s.memory, Aliases: []string{dir}, Write: mayWrite}, {Name: "project", Dir: filepath.Join(s.root, "project")},
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	got := g.Call(context.Background(), "Read", json.RawMessage(`{"file_path":"/project/docs/memory/MEMORY.md"}`))
	s.want(got.Text, "# Memory")
	for _, bad := range [][]Mount{nil, {{Name: "", Dir: s.memory}}, {{Name: "a/b", Dir: s.memory}}, {{Name: "a", Dir: s.memory}, {Name: "a", Dir: s.memory}}, {{Name: "a", Dir: filepath.Join(s.root, "nothing")}}} {
		if g, err := New(Options{Mounts: bad}); err == nil {
			g.Close()
			t.Errorf("%+v is a gate", bad)
		}
	}
}

// manyTopics is a gate on 200 topics of 2 KB, as benchmarks elsewhere have them.
func manyTopics(b *testing.B) *scene {
	s := newScene(b)
	for i := range 200 {
		s.put(fmt.Sprintf("stage/memory/topic-%03d.md", i), fmt.Sprintf("---\nname: Topic %d\n---\n", i)+strings.Repeat("Run the linter before committing; the tests need a database.\n", 32))
	}
	return s
}

func benchmark(b *testing.B, tool, in string) {
	s := manyTopics(b)
	for b.Loop() {
		if c := s.gate.Call(context.Background(), tool, json.RawMessage(in)); c.Failed || c.Refused != "" {
			b.Fatal(c)
		}
	}
}

func BenchmarkRead(b *testing.B) { benchmark(b, "Read", `{"file_path":"/memory/topic-100.md"}`) }
func BenchmarkGrep(b *testing.B) { benchmark(b, "Grep", `{"pattern":"Topic 1[0-9]+$"}`) }
func BenchmarkGlob(b *testing.B) { benchmark(b, "Glob", `{"pattern":"**/*.md"}`) }
func BenchmarkBash(b *testing.B) {
	benchmark(b, "Bash", `{"command":"grep -rl linter /memory | sort | head -5"}`)
}
