package demo_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"mem/core/settings"
	"mem/internal/cli"
	"mem/internal/demo"
	"mem/internal/lspserver"
	"mem/internal/term"
)

// TestMain lets this binary be the server that the demo starts: honest, or
// lying in one way.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && slices.Contains([]string{"serve", "where", "hook", "jobs", "job"}, os.Args[1]):
		os.Exit(serve(os.Stdout, os.Args[1:]))
	case len(os.Args) > 2 && os.Args[1] == "editor":
		os.Exit(edit(os.Args[2]))
	case len(os.Args) > 3 && os.Args[1] == "lie":
		os.Exit(lies[os.Args[2]].tell(os.Args[3:]))
	}
	goleak.VerifyTestMain(m)
}

func serve(out io.Writer, args []string) int {
	return cli.Run(context.Background(), settings.FromOS(), term.Streams{In: os.Stdin, Out: out, Err: os.Stderr}, "test", args)
}

// edit is the language server, lying in the way of that name. What is replaced in a
// message keeps its length, which the message states.
func edit(lie string) int {
	r, w := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 1<<20)
		for {
			n, err := r.Read(buf)
			b := buf[:n]
			if l := lies[lie]; l.step == "editor" {
				b = bytes.ReplaceAll(b, []byte(l.old), []byte(l.new))
			}
			os.Stdout.Write(b)
			if err != nil {
				return
			}
		}
	}()
	err := lspserver.Serve(context.Background(), lspserver.Options{Env: settings.FromOS(), In: os.Stdin, Out: w, Log: os.Stderr, Version: "test"})
	w.Close()
	<-done
	if err != nil {
		return 1
	}
	return 0
}

// lie is a server that does not do what the demo claims: it runs with another
// flag, or some of what it says is replaced.
type lie struct {
	step     string // where the demo must notice
	flag     string
	old, new string
}

var lies = map[string]lie{
	"memory lies elsewhere":               {step: "where", flag: "--memory-dir=elsewhere"},
	"says memory is off":                  {step: "where", old: `"on": true`, new: `"on": false`},
	"obeys the checkout":                  {step: "where", old: `"rule": "default"`, new: `"rule": "setting"`},
	"claims to know something":            {step: "forgets", old: `"topics":0`, new: `"topics":3`},
	"does not give a change id":           {step: "forgets", old: `"change":"`, new: `"chance":"`},
	"remembers nothing":                   {step: "remembers", old: `"topics":4`, new: `"topics":0`},
	"finds nothing":                       {step: "remembers", old: `"hits":[{`, new: `"hots":[{`},
	"reads another text":                  {step: "remembers", old: `never mocks`, new: `always mocks`},
	"hides the reason of a refusal":       {step: "replace", old: `"kind":"exists"`, new: `"kind":"invalid"`},
	"does not merge":                      {step: "replace", old: `"merged":true`, new: `"merged":false`},
	"hides a conflict":                    {step: "replace", old: `"kind":"conflict"`, new: `"kind":"invalid"`},
	"does not say where the index is cut": {step: "overflow", old: `"firstDroppedLine":201`, new: `"firstDroppedLine":0`},
	"does not show what is cut":           {step: "editor", old: `"code":"index-too-long"`, new: `"code":"index-too-fine"`},
	"fades nothing":                       {step: "editor", old: `"tags":[1]`, new: `"togs":[1]`},
	"loses what it moves":                 {step: "editor", old: `[note-001](note-001.md)`, new: `[note-001](note-002.md)`},
	"loses a topic":                       {step: "writers", old: `"total":44`, new: `"total":43`},
	"does not report a loss":              {step: "outside", old: `"vanished":[`, new: `"notes":[`},
	"writes secrets":                      {step: "secret", flag: "--allow-secrets"},
	"repeats the secret":                  {step: "secret", old: `ghp_…[redacted]`, new: "ghp_1B4nK7qXw9" + "RtYp2LmZc8VdHs5JfGa3TeUoQi"},
	"does not delete":                     {step: "undo", old: `"kind":"not-found"`, new: `"kind":"invalid"`},
	"finds no session":                    {step: "session", old: `"foldersLookedInto":1`, new: `"foldersLookedInto":1,"sessions":[]`},
	"finds another session":               {step: "session", old: `"hits":[{"session"`, new: `"hits":[{"secession"`},
	"loses the result of a tool":          {step: "session", old: `{"type":"tool_result","tool_use_id":"tool_1"`, new: `{"type":"text","tool_use_id":"tool_1"`},
	"resumes at another place":            {step: "session", old: `"resumePoint":"7c1e5b52`, new: `"resumePoint":"7c1e5b53`},
	"hides that a row was cut":            {step: "session", old: `truncated`, new: `read`},
	"shows the token of a session":        {step: "session", old: `[redacted github-pat]"}]}`, new: "ghp_1B4nK7qXw9" + "RtYp2LmZc8VdHs5JfGa3TeUoQi" + `"}]}`},
	"learns nothing":                      {step: "learns", old: `"state": "done"`, new: `"state": "failed"`},
	"hides what was refused":              {step: "learns", old: `"refused": [`, new: `"rejected": [`},
	"does not say where it learnt":        {step: "learns", old: `originSessionId: 9d2e1f04`, new: `originSessionId: 00000000`},
	"learns something else":               {step: "learns", old: `whole numbers of cents`, new: `floating point numbers`},
	"keeps no entry":                      {step: "learns", old: `(prices-are-cents.md)`, new: `(prices.md)`},
	"records nothing":                     {step: "session", old: `rates.go keeps`, new: `rates.go loses`},
}

