package stage

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mem/core/change"
	"mem/core/memfile"
	"mem/core/text"
)

func result(t *testing.T, s *Stage) *Result {
	t.Helper()
	r, err := s.Result(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// kinds names what a result does to each file.
func kinds(r *Result) map[string]change.Kind {
	out := map[string]change.Kind{}
	for _, f := range r.Change.Files {
		out[f.Path] = f.Kind
	}
	return out
}

func after(t *testing.T, r *Result, p string) string {
	t.Helper()
	for _, f := range r.Change.Files {
		if f.Path == p || f.Target() == p {
			s, _, err := f.After()
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
	}
	t.Fatalf("nothing happens to %s: %v", p, kinds(r))
	return ""
}

func TestACopyOfWhatTheViewSees(t *testing.T) {
	w := newWorld(t, some())
	s := w.make(Options{Job: "job1"})
	want := some()
	delete(want, "README.md")
	delete(want, "CLAUDE.md")
	if diff := cmp.Diff(want, filesOf(t, s.Dir())); diff != "" {
		t.Error(diff)
	}
	if r := result(t, s); !r.Change.Empty() || len(r.Refused) > 0 {
		t.Errorf("an untouched stage gives %+v", r)
	}
	info, err := os.Stat(filepath.Dir(s.Dir()))
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if _, err := Make(t.Context(), w.m, Options{Job: "job1"}); err == nil {
		t.Error("one job was staged twice")
	}
	// Another process opens it and sees the same base, whatever became of the memory.
	write(t, filepath.Join(s.Dir(), "alpha.md"), strings.Replace(some()["alpha.md"], "first", "FIRST", 1))
	w.put("alpha.md", "changed since")
	again, err := Open(t.Context(), w.m, "job1")
	if err != nil {
		t.Fatal(err)
	}
	if base, ok := again.Base("alpha.md"); !ok || base != some()["alpha.md"] {
		t.Errorf("base = %q", base)
	}
	if got := kinds(result(t, again)); !maps.Equal(got, map[string]change.Kind{"alpha.md": change.Edit}) {
		t.Errorf("%v", got)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	var gone *GoneError
	if _, err := Open(t.Context(), w.m, "job1"); !errors.As(err, &gone) {
		t.Errorf("err = %v", err)
	}
	if _, err := Open(t.Context(), w.m, "../../x"); !errors.As(err, &gone) {
		t.Errorf("err = %v", err)
	}
}

func TestADamagedBaseIsSaid(t *testing.T) {
	w := newWorld(t, some())
	s := w.make(Options{Job: "job1"})
	file := filepath.Join(filepath.Dir(s.Dir()), baseName)
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"", "x", string(b[:len(b)-5]), strings.Replace(string(b), "Alpha has", "Alpha had", 1), strings.Replace(string(b), `"v":1`, `"v":9`, 1)} {
		write(t, file, bad)
		var gone *GoneError
		if _, err := Open(t.Context(), w.m, "job1"); !errors.As(err, &gone) {
			t.Errorf("err = %v", err)
		}
	}
}

func TestAnAgentsWork(t *testing.T) {
	w := newWorld(t, some())
	s := w.make(Options{Origin: "session-of-the-job"})
	d := s.Dir()
	write(t, d+"/alpha.md", strings.Replace(some()["alpha.md"], "second", "second, corrected", 1))
	write(t, d+"/new/delta.md", topic("delta", "Delta is new."))
	if err := os.Remove(d + "/gamma.md"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(d+"/sub/beta.md", d+"/beta.md"); err != nil {
		t.Fatal(err)
	}
	r := result(t, s)
	if len(r.Refused) > 0 {
		t.Errorf("refused: %v", r.Refused)
	}
	want := map[string]change.Kind{"alpha.md": change.Edit, "new/delta.md": change.Create, "gamma.md": change.Delete, "sub/beta.md": change.Rename, "MEMORY.md": change.Edit}
	if diff := cmp.Diff(want, kinds(r)); diff != "" {
		t.Error(diff)
	}
	index := after(t, r, "MEMORY.md")
	for _, has := range []string{"(new/delta.md) — about delta", "[beta](beta.md) — about beta", "(alpha.md)", "(kept.md)"} {
		if !strings.Contains(index, has) {
			t.Errorf("the index lacks %q:\n%s", has, index)
		}
	}
	if strings.Contains(index, "gamma") || strings.Contains(index, "sub/beta") {
		t.Errorf("the index has what is gone:\n%s", index)
	}
	if f := memfile.Parse(after(t, r, "new/delta.md")); f.Value("originSessionId") != "session-of-the-job" || f.Value("modified") != "2026-11-30T09:30:00.000Z" {
		t.Errorf("stamps: %s", f.Text)
	}
	// Others write meanwhile: nothing of theirs is lost.
	w.put("alpha.md", strings.Replace(some()["alpha.md"], "first", "first, by a person", 1))
	w.put("MEMORY.md", some()["MEMORY.md"]+"- [zeta](zeta.md) — by a person\n")
	if _, err := w.m.Apply(t.Context(), r.Change); err != nil {
		t.Fatal(err)
	}
	got := w.files()
	if !strings.Contains(got["alpha.md"], "first, by a person") || !strings.Contains(got["alpha.md"], "second, corrected") || !strings.Contains(got["MEMORY.md"], "zeta.md") {
		t.Errorf("lost: %s\n%s", got["alpha.md"], got["MEMORY.md"])
	}
}

func TestOnlyTheEndOfOneLog(t *testing.T) {
	w := newWorld(t, some())
	const log = "logs/2026/11/2026-11-30.md"
	s := w.make(Options{LogOnly: log})
	if s.MayWrite("alpha.md") == nil || s.MayWrite(log) != nil || s.MayRemove(log) == nil {
		t.Error("MayWrite")
	}
	write(t, s.Dir()+"/"+log, "## 11:00:00 found\n\ntext\n")
	write(t, s.Dir()+"/alpha.md", "overwritten")
	r := result(t, s)
	if len(r.Change.Files) != 1 || r.Change.Files[0].Kind != change.Append || len(r.Refused) != 1 || r.Refused[0].What != "alpha.md" {
		t.Errorf("%+v", r)
	}
	if _, err := w.m.Apply(t.Context(), r.Change); err != nil {
		t.Fatal(err)
	}
	s2 := w.make(Options{LogOnly: log})
	write(t, s2.Dir()+"/"+log, "## 11:00:00 changed\n")
	if r := result(t, s2); !r.Change.Empty() || len(r.Refused) != 1 {
		t.Errorf("%+v", r)
	}
	if _, err := Make(t.Context(), w.m, Options{LogOnly: "alpha.md"}); err == nil {
		t.Error("a topic passed for a log")
	}
}

func TestCrashedStagesGo(t *testing.T) {
	w := newWorld(t, some())
	old, kept, fresh := w.make(Options{Job: "old"}), w.make(Options{Job: "kept"}), w.make(Options{Job: "fresh"})
	if err := kept.Keep(); err != nil {
		t.Fatal(err)
	}
	for _, s := range []*Stage{old, kept} {
		then := time.Now().Add(-25 * time.Hour)
		if err := os.Chtimes(s.dir, then, then); err != nil {
			t.Fatal(err)
		}
	}
	w.make(Options{})
	for s, want := range map[*Stage]bool{old: false, kept: true, fresh: true} {
		if _, err := os.Stat(s.dir); (err == nil) != want {
			t.Errorf("%s: %v", s.Name(), err)
		}
	}
}

func TestHostPutsAndRemoves(t *testing.T) {
	w := newWorld(t, some())
	s := w.make(Options{})
	for _, p := range []string{"kept.md", "README.md", "CLAUDE.md", "../x.md", "/x.md", ".hidden.md", "logs/2026/11/2026-11-29.md", "x.txt", "ALPHA.md", "Sub/x.md", "alpha.md/x.md", "a\x00.md"} {
		if err := s.Put(p, topic("x", "x")); err == nil {
			t.Errorf("%q was written", p)
		}
	}
	for _, p := range []string{"kept.md", "MEMORY.md", "none.md"} {
		if s.Remove(p) == nil {
			t.Errorf("%q was removed", p)
		}
	}
	if err := s.Put("deep/er/x.md", topic("x", "x")); err != nil {
		t.Error(err)
	}
	if err := s.Remove("gamma.md"); err != nil {
		t.Error(err)
	}
	if got := kinds(result(t, s)); got["deep/er/x.md"] != change.Create || got["gamma.md"] != change.Delete {
		t.Errorf("%v", got)
	}
	w.put("alpha.md", topic("alpha", "by a person"))
	if ok, err := s.Rebase("alpha.md", text.Hash("nothing")); ok || err != nil {
		t.Error(ok, err)
	}
	if ok, err := s.Rebase("alpha.md", text.Hash(topic("alpha", "by a person"))); !ok || err != nil {
		t.Error(ok, err)
	}
}
