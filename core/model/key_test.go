package model

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mem/core/settings"
)

// TestMain plays the key command where a test asks for it: the test's own program runs
// on every system.
func TestMain(m *testing.M) {
	switch os.Getenv("MEM_TEST_KEY_COMMAND") {
	case "":
		os.Exit(m.Run())
	case "print":
		_, _ = os.Stdout.WriteString(strings.Join(os.Args[1:], "|") + "\n") // who reads is the test
	case "lines":
		_, _ = os.Stdout.WriteString("hidden\nhidden\n")
	case "fail":
		_, _ = os.Stdout.WriteString("hidden\n")
		os.Exit(3)
	case "endless":
		for {
			if _, err := os.Stdout.WriteString(strings.Repeat("hidden", 1000)); err != nil {
				os.Exit(1)
			}
		}
	case "child": // leaves a process behind that keeps the output open
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), "MEM_TEST_KEY_COMMAND=sleep")
		c.Stdout = os.Stdout
		if err := c.Start(); err != nil {
			os.Exit(4)
		}
		if err := os.WriteFile(os.Args[1], nil, 0o600); err != nil {
			os.Exit(4)
		}
		time.Sleep(time.Hour)
	case "sleep":
		time.Sleep(time.Hour)
	}
	os.Exit(0)
}

func self(t *testing.T) string {
	t.Helper()
	p, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return "'" + p + "'"
}

func env(vars map[string]string) settings.Env {
	return settings.Env{Lookup: func(n string) (string, bool) { v, ok := vars[n]; return v, ok }, Home: os.TempDir()}
}

func TestKeyOfVariable(t *testing.T) {
	vars := env(map[string]string{"ANTHROPIC_API_KEY": " a ", "OPENAI_API_KEY": "o", "MINE": "m"})
	for want, p := range map[string]settings.ProviderConfig{
		"a": {API: "anthropic"}, "o": {API: "openai"}, "m": {API: "openai", KeyEnv: "MINE"}, "": {API: "openai", KeyEnv: "NONE"},
	} {
		if got, err := Key(p, vars); got != want || err != nil {
			t.Errorf("%+v: %q %v", p, got, err)
		}
	}
	if n := KeyName(settings.ProviderConfig{API: "openai"}); n != "OPENAI_API_KEY" {
		t.Error(n)
	}
}

func TestKeyOfCommand(t *testing.T) {
	vars := env(map[string]string{"ANTHROPIC_API_KEY": "of the variable", "WHO": "me you"})
	for _, c := range []struct{ mode, command, want, err string }{
		{"print", self(t) + ` get "$WHO" 'a;b|c' d\ e`, "get|me you|a;b|c|d e", ""},
		{"lines", self(t), "", "printed more than one line"},
		{"fail", self(t), "", "failed (exit status 3)"},
		{"endless", self(t), "", "printed more than 16384 bytes"},
		{"none", self(t), "", "printed nothing"},
		{"", "/no/such/program", "", "cannot be run"},
		{"", "no-such-program-of-anybody x", "", "cannot be run"},
		{"", "./get-key", "", "write its whole path"},
		{"", "echo $(cat /etc/passwd)", "", "cannot be read as words"},
		{"", "echo `id`", "", "cannot be read as words"},
		{"", "echo a | tee b", "", "cannot be read as words"},
		{"", "echo a; echo b", "", "cannot be read as words"},
		{"", "echo a > b", "", "cannot be read as words"},
		{"", "'unfinished", "", "cannot be read as words"},
		{"", `""`, "", ""},
	} {
		t.Run(c.mode+c.command, func(t *testing.T) {
			t.Setenv("MEM_TEST_KEY_COMMAND", c.mode)
			got, err := Key(settings.ProviderConfig{API: "anthropic", KeyCommand: c.command}, vars)
			if got != c.want || (err == nil) != (c.want != "") || err != nil && (!strings.Contains(err.Error(), c.err) || strings.Contains(err.Error(), "hidden")) {
				t.Errorf("%q %v", got, err)
			}
		})
	}
}

func TestKeyCommandEnds(t *testing.T) {
	t.Setenv("MEM_TEST_KEY_COMMAND", "child")
	begun, mark := time.Now(), filepath.Join(t.TempDir(), "begun")
	p, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out, err := runKeyCommand([]string{p, mark}, "", 700*time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "gave no key within 700ms") {
		t.Errorf("%q %v", out, err)
	}
	if _, err := os.Stat(mark); err != nil {
		t.Fatalf("the child did not begin: %v", err)
	}
	if d := time.Since(begun); d > 4*time.Second {
		t.Errorf("took %v", d)
	}
	if left := processesOf(t, "MEM_TEST_KEY_COMMAND=sleep"); left > 0 {
		t.Errorf("%d processes are left", left)
	}
}

// processesOf counts processes with a variable in their environment, where the system
// shows them as files.
func processesOf(t *testing.T, variable string) int {
	t.Helper()
	n := 0
	for end := time.Now().Add(2 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		n = 0
		files, err := filepath.Glob("/proc/[0-9]*/environ")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if b, err := os.ReadFile(f); err == nil && strings.Contains(string(b), variable) {
				n++
			}
		}
		if n == 0 || time.Now().After(end) {
			return n
		}
	}
}

func TestPrice(t *testing.T) {
	u := Usage{Requests: 1, Input: 1000, Output: 100, CacheRead: 10_000, CacheWrite: 2000}
	for _, c := range []struct {
		p      Prices
		cost   float64
		priced bool
	}{
		{Prices{Input: 1, Output: 5, CacheRead: 0.1, CacheWrite: 1.25}, 0.001 + 0.0005 + 0.001 + 0.0025, true},
		{Prices{Input: 1, Output: 5}, 0.001 + 0.0005 + 0.01 + 0.002, true},
		{Prices{Input: 1}, 0.001 + 0.01 + 0.002, false},
		{Prices{}, 0, false},
	} {
		got := c.p.Price(u)
		if d := got.Cost - c.cost; d > 1e-12 || d < -1e-12 || got.Priced != c.priced || got.Tokens() != 3100 {
			t.Errorf("%+v: %+v", c.p, got)
		}
	}
	if PricesOf(settings.ProviderConfig{PriceInput: 1, PriceOutput: 2, PriceCacheRead: 3, PriceCacheWrite: 4}) != (Prices{1, 2, 3, 4}) {
		t.Error("prices of the configuration")
	}
}
