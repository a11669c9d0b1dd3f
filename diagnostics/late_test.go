package diagnostics_test

import (
	"context"
	"testing"
	"testing/fstest"

	"mem/core/memdir"
	"mem/diagnostics"
)

// What a late check found of a file serves the quick checks that follow, without
// what the late rules found: an editor runs both in turn, over all that is open.
func TestLateChecksServeQuickOnes(t *testing.T) {
	ran := map[string]int{}
	rule := func(id string, late bool) diagnostics.Rule {
		return diagnostics.Rule{ID: id, Severity: diagnostics.Warning, Kinds: diagnostics.AllKinds, Late: late, File: func(p *diagnostics.Pass) {
			ran[id]++
			p.Report(diagnostics.Finding{Message: id})
		}}
	}
	e := &diagnostics.Engine{Rules: []diagnostics.Rule{rule("quick", false), rule("late", true)}}
	v, err := memdir.Read(context.Background(), fstest.MapFS{"a.md": {Data: []byte("a\n")}}, nil, memdir.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	s := diagnostics.NewSnapshot(v, nil, nil, memdir.Stamp{}, nil)
	for i, step := range []struct {
		late        bool
		found       int
		quick, slow int // calls so far
	}{{false, 1, 1, 0}, {true, 2, 2, 1}, {false, 1, 2, 1}, {true, 2, 2, 1}} {
		r, err := e.Check(context.Background(), s, diagnostics.Scope{Paths: []string{"a.md"}, Late: step.late})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Findings) != step.found || ran["quick"] != step.quick || ran["late"] != step.slow {
			t.Errorf("step %d: %d findings after %v, want %+v", i, len(r.Findings), ran, step)
		}
	}
}
