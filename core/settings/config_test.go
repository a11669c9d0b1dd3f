package settings

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var update = flag.Bool("update", false, "write the files that are generated from Keys")

var sameConfig = cmpopts.IgnoreUnexported(Config{})

const hash = "0123456789abcdef0123456789ABCDEF0123456789abcdef0123456789abcdef"

func TestDefaults(t *testing.T) {
	c := Default()
	if c.Limits.IndexLines != 200 || c.Limits.IndexBytes != 25000 || c.Limits.TopicBytes != 8<<20 ||
		c.Lock.Wait != 10*time.Second || c.Journal.MaxAge != 90*day || c.Guard.Secrets != "refuse" || c.Engine != "auto" {
		t.Errorf("Default() = %+v", c)
	}
	for _, v := range Values(c) {
		if v.Value != v.Default || v.Source != SourceDefault || v.Doc == "" {
			t.Errorf("Values has %+v", v)
		}
	}
}

func TestConfigFile(t *testing.T) {
	s := newScene(t, vars{"MEM_LIMITS_SCAN_TOPICS": "50", "MEM_GUARD_SECRETS": "warn", "MEM_LOCK_WAIT": ""}, files{"config/config.yaml": `# ours
memory:
  daily_log: true
limits:
  index_lines: 100
  index_bytes: 12KiB
  scan_topics: 7
lock: {wait: 1m30s}
journal:
  max_age: 30d
bases:
guard:
  allow:
    - ` + hash + `
budgets:
  day: {cost: 2.5}
jobs:
  dream:
    policy: apply
`})
	c, err := LoadConfig(s.env)
	if err != nil {
		t.Fatal(err)
	}
	want := Default()
	want.Memory.DailyLog = true
	want.Limits.IndexLines, want.Limits.IndexBytes, want.Limits.ScanTopics = 100, 12<<10, 50
	want.Lock.Wait = 90 * time.Second
	want.Journal.MaxAge = 30 * day
	want.Guard.Allow = []string{strings.ToLower(hash)}
	want.Budgets.Day.Cost = 2.5
	want.Jobs.Dream.Policy = "apply"
	if d := cmp.Diff(want, c, sameConfig); d != "" {
		t.Errorf("config (-want +got):\n%s", d)
	}
	if err := c.Set("limits.index_lines", "10", "--index-lines"); err != nil {
		t.Error(err)
	}
	path := s.env.ConfigFile()
	for key, source := range map[string]string{
		"memory.daily_log": path + ":3", "lock.wait": path + ":8", "guard.allow": path + ":14",
		"limits.scan_topics": "environment variable MEM_LIMITS_SCAN_TOPICS",
		"limits.index_lines": "--index-lines", "limits.scan_lines": SourceDefault, "guard.secrets": SourceDefault,
	} {
		if got := c.Source(key); got != source {
			t.Errorf("Source(%s) = %s, want %s", key, got, source)
		}
	}
	values := map[string]string{}
	for _, v := range Values(c) {
		values[v.Key] = v.Value
	}
	for key, want := range map[string]string{"limits.index_lines": "10", "limits.index_bytes": "12KiB", "lock.wait": "1m30s",
		"journal.max_age": "30d", "guard.allow": "[" + strings.ToLower(hash) + "]", "budgets.day.cost": "2.5"} {
		if values[key] != want {
			t.Errorf("Values shows %s = %s, want %s", key, values[key], want)
		}
	}
}

func TestConfigErrors(t *testing.T) {
	for _, tc := range []struct{ name, yaml, want string }{
		{"unknown key", "limits:\n  index_lnes: 3\n", "config.yaml:2: limits.index_lnes: there is no such key: known in limits: index_lines, index_bytes"},
		{"unknown section", "limit: {}\n", "config.yaml:1: limit: there is no such key: known at the top level: memory, limits"},
		{"value in place of a section", "limits: 3\n", `config.yaml:1: limits: is "3", not a mapping`},
		{"section in place of a value", "lock:\n  wait:\n    seconds: 3\n", "lock.wait: is a mapping, not a duration such as 10s"},
		{"list at the top", "- a\n", "config.yaml:1: is a list, not a mapping"},
		{"text for a count", "limits: {index_lines: many}\n", `limits.index_lines: is "many", not a whole number: write a whole number, or remove it to get the default, 200`},
		{"quoted count", "limits: {index_lines: '3'}\n", "not a whole number"},
		{"fraction for a count", "limits: {index_lines: 1.5}\n", "not a whole number"},
		{"count too small", "limits: {index_lines: 0}\n", "is 0, below 1"},
		{"count too large", "limits: {index_lines: 9999999999}\n", "above 1000000000"},
		{"yes for a boolean", "memory: {daily_log: yes}\n", `is "yes", not true or false`},
		{"quoted boolean", "memory: {daily_log: 'true'}\n", "not true or false"},
		{"null", "lock: {wait: }\n", "lock.wait: is empty"},
		{"duration without a unit", "lock: {wait: 10}\n", "not a duration"},
		{"negative duration", "lock: {wait: -1s}\n", "is -1s, below 0"},
		{"size with an unknown unit", "limits: {topic_bytes: 3 pages}\n", "not a size"},
		{"size that overflows", "limits: {topic_bytes: 99999999TiB}\n", "not a size"},
		{"size too large", "limits: {topic_bytes: 2TiB}\n", "is 2TiB, above 1TiB"},
		{"unknown choice", "guard: {secrets: allow}\n", "not one of refuse, warn"},
		{"one hash without a list", "guard: {allow: " + hash + "}\n", "not a list of SHA-256"},
		{"not a hash", "guard: {allow: [abc]}\n", `holds "abc", which is not a SHA-256`},
		{"negative cost", "budgets: {job: {cost: -1}}\n", "is -1, below 0"},
		{"infinite cost", "budgets: {job: {cost: .inf}}\n", "not a number"},
		{"twice", "engine: none\nengine: auto\n", "config.yaml:2: engine: is set twice, first in line 1: keep one of them"},
		{"alias", "engine: &e none\nlock: *e\n", "lock: is an alias"},
		{"merge key", "limits: &l {index_lines: 3}\nlock:\n  <<: *l\n", "there is no such key"},
		{"two documents", "engine: none\n---\nengine: auto\n", "more than one document"},
		{"not YAML", "limits: [\n", "is not YAML"},
		{"a tab", "limits:\n\tindex_lines: 3\n", "is not YAML"},
		{"key that is a list", "[a, b]: 3\n", "has a name that is a list"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newScene(t, nil, files{"config/config.yaml": tc.yaml})
			_, err := LoadConfig(s.env)
			if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), s.env.ConfigFile()) {
				t.Errorf("error = %v\nwant %q in it", err, tc.want)
			}
		})
	}
}