func (l lie) tell(args []string) int {
	if l.flag != "" {
		args = append(args, l.flag)
	}
	r, w := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for lines := bufio.NewReader(r); ; {
			line, err := lines.ReadString('\n')
			if l.old != "" {
				line = strings.ReplaceAll(line, l.old, l.new)
			}
			os.Stdout.WriteString(line)
			if err != nil {
				return
			}
		}
	}()
	code := serve(w, args)
	w.Close()
	<-done
	return code
}

// options give a demo whose scratch directory lies in an empty place.
func options(t *testing.T, command ...string) demo.Options {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	lie := "none"
	if len(command) > 1 {
		lie = command[1]
	}
	if lies[lie].step == "editor" {
		command = nil // the other server is honest
	}
	return demo.Options{Command: append([]string{exe}, command...), LanguageServer: []string{exe, "editor", lie}, Getenv: os.Getenv, TempDir: t.TempDir()}
}

func left(t *testing.T, dir string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var stepNames = []string{"where", "forgets", "remembers", "replace", "overflow", "editor", "writers", "outside", "secret", "undo", "session", "learns", "files"}

func TestDemoHolds(t *testing.T) {
	var out bytes.Buffer
	opt := options(t)
	opt.Out = &out
	report, err := demo.Run(t.Context(), opt)
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	var names []string
	for _, s := range report.Steps {
		names = append(names, s.Name)
		if !s.OK || len(s.Checks) == 0 {
			t.Errorf("step %s: ok %v, %d checks", s.Name, s.OK, len(s.Checks))
		}
	}
	if strings.Join(names, " ") != strings.Join(stepNames, " ") {
		t.Errorf("steps %v", names)
	}
	if !report.OK || report.Servers < 10 || report.Checks < 40 {
		t.Errorf("report %+v", report)
	}
	if strings.Contains(out.String(), "\x1b") {
		t.Error("colours in a pipe")
	}
	for _, want := range []string{"1/13  Where memory lies", "13/13  What is on disk", "All 13 steps hold"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output lacks %q", want)
		}
	}
	if l := left(t, opt.TempDir); len(l) > 0 {
		t.Errorf("left behind: %v", l)
	}
	if _, err := json.Marshal(report); err != nil {
		t.Error(err)
	}
}

// A demo that cannot fail proves nothing: each lie must be caught, in the step
// that is about it, and leave nothing behind.
func TestDemoCatchesLies(t *testing.T) {
	for name, l := range lies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			opt := options(t, "lie", name)
			opt.Out = &out
			report, err := demo.Run(t.Context(), opt)
			if err == nil || report.OK {
				t.Fatal("the lie was believed")
			}
			last := report.Steps[len(report.Steps)-1]
			if last.Name != l.step || last.OK || last.Error == "" || !strings.Contains(err.Error(), `"`+l.step+`"`) {
				t.Errorf("caught in step %q, want %q: %v", last.Name, l.step, err)
			}
			if strings.Contains(out.String(), "steps hold") {
				t.Error("it says that all steps hold")
			}
			if x := left(t, opt.TempDir); len(x) > 0 {
				t.Errorf("left behind: %v", x)
			}
		})
	}
}

func TestDemoKeeps(t *testing.T) {
	var out bytes.Buffer
	opt := options(t)
	opt.Out, opt.Keep, opt.Color = &out, true, true
	report, err := demo.Run(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	if l := left(t, opt.TempDir); len(l) != 1 {
		t.Errorf("kept %v", l)
	}
	if !report.Kept || !strings.Contains(out.String(), "Kept: "+report.Scratch) || !strings.Contains(out.String(), "\x1b[32m✓") {
		t.Errorf("kept %v in %s; output:\n%s", report.Kept, report.Scratch, out.String())
	}
}

// cancelling ends the demo when it is asked to print a certain text.
type cancelling struct {
	at     string
	cancel func()
	err    error
}

func (c cancelling) Write(b []byte) (int, error) {
	if strings.Contains(string(b), c.at) {
		c.cancel()
		return 0, c.err
	}
	return len(b), nil
}

func TestDemoInterrupted(t *testing.T) {
	for _, at := range []string{"1/13", "conversation 1: memory_write", "4 servers write", "mem-mcp hook < Stop"} {
		t.Run(at, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			opt := options(t)
			opt.Out = cancelling{at: at, cancel: cancel}
			report, err := demo.Run(ctx, opt)
			if !errors.Is(err, context.Canceled) || report.OK {
				t.Errorf("error %v", err)
			}
			if l := left(t, opt.TempDir); len(l) > 0 {
				t.Errorf("left behind: %v", l)
			}
		})
	}
}

func TestDemoOutputGone(t *testing.T) {
	opt := options(t)
	opt.Out = cancelling{at: "2/13", cancel: func() {}, err: io.ErrClosedPipe}
	_, err := demo.Run(t.Context(), opt)
	if !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("error %v", err)
	}
	if l := left(t, opt.TempDir); len(l) > 0 {
		t.Errorf("left behind: %v", l)
	}
}

// Without mem-lsp the demo says what it did not play, and plays the rest.
func TestDemoWithoutLanguageServer(t *testing.T) {
	var out bytes.Buffer
	opt := options(t)
	opt.Out, opt.LanguageServer = &out, nil
	report, err := demo.Run(t.Context(), opt)
	if err != nil || len(report.Steps) != len(stepNames) || !strings.Contains(out.String(), "NOT PLAYED") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

func TestDemoWithoutServer(t *testing.T) {
	opt := options(t)
	opt.Command = []string{filepath.Join(t.TempDir(), "missing")}
	_, err := demo.Run(t.Context(), opt)
	if err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("error %v", err)
	}
	opt.TempDir = filepath.Join(t.TempDir(), "none")
	if _, err = demo.Run(t.Context(), opt); err == nil || !strings.Contains(err.Error(), "TMPDIR") {
		t.Errorf("error %v", err)
	}
}
