package diagnostics_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"mem/core/change"
	"mem/core/text"
	"mem/diagnostics"
)

// replaceBy gives a rule that finds a word and a fix that puts another in its place.
func replaceBy(id, from, to string, safe bool) (diagnostics.Rule, diagnostics.Fix) {
	rule := word(id, from, diagnostics.Warning)
	find := rule.File
	rule.File = func(p *diagnostics.Pass) {
		sub := *p
		find(&sub)
		for _, f := range diagnostics.Found(&sub) {
			f.Offers = []diagnostics.Offer{{Fix: "fix-" + id, Title: "Write " + to, Arg: to}}
			p.Report(f)
		}
	}
	fix := diagnostics.Fix{ID: "fix-" + id, Safe: safe, Kind: diagnostics.QuickFix, Make: func(_ context.Context, _ *diagnostics.Snapshot, f diagnostics.Finding, arg string) (change.Change, error) {
		c, ok := change.EditFile(f.Path, f.Text.String(), []text.Edit{{Span: f.Span, New: arg}})
		if !ok {
			return change.Change{}, errors.New("nothing to do")
		}
		return change.Change{Files: []change.File{c}}, nil
	}}
	return rule, fix
}

func engine(pairs ...any) *diagnostics.Engine {
	e := &diagnostics.Engine{}
	for _, p := range pairs {
		switch p := p.(type) {
		case diagnostics.Rule:
			e.Rules = append(e.Rules, p)
		case diagnostics.Fix:
			e.Fixes = append(e.Fixes, p)
		}
	}
	return e
}

func mend(t *testing.T, e *diagnostics.Engine, d *directory, o diagnostics.FixOptions) (*diagnostics.Fixed, map[string]string) {
	t.Helper()
	done, err := e.FixAll(context.Background(), d.snapshot(t), o)
	if err != nil {
		t.Fatal(err)
	}
	before := map[string]string{}
	for p, f := range d.files {
		before[p] = string(f.Data)
	}
	after, err := done.Change.Apply(before)
	if err != nil {
		t.Fatal(err)
	}
	return done, after
}

func TestFixesFollowEachOther(t *testing.T) {
	r1, f1 := replaceBy("one", "apple", "pear", true)
	r2, f2 := replaceBy("two", "pear", "plum", true)
	d := open(map[string]string{"a.md": "apple, pear\r\n中 apple", "b.md": "nothing\n"})
	done, after := mend(t, engine(r1, f1, r2, f2), d, diagnostics.FixOptions{})
	if after["a.md"] != "plum, plum\r\n中 plum" || after["b.md"] != "nothing\n" {
		t.Errorf("%q", after)
	}
	if len(done.Change.Files) != 1 || len(done.Applied) != 5 || done.Passes != 2 || len(done.Left) != 0 {
		t.Errorf("%+v", done)
	}
}

func TestUnsafeFixesWaitToBeAskedFor(t *testing.T) {
	rule, fix := replaceBy("one", "apple", "pear", false)
	d := open(map[string]string{"a.md": "apple\n", "b.md": "apple\n"})
	if done, _ := mend(t, engine(rule, fix), d, diagnostics.FixOptions{}); !done.Change.Empty() || len(done.Left) != 2 {
		t.Errorf("%+v", done)
	}
	done, after := mend(t, engine(rule, fix), d, diagnostics.FixOptions{Unsafe: true, Paths: []string{"b.md"}})
	if after["a.md"] != "apple\n" || after["b.md"] != "pear\n" || done.Change.Title != "Write pear" {
		t.Errorf("%q %+v", after, done)
	}
	if done, _ := mend(t, engine(rule, fix), d, diagnostics.FixOptions{Unsafe: true, Rules: []string{"other"}}); !done.Change.Empty() {
		t.Errorf("%+v", done)
	}
}

// Two fixes that undo each other must not run for ever.
func TestFixesThatNeverSettle(t *testing.T) {
	r1, f1 := replaceBy("one", "apple", "pear", true)
	r2, f2 := replaceBy("two", "pear", "apple", true)
	done, _ := mend(t, engine(r1, f1, r2, f2), open(map[string]string{"a.md": "apple\n"}), diagnostics.FixOptions{})
	if done.Passes > 12 || len(done.Left) != 1 {
		t.Errorf("%+v", done)
	}
}

