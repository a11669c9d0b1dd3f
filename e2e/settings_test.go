package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"mem/internal/need"
)

// shell starts a server through a shell script.
func (p *place) shell(t *testing.T, script string, args ...string) *mcpServer {
	t.Helper()
	cmd := exec.Command("sh", append([]string{"-c", script, "sh"}, args...)...)
	cmd.Dir, cmd.Env = p.project, p.env
	return startCommand(t, cmd)
}

// While memory is off, nothing automatic happens; what is asked for does, and
// says that memory is off.
func TestMemoryOff(t *testing.T) {
	off := map[string]func(p *place){
		"by the environment": func(p *place) { p.env = p.with("CLAUDE_CODE_DISABLE_AUTO_MEMORY=1") },
		"by settings":        func(p *place) { p.write(t, "claude/settings.json", `{"autoMemoryEnabled": false}`) },
		"by the project":     func(p *place) { p.write(t, "project/.claude/settings.json", `{"autoMemoryEnabled": false}`) },
		"by the project's env": func(p *place) {
			p.write(t, "project/.claude/settings.json", `{"env": {"CLAUDE_CODE_DISABLE_AUTO_MEMORY": "1"}}`)
		},
		"by the local settings": func(p *place) { p.write(t, "project/.claude/settings.local.json", `{"autoMemoryEnabled": false}`) },
	}
	for how, switchOff := range off {
		t.Run(how, func(t *testing.T) {
			p := newPlace(t)
			switchOff(p)
			s := p.start(t)
			s.modern = true
			var w written
			if err := s.call("memory_write", memory("asked-for", "x"), &w); err != nil || !mentions(w.Notes, "off") {
				t.Errorf("%+v %v", w, err)
			}
			var c struct {
				Text  string
				Notes []string
			}
			if err := s.call("memory_context", args{}, &c); err != nil || c.Text != "" || !mentions(c.Notes, "off") {
				t.Errorf("%+v %v", c, err)
			}
			s.stop(t)
		})
	}
}

func mentions(notes []string, word string) bool {
	return strings.Contains(strings.Join(notes, "\n"), word)
}

// A repository cannot send memory elsewhere.
func TestProjectSettingsDoNotRedirect(t *testing.T) {
	p := newPlace(t)
	p.write(t, "project/.claude/settings.json", `{"autoMemoryDirectory": "`+filepath.Join(p.root, "stolen")+`", "env": {"CLAUDE_COWORK_MEMORY_PATH_OVERRIDE": "`+filepath.Join(p.root, "stolen")+`"}}`)
	s := p.start(t)
	s.modern = true
	var w written
	if err := s.call("memory_write", memory("one", "x"), &w); err != nil || !strings.HasPrefix(w.Directory, filepath.Join(p.root, "claude")) {
		t.Errorf("%+v %v", w, err)
	}
	s.stop(t)
}

// A server starts wherever it is put. What cannot be used is told by the call
// that needs it, with the name of it.
func TestOddPlaces(t *testing.T) {
	need.System(t, runtime.GOOS != "windows", "needs a shell")
	for name, c := range map[string]struct {
		script string
		env    []string
		works  bool
		names  string
	}{
		"directory removed":           {`mkdir "$2/gone" && cd "$2/gone" && rmdir "$2/gone" && exec "$1"`, nil, false, "directory"},
		"directory removed, project":  {`mkdir "$2/gone" && cd "$2/gone" && rmdir "$2/gone" && exec "$1" --project "$2/project"`, nil, true, ""},
		"no HOME, no configuration":   {`exec "$1"`, []string{"HOME", "CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"}, false, "HOME"},
		"no HOME":                     {`exec "$1"`, []string{"HOME"}, true, ""},
		"no environment at all":       {`exec env -i "$1"`, nil, false, "HOME"},
		"project does not exist":      {`exec "$1" --project "$2/none"`, nil, false, "/none"},
		"project is a file":           {`exec "$1" --project "$2/a-file"`, nil, false, "/a-file"},
		"memory directory to be made": {`exec "$1" --memory-dir "$2/none"`, nil, true, ""},
		"memory directory is a file":  {`exec "$1" --memory-dir "$2/a-file"`, nil, false, "/a-file"},
		"configuration is a file":     {`CLAUDE_CONFIG_DIR="$2/a-file" exec "$1"`, nil, false, "/a-file"},
		"state is a file":             {`XDG_STATE_HOME="$2/a-file" exec "$1"`, nil, false, "/a-file"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			p.write(t, "a-file", "x")
			p.env = p.with(c.env...)
			s := p.shell(t, c.script, binary, p.root)
			if err := s.shake(); err != nil {
				t.Fatalf("%v; stderr: %s", err, s.stderr.String())
			}
			m, err := s.ask(s.request("tools/list", ""))
			if err != nil || m.Error != nil {
				t.Errorf("%+v %v", m.Error, err)
			}
			if c.names == "HOME" { // a server that does not notice would write into the root of this machine
				err = s.call("memory_list", args{}, new(any))
			} else {
				err = s.call("memory_write", memory("one", "x"), new(written))
			}
			if c.works && err != nil || !c.works && (err == nil || !strings.Contains(err.Error(), c.names)) {
				t.Errorf("%v", err)
			}
			s.stop(t)
			if b, err := os.ReadFile(filepath.Join(p.root, "a-file")); err != nil || string(b) != "x" {
				t.Errorf("the file now is %q, %v", b, err)
			}
			if _, err := os.Stat(filepath.Join(p.root, "gone")); err == nil {
				t.Error("the removed directory is back")
			}
			p.noTempFiles(t)
		})
	}
}
