package settings

import (
	"strings"
	"testing"
)

func TestCompactSwitch(t *testing.T) {
	const state = "home/.claude.json"
	const off, on = `{"autoCompactEnabled": false}`, `{"autoCompactEnabled": true}`
	for _, tc := range []struct {
		name  string
		vars  vars
		files files
		on    bool
		why   string // part of Why or Source
	}{
		{name: "default", on: true, why: "nothing turns it off"},
		{name: "settings", files: files{userFile: off}, why: userFile},
		{name: "the project may switch off", files: files{projectFile: off, userFile: on}, why: projectFile},
		{name: "the project may not switch on", files: files{projectFile: on, userFile: off}, why: userFile},
		{name: "older clients", files: files{state: off}, why: state},
		{name: "settings come before them", files: files{state: off, userFile: on}, on: true, why: userFile},
		{name: "a state that says something else", files: files{state: `{"autoCompactEnabled": "no"}`}, on: true, why: "nothing"},
		{name: "a state that is no JSON", files: files{state: `{`}, on: true, why: "nothing"},
		{name: "variable", vars: vars{EnvNoAutoCompact: "1"}, files: files{userFile: on}, why: EnvNoAutoCompact},
		{name: "other variable", vars: vars{EnvNoCompact: "true"}, why: EnvNoCompact},
		{name: "variable that says 0", vars: vars{EnvNoCompact: "0"}, on: true, why: "nothing"},
		{name: "env of settings", files: files{projectFile: `{"env": {"DISABLE_AUTO_COMPACT": "1"}}`}, why: projectFile},
		{name: "a directory of one's own", vars: vars{EnvConfigDir: "cfg"}, files: files{state: off, "p/cfg/.claude.json": on}, on: true, why: "cfg"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newScene(t, tc.vars, tc.files)
			got := s.client().CompactSwitch(s.env)
			if got.On != tc.on || !strings.Contains(got.Why+" "+got.Source, tc.why) {
				t.Errorf("CompactSwitch = %+v, want %t because of %q", got, tc.on, tc.why)
			}
		})
	}
}
