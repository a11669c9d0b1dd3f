package memory

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"mem/core/change"
	"mem/core/memdir"
	"mem/core/store"
)

// View reads the directory for those who work on all of it, such as jobs, with what
// must be said of it.
func (m *Memory) View(ctx context.Context) (*memdir.View, Notice, error) {
	v, n, err := m.view(ctx)
	if err != nil {
		return nil, n, err
	}
	return v.View, n, nil
}

// Current gives the text that a memory file has now; one that does not exist is no
// error.
func (m *Memory) Current(p string) (content string, exists bool, err error) {
	b, err := m.store.Load(p)
	if errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	return b.File.Text.String(), true, nil
}

// keepTimes is the key under which a context carries that what is applied only mends.
type keepTimes struct{}

// KeepTimes gives a context in which ApplyAs leaves topics their modification times: to
// mend a topic is not to touch it.
func KeepTimes(ctx context.Context) context.Context {
	return context.WithValue(ctx, keepTimes{}, true)
}

func keepsTimes(ctx context.Context) bool {
	is, _ := ctx.Value(keepTimes{}).(bool)
	return is
}

// ApplyAs is Apply for the result of another session, which the history names as its
// origin; "" is this one.
func (m *Memory) ApplyAs(ctx context.Context, c change.Change, origin string) (*Change, error) {
	if err := m.MayWrite(); err != nil {
		return nil, err
	}
	losses, notes := m.store.Check(ctx)
	n := m.notice(losses, notes)
	if c.Empty() {
		return m.done(&store.Result{}, n), nil
	}
	res, err := m.store.Apply(ctx, c, store.How{AllowSecrets: m.mayWriteSecrets(ctx), KeepTimes: c.Op == opFix || keepsTimes(ctx), Origin: origin})
	if err != nil {
		return nil, err
	}
	return m.done(res, n), nil
}

// MayWriteSecrets reports whether a person lets secrets be written here.
func (m *Memory) MayWriteSecrets(ctx context.Context) bool { return m.mayWriteSecrets(ctx) }

// Now gives the time of the memory's environment.
func (m *Memory) Now() time.Time { return m.now() }
