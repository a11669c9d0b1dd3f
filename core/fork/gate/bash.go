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

func (f *files) ReadDir(p string) ([]fs.FileInfo, error) {
	at, err := f.w.resolve("/", p)
	if err != nil {
		return nil, err
	}
	list, _, err := at.list(f.w)
	return list, err
}

func (f *files) ReadFile(p string) ([]byte, error) {
	at, err := f.w.resolve("/", p)
	if err != nil {
		return nil, err
	}
	text, _, binary, err := f.w.content(at)
	if binary {
		err = refusal(at, "it is no text, so it is not shown")
	}
	return text, err
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
	if out.Status != 0 {
		fmt.Fprintf(&b, "(exit status %d)\n", out.Status)
	} else if b.Len() == 0 {
		b.WriteString("(no output)\n")
	}
	return fork.Called{
		Text: b.String(), Refused: strings.Join(out.Refused, "; "), Failed: out.Status != 0 || len(out.Notes) > 0,
	}, nil
}

func runBash(ctx context.Context, g *Gate, d decision) (fork.Called, error) {
	return g.script(ctx, d.in.text("command"), d.in.number("timeout", 0))
}
