package stage

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mem/core/memfile"
	"mem/core/memory"
)

// TestApplyingGivesTheStage: whatever is done to a stage, its result applied to the
// memory gives what stands in the stage, but for stamps, entries and what was refused;
// and what others wrote to other parts meanwhile stays.
func TestApplyingGivesTheStage(t *testing.T) {
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		sub := filepath.Join(t.TempDir(), fmt.Sprint(n))
		dir := filepath.Join(sub, "memory")
		files := map[string]string{}
		index := "# Memory\n\n"
		for i := range rapid.IntRange(0, 5).Draw(rt, "topics") {
			name := fmt.Sprintf("t%d", i)
			p := name + ".md"
			if i%3 == 2 {
				p = "sub/" + p
			}
			files[p] = topic(name, fmt.Sprintf("Body of %s, with some text.\n\n## A\n\na of %d\n\n## B\n\nb of %d", name, i, i))
			index += fmt.Sprintf("- [%s](%s) — about %s\n", name, p, name)
		}
		files["MEMORY.md"] = index
		for p, s := range files {
			write(t, filepath.Join(dir, p), s)
		}
		w := newWorld(t, nil)
		opt := memory.Options{MemoryDir: dir, Env: w.m.Env()}
		opt.Env.StateDir = filepath.Join(sub, "state")
		m, err := memory.Open(opt)
		if err != nil {
			rt.Fatal(err)
		}
		defer m.Close()
		s, err := Make(t.Context(), m, Options{})
		if err != nil {
			rt.Fatal(err)
		}
		defer s.Close()

		paths := slices.Sorted(maps.Keys(files))
		paths = slices.DeleteFunc(paths, func(p string) bool { return p == "MEMORY.md" })
		touched := map[string]bool{}
		for i := range rapid.IntRange(0, 6).Draw(rt, "steps") {
			op := rapid.SampledFrom([]string{"create", "edit", "delete", "move", "index"}).Draw(rt, "op")
			target := ""
			if len(paths) > 0 {
				target = rapid.SampledFrom(paths).Draw(rt, "target")
			}
			file := filepath.Join(s.Dir(), target)
			_, gone := os.Lstat(file)
			switch {
			case op == "create":
				write(t, filepath.Join(s.Dir(), fmt.Sprintf("n%d.md", i)), topic(fmt.Sprintf("n%d", i), fmt.Sprintf("A new body, number %d.", i)))
			case op == "index":
				at := filepath.Join(s.Dir(), "MEMORY.md")
				b, _ := os.ReadFile(at)
				write(t, at, string(b)+fmt.Sprintf("\nA remark, number %d.\n", i))
			case target == "" || gone != nil:
			case op == "edit":
				b, _ := os.ReadFile(file)
				write(t, file, strings.Replace(string(b), "\nb of", fmt.Sprintf("\nedit %d of", i), 1))
				touched[target] = true
			case op == "delete":
				rm(t, file)
				touched[target] = true
			case op == "move":
				if err := os.Rename(file, filepath.Join(s.Dir(), fmt.Sprintf("m%d.md", i))); err != nil {
					rt.Fatal(err)
				}
				touched[target] = true
			}
		}
		r, err := s.Result(t.Context())
		if err != nil {
			rt.Fatal(err)
		}
		if len(r.Refused) > 0 {
			rt.Fatalf("refused: %v", r.Refused)
		}
		// Somebody else writes at the same time: a topic that the agent let alone, and an entry.
		outside := rapid.Bool().Draw(rt, "outside")
		theirs := ""
		if outside {
			write(t, filepath.Join(dir, "MEMORY.md"), index+"- [theirs](theirs.md) — by a person\n")
			for _, p := range paths {
				if !touched[p] {
					theirs = p
					write(t, filepath.Join(dir, p), strings.Replace(files[p], "\na of", "\ntheirs of", 1))
					break
				}
			}
		}
		if _, err := m.Apply(t.Context(), r.Change); err != nil {
			rt.Fatalf("%v: %v", kinds(r), err)
		}
		want, got := filesOf(t, s.Dir()), filesOf(t, dir)
		for p, text := range want {
			if p == "MEMORY.md" {
				continue
			}
			if p == theirs {
				text = strings.Replace(text, "\na of", "\ntheirs of", 1)
			}
			if memfile.Parse(got[p]).BodyText() != memfile.Parse(text).BodyText() {
				rt.Fatalf("%s is %q, staged is %q", p, got[p], text)
			}
		}
		for p := range got {
			if _, ok := want[p]; !ok && p != "MEMORY.md" {
				rt.Fatalf("%s is there, and not in the stage", p)
			}
		}
		x := memfile.ParseIndex(got["MEMORY.md"])
		for p := range want {
			if p != "MEMORY.md" && x.Entry(p) == nil {
				rt.Fatalf("%s has no entry:\n%s", p, got["MEMORY.md"])
			}
		}
		for _, e := range x.Entries {
			if _, ok := got[e.Target]; !ok && e.Target != "theirs.md" {
				rt.Fatalf("the entry of %s leads nowhere:\n%s", e.Target, got["MEMORY.md"])
			}
		}
		if outside && x.Entry("theirs.md") == nil {
			rt.Fatalf("an entry of somebody else is lost:\n%s", got["MEMORY.md"])
		}
		for l := range strings.Lines(want["MEMORY.md"]) {
			if strings.HasPrefix(l, "A remark") && !strings.Contains(got["MEMORY.md"], strings.TrimSpace(l)) {
				rt.Fatalf("the index lacks %q:\n%s", l, got["MEMORY.md"])
			}
		}
	})
}
