package gate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"mem/core/fork"
	"mem/core/fork/shell"
)

// files is the world as scripts see it: every path they touch goes the way of Read.
type files struct{ w *world }

func (f *files) Resolve(cwd, p string) (string, error) {
	at, err := f.w.resolve(cwd, p)
	return at.String(), err
}

func (f *files) Stat(p string) (fs.FileInfo, error) {
	at, err := f.w.resolve("/", p)
	if err != nil {
		return nil, err
	}
	info, err := at.lstat()
	if err != nil {
		return nil, err
	}
	return named{info, path.Base(at.String())}, nil
}

func (f *files) ReadDir(p string) ([]fs.FileInfo, int, error) {
	at, err := f.w.resolve("/", p)
	if err != nil {
		return nil, 0, err
	}
	return at.list(f.w)
}

func (f *files) ReadFile(p string) ([]byte, error) {
	at, err := f.w.resolve("/", p)
	if err != nil {
		return nil, err
	}
	content, err := f.w.content(at)
	if content.binary {
		err = refusal(at, "it is no text, so it is not shown")
	}
	return content.bytes, err
}

func (g *Gate) script(ctx context.Context, text string, millis int) (fork.Called, error) {
	// One at a time: one that did not stop in time may still be at work.
	wait := time.NewTimer(2 * shell.MaxWall)
	defer wait.Stop()
	select {
	case g.busy <- struct{}{}:
	case <-ctx.Done():
		return fork.Called{}, fmt.Errorf("the script was not started: %w", context.Cause(ctx))
	case <-wait.C:
		return fork.Called{}, errors.New("a script before this one is still at work; use Read, Grep and Glob instead")
	}
	limits := g.shell
	if t := time.Duration(millis) * time.Millisecond; t > 0 && (limits.Wall == 0 || t < limits.Wall) {
		limits.Wall = min(t, shell.MaxWall)
	}
	out, err := shell.Run(ctx, &files{g.world}, text, shell.Options{
		Cwd: g.cwd, Home: "/" + g.world.mounts[0].Name, Now: g.now, Limits: limits, Done: func() { <-g.busy },
	})
	if err != nil {
		return fork.Called{}, err
	}
	var b strings.Builder
	b.WriteString(out.Text)
	if out.Text != "" && !strings.HasSuffix(out.Text, "\n") {
		b.WriteByte('\n')
	}
	for _, note := range out.Notes {
		b.WriteString("(" + note + ")\n")
	}
	for _, no := range out.Refused { // also what was asked without a word, as tests do
		if !strings.Contains(out.Text, no) {
			b.WriteString("(" + no + ")\n")
		}
	}
	if out.Status != 0 {
		fmt.Fprintf(&b, "(exit status %d)\n", out.Status)
	} else if b.Len() == 0 {
		b.WriteString("(no output)\n")
	}
	return fork.Called{
		Text: b.String(), Refused: strings.Join(out.Refused, "; "), Failed: out.Status > 1 || len(out.Notes) > 0,
	}, nil
}

func runBash(ctx context.Context, g *Gate, d decision) (fork.Called, error) {
	return g.script(ctx, d.in.text("command"), d.in.number("timeout", 0))
}
