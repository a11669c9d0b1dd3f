// Package settings owns everything that is decided outside of a call: the
// environment as a value (Env), the client's settings files with the trust
// each of them has (Client), the switches that turn memory off (MemorySwitch,
// DreamSwitch), and our own `mem/config.yaml` (Config).
//
// Nothing here writes, and nothing is global: two Env values in one process
// do not know of each other.
package settings

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/adrg/xdg"

	"mem/core/project"
)

// Env is what comes from outside, as a value. The zero value is usable: no
// variables, no home, the system clock.
type Env struct {
	Lookup func(string) (string, bool) // environment variables; nil means none
	Home   string                      // home directory; "" when unknown
	Cwd    string                      // working directory; "" when unknown
	GOOS   string                      // as runtime.GOOS; "" counts as linux
	Now    func() time.Time            // clock; nil means time.Now

	// ConfigDir, StateDir and CacheDir are our own folders, `mem` included:
	// config.yaml lies in ConfigDir itself. "" means there is none.
	ConfigDir string
	StateDir  string
	CacheDir  string

	// ManagedSettings is the client's policy file; "" means the place that the
	// client uses on GOOS.
	ManagedSettings string

	planted map[string]EnvValue // that FromOS took away
}

// appDir is our folder in each of the XDG directories.
const appDir = "mem"

// FromOS returns the Env of this process. The working directory is the one
// that the shell shows (it may contain symlinks) and "" when it was deleted.
// Without a home there are only the folders that a variable names: a guess
// would write memory to the root directory.
//
// Variables that the settings of the project's repository set are taken away first, from
// this process and so from what it starts: a client puts them into everything that it
// starts, and a checkout may name no home, no configuration, no proxy and no program.
func FromOS() Env {
	e := read()
	planted := plantedIn(e)
	if len(planted) == 0 {
		return e
	}
	if err := forget(planted); err != nil {
		// The system refuses no name that it had itself.
		panic("settings: taking a variable out of the environment: " + err.Error())
	}
	e = read()
	e.planted = planted
	return e
}

func read() Env {
	home, _ := os.UserHomeDir() // "" without one
	cwd, _ := os.Getwd()
	own := func(variable, dir string) string {
		if home == "" && os.Getenv(variable) == "" {
			return ""
		}
		return filepath.Join(dir, appDir)
	}
	return Env{
		Lookup:    os.LookupEnv,
		Home:      home,
		Cwd:       cwd,
		GOOS:      runtime.GOOS,
		Now:       time.Now,
		ConfigDir: own("XDG_CONFIG_HOME", xdg.ConfigHome),
		StateDir:  own("XDG_STATE_HOME", xdg.StateHome),
		CacheDir:  own("XDG_CACHE_HOME", xdg.CacheHome),
	}
}

// Getenv returns the value of a variable, "" when it is not set.
func (e Env) Getenv(name string) string {
	v, _ := e.lookup(name)
	return v
}

func (e Env) lookup(name string) (string, bool) {
	if e.Lookup == nil {
		return "", false
	}
	return e.Lookup(name)
}

// Time is the current time.
func (e Env) Time() time.Time {
	if e.Now == nil {
		return time.Now()
	}
	return e.Now()
}

// ProjectOptions is the part of e that finding a project needs.
func (e Env) ProjectOptions() project.Options {
	return project.Options{Home: e.Home, Cwd: e.Cwd, GOOS: e.GOOS}
}

// ConfigFile is the path of our config.yaml; "" when there is no ConfigDir.
func (e Env) ConfigFile() string {
	if e.ConfigDir == "" {
		return ""
	}
	return filepath.Join(e.ConfigDir, ConfigName)
}

// ClientDir is the client's own folder: CLAUDE_CONFIG_DIR, else `~/.claude`
// (observed on Claude Code 2.1.332). A relative value is taken from Cwd, as the client does. It is ""
// when neither is known.
func (e Env) ClientDir() string {
	if v := e.Getenv(EnvConfigDir); v != "" {
		if filepath.IsAbs(v) || e.Cwd == "" {
			return filepath.Clean(v)
		}
		return filepath.Join(e.Cwd, v)
	}
	if e.Home == "" {
		return ""
	}
	return filepath.Join(e.Home, ".claude")
}

// managedSettings is the client's policy file (Claude Code documentation,
// "Settings files").
func (e Env) managedSettings() string {
	if e.ManagedSettings != "" {
		return e.ManagedSettings
	}
	switch e.GOOS {
	case "darwin":
		return "/Library/Application Support/ClaudeCode/managed-settings.json"
	case "windows":
		return `C:\Program Files\ClaudeCode\managed-settings.json`
	}
	return "/etc/claude-code/managed-settings.json"
}

// truth reads a switch of the environment: on is true for 1, true, yes and
// on; off for 0, false, no and off; anything else is neither.
func truth(v string) (on, off bool) {
	switch strings.ToLower(strings.TrimSpace(v)) {
	case "1", "true", "yes", "on":
		return true, false
	case "0", "false", "no", "off":
		return false, true
	}
	return false, false
}
