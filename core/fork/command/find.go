// Package command is the engine that starts a headless agent which the user already pays
// for. The agent runs as a process of its own and is confined by its own flags to the
// stage of the task: it reads and edits files there and has no other tool. Which flags
// those are, and what became of them when they were tried, docs/engines.md tells. A
// program that lacks one of them, or whose tools are others when it has started, is not
// used.
package command

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"mem/core/fork"
	"mem/core/settings"
)

// Names of the commands that the configuration knows.
const (
	Auto   = "auto"
	Claude = "claude"
	Codex  = "codex"
)

// codexIsRefused says why. docs/engines.md has the run that showed it.
const codexIsRefused = "codex cannot be confined: its sandbox bounds what is written, but lets a shell read every file of this user, and with the shell tool switched off a call of it still runs (seen with codex-cli 0.171.0)"

// Find looks for the headless agent that the configuration names and gives the engine
// that runs it. Where there is none that can be used, it gives nil and why, with the way
// out.
func Find(cfg settings.CommandConfig, env settings.Env) (fork.Engine, string) {
	if fork.Inside(env) {
		return nil, "this process was started by a forked agent, which may not start another one"
	}
	if cfg.Name == Codex {
		return nil, codexIsRefused + "; set engines.command.name to claude, or use another engine"
	}
	path, why := program(cfg, env)
	if why != "" {
		return nil, why
	}
	have, err := look(path, env)
	if err != nil {
		return nil, fmt.Sprintf("%s does not tell what it can do: %v", path, err)
	}
	if len(have.Missing) > 0 {
		return nil, fmt.Sprintf("%s (%s) cannot be confined: it has no %s; update it", path, have.Version, strings.Join(have.Missing, ", "))
	}
	return &claude{path: path, model: cfg.Model, probe: *have, env: env}, ""
}

// program gives the path of the program, or why there is none.
func program(cfg settings.CommandConfig, env settings.Env) (path, why string) {
	if cfg.Path != "" {
		if !filepath.IsAbs(cfg.Path) {
			return "", fmt.Sprintf("engines.command.path is %q; write an absolute path", cfg.Path)
		}
		if err := runnable(cfg.Path, env.GOOS); err != nil {
			return "", fmt.Sprintf("engines.command.path: %v", err)
		}
		return cfg.Path, ""
	}
	if v := settings.ClientOf(env).Planted("PATH"); v != nil {
		return "", fmt.Sprintf("PATH comes from %s, and a repository may not name a program; set engines.command.path", v.Source)
	}
	for _, dir := range places(env) {
		for _, ext := range extensions(env) {
			p := filepath.Join(dir, Claude+ext)
			if runnable(p, env.GOOS) == nil {
				return p, ""
			}
		}
	}
	why = "claude is not installed: it is neither in PATH nor in ~/.local/bin"
	if cfg.Name == Auto {
		why += "; codex is not used, as it cannot be confined"
	}
	for _, note := range env.Planted() {
		if strings.HasPrefix(note, "PATH ") {
			why += "; " + note
		}
	}
	return "", why
}

// places are the folders in which a program is looked for. A relative one in PATH would
// be one of the project.
func places(env settings.Env) []string {
	var dirs []string
	for _, d := range filepath.SplitList(env.Getenv("PATH")) {
		if filepath.IsAbs(d) {
			dirs = append(dirs, d)
		}
	}
	if env.Home != "" { // what its own installer uses; a hook's PATH may lack it
		dirs = append(dirs, filepath.Join(env.Home, ".local", "bin"), filepath.Join(env.Home, ".claude", "local"))
	}
	return dirs
}

// extensions are those of programs. Windows' own list holds scripts too, whose arguments
// cmd.exe would read a second time; an npm installation has claude.cmd alone, and its
// program is named by engines.command.path.
func extensions(env settings.Env) []string {
	if env.GOOS == "windows" {
		return []string{".exe"}
	}
	return []string{""}
}

func runnable(path, goos string) error {
	st, err := os.Stat(path)
	switch {
	case err != nil:
		return fmt.Errorf("%s cannot be started: %w", path, err)
	case !st.Mode().IsRegular():
		return fmt.Errorf("%s is no program", path)
	case goos != "windows" && runtime.GOOS != "windows" && st.Mode().Perm()&0o111 == 0:
		return fmt.Errorf("%s may not be executed", path)
	}
	return nil
}
