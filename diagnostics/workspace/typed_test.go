package workspace_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mem/core/memdir"
	"mem/diagnostics"
	"mem/diagnostics/workspace"
)

// TestTypedWhileFilesComeAndGo: whatever came or went since the last key, what is found is what a look at all
// files finds.
func TestTypedWhileFilesComeAndGo(t *testing.T) {
	w := newWorld(t)
	w.put("m/MEMORY.md", "# Memory\n")
	d := w.open("m", workspace.Options{})
	names := []string{"a.md", "b.md", "pic.png", "sub/c.md", "sub/pic.png", "sub/deep/x.txt", "own/MEMORY.md"}
	r := rand.New(rand.NewPCG(7, 8))
	text := func() string {
		var s strings.Builder
		s.WriteString("# Memory\n\n")
		for range r.IntN(5) {
			n := names[r.IntN(len(names))]
			fmt.Fprintf(&s, "- [%s](%s) — about it\n", n, n)
		}
		return s.String()
	}
	found := func(d *workspace.Directory, s *diagnostics.Snapshot) []string {
		t.Helper()
		res, err := d.Engine.Check(t.Context(), s, diagnostics.Scope{})
		if err != nil {
			t.Fatal(err)
		}
		all := []string{}
		for _, f := range res.Findings {
			all = append(all, fmt.Sprint(f.Path, f.Span, f.Rule, f.Message))
		}
		for _, p := range res.Unread {
			all = append(all, p.Path+p.Message)
		}
		for _, f := range res.Failures {
			all = append(all, f.Error())
		}
		return all
	}
	var last *diagnostics.Snapshot
	open := map[string]memdir.Buffer{"MEMORY.md": {Text: "x\n"}, "a.md": {Text: "y\n"}}
	for i := range 120 {
		for range r.IntN(3) * r.IntN(2) {
			at := w.at("m/" + names[r.IntN(len(names))])
			var err error
			switch r.IntN(4) {
			case 0:
				err = os.RemoveAll(at)
			case 1:
				err = os.RemoveAll(filepath.Join(w.at("m"), "sub"))
			default:
				if _, missing := os.Lstat(at); missing != nil {
					w.put(strings.TrimPrefix(at, w.dir+string(filepath.Separator)), "---\nname: n\ntype: user\n---\n\ntext\n")
				}
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if r.IntN(3) == 0 {
			time.Sleep(25 * time.Millisecond) // until times of folders tell something
		}
		for p := range open {
			if r.IntN(2) == 0 {
				open[p] = memdir.Buffer{Text: text(), Version: int32(i), ModTime: now}
			}
		}
		s, err := d.Typed(t.Context(), last, open)
		if err != nil {
			t.Fatal(err)
		}
		fresh := w.open("m", workspace.Options{})
		all, err := fresh.Snapshot(t.Context(), open)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(found(fresh, all), found(d, s)); diff != "" {
			t.Fatalf("step %d (-all files +typed):\n%s", i, diff)
		}
		if err := fresh.Close(); err != nil {
			t.Fatal(err)
		}
		last = s
	}
}
