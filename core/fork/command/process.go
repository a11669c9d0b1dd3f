package command

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"time"
)

const (
	// askFirst is how long a process has to end by itself when it is asked to; then it is
	// killed, with all that it started. fork.Engine promises a second in all.
	askFirst = 400 * time.Millisecond
	// maxLine bounds one line of its output, in bytes; a longer one is dropped. The client
	// itself keeps tool results below 100 KB.
	maxLine = 8 << 20
	// maxOutput bounds all that it prints, in bytes: a run of many turns prints a few megabytes.
	maxOutput = 256 << 20
	// maxLines bounds how many lines it prints: each is an event of the run, of which a long one has thousands.
	maxLines = 200_000
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

// errFlood ends a process that prints without end.
var errFlood = fmt.Errorf("it printed more than %d bytes or %d lines", maxOutput, maxLines)

// errEnough ends a process whose reader has seen enough.
var errEnough = errors.New("its reader has seen enough")

// run runs the program to its end. each gets every line of its output, and ends the
// program by false. When ctx ends, so does the program. The end of what it said on
// standard error comes back in any case. When run returns, no process of its group is
// left, nor, where the system tells (Linux), one that left the group. When this process is
// killed, so is the program on Linux and Windows; elsewhere it ends when it prints a line.
func (p *process) run(ctx context.Context, input []byte, each func(line []byte) bool) (said string, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	cmd := exec.CommandContext(ctx, p.path, p.args...)
	mark := markOf()
	cmd.Dir, cmd.Env = p.dir, append(slices.Clone(p.env), mark)
	cmd.Stdin = bytes.NewReader(input)
	out, tail := &lines{each: each, enough: cancel}, &lastBytes{}
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
	endMarked(mark)
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

// markOf is a variable of the environment that this run alone has.
func markOf() string { return "MEM_FORK_RUN=" + rand.Text() }

// lines cuts an output into lines. It is written to by one goroutine.
type lines struct {
	each   func([]byte) bool
	enough func(error)

	printed int // bytes
	count   int // lines
	buf     []byte
	tooLong bool // the line under way is dropped
	dropped int
	over    bool
}

func (l *lines) Write(p []byte) (int, error) {
	n := len(p)
	if l.printed += n; l.printed > maxOutput {
		l.flood()
	}
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
			if l.count++; l.count > maxLines {
				l.flood()
			}
		}
	}
	return n, nil
}

func (l *lines) flood() {
	if !l.over {
		l.over, l.buf = true, nil
		l.enough(errFlood)
	}
}

// end hands on the line that is there.
func (l *lines) end() {
	text := bytes.TrimRight(l.buf, " \t\r")
	if len(text) > 0 && !l.over && !l.each(text) {
		l.over = true
		l.enough(errEnough)
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
