package lspcli_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"mem/core/settings"
	"mem/internal/cli"
	"mem/internal/lspcli"
	"mem/internal/term"
)

// TestMain makes this binary the commands that scripts call.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"mem-lsp": func() { os.Exit(memLSP(os.Args[1:])) },
		"mem-mcp": func() { os.Exit(memMCP(os.Args[1:])) },
		"exits":   func() { os.Exit(exits(os.Args[1], os.Args[2:])) },
	})
}

// environment is that of the process, with a clock that a script can set.
func environment() settings.Env {
	env := settings.FromOS()
	env.ManagedSettings = os.Getenv("TEST_POLICY")
	if now, err := time.Parse(time.RFC3339, os.Getenv("TEST_NOW")); err == nil {
		env.Now = func() time.Time { return now }
	}
	return env
}

// memLSP is the main of mem-lsp, with a server that only shows that it was called.
func memLSP(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	serve := func(_ context.Context, _ settings.Env, in io.Reader, out, log io.Writer, version string) error {
		said, err := io.ReadAll(in)
		fmt.Fprintf(out, "served %s by version %s\n", said, version)
		if string(said) == "garbage" {
			return errors.Join(err, errors.New("the client sent garbage"))
		}
		return err
	}
	return lspcli.Run(ctx, lspcli.Options{Env: environment(), Streams: term.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, Version: "test", Serve: serve}, args)
}

func memMCP(args []string) int {
	return cli.Run(context.Background(), environment(), term.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}, "test", args)
}

// exits runs mem-lsp and succeeds where it ends with the exit code that is given.
func exits(want string, args []string) int {
	if got := strconv.Itoa(memLSP(args)); got != want {
		fmt.Fprintf(os.Stderr, "exit code %s, want %s\n", got, want)
		return 99
	}
	return 0
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Setup:               setUp,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"bytes":   writeBytes,
			"same":    same,
			"jsonget": jsonGet,
			"capture": capture,
		},
		Condition: func(cond string) (bool, error) {
			if cond == "root" {
				return os.Geteuid() == 0, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
	})
}

// setUp gives each script a home of its own: nothing of this machine's user is ever
// read or written.
func setUp(env *testscript.Env) error {
	work, home := env.WorkDir, filepath.Join(env.WorkDir, "home")
	for k, v := range map[string]string{
		"HOME":            home,
		"USERPROFILE":     home,
		"APPDATA":         filepath.Join(home, "AppData", "Roaming"),
		"LOCALAPPDATA":    filepath.Join(home, "AppData", "Local"),
		"XDG_CONFIG_HOME": filepath.Join(home, ".config"),
		"XDG_STATE_HOME":  filepath.Join(home, ".local", "state"),
		"XDG_DATA_HOME":   filepath.Join(home, ".local", "share"),
		"XDG_CACHE_HOME":  filepath.Join(home, ".cache"),
		"TEST_POLICY":     filepath.Join(work, "policy.json"),
		"TEST_NOW":        "2026-11-30T10:00:00Z",
		"TZ":              "UTC",
		"MEM_SESSION_ID":  "test-session",
		"BOM":             "\ufeff",
	} {
		env.Setenv(k, v)
	}
	return os.MkdirAll(home, 0o700)
}

// writeBytes writes a Go string literal into a file: bytes FILE "a\x00b".
func writeBytes(ts *testscript.TestScript, _ bool, args []string) {
	s, err := strconv.Unquote(`"` + args[1] + `"`)
	ts.Check(err)
	name, err := strconv.Unquote(`"` + args[0] + `"`)
	ts.Check(err)
	file := ts.MkAbs(name)
	ts.Check(os.MkdirAll(filepath.Dir(file), 0o700))
	ts.Check(os.WriteFile(file, []byte(s), 0o600))
}

// same compares the bytes of a file with a Go string literal: [!] same FILE "a\x00b".
func same(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Unquote(`"` + args[1] + `"`)
	ts.Check(err)
	if got := ts.ReadFile(args[0]); (got == want) == neg {
		ts.Fatalf("%s holds %q", args[0], got)
	}
}

// lookUp follows a path such as findings.0.path in the JSON of stdout.
func lookUp(ts *testscript.TestScript, path string) (string, bool) {
	var v any
	if err := json.Unmarshal([]byte(ts.ReadFile("stdout")), &v); err != nil {
		ts.Fatalf("stdout is not JSON: %v", err)
	}
	for _, key := range strings.Split(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			var ok bool
			if v, ok = x[key]; !ok {
				return "", false
			}
		case []any:
			if key == "len" {
				v = float64(len(x))
				continue
			}
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(x) {
				return "", false
			}
			v = x[i]
		default:
			return "", false
		}
	}
	if s, ok := v.(string); ok {
		return s, true
	}
	b, err := json.Marshal(v)
	ts.Check(err)
	return string(b), true
}

// jsonGet checks a value in the JSON that the last command printed:
// [!] jsonget path regexp.
func jsonGet(ts *testscript.TestScript, neg bool, args []string) {
	got, ok := lookUp(ts, args[0])
	if !ok {
		ts.Fatalf("there is no %s", args[0])
	}
	if regexp.MustCompile(args[1]).MatchString(got) == neg {
		ts.Fatalf("%s is %q, which does not fit %q", args[0], got, args[1])
	}
}

// capture puts a value of the JSON into a variable: capture NAME path.
func capture(ts *testscript.TestScript, _ bool, args []string) {
	got, ok := lookUp(ts, args[1])
	if !ok {
		ts.Fatalf("there is no %s", args[1])
	}
	ts.Setenv(args[0], got)
}
