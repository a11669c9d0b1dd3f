package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"
)

const (
	// askFirst is how long a process has to end by itself when it is asked to; then it is
	// killed, with all that it started. fork.Engine promises a second in all.
	askFirst = 400 * time.Millisecond
	// maxLine bounds one line of its output, in bytes; a longer one is dropped. The client
	// itself keeps tool results below 100 KB.
	maxLine = 8 << 20
	// maxTail is how much is kept of what it says on standard error, in bytes.
	maxTail = 8 << 10
)

// process is one run of a program, with all that it starts.
type process struct {
	path string
	args []string
	dir  string
	env  []string
}

// errEnough ends a process whose reader has seen enough.
var errEnough = errors.New("its reader has seen enough")

// run runs the program to its end. each gets every line of its output, and ends the
// program by false. When ctx ends, so does the program. The end of what it said on
// standard error comes back in any case. When run returns, no process of its group is
// left.
func (p *process) run(ctx context.Context, input []byte, each func(line []byte) bool) (said string, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	cmd := exec.CommandContext(ctx, p.path, p.args...)
	cmd.Dir, cmd.Env = p.dir, p.env
	cmd.Stdin = bytes.NewReader(input)
	out, tail := &lines{each: each, enough: func() { cancel(errEnough) }}, &lastBytes{}
	cmd.Stdout, cmd.Stderr = out, tail
	g := newGroup(cmd)
	cmd.Cancel = g.ask
	cmd.WaitDelay = askFirst // then it is killed, and its pipes are closed, whoever holds them
	if err := cmd.Start(); err != nil {
		g.close()
		return "", fmt.Errorf("starting %s: %w", p.path, err)
	}
	g.started()
	err = cmd.Wait()
	g.kill()
	g.close()
	out.end()
	switch cause := context.Cause(ctx); {
	case cause != nil:
		return tail.String(), cause
	case errors.Is(err, exec.ErrWaitDelay): // it ended well, and left something behind that is ended now
		err = nil
	}
	return tail.String(), err
}

// lines cuts an output into lines. It is written to by one goroutine.
type lines struct {
	each   func([]byte) bool
	enough func()

	buf     []byte
	tooLong bool // the line under way is dropped
	dropped int
	over    bool
}

func (l *lines) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 && !l.over {
		part, rest, whole := bytes.Cut(p, []byte("\n"))
		p = rest
		if !l.tooLong {
			l.buf = append(l.buf, part...)
		}
		if len(l.buf) > maxLine {
			l.buf, l.tooLong = nil, true
			l.dropped++
		}
		if whole {
			l.end()
		}
	}
	return n, nil
}

// end hands on the line that is there.
func (l *lines) end() {
	text := bytes.TrimRight(l.buf, " \t\r")
	if len(text) > 0 && !l.over && !l.each(text) {
		l.over = true
		l.enough()
	}
	l.buf, l.tooLong = l.buf[:0], false
}

// lastBytes keeps the end of what is written to it.
type lastBytes struct{ b []byte }

func (l *lastBytes) Write(p []byte) (int, error) {
	n := len(p)
	p = p[max(0, n-maxTail):]
	if over := len(l.b) + len(p) - maxTail; over > 0 {
		l.b = append(l.b[:0], l.b[min(over, len(l.b)):]...)
	}
	l.b = append(l.b, p...)
	return n, nil
}

func (l *lastBytes) String() string { return string(bytes.ToValidUTF8(l.b, nil)) }
