package agentmem

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mem/internal/need"
)

// TestIgnoredAsGit: what is taken for ignored is what git says.
func TestIgnoredAsGit(t *testing.T) {
	t.Parallel()
	need.Program(t, "git")
	m := newMember(t, "ann", t.TempDir())
	m.git("init", "-q")
	names := []string{"a", "b", "ab", "x y", "out"}
	rapid.Check(t, func(r *rapid.T) {
		part := rapid.SampledFrom([]string{"a", "b", "ab", "*", "a*", "?", "**", "[ab]", "[!a]", "x y", `x\ y`, "out", "[", `\a`})
		line := rapid.Custom(func(r *rapid.T) string {
			s := strings.Join(rapid.SliceOfN(part, 1, 3).Draw(r, "parts"), "/")
			for _, x := range []struct{ before, behind string }{{"", "/"}, {"/", ""}, {"!", ""}, {"", "  "}, {"#", ""}} {
				if rapid.IntRange(0, 3).Draw(r, "with") == 0 {
					s = x.before + s + x.behind
				}
			}
			return s
		})
		top, below := rapid.SliceOfN(line, 0, 4).Draw(r, "top"), rapid.SliceOfN(line, 0, 3).Draw(r, "in a")
		write(t, m.dir, ".gitignore", strings.Join(top, "\n"))
		write(t, m.dir, "a/.gitignore", strings.Join(below, "\r\n")+"\n")
		var rules [2]*ignoreRules
		rules[0], _ = rules[0].with(filepath.Join(m.dir, ".gitignore"), 0)
		rules[1], _ = rules[0].with(filepath.Join(m.dir, "a", ".gitignore"), 1)
		way := rapid.SliceOfN(rapid.SampledFrom(names), 1, 4).Draw(r, "way")
		got := false
		for i := range way {
			at := rules[0]
			if i > 0 && way[0] == "a" {
				at = rules[1]
			}
			if got = at.ignores(way[:i+1]); got {
				break
			}
		}
		folder := strings.Join(way, "/")
		if err := os.MkdirAll(filepath.Join(m.dir, filepath.FromSlash(folder)), 0o755); err != nil {
			t.Fatal(err)
		}
		out, err := m.tryGit("check-ignore", "-q", "--no-index", folder)
		if strings.TrimSpace(out) != "" {
			t.Fatal(out)
		}
		if want := err == nil; got != want {
			r.Fatalf("%s is ignored: %v, git says %v of\n%q\nand in a:\n%q", folder, got, want, top, below)
		}
	})
}

// TestSlashInAClass: in a class a slash divides nothing, and matches nothing either.
func TestSlashInAClass(t *testing.T) {
	for line, want := range map[string]map[string]bool{
		"/[/[ab]/  ": {"a": true, "[": true, "c": false},
		"[!/a]/b":    {"c/b": true, "a/b": false},
		"[/a":        {"a": false, "[/a": false},
		`\[/a`:       {"[/a": true, "a": false},
	} {
		rule, ok := parseIgnore(line)
		for name, want := range want {
			if got := ok && rule.matches(strings.Split(name, "/")); got != want {
				t.Errorf("%q ignores %s: %v", line, name, got)
			}
		}
	}
}

// TestIgnoredFolders: memory below a folder that git ignores is not told, that in the
// folder itself is, and so is what was not searched. Rules in .claude's way do not count:
// agents' memory is often ignored.
func TestIgnoredFolders(t *testing.T) {
	s := newScene(t)
	s.git()
	s.put(s.in(".git", "info", "exclude"), "scratch/\n")
	s.put(s.in(".gitignore"), "/cache\n.claude/\nagent-memory/\n")
	s.put(s.in("web", ".gitignore"), "gen*\n!gen-kept\n")
	for _, dir := range []string{"cache/pkg/x", "scratch", "scratch/deep", "web/generated/a", "web/gen-kept/a", "web", "other/cache"} {
		s.topic(s.in(filepath.FromSlash(dir), ".claude", "agent-memory", "reviewer"), "t", "T.")
	}
	l := s.list()
	var got []string
	for _, p := range l.Split {
		rel, err := filepath.Rel(s.base, p.Where)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, filepath.ToSlash(rel))
	}
	slices.Sort(got)
	if want := []string{"other/cache", "scratch", "web", "web/gen-kept/a"}; !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
	if notes := fmt.Sprint(l.Notes); !strings.Contains(notes, "3 folders (cache, scratch, web/generated)") {
		t.Errorf("what was not searched is not told: %s", notes)
	}
	// Without git nobody reads these files.
	if err := os.Rename(s.in(".git"), s.in(".git-was")); err != nil {
		t.Fatal(err)
	}
	if l := s.list(); len(l.Split) != 7 {
		t.Errorf("without git: %d", len(l.Split))
	}
}

// BenchmarkWalk searches a checkout of MEM_FOLDERS folders (20,000), of which all but a
// tenth lie in a folder that git ignores.
func BenchmarkWalk(b *testing.B) {
	folders := 20_000
	if n, err := strconv.Atoi(os.Getenv("MEM_FOLDERS")); err == nil {
		folders = n
	}
	base := b.TempDir()
	var rules strings.Builder
	for i := range 100 {
		fmt.Fprintf(&rules, "*.ext%d\n/some/where%d\n", i, i)
	}
	rules.WriteString("cache/\n")
	if err := os.WriteFile(filepath.Join(base, ".gitignore"), []byte(rules.String()), 0o644); err != nil {
		b.Fatal(err)
	}
	for i := range folders {
		dir := fmt.Sprintf("src/%d/%d", i/200, i)
		if i%10 > 0 {
			dir = fmt.Sprintf("cache/%d/%d", i/200, i)
		}
		if err := os.MkdirAll(filepath.Join(base, filepath.FromSlash(dir)), 0o755); err != nil {
			b.Fatal(err)
		}
	}
	for _, how := range []struct{ name, git string }{{"all", ""}, {"without ignored", filepath.Join(base, ".git")}} {
		b.Run(how.name, func(b *testing.B) {
			for b.Loop() {
				inSubdirectories(context.Background(), base, how.git)
			}
		})
	}
}
