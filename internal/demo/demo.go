// Package demo plays the main job of mem end to end on a scratch project: it
// starts the real server as a child process and speaks its real protocol. Each
// step says what it claims and checks it; a claim that fails fails the demo.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

// Options says how the demo runs.
type Options struct {
	// Command starts mem-mcp; the demo adds subcommands and flags.
	Command []string
	// LanguageServer starts mem-lsp; empty where there is none, and then the step
	// that needs it says that it was not played.
	LanguageServer []string
	// Getenv reads the few variables that any program needs, such as PATH.
	Getenv func(string) string
	// TempDir is where the scratch directory is made; "" is the system's place.
	TempDir string
	// Keep leaves the scratch directory in place.
	Keep bool
	// Out gets the steps as they are played; nil for none.
	Out io.Writer
	// Color paints Out; Width is where its lines are cut.
	Color bool
	Width int
}

// Report is what was played.
type Report struct {
	OK      bool    `json:"ok"`
	Error   string  `json:"error,omitempty"`
	Steps   []*Step `json:"steps"`
	Servers int     `json:"servers"` // processes of mem-mcp and mem-lsp that were started
	Calls   int     `json:"calls"`
	Checks  int     `json:"checks"`
	Seconds float64 `json:"seconds"`
	// Scratch is the directory that holds project, home and memory; Kept tells
	// whether it is still there.
	Scratch string `json:"scratch"`
	Kept    bool   `json:"kept"`
}

// Step is one thing that the demo shows.
type Step struct {
	Name    string   `json:"name"`
	Title   string   `json:"title"`
	OK      bool     `json:"ok"`
	Error   string   `json:"error,omitempty"`
	Calls   []*Call  `json:"calls"`
	Checks  []string `json:"checks"` // claims that held
	Shown   []string `json:"shown,omitempty"`
	Seconds float64  `json:"seconds"`
}

// Call is one request to a server, or one command that was run.
type Call struct {
	To        string `json:"to"` // which process
	Name      string `json:"name"`
	Arguments any    `json:"arguments,omitempty"`
	IsError   bool   `json:"isError,omitempty"`
	Result    any    `json:"result"`
}

// scene is one step with what plays it.
type scene struct {
	name, title string
	play        func(*stage)
}

func scenes() []scene {
	return []scene{
		{"where", "Where memory lies, and why", playWhere},
		{"forgets", "A conversation that knows nothing, and writes down what it learns", playForgets},
		{"remembers", "A new process, a new conversation: it remembers", playRemembers},
		{"replace", "Nobody overwrites what they have not read", playReplace},
		{"overflow", "An index that is too long: what is cut is named, and never the newest", playOverflow},
		{"editor", "In an editor: what no agent loads is shown, and moved where one does", playEditor},
		{"writers", "Several servers write at once, nothing is lost", playWriters},
		{"outside", "A program that takes no lock overwrites the index", playOutside},
		{"secret", "A secret is not written", playSecret},
		{"undo", "A deletion is taken back", playUndo},
		{"session", "A conversation that another session left is taken up", playSession},
		{"learns", "A turn ends: what it taught becomes memory, by itself", playLearns},
		{"files", "What is on disk at the end: plain Markdown", playFiles},
	}
}

// Run plays all scenes up to the first that fails. It gives the report in any
// case, and an error when a claim failed or the demo could not go on. It leaves
// no process behind, and no file unless Keep is set.
func Run(ctx context.Context, opt Options) (*Report, error) {
	start := time.Now()
	report := &Report{Steps: []*Step{}}
	scratch, err := newScratch(opt)
	if err != nil {
		return report, err
	}
	report.Scratch, report.Kept = scratch.root, opt.Keep
	s := &stage{ctx: ctx, command: opt.Command, languageServer: opt.LanguageServer, scratch: scratch, report: report, print: newPrinter(opt)}
	err = s.playAll()
	err = errors.Join(err, s.stopAll())
	if !opt.Keep {
		err = errors.Join(err, scratch.remove())
	}
	report.Seconds = seconds(start)
	report.OK = err == nil
	if err != nil {
		report.Error = err.Error()
		return report, err
	}
	s.print.end(report)
	return report, s.print.err
}

func (s *stage) playAll() error {
	all := scenes()
	for i, sc := range all {
		if err := s.play(i+1, len(all), sc); err != nil {
			return err
		}
	}
	return nil
}

// interruptLag is how long an interrupt may take to reach this program after a server.
const interruptLag = 200 * time.Millisecond

func (s *stage) play(n, of int, sc scene) error {
	start := time.Now()
	s.step = &Step{Name: sc.name, Title: sc.title, Calls: []*Call{}, Checks: []string{}}
	s.report.Steps = append(s.report.Steps, s.step)
	s.print.heading(n, of, sc.title)
	sc.play(s)
	s.step.Seconds = seconds(start)
	if s.err != nil {
		// A terminal interrupts the servers as well, and one may be gone before this program has heard of it.
		select {
		case <-s.ctx.Done():
		case <-time.After(interruptLag):
		}
	}
	if s.ctx.Err() != nil {
		s.err = fmt.Errorf("stopped before its end: %w", context.Cause(s.ctx))
	}
	if s.err == nil {
		s.err = s.print.err
	}
	if s.err != nil {
		s.err = fmt.Errorf("step %q: %w", sc.name, s.err)
		s.step.Error = s.err.Error()
		return s.err
	}
	s.step.OK = true
	return nil
}

func seconds(since time.Time) float64 {
	return float64(time.Since(since).Milliseconds()) / 1000
}