func TestFixesThatCannotBeMade(t *testing.T) {
	rule, fix := replaceBy("one", "apple", "pear", true)
	make1 := fix.Make
	fix.Make = func(ctx context.Context, s *diagnostics.Snapshot, f diagnostics.Finding, arg string) (change.Change, error) {
		switch f.Path {
		case "a.md":
			panic("broken")
		case "b.md":
			return change.Change{}, errors.New("b is not to be touched")
		}
		return make1(ctx, s, f, arg)
	}
	refuse := errors.New("not here")
	d := open(map[string]string{"a.md": "apple\n", "b.md": "apple\n", "c.md": "apple\n", "d.md": "apple\n"})
	done, after := mend(t, engine(rule, fix), d, diagnostics.FixOptions{Accept: func(c change.Change) error {
		if c.Files[0].Path == "c.md" {
			return refuse
		}
		return nil
	}})
	if after["d.md"] != "pear\n" || len(done.Refused) != 3 || len(done.Left) != 3 {
		t.Fatalf("%q %+v", after, done)
	}
	for i, want := range []string{"broken", "not to be touched", "not here"} {
		if !strings.Contains(done.Refused[i].Reason, want) {
			t.Errorf("%+v", done.Refused[i])
		}
	}
}

// TestManualFixesAreLeft: what is to be filled in by hand is not mended in a batch.
func TestManualFixesAreLeft(t *testing.T) {
	rule, fix := replaceBy("one", "apple", "pear", false)
	fix.Manual = true
	done, _ := mend(t, engine(rule, fix), open(map[string]string{"a.md": "apple\n"}), diagnostics.FixOptions{Unsafe: true})
	if !done.Change.Empty() || len(done.Left) != 1 || len(done.Refused) != 0 {
		t.Errorf("%+v", done)
	}
}

// TestTimesOfMovedText: a file's time says nothing about a text that a fix has just
// moved there.
func TestTimesOfMovedText(t *testing.T) {
	r1, f1 := replaceBy("one", "apple", "pear", false)
	r2, f2 := replaceBy("two", "plum", "", false)
	f1.ByTime = true
	f2.Kind = diagnostics.Extract
	f2.Make = func(_ context.Context, s *diagnostics.Snapshot, f diagnostics.Finding, _ string) (change.Change, error) {
		from, _ := change.EditFile(f.Path, f.Text.String(), []text.Edit{{Span: f.Span}})
		old := s.View.Topic("old.md")
		d, err := s.Doc(old.Path)
		if err != nil {
			return change.Change{}, err
		}
		n := d.File.Text.Len()
		to, _ := change.EditFile(old.Path, d.File.Text.String(), []text.Edit{{Span: text.Span{Start: n, End: n}, New: "apple\n"}})
		return change.Change{Files: []change.File{from, to, {Path: "new.md", Kind: change.Create, New: "apple\n"}}}, nil
	}
	d := open(map[string]string{"a.md": "plum\n", "old.md": "apple of old\n", "other.md": "apple\n"})
	done, after := mend(t, engine(r1, f1, r2, f2), d, diagnostics.FixOptions{Unsafe: true})
	if after["new.md"] != "apple\n" || after["old.md"] != "pear of old\napple\n" || after["other.md"] != "pear\n" {
		t.Errorf("%q", after)
	}
	if len(done.Refused) != 2 || !strings.Contains(done.Refused[0].Reason, "by hand") || len(done.Left) != 2 {
		t.Errorf("%+v\n%+v", done.Refused, done.Left)
	}
}

// What one finding needs written where another one begins is written before it.
func TestFixesAtOnePlace(t *testing.T) {
	r1, f1 := replaceBy("one", "apple", "pear", true)
	r2, f2 := replaceBy("two", "apple pie", "", true)
	f2.Make = func(_ context.Context, _ *diagnostics.Snapshot, f diagnostics.Finding, _ string) (change.Change, error) {
		c, _ := change.EditFile(f.Path, f.Text.String(), []text.Edit{{Span: text.Span{Start: f.Span.Start, End: f.Span.Start}, New: "plum, "}, {Span: text.Span{Start: f.Span.End - 4, End: f.Span.End}}})
		return change.Change{Files: []change.File{c}}, nil
	}
	done, after := mend(t, engine(r1, f1, r2, f2), open(map[string]string{"a.md": "an apple pie\n"}), diagnostics.FixOptions{})
	if after["a.md"] != "an plum, pear\n" || len(done.Applied) != 2 || len(done.Refused) != 0 {
		t.Errorf("%q %+v", after, done)
	}
}

// A fix whose own edits overlap is told, and the others are made.
func TestFixesThatDoNotFit(t *testing.T) {
	r1, f1 := replaceBy("one", "apple", "pear", true)
	r2, f2 := replaceBy("two", "plum", "", true)
	f2.Make = func(_ context.Context, _ *diagnostics.Snapshot, f diagnostics.Finding, _ string) (change.Change, error) {
		return change.Change{Files: []change.File{{Path: f.Path, Kind: change.Edit, Base: f.Text.String(), Edits: []text.Edit{{Span: f.Span}, {Span: f.Span, New: "x"}}}}}, nil
	}
	done, after := mend(t, engine(r1, f1, r2, f2), open(map[string]string{"a.md": "plum\napple\n"}), diagnostics.FixOptions{})
	if after["a.md"] != "plum\npear\n" || len(done.Applied) != 1 || len(done.Refused) != 1 || !strings.Contains(done.Refused[0].Reason, "overlap") {
		t.Errorf("%q %+v", after, done)
	}
}

