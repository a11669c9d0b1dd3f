package diagnostics_test

import (
	"context"
	"testing"
	"testing/fstest"
	"time"

	"mem/core/memdir"
	"mem/core/text"
	"mem/diagnostics"
)

// What a rule of files said of a memory directory is not kept when that turns out
// to be the root of a repository, though no file of it changed.
func TestCheckForgetsAcrossLinkedOnly(t *testing.T) {
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	e := &diagnostics.Engine{Rules: []diagnostics.Rule{{
		ID: "plain", Severity: diagnostics.Warning, Kinds: []diagnostics.Kind{diagnostics.Topic},
		File: func(p *diagnostics.Pass) {
			if !p.View.LinkedOnly {
				p.Report(diagnostics.Finding{Span: text.Span{}, Message: "here"})
			}
		},
	}}}
	files := fstest.MapFS{"MEMORY.md": {Data: []byte("- [A](a.md)\n"), ModTime: at}, "a.md": {Data: []byte("a"), ModTime: at}}
	views, cache, config := memdir.NewCache(), diagnostics.NewCache(), diagnostics.DefaultConfig()
	count := func() int {
		t.Helper()
		v, err := memdir.Read(context.Background(), files, views, memdir.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		r, err := e.Check(context.Background(), diagnostics.NewSnapshot(v, config, nil, memdir.Stamp{Now: at}, cache), diagnostics.Scope{})
		if err != nil {
			t.Fatal(err)
		}
		return len(r.Findings)
	}
	if n := count(); n != 1 {
		t.Errorf("%d findings in a memory directory, want 1", n)
	}
	files[".git/HEAD"] = &fstest.MapFile{Data: []byte("x"), ModTime: at}
	if n := count(); n != 0 {
		t.Errorf("%d findings at the root of a repository, want 0", n)
	}
	delete(files, ".git/HEAD")
	if n := count(); n != 1 {
		t.Errorf("%d findings afterwards, want 1", n)
	}
}