func TestConfigReportsEverythingAndKeepsTheRest(t *testing.T) {
	s := newScene(t, vars{"MEM_LOCK_WAIT": "soon"}, files{"config/config.yaml": "a: 1\nb: 2\nmemory: {daily_log: true}\n"})
	c, err := LoadConfig(s.env)
	for _, want := range []string{":1: a", ":2: b", "environment variable MEM_LOCK_WAIT"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error = %v, want %q in it", err, want)
		}
	}
	if !c.Memory.DailyLog || c.Lock.Wait != 10*time.Second {
		t.Errorf("config = %+v", c)
	}
}

func TestConfigMissingOrUnreadable(t *testing.T) {
	for _, content := range []string{"", "# only a comment\n", "---\n"} {
		s := newScene(t, nil, files{"config/config.yaml": content})
		if c, err := LoadConfig(s.env); err != nil || !cmp.Equal(c, Default(), sameConfig) {
			t.Errorf("%q: %v", content, err)
		}
	}
	s := newScene(t, nil, nil)
	if _, err := LoadConfig(s.env); err != nil {
		t.Errorf("a missing file: %v", err)
	}
	if _, err := LoadConfig(Env{}); err != nil {
		t.Errorf("no Env at all: %v", err)
	}
	if err := os.MkdirAll(s.env.ConfigFile(), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadConfig(s.env); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("a directory in its place: %v", err)
	}
}

func TestSet(t *testing.T) {
	c := Default()
	if err := c.Set("guard.allow", hash+","+hash, "--allow"); err != nil || len(c.Guard.Allow) != 2 {
		t.Errorf("Set(guard.allow) = %v, %q", err, c.Guard.Allow)
	}
	if err := c.Set("no.such", "1", "--x"); err == nil || !strings.Contains(err.Error(), "--x: no.such: there is no such key") {
		t.Errorf("Set(no.such) = %v", err)
	}
	if err := c.Set("lock.wait", "x", "--wait"); err == nil || c.Lock.Wait != 10*time.Second {
		t.Errorf("Set(lock.wait) = %v, %v", err, c.Lock.Wait)
	}
}

func TestSafetyRulesAreFileOnly(t *testing.T) {
	for _, k := range Keys() {
		safety := strings.HasPrefix(k.Path, "guard.") || strings.HasPrefix(k.Path, "engine") || strings.HasPrefix(k.Path, "budgets.") ||
			strings.HasSuffix(k.Path, ".policy") || k.Path == "jobs.read_project" || k.Path == "hooks.record_turns" || k.Path == "stores"
		if safety != k.FileOnly || safety != (k.EnvName() == "") {
			t.Errorf("%s: FileOnly = %t", k.Path, k.FileOnly)
		}
	}
}

func TestExampleIsTheDefaults(t *testing.T) {
	s := newScene(t, nil, files{"config/config.yaml": Example()})
	c, err := LoadConfig(s.env)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(Default(), c, sameConfig); d != "" {
		t.Errorf("the example differs from the defaults (-want +got):\n%s", d)
	}
	for _, k := range Keys() {
		if c.Source(k.Path) == SourceDefault {
			t.Errorf("the example lacks %s", k.Path)
		}
	}
}

func TestSchemaIsCurrent(t *testing.T) {
	file := filepath.Join("..", "..", "docs", "config.schema.json")
	want, err := Schema()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s is stale, run go test ./core/settings -update (-want +got):\n%s", file, d)
	}
}

func FuzzConfig(f *testing.F) {
	for _, s := range []string{"", Example(), "a: &a [*a]", "limits: {index_lines: 0x10}", "? [a]\n: b", "--- \n--- ", "lock: {wait: 1d}", "<<: {a: 1}", "\xef\xbb\xbfengine: none"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c := Default()
		errs := c.parse("f", data)
		for _, err := range errs {
			if err.Error() == "" {
				t.Error("an error without words")
			}
		}
		for _, v := range Values(c) { // what is shown can be written again
			if v.Value == "[]" {
				continue
			}
			again := Default()
			if err := again.Set(v.Key, strings.Trim(strings.ReplaceAll(v.Value, ", ", ","), "[]"), "again"); err != nil {
				t.Error(err)
			}
		}
	})
}

func TestConfigErrorsAreBounded(t *testing.T) {
	c := Default()
	errs := c.parse("f", []byte(strings.Repeat("engine: none\n", 100)))
	if len(errs) != maxConfigErrors+1 || !strings.Contains(errs[maxConfigErrors].Error(), "79 more errors") {
		t.Errorf("%d errors, the last: %v", len(errs), errs[len(errs)-1])
	}
}
