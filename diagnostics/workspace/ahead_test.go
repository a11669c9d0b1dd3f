package workspace_test

import (
	"context"
	"testing"

	"mem/diagnostics/workspace"
)

// brittle is a context that breaks down whoever asks it.
type brittle struct{ context.Context }

func (brittle) Err() error { panic("no such luck") }

// TestAheadBreaksDown: a look ahead that breaks down takes nobody along, and what it was for is
// read again.
func TestAheadBreaksDown(t *testing.T) {
	w := newWorld(t)
	w.put("p/MEMORY.md", "- [A](a.md) — x\n")
	w.put("p/a.md", "---\nname: a\ntype: user\n---\n\ntext\n")
	d := w.open("p", workspace.Options{})
	s, err := d.Ahead(brittle{t.Context()}).After(t.Context(), []string{"a.md"})
	if err != nil || s.View.Topic("a.md") == nil {
		t.Errorf("%+v, %v", s, err)
	}
}
