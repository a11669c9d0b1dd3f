package settings

import (
	"strings"
	"testing"
)

func TestMemorySwitch(t *testing.T) {
	env := func(v string) string { return `{"env": {"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "` + v + `"}}` }
	const off, on = `{"autoMemoryEnabled": false}`, `{"autoMemoryEnabled": true}`
	for _, tc := range []struct {
		name  string
		vars  vars
		files files
		on    bool
		why   string // part of Why or Source
	}{
		{name: "default", on: true, why: "nothing turns it off"},
		{name: "variable", vars: vars{EnvDisable: "1"}, why: "environment variable"},
		{name: "variable true", vars: vars{EnvDisable: "TRUE"}, why: EnvDisable},
		{name: "variable empty", vars: vars{EnvDisable: ""}, on: true},
		{name: "variable unknown word", vars: vars{EnvDisable: "perhaps"}, on: true, why: "nothing"},
		{name: "user says false", files: files{userFile: off}, why: "autoMemoryEnabled is false"},
		{name: "variable 0 beats it", vars: vars{EnvDisable: "0"}, files: files{userFile: off}, on: true, why: "keeps memory on"},
		{name: "variable 0 in user settings beats it", files: files{userFile: `{"autoMemoryEnabled": false, "env": {"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "0"}}`}, on: true, why: userFile},
		{name: "a number in env is its text", files: files{userFile: `{"env": {"CLAUDE_CODE_DISABLE_AUTO_MEMORY": 1}}`}, why: userFile},
		{name: "env of user settings", files: files{userFile: env("1")}, why: userFile},
		{name: "settings override the variable", vars: vars{EnvDisable: "0"}, files: files{userFile: env("1")}, why: userFile},
		{name: "but what is off for this process stays off", vars: vars{EnvDisable: "1"}, files: files{userFile: env("0")}, why: "environment variable"},
		{name: "local before user", files: files{localFile: env("0"), userFile: env("1")}, on: true, why: localFile},
		{name: "project may switch off", files: files{projectFile: off}, why: projectFile},
		{name: "project env may switch off", files: files{projectFile: env("1")}, why: projectFile},
		{name: "project env may switch off against the user", files: files{projectFile: env("1"), userFile: env("0")}, why: projectFile},
		{name: "project may not switch on", files: files{projectFile: on, userFile: off}, why: userFile},
		{name: "project env may not switch on", files: files{projectFile: env("0"), userFile: off}, why: userFile},
		{name: "policy decides", files: files{policyFile: off, userFile: on, localFile: on}, why: policyFile},
		{name: "local true before user false", files: files{localFile: on, userFile: off}, on: true, why: localFile},
		{name: "simple", vars: vars{EnvSimple: "1"}, why: EnvSimple},
		{name: "simple is not undone by 0", vars: vars{EnvSimple: "1", EnvDisable: "0"}, why: EnvSimple},
		{name: "remote alone", vars: vars{EnvRemote: "1"}, why: "nothing written here would last"},
		{name: "remote with a directory", vars: vars{EnvRemote: "1", EnvRemoteDir: "/mnt"}, on: true},
		{name: "a directory named by the project does not count", vars: vars{EnvRemote: "1"},
			files: files{projectFile: `{"env": {"CLAUDE_CODE_REMOTE_MEMORY_DIR": "/mnt"}}`}, why: EnvRemote},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := newScene(t, tc.vars, tc.files).client().MemorySwitch()
			if got.On != tc.on || !strings.Contains(got.Why+" "+got.Source, tc.why) {
				t.Errorf("MemorySwitch = %+v, want %t because of %q", got, tc.on, tc.why)
			}
		})
	}
}

func TestTrackedLocalSettingsCannotSwitchOn(t *testing.T) {
	s := newScene(t, nil, files{localFile: `{"autoMemoryEnabled": true}`, userFile: `{"autoMemoryEnabled": false}`})
	s.track(".claude/settings.local.json")
	if got := s.client().MemorySwitch(); got.On {
		t.Errorf("MemorySwitch = %+v", got)
	}
}

func TestDreamSwitch(t *testing.T) {
	for _, tc := range []struct {
		name  string
		files files
		on    bool
		why   string
	}{
		{name: "default", on: true},
		{name: "off", files: files{userFile: `{"autoDreamEnabled": false}`}, why: "autoDreamEnabled is false"},
		{name: "project may switch off", files: files{projectFile: `{"autoDreamEnabled": false}`, userFile: `{"autoDreamEnabled": true}`}, why: projectFile},
		{name: "project may not switch on", files: files{projectFile: `{"autoDreamEnabled": true}`, userFile: `{"autoDreamEnabled": false}`}, why: userFile},
		{name: "memory off", files: files{userFile: `{"autoMemoryEnabled": false, "autoDreamEnabled": true}`}, why: "memory is off"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := newScene(t, nil, tc.files).client().DreamSwitch()
			if got.On != tc.on || !strings.Contains(got.Why+" "+got.Source, tc.why) {
				t.Errorf("DreamSwitch = %+v, want %t because of %q", got, tc.on, tc.why)
			}
		})
	}
}

func TestRemoteSwitch(t *testing.T) {
	for _, tc := range []struct {
		name  string
		files files
		env   map[string]string
		on    bool
		why   string
	}{
		{name: "default", why: "is not set"},
		{name: "environment", env: map[string]string{EnvRemote: "1"}, on: true, why: EnvRemote + "=1"},
		{name: "off", env: map[string]string{EnvRemote: "0"}, why: "is not set"},
		{name: "settings", files: files{userFile: `{"env": {"CLAUDE_CODE_REMOTE": "true"}}`}, on: true, why: userFile},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := newScene(t, tc.env, tc.files).client().RemoteSwitch()
			if got.On != tc.on || !strings.Contains(got.Why+" "+got.Source, tc.why) {
				t.Errorf("RemoteSwitch = %+v, want %t because of %q", got, tc.on, tc.why)
			}
		})
	}
}
