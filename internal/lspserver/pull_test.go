package lspserver

import (
	"strings"
	"testing"
)

type report struct {
	Kind     string       `json:"kind"`
	ResultID string       `json:"resultId"`
	Items    []diagnostic `json:"items"`
}

func pulling(refresh bool) string {
	c := strings.Replace(capable, `"textDocument":{`, `"textDocument":{"diagnostic":{"relatedDocumentSupport":false},`, 1)
	if refresh {
		c = strings.Replace(c, `"workspace":{`, `"workspace":{"diagnostics":{"refreshSupport":true},`, 1)
	}
	return c
}

func (e *editor) pull(name, previous string) report {
	e.t.Helper()
	params := map[string]any{"textDocument": map[string]any{"uri": e.uri(name)}}
	if previous != "" {
		params["previousResultId"] = previous
	}
	var r report
	e.ask("textDocument/diagnostic", params, &r)
	return r
}

func (e *editor) heard(method string) int {
	n := 0
	for _, m := range e.messages {
		if m.Method == method {
			n++
		}
	}
	return n
}

// A client that asks is not sent diagnostics. What it has is confirmed where it is
// the same.
func TestDiagnosticsArePulled(t *testing.T) {
	e := start(t, map[string]string{"MEMORY.md": "# M\n", "b.md": "b\n"}, testEngine)
	e.initialize(pulling(false))
	e.open("a.md", "bad late\n")
	r := e.pull("a.md", "")
	if r.Kind != "full" || codes(r.Items) != "word later" { // it cannot be told to ask again
		t.Fatalf("the report is %+v", r)
	}
	if again := e.pull("a.md", r.ResultID); again.Kind != "unchanged" || again.ResultID != r.ResultID {
		t.Errorf("the second report is %+v", again)
	}
	e.edit("a.md", replace(1, 0, 1, 0, "more\n")) // below what was found
	if again := e.pull("a.md", r.ResultID); again.Kind != "unchanged" {
		t.Errorf("after an edit below the report is %+v", again)
	}
	e.edit("a.md", replace(0, 0, 0, 0, "x"))
	moved := e.pull("a.md", r.ResultID)
	if moved.Kind != "full" || moved.ResultID == r.ResultID || moved.Items[0].Range.String() != "0:1-0:4" {
		t.Errorf("after an edit above the report is %+v", moved)
	}
	for _, name := range []string{"README.md", "never opened.md", "../outside.md"} {
		if r := e.pull(name, ""); r.Kind != "full" || len(r.Items) != 0 || r.Items == nil {
			t.Errorf("%s: %+v", name, r)
		}
	}
	e.close("a.md")
	e.settled()
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.pushed) > 0 {
		t.Errorf("diagnostics were pushed too: %v", e.pushed)
	}
}

// A client that can be told is told to ask again: when the late rule found
// something, and when another file changes what is wrong with this one.
func TestPullingIsAskedForAgain(t *testing.T) {
	e := start(t, map[string]string{"MEMORY.md": "# M\n", "b.md": "b\n"}, testEngine)
	e.initialize(pulling(true))
	e.open("a.md", "late\n")
	if r := e.pull("a.md", ""); codes(r.Items) != "" {
		t.Fatalf("the late rule did not wait: %q", codes(r.Items))
	}
	e.wait("the call to ask again", func() bool { return e.heard("workspace/diagnostic/refresh") == 1 })
	r := e.pull("a.md", "")
	if codes(r.Items) != "later" {
		t.Errorf("then %q is found", codes(r.Items))
	}
	e.open("MEMORY.md", "# M\n")
	if r := e.pull("MEMORY.md", ""); len(r.Items) != 1 || r.Items[0].Message != "There are 2 topics." {
		t.Fatalf("the index: %+v", r)
	}
	e.open("c.md", "c\n")
	e.wait("the second call", func() bool { return e.heard("workspace/diagnostic/refresh") == 2 })
	if r := e.pull("MEMORY.md", ""); r.Items[0].Message != "There are 3 topics." {
		t.Errorf("the index: %+v", r)
	}
}
