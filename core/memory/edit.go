package memory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"mem/core/change"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/store"
)

// Edit is one edit of a topic or of the index.
type Edit struct {
	Topic string // path or name; MEMORY.md is the index
	memdir.EditOf
	ExpectedHash string // of the text the edit was made for; the current one where it is empty
	Planned      Planned
}

// Edited is what became of it.
type Edited struct {
	Path   string `json:"path"`
	Hash   string `json:"hash"`
	Merged bool   `json:"merged,omitempty"`
	Diff   string `json:"diff,omitempty"` // what changed in the file
	Change
}

// Edit changes one part of a topic or of the index.
func (m *Memory) Edit(ctx context.Context, e Edit) (*Edited, error) {
	b, form, n, err := m.toEdit(ctx, e.Topic)
	if err != nil {
		return nil, err
	}
	base := b.File.Text.String()
	if e.ExpectedHash != "" && e.ExpectedHash != b.Hash {
		if base, err = m.base(b.Path, e.ExpectedHash); err != nil {
			return nil, err
		}
	}
	c, err := memdir.Edit(b.Path, base, e.EditOf, form, m.stamp())
	if err != nil {
		return nil, err
	}
	c = m.retitle(c, b.Path)
	done, err := m.apply(ctx, c, n, e.Planned.how(nil)) // the journal keeps what the text was
	if err != nil {
		return nil, err
	}
	out := &Edited{Path: b.Path, Hash: b.Hash, Change: *done}
	for _, f := range done.all {
		if f.Path == b.Path {
			out.Hash, out.Merged = f.Hash, f.Merged
			out.Diff = m.shownDiff(unified(b.Path, b.File.Text.String(), f.After), maxDiff)
		}
	}
	return out, nil
}

// retitle lets the entry follow when an edit gave its topic another name or
// description.
func (m *Memory) retitle(c change.Change, p string) change.Change {
	if c.Empty() || p == memfile.IndexName {
		return c
	}
	after, _, err := c.Files[0].After()
	if err != nil {
		return c
	}
	was, is := memfile.Parse(c.Files[0].Base).Meta(), memfile.Parse(after).Meta()
	if was.Name == is.Name && was.Description == is.Description {
		return c
	}
	index, err := m.store.Look(memfile.IndexName)
	if err != nil {
		return c // no index, no entry
	}
	limits := memdir.Limits{EntryLength: m.Config.Limits.EntryLength}
	return memdir.Retitle(c, m.store.ParseIndex(index.File.Text.String()), p, was, is, limits)
}

// toEdit finds the file to edit, and the form that new keys of it take. A file
// that is named by its path and has a form of its own is found without a look
// at the whole directory.
func (m *Memory) toEdit(ctx context.Context, ref string) (*memdir.Body, memfile.Form, Notice, error) {
	if b, err := m.direct(ref); err == nil && (b.Path == memfile.IndexName || b.File.Form() != memfile.FormNone) {
		if b.Path != memfile.IndexName {
			err = memdir.CheckTopicPath(b.Path)
		}
		losses, notes := m.store.Check(ctx)
		return b, b.File.Form(), m.notice(losses, notes), err
	}
	v, n, err := m.view(ctx)
	if err != nil {
		return nil, "", n, err
	}
	b, err := m.target(v, ref)
	return b, v.Form(), n, err
}

// target finds a topic, or the index, that is to be changed.
func (m *Memory) target(v *store.Reading, ref string) (*memdir.Body, error) {
	b, err := m.resolve(v.View, ref)
	if err != nil && path.Clean(strings.TrimSpace(ref)) == memfile.IndexName && v.Index.Exists {
		b, err = m.store.Load(memfile.IndexName)
	}
	if err != nil {
		return nil, err
	}
	if b.Path != memfile.IndexName {
		if err := memdir.CheckTopicPath(b.Path); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// Delete removes a topic, by path or name, and its entries. expected may be
// empty: the deletion can be undone.
func (m *Memory) Delete(ctx context.Context, ref, expected string) (*Change, error) {
	v, n, err := m.view(ctx)
	if err != nil {
		return nil, err
	}
	b, err := m.target(v, ref)
	if err != nil {
		return m.deleteEntry(ctx, v, n, ref, err)
	}
	if b.Path == memfile.IndexName {
		return nil, fmt.Errorf("%s is the index and is not deleted; edit it, or delete topics", b.Path)
	}
	if expected != "" && expected != b.Hash {
		return nil, &ExistsError{Path: b.Path, Current: store.Current{Text: b.File.Text.String(), Hash: b.Hash, Exists: true}, Given: expected}
	}
	return m.apply(ctx, v.Delete(b.Path, b.File.Text.String()), n, store.How{})
}

// deleteEntry removes an entry whose topic does not exist.
func (m *Memory) deleteEntry(ctx context.Context, v *store.Reading, n Notice, ref string, cause error) (*Change, error) {
	ref = path.Clean(strings.TrimSpace(ref))
	for _, e := range v.Index.Entries {
		if e.Target != ref && e.Target != ref+".md" && e.Title != ref {
			continue
		}
		if _, err := m.store.Load(e.Target); v.Topic(e.Target) != nil || !errors.Is(err, fs.ErrNotExist) {
			continue // it is there, but cannot be read
		}
		c := change.Change{Op: "delete", Title: "delete the entry of " + e.Target}
		if f, ok := change.EditFile(memfile.IndexName, v.Index.Text().String(), v.Index.Remove(e.Target)); ok {
			c.Files = append(c.Files, f)
		}
		n.note(fmt.Sprintf("%s does not exist; its entry was removed.", memdir.ShownName(e.Target)))
		return m.apply(ctx, c, n, store.How{})
	}
	return nil, cause
}

// Moved is what a move did.
type Moved struct {
	Path string `json:"path"` // the new one
	From string `json:"from"`
	Change
}

// Move renames a topic; links in the index and in other topics follow.
func (m *Memory) Move(ctx context.Context, ref, to string) (*Moved, error) {
	v, n, err := m.view(ctx)
	if err != nil {
		return nil, err
	}
	t, err := v.Resolve(ref)
	if err != nil {
		if p := path.Clean(strings.TrimSpace(ref)); memdir.CheckTopicPath(p) == nil {
			err = cmp.Or(v.CheckPlace(p), err)
		}
		return nil, err
	}
	to = strings.TrimSpace(to)
	c, notes, err := v.Move(ctx, t, to)
	if err != nil {
		return nil, err
	}
	n.note(notes...)
	done, err := m.apply(ctx, c, n, store.How{})
	if err != nil {
		return nil, err
	}
	return &Moved{Path: to, From: t.Path, Change: *done}, nil
}
