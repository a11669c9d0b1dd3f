package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"mem/core/project"
)

// MaxClientFile bounds each of the client's settings files, in bytes. Real
// ones have a few kilobytes.
const MaxClientFile = 4 << 20

// Scope says which of the client's settings files a value comes from.
type Scope string

// The scopes, highest precedence first. What the client was given on its
// command line would come after policy; other processes cannot see it.
const (
	ScopePolicy  Scope = "policy"
	ScopeLocal   Scope = "local"
	ScopeProject Scope = "project"
	ScopeUser    Scope = "user"
)

// Source is one settings file of the client that exists and could be read.
type Source struct {
	Scope   Scope  `json:"scope"`
	Path    string `json:"path"`
	Trusted bool   `json:"trusted"`
	Reason  string `json:"reason,omitempty"` // why it is not trusted

	keys map[string]json.RawMessage
	env  map[string]string
}

// Label names the source in messages.
func (s Source) Label() string { return fmt.Sprintf("%s settings %s", s.Scope, s.Path) }

// Problem is a settings file, or one key in it, that is ignored.
type Problem struct {
	Path   string
	Key    string // "" when the whole file is ignored
	Reason string
	Fix    string // what the reader can do
}

func (p *Problem) Error() string {
	if p.Key != "" {
		return fmt.Sprintf("settings file %s: %s: %s; the key is ignored: %s", p.Path, p.Key, p.Reason, p.Fix)
	}
	return fmt.Sprintf("settings file %s: %s; the file is ignored: %s", p.Path, p.Reason, p.Fix)
}

// Client is the client's settings as far as memory needs them.
type Client struct {
	Sources  []Source   // highest precedence first
	Problems []*Problem // what was ignored and why

	process Env
}

// Value is one key of one source.
type Value struct {
	Source Source
	raw    json.RawMessage
}

// relevantKeys are the keys that memory depends on. Only a file that has one
// of them is worth asking git about.
var relevantKeys = []string{KeyDirectory, KeyEnabled, KeyDream, "env"}

// Keys of the client's settings (observed on Claude Code 2.1.332).
const (
	KeyDirectory = "autoMemoryDirectory"
	KeyEnabled   = "autoMemoryEnabled"
	KeyDream     = "autoDreamEnabled"
	KeyCleanup   = "cleanupPeriodDays"
)

// LoadClient reads the settings files that apply to p: policy, local, project
// and user. It never fails as a whole: what cannot be read is a Problem.
//
// In a subdirectory of a checkout the files of the directory itself come
// before those of the checkout's top.
func LoadClient(env Env, p project.Project) Client {
	c := Client{process: env}
	c.add(ScopePolicy, env.managedSettings(), true, "")

	userFile := ""
	if dir := env.ClientDir(); dir != "" {
		userFile = filepath.Join(dir, "settings.json")
	}
	dirs := projectDirs(p)
	for _, dir := range dirs {
		file := filepath.Join(dir, ".claude", "settings.local.json")
		c.addLocal(p, file)
	}
	for _, dir := range dirs {
		file := filepath.Join(dir, ".claude", "settings.json")
		if sameFile(file, userFile) {
			continue // the project is the home directory: these are the user's
		}
		c.add(ScopeProject, file, false, "project settings come with the repository")
	}
	if userFile != "" {
		c.add(ScopeUser, userFile, true, "")
	}
	return c
}

func projectDirs(p project.Project) []string {
	switch {
	case p.Dir == "":
		return nil
	case p.Worktree == "" || p.Worktree == p.Dir:
		return []string{p.Dir}
	}
	return []string{p.Dir, p.Worktree}
}

func sameFile(a, b string) bool {
	if a == b {
		return true
	}
	fa, err := os.Stat(a)
	if err != nil {
		return false
	}
	fb, err := os.Stat(b)
	return err == nil && os.SameFile(fa, fb)
}

// addLocal adds a settings.local.json, which is the user's own unless git
// tracks it: then it came with the repository. Without git nothing tells it from
// one that came with the folder, as in the archive of a repository that tracks it.
func (c *Client) addLocal(p project.Project, file string) {
	if !c.add(ScopeLocal, file, true, "") {
		return
	}
	s := &c.Sources[len(c.Sources)-1]
	if !s.hasAny(relevantKeys) {
		return
	}
	if p.Worktree == "" && p.Problem == "" && !isHome(p.Dir) {
		s.Trusted, s.Reason = false, "without git nothing tells whether it came with the folder, so it counts as project settings; the user's own settings are trusted"
		return
	}
	switch tracked, err := project.Tracked(p, file); {
	case err != nil:
		s.Trusted, s.Reason = false, fmt.Sprintf("git may track it, which would make it project settings: %v", err)
	case tracked:
		s.Trusted, s.Reason = false, "git tracks it, so it is project settings"
	}
}

// isHome reports whether a folder is the user's home, as the system knows it: the variable
// could be a repository's.
func isHome(dir string) bool {
	home := realHome()
	return home != "" && sameFile(dir, home)
}

