package clitest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"mem/core/settings"
)

// Environment is that of the process, with the clock and the policy file that a script sets with TEST_NOW (RFC 3339) and
// TEST_POLICY. A clock that cannot be read ends the process with exit code 99, which no command line of ours has.
func Environment() settings.Env {
	env := settings.FromOS()
	env.ManagedSettings = os.Getenv("TEST_POLICY")
	if s := os.Getenv("TEST_NOW"); s != "" {
		now, err := time.Parse(time.RFC3339, s)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(99)
		}
		env.Now = func() time.Time { return now }
	}
	return env
}

// SetUp gives a script a home of its own: nothing of this machine's user is ever read or written.
func SetUp(env *testscript.Env) error {
	home := Home(env)
	for k, v := range map[string]string{
		"HOME":            home,
		"USERPROFILE":     home,
		"APPDATA":         filepath.Join(home, "AppData", "Roaming"),
		"LOCALAPPDATA":    filepath.Join(home, "AppData", "Local"),
		"XDG_CONFIG_HOME": filepath.Join(home, ".config"),
		"XDG_STATE_HOME":  filepath.Join(home, ".local", "state"),
		"XDG_DATA_HOME":   filepath.Join(home, ".local", "share"),
		"XDG_CACHE_HOME":  filepath.Join(home, ".cache"),
		"TEST_POLICY":     filepath.Join(env.WorkDir, "policy.json"),
		"TEST_NOW":        Now().Format(time.RFC3339),
		"TZ":              "UTC",
		"MEM_SESSION_ID":  "test-session",
	} {
		env.Setenv(k, v)
	}
	return os.MkdirAll(home, 0o700)
}

// Home is the home of a script.
func Home(env *testscript.Env) string { return filepath.Join(env.WorkDir, "home") }

// Commands are what scripts of both command lines call: jsonget, capture and bytes, and more that are given.
func Commands(more map[string]func(*testscript.TestScript, bool, []string)) map[string]func(*testscript.TestScript, bool, []string) {
	all := map[string]func(*testscript.TestScript, bool, []string){"jsonget": jsonGet, "capture": capture, "bytes": writeBytes}
	for name, f := range more {
		all[name] = f
	}
	return all
}

// lookUp follows a path such as topics.0.path in the JSON that the last command printed.
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

// jsonGet checks a value in the JSON that the last command printed: [!] jsonget path [regexp].
func jsonGet(ts *testscript.TestScript, neg bool, args []string) {
	got, ok := lookUp(ts, args[0])
	if len(args) == 1 {
		if ok == neg {
			ts.Fatalf("%s: there is %v, value %s", args[0], ok, got)
		}
		return
	}
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

// writeBytes writes a Go string literal into a file, with the folders above it: bytes FILE "a\x00b". A name that is
// relative may have Go's escapes too; an absolute one is taken as it is, since a Windows path has backslashes.
func writeBytes(ts *testscript.TestScript, _ bool, args []string) {
	content, err := strconv.Unquote(`"` + args[1] + `"`)
	ts.Check(err)
	file := args[0]
	if !filepath.IsAbs(file) {
		file, err = strconv.Unquote(`"` + file + `"`)
		ts.Check(err)
		file = ts.MkAbs(file)
	}
	ts.Check(os.MkdirAll(filepath.Dir(file), 0o700))
	ts.Check(os.WriteFile(file, []byte(content), 0o600))
}
