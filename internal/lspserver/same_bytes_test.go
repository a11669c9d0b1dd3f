package lspserver

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"mem/core/text"
	"mem/diagnostics"
	"mem/diagnostics/diagtest"
	"mem/diagnostics/rules"
	"mem/diagnostics/workspace"
)

// An opening is how an editor has files open.
type opening struct {
	enc  text.Encoding
	keep bool // the byte order mark stays in the text, as no editor but a plain one does
	all  bool // all files are open, not only the one in which something was found
}

var openings = []opening{{text.UTF8, true, false}, {text.UTF16, false, true}, {text.UTF32, false, false}}

// bring opens a file and types a part of it, so that the text comes to the server in
// pieces.
func (e *editor) bring(o opening, name, src string) {
	e.t.Helper()
	if !o.keep {
		src = strings.TrimPrefix(src, text.BOM)
	}
	t := text.New(src)
	line := t.Lines() / 2
	piece := t.FullLine(line)
	rest := text.New(src[:piece.Start] + src[piece.End:])
	e.open(name, rest.String())
	at := rest.Position(piece.Start, o.enc)
	e.edit(name, replace(at.Line, at.Character, at.Line, at.Character, t.Slice(piece)))
}

// saved gives the files after an edit as the editor saves them.
func (e *editor) saved(o opening, w *world, a action) map[string]string {
	e.t.Helper()
	out := map[string]string{}
	for p, s := range w.texts {
		out[p] = s
	}
	for name, s := range e.made(a) {
		p := filepath.ToSlash(name)
		if s == gone {
			delete(out, p)
			continue
		}
		open := e.server.documents().at(filepath.Join(e.dir, name)) != nil
		if strings.HasPrefix(w.texts[p], text.BOM) && !(open && o.keep) {
			s = text.BOM + s
		}
		out[p] = s
	}
	return out
}

// TestSameBytes makes every offer of every case of every rule in every way that there
// is: computed, by editors that count columns in each encoding, and, for the first
// offers, with mem-lsp fix and memory_fix. The files are the same afterwards.
func TestSameBytes(t *testing.T) {
	var mu sync.Mutex
	made := map[string]int{}
	count := func(fix string) { mu.Lock(); defer mu.Unlock(); made[fix]++ }
	t.Cleanup(func() { // after the parallel ones
		if !t.Failed() && len(made) < 25 {
			t.Errorf("only these fixes were made by an editor: %v", made)
		}
	})
	for _, rule := range rules.All() {
		cases, err := filepath.Glob(filepath.Join("..", "..", "diagnostics", "rules", "testdata", rule.ID, "*.txtar"))
		if err != nil || len(cases) == 0 {
			t.Fatal(rule.ID, err)
		}
		for i, file := range cases {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			t.Run(rule.ID+"/"+strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
				t.Parallel()
				c := diagtest.Parse(t, src)
				all := openings
				if i > 0 { // each rule in each encoding, and each case in one
					all = openings[i%len(openings):][:1]
				}
				sameBytes(t, rule, c, all, count)
			})
		}
	}
}

// maxSame bounds the offers of one case that are taken in each editor.
const maxSame = 8

func sameBytes(t *testing.T, rule diagnostics.Rule, c *diagtest.Case, openings []opening, count func(fix string)) {
	ctx := context.Background()
	w := newWorld(t, c)
	d, s := w.open()
	r, err := d.Check(ctx, s, diagnostics.Scope{Late: true})
	if err != nil {
		t.Fatal(err)
	}
	mine := slices.DeleteFunc(r.Findings, func(f diagnostics.Finding) bool { return f.Rule != rule.ID })
	if got := c.Print(mine); got != c.Want && rule.ID != "configuration" { // whose file of the project has an absolute path
		t.Errorf("on disk something else is found (-want +got):\n%s", cmp.Diff(c.Want, got))
	}
	mine = slices.DeleteFunc(mine, func(f diagnostics.Finding) bool { return len(f.Offers) == 0 })
	if len(mine) == 0 {
		return
	}
	for _, o := range openings {
		inEditor(t, w, d, s, mine, o, count)
	}
	inBatch(t, rule, c, d, s, mine)
}

