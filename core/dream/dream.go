// Package dream consolidates a memory directory: when a run is worth it (gates), that
// only one runs at a time (lock), what can be mended without a model (mechanical), and
// what came of it (report).
//
// A run never changes memory by itself: it gives units for core/proposal, so that what
// deletes waits for a person, and what is applied is one undo.
package dream

import (
	"mem/core/memory"
	"mem/core/project"
	"mem/core/settings"
)

// Setting is what decides whether a run begins: where the memory lies, and what the
// settings say of it.
type Setting struct {
	Env      settings.Env
	Config   settings.Config
	DailyLog bool
	Memory   settings.Switch // off stops every run
	Dream    settings.Switch // the client's autoDreamEnabled
	Remote   settings.Switch // on where the client runs on a machine that does not last
	// Directory is the memory directory; State is where our state of it lies.
	Directory, State string
	Project          project.Project
	// Session is the one that asks. It does not count as news.
	Session string
	// Asked says that somebody only wants to know: a check changes nothing then.
	Asked bool
}

// Of gives the Setting of an opened memory.
func Of(m *memory.Memory) Setting {
	return Setting{
		Env: m.Env(), Config: m.Config, DailyLog: m.DailyLog(),
		Memory: m.Location.Memory, Dream: m.Location.Dream, Remote: m.Location.Client.RemoteSwitch(),
		Directory: m.Location.Directory, State: m.StateDirectory(),
		Project: m.Location.Project, Session: m.Env().Getenv("CLAUDE_CODE_SESSION_ID"),
	}
}

// Lock gives the lock of this memory's runs.
func (s Setting) Lock() *Lock {
	return &Lock{Directory: s.Directory, State: s.State, Now: s.Env.Time}
}
