package diagnostics_test

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mem/core/memdir"
	"mem/core/project"
	"mem/core/settings"
	"mem/core/text"
	"mem/diagnostics"
	"mem/diagnostics/diagtest"
	"mem/diagnostics/rules"
	"mem/diagnostics/workspace"
)

var update = flag.Bool("update", false, "write what is found into testdata/samples/*/findings.txt")

// token stands in samples as {{token}}, put together here so that no scanner of
// sources stumbles over it.
const token = "ghp_" + "Zq7Lm2Xc9Vb4Nk8Rt6Yp1Wd3Hf5Gs0Ja2Ku7"

// A sample is a folder as people and agents keep it: a project that is a git
// repository, and its memory, either where the client keeps it or in the project.
type sample struct {
	name string
	dir  string // the memory directory
	env  settings.Env
}

// laidOut copies a sample of testdata to where it would lie.
func laidOut(t testing.TB, name string) sample {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	top := filepath.Join(home, "work", "project")
	s := sample{name: name, env: settings.Env{Home: home, Cwd: top, GOOS: runtime.GOOS, ConfigDir: filepath.Join(home, ".config"),
		ManagedSettings: filepath.Join(home, "managed.json"), Now: func() time.Time { return diagtest.Now }}}
	write(t, filepath.Join(top, ".git", "HEAD"), "ref: refs/heads/main\n")
	for _, d := range []string{"objects", "refs"} {
		if err := os.MkdirAll(filepath.Join(top, ".git", d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	from := os.DirFS(filepath.Join("testdata", "samples", name))
	s.dir = filepath.Join(home, ".claude", "projects", project.Slug(top), "memory")
	if _, err := fs.Stat(from, "memory"); err == nil {
		copyTree(t, from, "memory", s.dir)
	}
	if _, err := fs.Stat(from, "project"); err == nil {
		copyTree(t, from, "project", top)
	}
	if name == "healthy" {
		healthy(t, s.dir)
	}
	if _, err := os.Stat(s.dir); err != nil {
		found, problems, err := memdir.Find(context.Background(), top)
		want := 1
		if name == "split" {
			want = 2 // the second one, of the same agent, is in a subdirectory
		}
		if err != nil || len(problems) > 0 || len(found) != want {
			t.Fatalf("%s has the memory directories %v (%v, %v)", name, found, problems, err)
		}
		s.dir = found[want-1]
	}
	return s
}

func write(t testing.TB, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	at := diagtest.Now.Add(-time.Hour)
	if err := os.Chtimes(name, at, at); err != nil {
		t.Fatal(err)
	}
}

func copyTree(t testing.TB, from fs.FS, root, to string) {
	t.Helper()
	err := fs.WalkDir(from, root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(from, p)
		if err != nil {
			return err
		}
		rest := strings.TrimPrefix(p, root+"/")
		write(t, filepath.Join(to, filepath.FromSlash(rest)), strings.ReplaceAll(string(b), "{{token}}", token))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// healthy makes a memory of 120 topics in which nothing is wrong.
func healthy(t testing.TB, dir string) {
	t.Helper()
	areas := []string{"Accounts", "Billing", "Catalogue", "Deliveries", "Exports", "Forms"}
	kinds := []string{"project", "feedback", "reference", "user"}
	var index strings.Builder
	index.WriteString("# Granary\n")
	for i := range 120 {
		area, kind := areas[i/20], kinds[i%4]
		if i%20 == 0 {
			fmt.Fprintf(&index, "\n## %s\n\n", area)
		}
		name := fmt.Sprintf("%s-%02d", strings.ToLower(area), i%20)
		fmt.Fprintf(&index, "- [%s %d](%s.md) — part %d of what holds for %s\n", area, i%20, name, i%20, strings.ToLower(area))
		var b strings.Builder
		fmt.Fprintf(&b, "---\nname: %s\ndescription: Part %d of what holds for %s\nmetadata: \n  node_type: memory\n  type: %s\n  originSessionId: 7f3a\n  modified: 2026-11-%02dT08:00:00.000Z\n---\n\n",
			name, i%20, strings.ToLower(area), kind, 1+i%28)
		fmt.Fprintf(&b, "%s are kept for %d years; see [[%s-%02d]].\n", area, 1+i%10, strings.ToLower(area), (i+1)%20)
		if kind == "project" || kind == "feedback" {
			b.WriteString("\n**Why:** An auditor asked for it in 2025.\n\n**How to apply:** Never delete rows; set `ended_at`.\n")
		}
		write(t, filepath.Join(dir, name+".md"), b.String())
	}
	write(t, filepath.Join(dir, "MEMORY.md"), index.String())
}

func (s sample) open(t testing.TB) *workspace.Directory {
	t.Helper()
	d, err := workspace.Open(s.dir, workspace.Options{Env: s.env, Project: s.env.Cwd, Origin: "a-session"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

func (s sample) check(t testing.TB, d *workspace.Directory) []diagnostics.Finding {
	t.Helper()
	now, err := d.Snapshot(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := d.Check(context.Background(), now, diagnostics.Scope{Late: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Failures {
		t.Error(f.Error())
	}
	return r.Findings
}

func samples(t testing.TB) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join("testdata", "samples", "*"))
	if err != nil || len(all) < 10 {
		t.Fatal(len(all), err)
	}
	for i, p := range all {
		all[i] = filepath.Base(p)
	}
	return all
}

// TestSamples states all that is found in folders of every style, also by the late
// rules: what is not in findings.txt is not found.
func TestSamples(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range samples(t) {
		t.Run(name, func(t *testing.T) {
			s := laidOut(t, name)
			found := s.check(t, s.open(t))
			for i := range found {
				seen[found[i].Rule] = true
				if p := found[i].Path; filepath.IsAbs(p) {
					found[i].Path = "(project)/" + filepath.Base(p)
				}
			}
			got := (&diagtest.Case{Encoding: text.UTF16}).Print(found)
			file := filepath.Join("testdata", "samples", name, "findings.txt")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got); d != "" {
				t.Errorf("findings (-want +got):\n%s", d)
			}
		})
	}
	for _, r := range rules.All() {
		if !seen[r.ID] && !t.Failed() {
			t.Errorf("no sample has a finding of %s", r.ID)
		}
	}
}

// TestSamplesMended mends every sample: what is safe, then all. Nothing is found that
// could still be mended, mending again changes nothing, a file
// that no offer is about stays byte for byte, and what is healthy is left alone.
func TestSamplesMended(t *testing.T) {
	ctx := context.Background()
	for _, name := range samples(t) {
		for _, unsafe := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s,unsafe=%v", name, unsafe), func(t *testing.T) {
				s := laidOut(t, name)
				d := s.open(t)
				before := contents(t, s.dir)
				now, err := d.Snapshot(ctx, nil)
				if err != nil {
					t.Fatal(err)
				}
				o := diagnostics.FixOptions{Unsafe: unsafe}
				touched := map[string]bool{}
				for _, f := range s.check(t, d) {
					for _, offer := range f.Offers {
						c, err := d.Engine.Make(ctx, now, f, offer)
						if err != nil {
							t.Errorf("%s in %s is offered %q: %v", f.Rule, f.Path, offer.Title, err)
						}
						for _, file := range c.Files {
							touched[file.Path] = true
						}
					}
				}
				done, err := d.FixAll(ctx, now, o)
				if err != nil {
					t.Fatal(err)
				}
				after, err := done.Change.Apply(before)
				if err != nil {
					t.Fatal(err)
				}
				for p, was := range before {
					if after[p] != was && !touched[p] {
						t.Errorf("%s is changed, and no fix of what was found does that", p)
					}
				}
				for p, is := range after {
					if is != before[p] {
						write(t, filepath.Join(s.dir, filepath.FromSlash(p)), is)
					}
				}
				if now, err = d.Snapshot(ctx, nil); err != nil {
					t.Fatal(err)
				}
				again, err := d.FixAll(ctx, now, o)
				if err != nil {
					t.Fatal(err)
				}
				if !again.Change.Empty() {
					t.Errorf("mending again changes more: %+v", again.Applied)
				}
				var left []string
				for _, f := range again.Left {
					if slices.ContainsFunc(f.Offers, func(o diagnostics.Offer) bool { fix := d.Engine.Fix(o.Fix); return !fix.Manual && (unsafe || fix.Safe) }) &&
						!slices.ContainsFunc(again.Refused, func(r diagnostics.Refused) bool { return r.Rule == f.Rule && r.Path == f.Path }) {
						left = append(left, f.Rule+" in "+f.Path)
					}
				}
				if len(left) > 0 {
					t.Errorf("left, and could be mended: %v", left)
				}
			})
		}
	}
}

// contents gives the files of a folder by their paths.
func contents(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(p)))
		out[path.Clean(p)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
