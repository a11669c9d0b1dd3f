package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"mvdan.cc/sh/v3/syntax"
)

// What a script may use. All of it is far beyond what looking at a memory takes.
const (
	MaxWall   = 5 * time.Second
	MaxOutput = 64 << 10 // bytes, of output and errors together

	maxVariables = 256 << 10 // bytes of all variables of a shell together
	maxArguments = 1 << 20   // bytes of the arguments of one command, or one list
	maxCaptured  = 256 << 10 // bytes of one $(...)
	maxHeld      = 32 << 20  // bytes that sort and its like hold at a time
	maxRead      = 256 << 20 // bytes of all files read
	maxListed    = 200000    // entries of all folders listed
	maxCalls     = 20000     // commands run
	maxPipes     = 32        // pipes open at a time
	maxFunctions = 50        // functions within each other
	maxRefused   = 20        // refusals that are reported
	grace        = 250 * time.Millisecond
)

// Limits replace limits where they are above 0.
type Limits struct {
	Wall   time.Duration
	Output int
}

// Options of a run.
type Options struct {
	Cwd, Home string // as the script names them
	Now       func() time.Time
	Limits    Limits
	// Done is called when the last of the script has ended, which may be after Run has
	// given up on it. nil asks for no call.
	Done func()
}

// Output is what a script did.
type Output struct {
	Text    string // output and errors, in the order in which they came
	Status  int    // 0 to 255; 124 where a limit ended it
	Notes   []string
	Refused []string // paths that were not given, and why
}

// Run runs a script. An error means that none of it was run.
func Run(ctx context.Context, files Files, script string, o Options) (Output, error) {
	done := o.Done
	if done == nil {
		done = func() {}
	}
	file, err := parse(script)
	if err != nil {
		done()
		return Output{}, err
	}
	wall, most := MaxWall, MaxOutput
	if o.Limits.Wall > 0 {
		wall = o.Limits.Wall
	}
	if o.Limits.Output > 0 {
		most = o.Limits.Output
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(wall, func() { cancel(fmt.Errorf("stopped after %s. Look at less at a time", wall)) })
	s := &state{files: files, now: o.Now, cancel: cancel, most: most}
	end := make(chan int, 1)
	go func() {
		defer done()
		r := newRunner(s, o)
		defer func() {
			if v := recover(); v != nil {
				s.stop(fmt.Errorf("stopped by a fault in the shell (%v). Write it another way", v))
				end <- 124
			}
		}()
		end <- r.file(ctx, file)
	}()
	status, late := 0, false
	select {
	case status = <-end:
	case <-ctx.Done():
		// What waits for a pipe ends at once; what computes, at its next step.
		last := time.NewTimer(grace)
		select {
		case status = <-end:
		case <-last.C:
			late = true
		}
		last.Stop()
	}
	timer.Stop()
	out := s.output()
	if cause := context.Cause(ctx); cause != nil {
		out.Notes = append(out.Notes, cause.Error())
		status = 124
	}
	cancel(errors.New("the script has ended"))
	if late {
		out.Notes = append(out.Notes, "the rest of it is still being stopped")
	}
	out.Status = status
	return out, nil
}

// state is what all parts of a running script share.
type state struct {
	files  Files
	now    func() time.Time
	cancel context.CancelCauseFunc
	most   int

	mu      sync.Mutex
	text    strings.Builder
	closed  bool // the output was taken
	refused []string
	held    int64
	read    int64
	listed  int64
	calls   int
	pipes   int
}

// stop ends the whole script.
func (s *state) stop(why error) error {
	s.cancel(why)
	return why
}

func (s *state) output() Output {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	return Output{Text: s.text.String(), Refused: slices.Clone(s.refused)}
}

// Write takes output and errors of the script.
func (s *state) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return 0, io.ErrClosedPipe
	}
	if room := s.most - s.text.Len(); len(b) > room {
		s.text.Write(b[:room])
		return room, s.stop(fmt.Errorf("the output was cut at %d bytes. Look at less at a time", s.most))
	}
	return s.text.Write(b)
}

// note takes word of a path that was refused.
func (s *state) note(err error) {
	var no *RefusedError
	if !errors.As(err, &no) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.refused) < maxRefused && !slices.Contains(s.refused, no.Error()) {
		s.refused = append(s.refused, no.Error())
	}
}

// count adds to one of the counters, and ends the script where it is full.
func (s *state) count(c *int64, n int, most int64, what string) error {
	s.mu.Lock()
	*c += int64(n)
	over := *c > most
	s.mu.Unlock()
	if over {
		return s.stop(fmt.Errorf("stopped: %s. Look at less at a time", what))
	}
	return nil
}

// hold counts memory that a command keeps; a negative n gives it back.
func (s *state) hold(n int) error {
	return s.count(&s.held, n, maxHeld, fmt.Sprintf("commands held more than %d MB at a time", maxHeld>>20))
}

func (s *state) called() error {
	s.mu.Lock()
	s.calls++
	over := s.calls > maxCalls
	s.mu.Unlock()
	if over {
		return s.stop(fmt.Errorf("stopped after %d commands", maxCalls))
	}
	return nil
}

func (s *state) pipe(n int) error {
	s.mu.Lock()
	s.pipes += n
	over := s.pipes > maxPipes
	s.mu.Unlock()
	if over {
		return s.stop(fmt.Errorf("stopped: more than %d pipes at a time", maxPipes))
	}
	return nil
}

// runner is one shell; each side of a pipe and each ( ) and $( ) has its own.
type runner struct {
	*state
	env    *environ
	funcs  map[string]*syntax.Stmt
	dir    string
	in     io.Reader
	out    io.Writer
	err    io.Writer
	status int
	flow   flow
	levels int // loops that break or continue still has to leave
	loops  int
	depth  int  // functions within each other
	strict bool // set -e
	unset  bool // set -u
	fail   bool // set -o pipefail
	quiet  int  // conditions, where set -e does not count
	subst  int  // status of the last $( )
	left   int  // entries of the folders listed so far that were not shown
}

// flow is what a statement does beside going on.
type flow int

const (
	onward flow = iota
	breaks
	continues
	returns
	exits
)

func newRunner(s *state, o Options) *runner {
	r := &runner{state: s, funcs: map[string]*syntax.Stmt{}, dir: o.Cwd, in: strings.NewReader(""), out: s, err: s}
	r.env = newEnviron(r, map[string]string{"HOME": o.Home, "PWD": o.Cwd, "LANG": "C", "IFS": " \t\n"})
	return r
}

// sub gives a shell for a part of the script: what it sets stays its own.
func (r *runner) sub() *runner {
	r2 := *r
	r2.funcs = map[string]*syntax.Stmt{}
	for k, v := range r.funcs {
		r2.funcs[k] = v
	}
	r2.env = r.env.clone(&r2)
	r2.loops, r2.flow, r2.levels = 0, onward, 0
	return &r2
}

func (r *runner) errorf(format string, a ...any) { fmt.Fprintf(r.err, format+"\n", a...) }