// inEditor takes each offer in an editor.
func inEditor(t *testing.T, w *world, d *workspace.Directory, s *diagnostics.Snapshot, mine []diagnostics.Finding, o opening, count func(fix string)) {
	t.Helper()
	e := w.edit(o.enc)
	opened := map[string]bool{}
	bring := func(p string) {
		if src := w.texts[p]; !opened[p] && utf8.ValidString(src) && strings.HasSuffix(p, ".md") && !strings.HasPrefix(p, ".") {
			opened[p] = true
			e.bring(o, p, src)
		}
	}
	if o.all {
		for _, p := range slices.Sorted(maps.Keys(w.texts)) {
			bring(p)
		}
	}
	taken := 0
	for _, f := range mine {
		bring(f.Path)
		marked := !o.keep && f.Text.HasBOM()
		if !opened[f.Path] || marked && f.Rule == "encoding" || taken >= maxSame {
			continue // an editor reads such a file as another one
		}
		if f.Rule == "secret" {
			e.until(f.Path, "the finding", has(f.Rule))
		}
		seen := text.New(w.texts[f.Path])
		at := text.Span{Start: f.Span.Start, End: f.Span.End}
		if marked {
			seen = text.New(strings.TrimPrefix(w.texts[f.Path], text.BOM))
			at.Start, at.End = max(at.Start-len(text.BOM), 0), max(at.End-len(text.BOM), 0)
		}
		place := span{point(seen.Position(at.Start, o.enc)), point(seen.Position(at.End, o.enc))}
		all := e.lightbulb(f.Path, place, "")
		for _, offer := range f.Offers {
			want, err := d.Engine.Make(context.Background(), s, f, offer)
			if err != nil {
				continue // an editor shows why it cannot be taken
			}
			i := slices.IndexFunc(all, func(a action) bool {
				return a.Title == offer.Title && a.Diagnostics[0].Code == f.Rule && a.Diagnostics[0].Range == place
			})
			if i < 0 {
				t.Errorf("%s, %s: at %s in %s %q is not offered: %s", o.enc, f.Rule, place, f.Path, offer.Title, titles(all))
				continue
			}
			if all[i].Disabled != nil {
				t.Errorf("%s: %q cannot be taken: %s", o.enc, offer.Title, all[i].Disabled.Reason)
				continue
			}
			after, err := want.Apply(w.texts)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(after, e.saved(o, w, e.take(all[i]))); diff != "" {
				t.Errorf("%s, %s by %q in an editor (-computed +edited):\n%s", o.enc, f.Rule, offer.Title, diff)
			}
			count(offer.Fix)
			taken++
		}
	}
	for _, p := range slices.Sorted(maps.Keys(opened)) {
		if marked := strings.HasPrefix(w.texts[p], text.BOM) && !o.keep; !marked {
			mendFile(t, w, d, s, e, o, p)
		}
	}
	if err := e.quit(); err != nil {
		t.Error(err)
	}
}

// mendFile takes what mends everything in a file that is safe to mend.
func mendFile(t *testing.T, w *world, d *workspace.Directory, s *diagnostics.Snapshot, e *editor, o opening, p string) {
	t.Helper()
	done, err := d.FixAll(context.Background(), s, diagnostics.FixOptions{Paths: []string{p}})
	if err != nil {
		t.Fatal(err)
	}
	all := e.lightbulb(p, span{}, `{"diagnostics":[],"only":["source.fixAll"]}`)
	if done.Change.Empty() {
		return
	}
	want, err := done.Change.Apply(w.texts)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 1 {
		t.Errorf("%s: in %s there are %d ways to mend everything", o.enc, p, len(all))
		return
	}
	if diff := cmp.Diff(want, e.saved(o, w, e.take(all[0]))); diff != "" {
		t.Errorf("%s: everything safe in %s in an editor (-computed +edited):\n%s", o.enc, p, diff)
	}
}

// inBatch mends the findings of the rule by the first offers, on the command line and
// by an agent, and by itself where there is one finding.
func inBatch(t *testing.T, rule diagnostics.Rule, c *diagtest.Case, d *workspace.Directory, s *diagnostics.Snapshot, mine []diagnostics.Finding) {
	t.Helper()
	ctx := context.Background()
	for _, unsafe := range []bool{false, true} {
		done, err := d.FixAll(ctx, s, diagnostics.FixOptions{Rules: []string{rule.ID}, Unsafe: unsafe})
		if err != nil {
			t.Fatal(err)
		}
		want, err := done.Change.Apply(c.Texts())
		if err != nil {
			t.Fatal(err)
		}
		if !unsafe && done.Change.Empty() {
			continue // the other round shows what is left alone
		}
		if unsafe && len(mine) == 1 && done.Passes == 1 && len(done.Refused) == 0 {
			one, err := d.Engine.Make(ctx, s, mine[0], mine[0].Offers[0])
			if err != nil {
				t.Fatal(err)
			}
			alone, err := one.Apply(c.Texts())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(alone, want); diff != "" {
				t.Errorf("%s by its first offer, and in batch (-alone +batch):\n%s", rule.ID, diff)
			}
		}
		args := []string{"fix", "--rule", rule.ID}
		if unsafe {
			args = append(args, "--unsafe")
		}
		line := newWorld(t, c)
		said := line.onCommandLine(0, append(args, line.dir)...)
		if diff := cmp.Diff(want, line.files()); diff != "" {
			t.Errorf("mem-lsp %s (-computed +written):\n%s\n%s", strings.Join(args, " "), diff, said)
		}
		before := line.files()
		line.onCommandLine(0, append(args, line.dir)...)
		if diff := cmp.Diff(before, line.files()); diff != "" {
			t.Errorf("mem-lsp %s changes something when it runs again:\n%s", strings.Join(args, " "), diff)
		}
		agent := newWorld(t, c)
		agent.byAgent(fmt.Sprintf(`{"rules":[%q],"unsafe":%v}`, rule.ID, unsafe))
		if diff := cmp.Diff(want, agent.files()); diff != "" {
			t.Errorf("memory_fix, unsafe %v (-computed +written):\n%s", unsafe, diff)
		}
	}
}
