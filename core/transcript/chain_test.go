package transcript

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// TestChains reads each transcript of testdata/chain and compares with what the
// case says. Ids of rows are short there; a marker without one is named by its
// line, in parentheses.
func TestChains(t *testing.T) {
	files, err := filepath.Glob("testdata/chain/*.txtar")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d cases, %v", len(files), err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(f)
			if err != nil {
				t.Fatal(err)
			}
			want, data := caseOf(t, a)
			for _, o := range []Options{{}, {Strict: true}, {Workers: 2, part: 300, window: 90}} {
				tr, err := Read(context.Background(), bytes.NewReader(data), int64(len(data)), o)
				if err != nil {
					t.Fatal(err)
				}
				got := told(t, data, tr)
				for _, line := range strings.Split(strings.TrimSpace(want), "\n") {
					key, text, _ := strings.Cut(line, ":")
					if g, ok := got[key]; !ok || g != strings.TrimSpace(text) {
						t.Errorf("%+v\n got %s: %s\nwant %s", o, key, g, line)
					}
				}
			}
			o := Options{Strict: true, MaxRecord: 1 << 20}
			if diff := compare(data, o); diff != "" {
				t.Errorf("the oracle differs: %s", diff)
			}
		})
	}
}

// caseOf takes a case apart and applies what its comment says.
func caseOf(t *testing.T, a *txtar.Archive) (want string, data []byte) {
	t.Helper()
	for _, f := range a.Files {
		switch f.Name {
		case "want":
			want = string(f.Data)
		case "session.jsonl":
			data = f.Data
		default:
			t.Fatalf("a file %s", f.Name)
		}
	}
	for _, line := range strings.Split(string(a.Comment), "\n") {
		list, ok := strings.CutPrefix(line, "apply: ")
		if !ok {
			continue
		}
		for _, what := range strings.Fields(list) {
			switch what {
			case "bom":
				data = append([]byte("\xef\xbb\xbf"), data...)
			case "crlf":
				data = bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n"))
			case "chomp":
				data = bytes.TrimRight(data, "\r\n")
			case "nul":
				data = bytes.ReplaceAll(data, []byte("␀"), []byte{0})
			default:
				t.Fatalf("apply what: %s", what)
			}
		}
	}
	return want, data
}

// told are the facts of a transcript and of its chain that cases can name.
func told(t *testing.T, data []byte, tr *Transcript) map[string]string {
	t.Helper()
	c := tr.Chain(UUID{})
	names := func(rows []int) string {
		var out []string
		for m, err := range Load(context.Background(), bytes.NewReader(data), tr, rows) {
			if err != nil {
				t.Fatal(err)
			}
			if m.UUID == "" {
				m.UUID = fmt.Sprintf("(%d)", m.Line)
			}
			out = append(out, m.UUID)
		}
		return strings.Join(out, " ")
	}
	got := map[string]string{
		"chain": names(c.Rows), "rejoined": names(c.Rejoined), "preserved": names(c.Preserved), "bridged": names(c.Bridged),
		"boundary": "none", "leaf": string(c.By), "cycle": fmt.Sprint(c.Cycle), "lost": fmt.Sprint(c.Lost),
		"title": tr.Title, "first-prompt": tr.FirstPrompt, "turns": fmt.Sprint(tr.Turns), "lines": fmt.Sprint(tr.Lines),
		"problems": "none",
	}
	if c.Boundary >= 0 {
		got["boundary"] = names([]int{c.Boundary})
	}
	if i, ok := tr.Row(c.Leaf); ok {
		got["leaf"] = names([]int{i}) + " " + string(c.By)
	}
	if n := len(c.Rows); n > 0 {
		got["resume"] = names(c.Rows[n-1:])
		if c.ResumePoint(tr) != tr.Rows.At(c.Rows[n-1]).UUID {
			t.Error("the resume point is not the last row")
		}
	}
	v := c.Coverage
	got["coverage"] = fmt.Sprintf("records %d messages %d on-chain %d compacted %d sidechain %d unreachable %d",
		v.Records, v.Messages, v.OnChain, v.Compacted, v.Sidechain, v.Unreachable)
	var why []string
	for _, u := range v.Why {
		why = append(why, string(u.Reason), strings.Trim(fmt.Sprint(u.Lines), "[]"))
	}
	got["why"] = strings.Join(why, " ")
	if p := tr.Problems.String(); p != "" {
		got["problems"] = p
	}
	return got
}
