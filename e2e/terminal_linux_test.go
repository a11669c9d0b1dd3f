package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"mem/core/model/modeltest"
	"mem/internal/need"
)

// terminal runs the program at a terminal of its own, types an answer once it is asked, and
// gives what was on the screen, with the exit code.
func (p *place) terminal(t *testing.T, question, answer string, args ...string) (screen string, code int) {
	t.Helper()
	// Opened so that reads can be given a deadline.
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		need.That(t, "a terminal", err)
	}
	keyboard := os.NewFile(uintptr(fd), "/dev/ptmx")
	defer keyboard.Close()
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		need.That(t, "a terminal", err)
	}
	c := exec.Command(binary, args...)
	c.Dir, c.Env = p.project, p.with("TERM=xterm", "NO_COLOR")
	c.Stdin, c.Stdout, c.Stderr = tty, tty, tty
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	err = c.Start()
	tty.Close()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	typed := false
	if err := keyboard.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	for buf := make([]byte, 4096); ; {
		n, err := keyboard.Read(buf)
		b.Write(buf[:n])
		if !typed && question != "" && strings.Contains(b.String(), question) {
			typed = true
			if _, err := keyboard.WriteString(answer); err != nil {
				t.Fatal(err)
			}
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			_ = c.Process.Kill()
			t.Errorf("%v waits: %s", args, b.String())
			break
		}
		if err != nil {
			break // EIO: the program has left the terminal
		}
	}
	var exit *exec.ExitError
	if err := c.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if typed != (question != "") {
		t.Errorf("%v asked %v: %s", args, typed, b.String())
	}
	return b.String(), c.ProcessState.ExitCode()
}

// TestAskedAtATerminal: what changes configuration asks a person who sits at a terminal, after
// it said what it means; only a yes writes.
func TestAskedAtATerminal(t *testing.T) {
	for answer, written := range map[string]bool{"y\n": true, "YES\n": true, "n\n": false, "\n": false, "yesterday\n": false, "\x04": false, "\x03": false} {
		p := newPlace(t)
		config := filepath.Join(p.root, "config", "mem", "config.yaml")
		screen, code := p.terminal(t, "Write it? [y/N]", answer, "engine", "use", "provider", "--base-url", "http://127.0.0.1:9/v1", "--api", "openai", "--model", "tiny")
		b, err := os.ReadFile(config)
		if (err == nil) != written || (code == 0) != written || written && !strings.Contains(string(b), "engine: provider") {
			t.Errorf("%q: code %d, %v, %s\n%s", answer, code, err, b, screen)
		}
		if q := strings.Index(screen, "Write it?"); q < 0 || !strings.Contains(screen[:q], "go to http://127.0.0.1:9/v1, a server on this machine") || !strings.Contains(screen[:q], "model: tiny") {
			t.Errorf("%q: the question comes before what it means:\n%s", answer, screen)
		}
		if !written && !strings.Contains(screen, "nothing was written") {
			t.Errorf("%q: %s", answer, screen)
		}
		settings := filepath.Join(p.root, "claude", "settings.json")
		screen, code = p.terminal(t, "Write this? [y/N]", answer, "hooks", "install", "claude-code")
		if _, err := os.Stat(settings); (err == nil) != written || (code == 0) != written {
			t.Errorf("%q: code %d, %v\n%s", answer, code, err, screen)
		}
		if !strings.Contains(screen, "\x1b[") {
			t.Errorf("no colour on a terminal: %q", screen)
		}
	}
}

// TestInterruptedAtATerminal: who is waited for can leave by Ctrl-C, and what a server waits for is said
// to a person who started it by hand.
func TestInterruptedAtATerminal(t *testing.T) {
	for _, l := range []struct {
		waits string
		args  []string
		says  string
	}{
		{"Type the memory", []string{"write", "a", "--type", "user", "--description", "d", "--body-file", "-"}, "reading the body from standard input: interrupted"},
		{"waits for a client", []string{"serve"}, "mem-mcp --help"},
	} {
		p := newPlace(t)
		if screen, code := p.terminal(t, l.waits, "\x03", l.args...); code != 1 || !strings.Contains(screen, l.says) {
			t.Errorf("%v: code %d\n%s", l.args, code, screen)
		}
	}
}

// TestEngineTestHidesTheKey: `engine test` never shows a key, or its beginning, that a server
// repeats, be it in an error or in an answer.
func TestEngineTestHidesTheKey(t *testing.T) {
	const key = "sk-scripted-0123456789abcdef"
	for name, step := range map[string]modeltest.Step{
		"error":  modeltest.Fail(401, "Incorrect API key provided: sk-scripted-0123*****cdef, which is "+key),
		"answer": modeltest.Say("ready, " + key + " sk-scripted-0123"),
	} {
		for _, api := range []string{modeltest.Anthropic, modeltest.OpenAI} {
			s := modeltest.Start(t, step.Forever())
			p := newPlace(t)
			p.withModel(t, s, api, "")
			p.env = p.with("ANTHROPIC_API_KEY="+key, "OPENAI_API_KEY="+key)
			for _, args := range [][]string{{"engine", "test"}, {"engine", "test", "--json"}} {
				screen, code := p.terminal(t, "", "", args...)
				if (code == 0) != (name == "answer") || strings.Contains(screen, "sk-scripted") || !strings.Contains(screen, "[key]") {
					t.Errorf("%s, %s, %v: code %d\n%s", name, api, args, code, screen)
				}
			}
			if len(s.Requests()) == 0 || s.Requests()[0].Key != key {
				t.Errorf("%s: the key did not go out", api)
			}
		}
	}
}
