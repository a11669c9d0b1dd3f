package memory

import (
	"context"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"mem/core/change"
	"mem/core/guard"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/settings"
	"mem/core/store"
)

// Env gives the environment that the memory was opened in.
func (m *Memory) Env() settings.Env { return m.opt.Env }

// StateDirectory gives where the state of this memory directory lies.
func (m *Memory) StateDirectory() string { return m.store.StateDirectory() }

// Origin gives the session that what is written here comes from.
func (m *Memory) Origin() string { return m.origin }

// Apply makes a change that was computed from the memory's files elsewhere, such as
// a fix. What others wrote in the meantime is merged or is a conflict.
func (m *Memory) Apply(ctx context.Context, c change.Change) (*Change, error) {
	if err := m.MayWrite(); err != nil {
		return nil, err
	}
	losses, notes := m.store.Check(ctx)
	n := m.notice(losses, notes)
	if c.Empty() {
		return m.done(&store.Result{}, n), nil
	}
	return m.apply(ctx, c, n, store.How{})
}

// Preview says what Apply would do to each file, and does nothing.
func (m *Memory) Preview(ctx context.Context, c change.Change) *Change {
	losses, notes := m.store.Check(ctx)
	res := &store.Result{}
	for _, f := range c.Files {
		after, exists, err := f.After()
		action := "updated"
		switch {
		case err != nil || !exists:
			action = "deleted"
		case f.Kind == change.Create:
			action = "created"
		}
		res.Files = append(res.Files, store.FileResult{Path: f.Path, Action: action, After: after})
	}
	return m.done(res, m.notice(losses, notes))
}

// Diff shows what a change does to each file, cut to what fits into a result.
// Secrets are taken out of it.
func (m *Memory) Diff(c change.Change) string {
	var b strings.Builder
	for _, f := range c.Files {
		after, _, err := f.After()
		if err != nil {
			continue // Apply says why
		}
		if f.Kind == change.Create {
			b.WriteString(udiff.Unified("/dev/null", "b/"+memdir.Shown(f.Path, maxPath), "", after))
			continue
		}
		b.WriteString(unified(f.Path, f.Base, after))
	}
	return m.shownDiff(b.String(), 2*maxDiff)
}

// shownDiff gives a diff for a result: without the secrets that stand in its lines,
// those around the change included, and cut.
func (m *Memory) shownDiff(diff string, most int) string {
	shown, _ := m.scanner.Redact([]byte(diff))
	return fit(string(shown), most)
}

// Left reports whether the change left exactly these texts, by path.
func (c *Change) Left(texts map[string]string) bool {
	for _, f := range c.all {
		if planned, ok := texts[f.Path]; !ok || f.After != planned || f.Hash == "" {
			return false
		}
	}
	return len(c.all) == len(texts)
}

// Paths gives the files that the change left and those that it deleted, the ones that
// Files leaves out included.
func (c *Change) Paths() (left, deleted []string) {
	for _, f := range c.all {
		if f.Action == "deleted" {
			deleted = append(deleted, f.Path)
		} else {
			left = append(left, f.Path)
		}
	}
	return left, deleted
}

// Cache gives what is kept of the memory's files, for others who look at them.
func (m *Memory) Cache() *memdir.Cache { return m.store.Cache() }

// Resolve gives the path of the memory file that a reference means: a topic's path
// or name, the index, or a daily log.
func (m *Memory) Resolve(ctx context.Context, ref string) (string, error) {
	v, _, err := m.view(ctx)
	if err != nil {
		return "", err
	}
	if strings.TrimSpace(ref) == memfile.IndexName && v.Index.Exists {
		return memfile.IndexName, nil
	}
	b, err := m.resolve(v.View, ref)
	if err != nil {
		return "", err
	}
	return b.Path, nil
}

// FewUnread gives as many of the files that could not be read as fit into a result.
func FewUnread(all []memdir.Problem) []Unread {
	out := []Unread{}
	for _, p := range all {
		out = append(out, Unread{Path: fit(p.Path, maxAbout), Message: memdir.Shown(p.Message, maxNote)})
	}
	out, more := some(out, maxExtras)
	if more > 0 {
		out = append(out, Unread{Path: "", Message: "and more files that are not listed"})
	}
	return out
}

// Guard looks for secrets with the exceptions that a person configured.
func (m *Memory) Guard() *guard.Scanner { return m.scanner }
