package guard

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mem/internal/need"
)

func TestCache(t *testing.T) {
	s := newScanner(t, Options{})
	text := []byte("token " + githubToken(300))
	first := s.Scan(text)
	if n := s.cache.order.Len(); n != 1 {
		t.Fatalf("%d entries after a scan", n)
	}
	if _, ok := s.cache.get(sha256.Sum256(text)); !ok {
		t.Error("the text is not in the cache")
	}
	text[0] = 'T' // the caller's bytes are its own
	if again := s.Scan(text); !slices.Equal(again, first) {
		t.Errorf("got %v, then %v", first, again)
	}
	for i := range 3 * cacheEntries {
		s.Scan(fmt.Appendf(nil, "text %d", i))
	}
	if n, m := s.cache.order.Len(), len(s.cache.byKey); n != cacheEntries || m != n {
		t.Errorf("cache has %d and %d entries, want %d", n, m, cacheEntries)
	}
}

// TestLazy: whatever has no secret to look for loads no rules.
func TestLazy(t *testing.T) {
	s := newScanner(t, Options{})
	s.rules = func() (*ruleSet, error) { t.Error("rules were loaded"); return nil, nil }
	s.Scan(nil)
	s.Added([]byte("a\nb\n"), []byte("a\n"))
	s.Added([]byte("a"), []byte("a"))
}

// TestNoRules: a guard that cannot work says so, and its caller refuses.
func TestNoRules(t *testing.T) {
	s := newScanner(t, Options{})
	s.rules = func() (*ruleSet, error) { return nil, fmt.Errorf("no rules today") }
	found := s.Scan([]byte("a\nb"))
	if len(found) != 1 || found[0].Kind != KindIncomplete || found[0].End != 3 || !strings.Contains(found[0].Reason, "no rules today") {
		t.Errorf("got %+v", found)
	}
}

// TestRulePanics: a rule that fails is reported, the others still work, and the secret is not in the report.
func TestRulePanics(t *testing.T) {
	set, err := loadRules()
	if err != nil {
		t.Fatal(err)
	}
	token := githubToken(310)
	set.rules[0] = &rule{id: "broken", compile: func() (*compiled, error) { panic("at " + token) }}
	s := newScanner(t, Options{})
	s.rules = func() (*ruleSet, error) { return set, nil }
	found := s.Scan([]byte(token))
	if got := rulesOf(found); !slices.Equal(got, []string{"broken", "github-pat"}) || found[0].Kind != KindIncomplete {
		t.Fatalf("got %v", found)
	}
	if strings.Contains(found[0].Reason, token) {
		t.Error("the report tells the secret")
	}
}

func TestConcurrent(t *testing.T) {
	s := newScanner(t, Options{})
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 2 * len(families) {
				f := families[(i+g*5)%len(families)]
				text := []byte(strings.Replace(f.text, "%s", f.secret, 1))
				if found := s.Scan(text); len(found) != 1 || found[0].Rule != f.rule {
					t.Errorf("%s: got %v", f.rule, rulesOf(found))
				}
				if found := s.Added([]byte("first\n"), slices.Concat([]byte("first\n"), text)); len(found) != 1 {
					t.Errorf("%s: added %v", f.rule, rulesOf(found))
				}
			}
		})
	}
	wg.Wait()
}

// TestLargeInput: no text makes the guard slow. The limits are far above what is measured (see the benchmarks), so
// that a busy machine passes; something quadratic does not.
func TestLargeInput(t *testing.T) {
	const size = 12 << 20
	for name, unit := range map[string]string{
		"one token":         "ey",
		"one line of words": "token key secret api ",
		"base64":            random(320, alnum+"+/", 1000),
		"zero-width":        "\u200b",
		"alternating":       "a\u200b",
		"newlines":          "\n",
		"operators":         "key=",
		"key headers":       strings.Repeat("-", 5) + "BEGIN PRIVATE " + "KEY" + strings.Repeat("-", 5),
		"direction marks":   "\u200e.",
		"percent":           "%20",
	} {
		t.Run(name, func(t *testing.T) {
			need.Asked(t, !testing.Short() && !raceEnabled, "slow: make unit runs this without the race detector")
			var text []byte
			for i := 0; len(text) < size; i++ { // numbered, or the pieces would come from the cache
				text = append(fmt.Append(text, i), bytes.Repeat([]byte(unit), 1+5000/len(unit))...)
			}
			s := newScanner(t, Options{})
			start := time.Now()
			found := s.Scan(text)
			took := time.Since(start)
			t.Logf("%v for %d MB, %d findings", took.Round(time.Millisecond), len(text)>>20, len(found))
			if took > 60*time.Second {
				t.Errorf("took %v", took)
			}
			if !slices.ContainsFunc(found, func(f Finding) bool { return f.Kind == KindIncomplete && f.Rule != HiddenTooMany }) {
				t.Error("does not say that it has not searched everything")
			}
		})
	}
}

// TestAlone runs a scan in a process of its own, in a directory and an environment that the gitleaks command would
// obey, and expects the secret to be found and nothing else to be printed.
func TestAlone(t *testing.T) {
	if os.Getenv("GUARD_TEST_CHILD") != "" {
		fmt.Printf("found %v\n", rulesOf(newScanner(t, Options{}).Scan([]byte(githubToken(330)))))
		return
	}
	dir := t.TempDir()
	for name, body := range map[string]string{
		".gitleaks.toml":   "title = \"nothing\"\n[allowlist]\nregexes = ['''.*''']\n",
		".gitleaksignore":  ":github-pat:1\n:github-pat:0\n",
		"gitleaks.toml":    "[allowlist]\nregexes = ['''.*''']\n",
		".gitleaks/x.toml": "",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestAlone$")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GUARD_TEST_CHILD=1", "GITLEAKS_CONFIG="+filepath.Join(dir, ".gitleaks.toml"), "GITLEAKS_CONFIG_TOML=[allowlist]\nregexes = ['''.*''']")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s%s", err, &stdout, &stderr)
	}
	if got := stdout.String(); !strings.HasPrefix(got, "found [github-pat]\nPASS\n") {
		t.Errorf("printed %q", got)
	}
	if stderr.Len() > 0 {
		t.Errorf("printed to standard error: %q", &stderr)
	}
}
