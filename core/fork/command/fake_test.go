package command

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"mem/core/settings"
)

// The test binary stands for claude where FAKE_CLAUDE is set: a symbolic link to it is put
// into PATH. Tests that need the real one are in e2e.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == Claude {
		syscall.Exit(fakeClaude()) // unlike os.Exit, without the second that the race detector waits
	}
	if script := os.Getenv(envRunner); script != "" {
		syscall.Exit(runScript(script))
	}
	goleak.VerifyTestMain(m)
}

// envRunner makes the test binary one that runs a shell script as it runs a command, and
// prints what that prints.
const envRunner = "MEM_TEST_COMMAND_RUNNER"

func runScript(script string) int {
	p := process{path: "/bin/sh", args: []string{"-c", script}, env: os.Environ()}
	if said, err := p.run(context.Background(), nil, func(line []byte) bool { fmt.Println(string(line)); return true }); err != nil {
		fmt.Fprintln(os.Stderr, err, said)
		return 1
	}
	return 0
}

// fakeClaude does what the file "script" beside it says, one line each.
func fakeClaude() int {
	dir := filepath.Dir(os.Args[0])
	said := func(name, text string) {
		f, err := os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err == nil {
			fmt.Fprintln(f, text)
			f.Close()
		}
	}
	said("calls", strings.Join(os.Args[1:], " "))
	help, _ := os.ReadFile(filepath.Join(dir, "help"))
	switch os.Args[1] {
	case "--version":
		b, err := os.ReadFile(filepath.Join(dir, "version"))
		if err != nil {
			b = []byte("9.9.9 (Claude Code)\n")
		}
		os.Stdout.Write(b)
		return 0
	case "--help":
		os.Stdout.Write(help)
		return 0
	}
	in, _ := io.ReadAll(os.Stdin)
	said("stdin", string(in))
	said("env", strings.Join(os.Environ(), "\n"))
	wd, _ := os.Getwd()
	said("cwd", wd)
	args, _ := json.Marshal(os.Args[1:])
	said("args", string(args))
	f, err := os.Open(filepath.Join(dir, "script"))
	if err != nil {
		return 0
	}
	code := 0
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 64<<20)
	for sc.Scan() {
		word, rest, _ := strings.Cut(sc.Text(), " ")
		switch word {
		case "out":
			fmt.Println(rest)
		case "long":
			fmt.Println(`{"type":"x","y":"` + strings.Repeat("a", maxLine+10) + `"}`)
		case "err":
			fmt.Fprintln(os.Stderr, rest)
		case "write":
			name, text, _ := strings.Cut(rest, " ")
			_ = os.WriteFile(name, []byte(text), 0o600)
		case "deaf":
			signal.Ignore(syscall.SIGTERM)
		case "child": // that outlives us, holds our pipes and does not listen
			c := exec.Command("sh", "-c", `trap "" TERM; echo $$ > `+filepath.Join(dir, "child")+`; sleep 60 & wait; sleep 60`)
			c.Stdout, c.Stderr = os.Stdout, os.Stderr
			_ = c.Start()
			for range 200 {
				if b, _ := os.ReadFile(filepath.Join(dir, "child")); len(b) > 0 {
					break
				}
				time.Sleep(5 * time.Millisecond)
			}
		case "daemon": // that leaves our group and session
			c := exec.Command("sh", "-c", `trap "" TERM HUP; echo $$ > `+filepath.Join(dir, "child")+`; sleep 60`)
			leaveGroup(c)
			_ = c.Start()
			for range 200 {
				if b, _ := os.ReadFile(filepath.Join(dir, "child")); len(b) > 0 {
					break
				}
				time.Sleep(5 * time.Millisecond)
			}
		case "flood":
			for chunk := []byte(strings.Repeat(`{"type":"x"}`+"\n", 100_000)); ; {
				if _, err := os.Stdout.Write(chunk); err != nil {
					break
				}
			}
		case "sleep":
			d, _ := time.ParseDuration(rest)
			time.Sleep(d)
		case "exit":
			fmt.Sscan(rest, &code)
		}
	}
	return code
}

// scene is a home with a fake claude in PATH.
type scene struct {
	set func(name, value string)
	t   *testing.T
	bin string
	env settings.Env
}

const fullHelp = `Usage: claude [options]

Options:
  --model <model>                       Model
  -p, --print                           Print
  --restricted                          Restricted
  --tools <tools...>                    Tools
  --permission-mode <mode>              Mode
  --permission-prompts <target>
      Who answers
  --strict-mcp-config                   Only
  --no-session-persistence              Not kept
  --disable-slash-commands              No skills
  --setting-sources <sources>           Sources
  --settings <file-or-json>             More
  --system-prompt <prompt>              Prompt
  --output-format <format>              Format
  --verbose                             More
  --max-budget-usd <amount>             Most
  --safe-mode                           Safe
`

func newScene(t *testing.T, script ...string) *scene {
	t.Helper()
	home := t.TempDir()
	s := &scene{t: t, bin: filepath.Join(home, "bin")}
	must(t, os.MkdirAll(s.bin, 0o700))
	self, err := os.Executable()
	must(t, err)
	must(t, os.Symlink(self, filepath.Join(s.bin, Claude)))
	vars := map[string]string{"PATH": s.bin + string(filepath.ListSeparator) + os.Getenv("PATH"), "HOME": home}
	s.env = settings.Env{Home: home, Cwd: home, CacheDir: filepath.Join(home, "cache"), Lookup: func(n string) (string, bool) { v, ok := vars[n]; return v, ok }}
	s.set = func(k, v string) { vars[k] = v }
	s.file("help", fullHelp)
	s.file("script", strings.Join(script, "\n")+"\n")
	return s
}

func (s *scene) file(name, text string) {
	s.t.Helper()
	must(s.t, os.WriteFile(filepath.Join(s.bin, name), []byte(text), 0o600))
}

func (s *scene) read(name string) string {
	b, err := os.ReadFile(filepath.Join(s.bin, name))
	if err != nil {
		s.t.Error(err)
	}
	return strings.TrimSpace(string(b))
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