// add reads one file and reports whether it became a source.
func (c *Client) add(scope Scope, path string, trusted bool, reason string) bool {
	data, err := project.ReadFile(path, MaxClientFile)
	if errors.Is(err, os.ErrNotExist) {
		return false
	}
	if err != nil {
		c.problem(path, "", "cannot be read: "+project.Reason(err).Error(), "make it a readable file of settings, or remove it")
		return false
	}
	keys, err := parseClient(data)
	if err != nil {
		c.problem(path, "", err.Error(), "mend it (the client's /doctor shows it too) or remove it")
		return false
	}
	s := Source{Scope: scope, Path: path, Trusted: trusted, Reason: reason, keys: keys}
	if raw, ok := keys["env"]; ok {
		s.env, err = parseEnv(raw)
		if err != nil {
			c.problem(path, "env", err.Error(), `write it as {"NAME": "value"}`)
		}
	}
	for key, check := range keyTypes {
		if raw, ok := keys[key]; ok {
			if err := check(Value{raw: raw}); err != nil {
				c.problem(path, key, err.Error(), "give it a value of that type, or remove it")
				delete(keys, key)
			}
		}
	}
	c.Sources = append(c.Sources, s)
	return true
}

// keyTypes checks the keys that memory reads, so that a Value of one of them
// has the right type.
var keyTypes = map[string]func(Value) error{
	KeyDirectory: func(v Value) error { _, err := v.Text(); return err },
	KeyEnabled:   func(v Value) error { _, err := v.Bool(); return err },
	KeyDream:     func(v Value) error { _, err := v.Bool(); return err },
	KeyCleanup:   func(v Value) error { _, err := v.Days(); return err },
	KeyCompact:   func(v Value) error { _, err := v.Bool(); return err },
}

func (c *Client) problem(path, key, reason, fix string) {
	c.Problems = append(c.Problems, &Problem{Path: path, Key: key, Reason: reason, Fix: fix})
}

func (s Source) hasAny(keys []string) bool {
	for _, k := range keys {
		if _, ok := s.keys[k]; ok {
			return true
		}
	}
	return false
}

// Values returns what each source says about a key, highest precedence first.
func (c Client) Values(key string) []Value {
	var vs []Value
	for _, s := range c.Sources {
		if raw, ok := s.keys[key]; ok {
			vs = append(vs, Value{Source: s, raw: raw})
		}
	}
	return vs
}

// Text returns the value as a string. An empty string counts as set.
func (v Value) Text() (string, error) {
	var s *string
	if err := json.Unmarshal(v.raw, &s); err != nil || s == nil {
		return "", fmt.Errorf("is %s, not a string", abbreviate(v.raw))
	}
	return *s, nil
}

// Bool returns the value as a boolean.
func (v Value) Bool() (bool, error) {
	var b *bool
	if err := json.Unmarshal(v.raw, &b); err != nil || b == nil {
		return false, fmt.Errorf("is %s, not true or false", abbreviate(v.raw))
	}
	return *b, nil
}

// EnvValue is one place that sets an environment variable.
type EnvValue struct {
	Value   string
	Source  string // in words
	Process bool   // the environment of this process
	Trusted bool
	Reason  string // why it is not trusted
}

// Environ returns every place that sets a variable, the one that holds first
// among the trusted: the client lets the `env` of its settings override the
// variables that it was started with. Empty values count as not set.
func (c Client) Environ(name string) []EnvValue {
	var vs []EnvValue
	for _, s := range c.Sources {
		if v := s.env[name]; v != "" {
			vs = append(vs, EnvValue{Value: v, Source: "env of " + s.Label(), Trusted: s.Trusted, Reason: s.Reason})
		}
	}
	if v := c.process.Getenv(name); v != "" {
		vs = append(vs, EnvValue{Value: v, Source: "environment variable " + name, Process: true, Trusted: true})
	}
	return vs
}

// Trusted returns the trusted value that holds, nil when there is none.
func (c Client) Trusted(name string) *EnvValue {
	for _, v := range c.Environ(name) {
		if v.Trusted {
			return &v
		}
	}
	return nil
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// parseClient decodes one settings file. A byte order mark is tolerated, an
// empty file has no keys, and of a repeated key the last one holds, as for
// the client.
func parseClient(data []byte) (map[string]json.RawMessage, error) {
	data = bytes.TrimPrefix(data, byteOrderMark)
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, nil
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal(data, &keys); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return nil, fmt.Errorf("is not JSON: line %d: %v", lineAt(data, syntax.Offset), err)
		}
		return nil, fmt.Errorf("is %s, not a JSON object", abbreviate(data))
	}
	if keys == nil {
		return nil, errors.New("is null, not a JSON object")
	}
	return keys, nil
}

func lineAt(data []byte, offset int64) int {
	n := min(max(offset-1, 0), int64(len(data)))
	return 1 + bytes.Count(data[:n], []byte("\n"))
}

// parseEnv decodes the `env` key. Numbers and booleans count as their text,
// since a process environment holds only text; other values are an error, and
// the rest is kept.
func parseEnv(raw json.RawMessage) (map[string]string, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		return nil, fmt.Errorf("is %s, not an object", abbreviate(raw))
	}
	env := make(map[string]string, len(all))
	var bad error // the first one by name: one is enough to find the place
	for _, name := range slices.Sorted(maps.Keys(all)) {
		v := all[name]
		var s string
		switch {
		case json.Unmarshal(v, &s) == nil && v[0] == '"':
			env[name] = s
		case v[0] == '{' || v[0] == '[' || string(v) == "null":
			if bad == nil {
				bad = fmt.Errorf("%s is %s, not a string", name, abbreviate(v))
			}
		default:
			env[name] = string(v)
		}
	}
	return env, bad
}

// abbreviate shows the start of a JSON value.
func abbreviate(raw []byte) string {
	const limit = 40
	raw = bytes.TrimSpace(raw)
	if len(raw) <= limit {
		return string(raw)
	}
	return string(bytes.ToValidUTF8(raw[:limit], nil)) + "…"
}
