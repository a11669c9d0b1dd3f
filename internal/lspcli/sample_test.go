package lspcli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mem/internal/clitest"
	"mem/internal/lspcli"
	"mem/internal/term"
)

// TestCheckOfASample checks a folder in which much is wrong, in every format. The
// official schema of SARIF is held against sample.sarif by package report.
func TestCheckOfASample(t *testing.T) {
	m := newMachine(t)
	m.sample("mistakes")
	for _, c := range []struct {
		file string
		s    term.Streams
		args []string
		tidy func(*testing.T, string) string
	}{
		{"sample.txt", term.Streams{}, nil, nil},
		{"sample-terminal.txt", term.Streams{Terminal: true, Width: 100}, nil, nil},
		{"sample.json", term.Streams{}, []string{"--format", "json"}, nil},
		{"sample.sarif", term.Streams{}, []string{"--format", "sarif"}, withoutPages},
		{"sample.github", term.Streams{}, []string{"--format", "github"}, nil},
	} {
		t.Run(c.file, func(t *testing.T) {
			out, errOut, code := m.run(context.Background(), c.s, append([]string{"check"}, c.args...)...)
			if code != lspcli.ExitFindings || strings.Contains(out+errOut, m.root) || strings.Contains(out, token[:8]) {
				t.Errorf("exit code %d, %s%s", code, errOut, out)
			}
			if c.tidy != nil {
				out = c.tidy(t, out)
			}
			clitest.Golden(t, c.file, strings.ReplaceAll(out, "\x1b", "␛"))
		})
	}
	// The summary counts what is listed.
	_, summary, _ := m.run(context.Background(), term.Streams{}, "check")
	out, _, _ := m.run(context.Background(), term.Streams{}, "check", "--format", "json")
	var r struct{ Findings []struct{ Rule string } }
	if err := json.Unmarshal([]byte(out), &r); err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for _, f := range r.Findings {
		ids[f.Rule] = true
	}
	if len(ids) < 35 || !strings.HasPrefix(summary, fmt.Sprintf("%d findings: ", len(r.Findings))) {
		t.Errorf("%d findings of %d rules: %s", len(r.Findings), len(ids), summary)
	}
}

// token stands in samples as {{token}}, put together here so that no scanner of
// sources stumbles over it.
const token = "ghp_" + "Zq7Lm2Xc9Vb4Nk8Rt6Yp1Wd3Hf5Gs0Ja2Ku7"

// sample lays a sample of the rules out in the working directory, as a project with
// its memory in a folder.
func (m *machine) sample(name string) {
	m.t.Helper()
	m.write(".git/HEAD", "ref: refs/heads/main\n")
	from := os.DirFS(filepath.Join("..", "..", "diagnostics", "testdata", "samples", name))
	err := fs.WalkDir(from, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || p == "findings.txt" {
			return err
		}
		b, err := fs.ReadFile(from, p)
		if err != nil {
			return err
		}
		p = strings.TrimPrefix(p, "project/")
		m.write(p, strings.ReplaceAll(string(b), "{{token}}", token))
		at := m.env.Now().Add(-time.Hour)
		return os.Chtimes(filepath.Join(m.env.Cwd, filepath.FromSlash(p)), at, at)
	})
	if err != nil {
		m.t.Fatal(err)
	}
	for _, dir := range []string{"objects", "refs"} {
		if err := os.MkdirAll(filepath.Join(m.env.Cwd, ".git", dir), 0o700); err != nil {
			m.t.Fatal(err)
		}
	}
}

// withoutPages leaves out of a SARIF log the pages of the rules, which change with
// their wording.
func withoutPages(t *testing.T, log string) string {
	t.Helper()
	var v map[string]any
	if err := json.Unmarshal([]byte(log), &v); err != nil {
		t.Fatal(err)
	}
	for _, rule := range v["runs"].([]any)[0].(map[string]any)["tool"].(map[string]any)["driver"].(map[string]any)["rules"].([]any) {
		delete(rule.(map[string]any), "help")
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
