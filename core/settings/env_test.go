package settings

import (
	"path/filepath"
	"testing"
	"time"
)

func TestZeroEnv(t *testing.T) {
	var e Env
	if e.Getenv("HOME") != "" || e.ClientDir() != "" || e.ConfigFile() != "" {
		t.Error("the zero Env knows something")
	}
	if d := time.Since(e.Time()); d < 0 || d > time.Minute {
		t.Errorf("Time is %v ago", d)
	}
	fixed := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	if got := (Env{Now: func() time.Time { return fixed }}).Time(); !got.Equal(fixed) {
		t.Errorf("Time = %v", got)
	}
}

func TestFromOS(t *testing.T) {
	e := FromOS()
	for _, dir := range []string{e.Home, e.Cwd, e.ConfigDir, e.StateDir, e.CacheDir} {
		if !filepath.IsAbs(dir) {
			t.Errorf("FromOS has the directory %q", dir)
		}
	}
	for _, dir := range []string{e.ConfigDir, e.StateDir, e.CacheDir} {
		if filepath.Base(dir) != "mem" {
			t.Errorf("%s is not ours", dir)
		}
	}
}

func TestClientDir(t *testing.T) {
	for _, tc := range []struct{ configDir, home, cwd, want string }{
		{"", "/home/me", "/w", "/home/me/.claude"},
		{"/etc/c/", "/home/me", "/w", "/etc/c"},
		{"rel", "/home/me", "/w", "/w/rel"},
		{"", "", "/w", ""},
	} {
		e := Env{Home: tc.home, Cwd: tc.cwd, Lookup: func(string) (string, bool) { return tc.configDir, true }}
		if got := e.ClientDir(); got != filepath.FromSlash(tc.want) {
			t.Errorf("ClientDir with %q = %s, want %s", tc.configDir, got, tc.want)
		}
	}
}