// What another fix took the reason away for is made in the end, and no longer told.
func TestRefusedFixesAreTriedAgain(t *testing.T) {
	r1, f1 := replaceBy("one", "apple", "pear", true)
	make1 := f1.Make
	f1.Make = func(ctx context.Context, s *diagnostics.Snapshot, f diagnostics.Finding, arg string) (change.Change, error) {
		if d, err := s.Doc("b.md"); err != nil || strings.Contains(d.Source(), "worm") || strings.Contains(f.Text.String(), "stone") {
			return change.Change{}, errors.New("not with worms and stones")
		}
		return make1(ctx, s, f, arg)
	}
	r2, f2 := replaceBy("two", "worm", "leaf", true)
	done, after := mend(t, engine(r1, f1, r2, f2), open(map[string]string{"a.md": "apple, worm\n", "b.md": "worm\n", "c.md": "apple, stone, worm\n"}), diagnostics.FixOptions{})
	if after["a.md"] != "pear, leaf\n" || after["c.md"] != "apple, stone, leaf\n" || len(done.Applied) != 4 {
		t.Errorf("%q %+v", after, done)
	}
	if len(done.Refused) != 1 || done.Refused[0].Path != "c.md" {
		t.Errorf("%+v", done.Refused)
	}
}

// Changes are looked at together, and only the ones to blame are refused: what
// overlaps them is made.
func TestAcceptBlamesTheRightFix(t *testing.T) {
	r1, f1 := replaceBy("one", "apple", "pear", true)
	r2, f2 := replaceBy("two", "apple pie", "secret", true)
	r3, f3 := replaceBy("three", "pie", "cake", true)
	asked := 0
	no := func(word string) func(change.Change) error {
		return func(c change.Change) error {
			asked++
			for _, f := range c.Files {
				if s, _, err := f.After(); err != nil || strings.Contains(s, word) {
					return errors.New("no " + word)
				}
			}
			return nil
		}
	}
	files := map[string]string{"a.md": strings.Repeat("an apple\n", 300), "b.md": "an apple pie\n"}
	done, after := mend(t, engine(r2, f2, r1, f1, r3, f3), open(files), diagnostics.FixOptions{Accept: no("secret")})
	if strings.Contains(after["a.md"], "apple") || after["b.md"] != "an pear cake\n" {
		t.Errorf("%q", after["b.md"])
	}
	if asked > 60 {
		t.Errorf("it was asked %d times", asked)
	}
	if len(done.Refused) != 0 || len(done.Left) != 0 { // the finding went with its text
		t.Errorf("%+v, %d left", done.Refused, len(done.Left))
	}
	// Two that are refused only together are not made together.
	done, after = mend(t, engine(r1, f1, r3, f3), open(map[string]string{"a.md": "apple pie\n"}), diagnostics.FixOptions{Accept: no("pear cake")})
	if s := after["a.md"]; s != "pear pie\n" || len(done.Refused) != 1 {
		t.Errorf("%q %+v", s, done)
	}
}

// However many fixes are made in a file, it is parsed once for all of them and looked
// at once by Accept.
func TestManyFixesOfOneFileReadItOnce(t *testing.T) {
	rule, fix := replaceBy("one", "apple", "pear", true)
	make1 := fix.Make
	docs := map[*diagnostics.Doc]bool{}
	fix.Make = func(ctx context.Context, s *diagnostics.Snapshot, f diagnostics.Finding, arg string) (change.Change, error) {
		for _, p := range []string{f.Path, "b.md"} {
			d, err := s.Doc(p)
			if err != nil {
				return change.Change{}, err
			}
			docs[d] = true
		}
		return make1(ctx, s, f, arg)
	}
	asked := 0
	done, _ := mend(t, engine(rule, fix), open(map[string]string{"a.md": strings.Repeat("apple\n", 3000), "b.md": "b\n"}), diagnostics.FixOptions{Accept: func(change.Change) error {
		asked++
		return nil
	}})
	if len(done.Applied) != 3000 || len(docs) != 2 || asked != 1 {
		t.Errorf("%d applied, %d parsed, asked %d times", len(done.Applied), len(docs), asked)
	}
}

// Where all are refused, they are not asked for without end.
func TestAcceptThatRefusesAll(t *testing.T) {
	rule, fix := replaceBy("one", "apple", "pear", true)
	asked := 0
	done, _ := mend(t, engine(rule, fix), open(map[string]string{"a.md": strings.Repeat("apple\n", 3000)}), diagnostics.FixOptions{Accept: func(change.Change) error {
		asked++
		return errors.New("no")
	}})
	if len(done.Refused) != 3000 || !done.Change.Empty() || asked > 600 {
		t.Errorf("%d refused, asked %d times", len(done.Refused), asked)
	}
}
