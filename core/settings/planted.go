package settings

import (
	"os"
	"os/user"
	"runtime"
	"slices"
	"strings"

	"github.com/adrg/xdg"

	"mem/core/project"
)

// Planted returns the place that a repository sets a variable of this process from, nil
// where none does. The client puts the `env` of a project's settings into everything that
// it starts, so a variable that names an endpoint, a key or a program counts only if this
// gives nil.
func (c Client) Planted(name string) *EnvValue {
	here := c.process.Getenv(name)
	if here == "" {
		if v, ok := c.process.planted[variable(name)]; ok {
			return &v // FromOS took it away
		}
		return nil
	}
	for _, v := range c.Environ(name) {
		if !v.Process && v.Value == here {
			if v.Trusted {
				return nil // a trusted file says the same
			}
			return &v
		}
	}
	return nil
}

// ClientOf reads the client's settings for the project that this process runs in: the one
// that the client names, else that of the working directory.
func ClientOf(env Env) Client {
	dir := env.Getenv("CLAUDE_PROJECT_DIR")
	if dir == "" {
		dir = env.Cwd
	}
	p, err := project.Find(dir, env.ProjectOptions())
	if err != nil {
		p = project.Project{} // the user's own settings apply anywhere
	}
	return LoadClient(env, p)
}

// Planted says which variables a repository had set in this process that would have decided
// where something of ours lies or how we work, one sentence each. They count as not set, as
// do the others that it set.
func (e Env) Planted() []string {
	var out []string
	for name, v := range e.planted {
		if isPlace(name) || name == "PATH" || strings.HasPrefix(name, "MEM_") {
			out = append(out, name+" is ignored: "+v.Source+" sets it, and a repository may not")
		}
	}
	slices.Sort(out)
	return out
}

// mayBePlanted are variables that a repository may set: all they do is to switch mem off.
var mayBePlanted = []string{"MEM_FORK"}

// places are variables that say where things lie. Where the user's own settings are depends
// on them, so those cannot vouch for them.
var places = []string{"HOME", "USERPROFILE", "HOMEDRIVE", "HOMEPATH", "APPDATA", "LOCALAPPDATA", EnvConfigDir, "CLAUDE_PROJECT_DIR"}

func isPlace(name string) bool {
	return strings.HasPrefix(name, "XDG_") || slices.Contains(places, name)
}

// variable is the name by which a system knows a variable.
func variable(name string) string {
	if runtime.GOOS == "windows" {
		return strings.ToUpper(name)
	}
	return name
}

// plantedIn finds the variables of a process that have the value which settings of a
// repository give them, and that no trusted settings give as well.
func plantedIn(env Env) map[string]EnvValue {
	var projects []project.Project
	for _, dir := range []string{env.Getenv("CLAUDE_PROJECT_DIR"), env.Cwd} {
		if dir == "" {
			continue
		}
		p, err := project.Find(dir, env.ProjectOptions())
		if err == nil && !slices.ContainsFunc(projects, func(q project.Project) bool { return q.Dir == p.Dir }) {
			projects = append(projects, p)
		}
	}
	out := map[string]EnvValue{}
	// The files of the projects and the policy alone, whatever the variables say of a home.
	bare := env
	bare.Home = ""
	bare.Lookup = func(name string) (string, bool) {
		if name == EnvConfigDir {
			return "", false
		}
		return env.lookup(name)
	}
	for _, p := range projects {
		c := LoadClient(bare, p)
		c.process = env
		for _, s := range c.Sources {
			for name := range s.env {
				if slices.Contains(mayBePlanted, variable(name)) {
					continue
				}
				if v := c.Planted(name); v != nil {
					out[variable(name)] = *v
				}
			}
		}
	}
	if len(out) == 0 {
		return nil
	}
	// What the user's own settings say as well is the user's.
	own := env
	own.Lookup = func(name string) (string, bool) {
		if _, ok := out[variable(name)]; ok && isPlace(variable(name)) {
			return "", false
		}
		return env.lookup(name)
	}
	if _, ok := out[homeVariable()]; ok {
		own.Home = realHome()
	}
	for _, s := range LoadClient(own, project.Project{}).Sources {
		for name, value := range s.env {
			if v, ok := out[variable(name)]; ok && s.Trusted && v.Value == value && !isPlace(variable(name)) {
				delete(out, variable(name))
			}
		}
	}
	return out
}

func homeVariable() string {
	if runtime.GOOS == "windows" {
		return "USERPROFILE"
	}
	return "HOME"
}

// realHome is the home directory that the system knows, "" when it knows none.
func realHome() string {
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.HomeDir
}

// systemPath is where programs are looked for when a repository had set PATH: what it was
// before, nobody knows any more.
func systemPath() string {
	if runtime.GOOS == "windows" {
		root := os.Getenv("SystemRoot")
		return root + `\system32;` + root
	}
	return "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin:/opt/homebrew/bin"
}

// forget takes planted variables out of the environment of this process, and so of all that
// it starts: a proxy, a certificate, a library to preload are never read by us by name.
func forget(planted map[string]EnvValue) error {
	for name := range planted {
		if err := os.Unsetenv(name); err != nil {
			return err
		}
	}
	set := func(name, value string) error {
		if _, ok := planted[name]; !ok || value == "" {
			return nil
		}
		return os.Setenv(name, value)
	}
	if err := set("PATH", systemPath()); err != nil {
		return err
	}
	if err := set(homeVariable(), realHome()); err != nil {
		return err
	}
	xdg.Reload()
	return nil
}
