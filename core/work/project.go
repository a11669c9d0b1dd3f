package work

import (
	"os"
	"path/filepath"

	"mem/core/fork/gate"
)

// Project is the project that the memory belongs to, to be read, where the configuration lets
// jobs read it (jobs.read_project). Otherwise why is in words: it is off, there is no project, or
// it is the home directory or above it, where more lies than a project.
func (h *House) Project() (m gate.Mount, why string) {
	if !h.Memory.Config.Jobs.ReadProject {
		return m, "jobs.read_project is false"
	}
	p := h.Memory.Location.Project
	dir := p.Worktree
	if dir == "" {
		dir = p.Dir
	}
	if info, err := os.Stat(dir); dir == "" || err != nil || !info.IsDir() {
		return m, "there is no project directory"
	}
	if home := h.Memory.Env().Home; home != "" {
		if real, err := filepath.EvalSymlinks(home); err == nil {
			home = real
		}
		if rel, err := filepath.Rel(dir, home); err == nil && filepath.IsLocal(rel) {
			return m, "the project is the home directory, or above it, where more lies than a project"
		}
	}
	return gate.Mount{Name: "project", Dir: dir, Aliases: []string{p.Asked, dir}}, ""
}
