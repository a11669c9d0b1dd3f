// Package gate holds the tools of the forked agent and decides about each call: what
// it may look at, what it may change. One function, decide, with one table says so
// for all of them; what it lets through works on files through os.Root, without
// following links.
package gate

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"mem/core/fork"
	"mem/core/fork/shell"
	"mem/core/guard"
	"mem/core/model"
)

// Options configure a Gate.
type Options struct {
	// Mounts are what the agent sees. The first is its home and its current folder.
	Mounts []Mount
	// Cwd is the folder from which relative paths count, as the agent names it; "" is
	// the first mount.
	Cwd string
	// Now is the time for what asks for it; nil is time.Now.
	Now func() time.Time
	// Redact takes secrets out of all that the agent is given, and keeps it from
	// writing new ones. With nil, secrets stay.
	Redact *guard.Scanner
	// Shell bounds scripts; the zero value is shell's own limits.
	Shell shell.Limits
}

// Mount is a folder that the agent sees.
type Mount struct {
	Name string // the agent sees /Name
	Dir  string // of this machine; opened once
	// Aliases are absolute paths of this machine that mean it too, such as those which
	// conversations name.
	Aliases []string
	// Write says why a file, relative and with slashes, may not be written, or nil.
	// Without it the mount is read only.
	Write func(rel string) error
	// Files, relative and with slashes, are the only ones that are seen; nil is all.
	Files []string
}

// Gate is the tools of one run. It is safe for concurrent use; calls that change
// files are made one after the other.
type Gate struct {
	world *world
	cwd   string
	now   func() time.Time
	guard *guard.Scanner
	shell shell.Limits

	mu      sync.Mutex
	seen    map[string][sha256.Size]byte // what the agent has read, by place
	changed map[string]bool
	written int64
	busy    chan struct{} // holds one while a script runs
}

var _ fork.Tools = (*Gate)(nil)

// New opens the mounts. Close closes them.
func New(o Options) (*Gate, error) {
	if len(o.Mounts) == 0 {
		return nil, errors.New("a gate without mounts shows nothing: give it at least the memory")
	}
	w, err := openWorld(o.Mounts)
	if err != nil {
		return nil, err
	}
	w.redact = newRedactor(o.Redact)
	g := &Gate{
		world: w, cwd: o.Cwd, now: o.Now, guard: o.Redact, shell: o.Shell,
		seen: map[string][sha256.Size]byte{}, changed: map[string]bool{}, busy: make(chan struct{}, 1),
	}
	if g.now == nil {
		g.now = time.Now
	}
	if g.cwd == "" {
		g.cwd = "/" + o.Mounts[0].Name
	}
	at, err := w.resolve("/", g.cwd)
	if err == nil {
		var info fs.FileInfo
		if info, err = at.lstat(); err == nil && !info.IsDir() {
			err = pathError("open", at, errNotFolder)
		}
	}
	if err != nil {
		w.close()
		return nil, fmt.Errorf("the folder to start from: %w", err)
	}
	g.cwd = at.String()
	return g, nil
}

// maxWall bounds one call.
const maxWall = 20 * time.Second

// Close closes the mounts. No call may run or follow.
func (g *Gate) Close() error {
	g.world.close()
	return nil
}

// Tools lists the tools as the model sees them.
func (g *Gate) Tools() []model.Tool {
	list := make([]model.Tool, len(table))
	for i, r := range table {
		list[i] = model.Tool{Name: r.tool, Description: r.description, Schema: r.schema()}
	}
	list[0].Description += " " + g.world.allowed()
	return list
}

// Call runs one call, if decide lets it.
func (g *Gate) Call(ctx context.Context, name string, input json.RawMessage) (called fork.Called) {
	defer func() {
		if r := recover(); r != nil {
			called = fork.Called{Failed: true, Text: fmt.Sprintf("%s failed by a fault of its own (%v); try another way.", name, r)}
		}
		called.Text = g.world.redact.text(called.Text)
		called.Refused = g.world.redact.text(called.Refused)
		called.Read = int64(len(called.Text))
	}()
	if err := ctx.Err(); err != nil {
		return failed(fmt.Errorf("the run is over: %w", context.Cause(ctx)))
	}
	d, err := g.decide(name, input)
	if err != nil {
		return failed(err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, maxWall, fmt.Errorf("%s was stopped after %s; ask for less at a time", name, maxWall))
	defer cancel()
	called, err = d.rule.run(ctx, g, d)
	if err != nil {
		return failed(err)
	}
	return called
}

// failed tells a call that was refused from one that did not work.
func failed(err error) fork.Called {
	var no *shell.RefusedError
	if errors.As(err, &no) {
		return fork.Called{Text: "Refused: " + err.Error(), Refused: err.Error()}
	}
	return fork.Called{Text: "Error: " + said(err), Failed: true}
}

// said gives an error in words without those of the system calls.
func said(err error) string {
	var p *fs.PathError
	if !errors.As(err, &p) {
		return err.Error()
	}
	what := p.Err.Error()
	switch {
	case errors.Is(p.Err, fs.ErrNotExist):
		what = "there is no such file or folder"
	case errors.Is(p.Err, fs.ErrPermission):
		what = "the system does not let it be read"
	case errors.Is(p.Err, fs.ErrExist):
		what = "it exists already"
	}
	return p.Path + ": " + what
}
