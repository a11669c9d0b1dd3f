package diagnostics_test

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"mem/core/memdir"
	"mem/diagnostics"
)

// brittle is a source whose files break down when they are opened, once that is set.
type brittle struct {
	fstest.MapFS
	broken *string
}

func (b brittle) Open(name string) (fs.File, error) {
	if name == *b.broken {
		panic("no such luck")
	}
	return b.MapFS.Open(name)
}

// TestAFileThatBreaksTheCheckDown: whatever reading a file for its rules runs into is told of that file,
// however many others are looked at beside it.
func TestAFileThatBreaksTheCheckDown(t *testing.T) {
	e := &diagnostics.Engine{Rules: []diagnostics.Rule{word("word", "here", diagnostics.Warning)}}
	for _, n := range []int{1, 2, 40} {
		src := map[string]string{}
		for i := range n {
			src[fmt.Sprintf("t%02d.md", i)] = "here" + strings.Repeat(" ", 5000) // longer than a head, so that it is opened again
		}
		broken := ""
		v, err := memdir.Read(t.Context(), brittle{files(src), &broken}, nil, memdir.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		broken = "t00.md"
		r := check(t, e, diagnostics.NewSnapshot(v, nil, nil, memdir.Stamp{Now: now}, nil), diagnostics.Scope{})
		if len(r.Findings) != n-1 || len(r.Unread) != 1 || r.Unread[0].Path != "t00.md" || !strings.Contains(r.Unread[0].Message, "no such luck") {
			t.Errorf("%d files: %d findings, %+v", n, len(r.Findings), r.Unread)
		}
	}
}
