package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/store"
)

// Topic is a topic as results list it.
type Topic struct {
	Path        string    `json:"path"`
	Name        string    `json:"name"`
	Description string    `json:"description,omitempty"`
	Type        string    `json:"type,omitempty"`
	Modified    time.Time `json:"modified"`
	Size        int64     `json:"size"` // bytes
	Linked      bool      `json:"linked"`
	Problems    []string  `json:"problems,omitempty"`
}

// ListOptions selects topics.
type ListOptions struct {
	Type   string // only this type
	Cursor string // from an earlier result
	Limit  int    // topics a page; 0 means as many as fit, at most 200

	whole bool // list everything that is no topic, however much it is
}

// List is one page of the topics of a memory, newest first.
type List struct {
	Directory  string      `json:"directory"`
	Topics     []Topic     `json:"topics"`
	Total      int         `json:"total"` // of all pages
	NextCursor string      `json:"nextCursor,omitempty"`
	Logs       []string    `json:"logs,omitempty"`   // days that have a daily log, newest first
	Nested     []string    `json:"nested,omitempty"` // folders that are memory directories of their own
	Unread     []Unread    `json:"unread,omitempty"`
	MoreNested int         `json:"moreNested,omitempty"` // not listed above
	MoreUnread int         `json:"moreUnread,omitempty"`
	Index      memdir.Fill `json:"index"`
	Notice
}

// shortProblems bounds what is said of each file.
func shortProblems(ps []memdir.Problem) []memdir.Problem {
	var out []memdir.Problem
	for _, p := range ps {
		out = append(out, memdir.Problem{Path: fit(p.Path, maxAbout), Message: memdir.Shown(p.Message, maxNote)})
	}
	return out
}

// Unread is a file that could not be read as memory, and why.
type Unread = memdir.Problem

const (
	maxListed     = 200 // topics in one page
	maxListedLogs = 31
)

// List lists topics.
func (m *Memory) List(ctx context.Context, o ListOptions) (*List, error) {
	if o.Type != "" && !memfile.KnownType(o.Type) {
		return nil, fmt.Errorf("type %q is unknown; it is one of %s", o.Type, strings.Join(memfile.Types, ", "))
	}
	start, err := cursorOffset(o.Cursor)
	if err != nil {
		return nil, err
	}
	v, n, err := m.view(ctx)
	if err != nil {
		return nil, err
	}
	l := &List{Directory: m.Location.Directory, Topics: []Topic{}, Index: memdir.FillOf(v.Index, m.rule()), Notice: n}
	for i, d := range v.Logs {
		if i == maxListedLogs {
			break
		}
		l.Logs = append(l.Logs, d.Date)
	}
	l.Unread, l.MoreUnread = shortProblems(v.Problems), 0
	l.Nested = v.Nested
	if !o.whole {
		l.Unread, l.MoreUnread = some(l.Unread, maxExtras)
		l.Nested, l.MoreNested = some(v.Nested, maxExtras)
	}
	seen, _ := v.Scan(len(v.Topics))
	room := newBudget()
	room.chars -= Size(l.Unread) + Size(l.Nested) + Size(l.Notice)
	for _, s := range seen {
		if o.Type != "" && s.Topic.Meta.Type != o.Type {
			continue
		}
		l.Total++
		if l.Total <= start || l.NextCursor != "" {
			continue
		}
		t := topicOf(s.Topic, v.Index)
		b, err := json.Marshal(t)
		if err != nil {
			return nil, fmt.Errorf("listing %s: %w", t.Path, err)
		}
		if !room.take(string(b)) && len(l.Topics) > 0 || len(l.Topics) == pageSize(o.Limit) {
			l.NextCursor = strconv.Itoa(l.Total - 1)
			continue
		}
		l.Topics = append(l.Topics, t)
	}
	return l, nil
}

func pageSize(limit int) int {
	if limit <= 0 || limit > maxListed {
		return maxListed
	}
	return limit
}

func cursorOffset(cursor string) (int, error) {
	if cursor == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(cursor)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("cursor %q is not one that an earlier result gave; leave it out to start from the beginning", cursor)
	}
	return n, nil
}

func topicOf(t *memdir.Topic, x *memfile.Index) Topic {
	out := Topic{Path: fit(t.Path, maxPath), Name: fit(t.Name(), maxName), Description: fit(t.Meta.Description, maxAbout), Type: fit(t.Meta.Type, maxType),
		Modified: t.ModTime.UTC(), Size: t.Size, Linked: x.Entry(t.Path) != nil}
	for i, p := range t.Problems {
		if i == maxProblems {
			out.Problems = append(out.Problems, fmt.Sprintf("%d more problems", len(t.Problems)-i))
			break
		}
		out.Problems = append(out.Problems, fit(p.Message, maxName))
	}
	return out
}

// Read is one memory file, or a page of it.
type Read struct {
	Path        string `json:"path"`
	Hash        string `json:"hash"` // give it as expected_hash when you write
	Text        string `json:"text"` // the file as it is, frontmatter included
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
	Type        string `json:"type,omitempty"`
	Modified    string `json:"modified,omitempty"`
	Size        int    `json:"size"` // bytes of the whole file
	NextCursor  string `json:"nextCursor,omitempty"`
	// Fill tells how full the index is, where the index was read.
	Fill     *memdir.Fill `json:"fill,omitempty"`
	Problems []string     `json:"problems,omitempty"`
	Notice
}

// Read reads a topic by path or name, the index ("MEMORY.md"), or a daily log.
// Text is the file's own bytes but for invalid UTF-8, which is replaced.
func (m *Memory) Read(ctx context.Context, ref, cursor string) (*Read, error) {
	offset, err := cursorOffset(cursor)
	if err != nil {
		return nil, err
	}
	if strings.TrimSpace(ref) == "" {
		return nil, errors.New("topic is empty; give a path or a name that memory_list shows, or MEMORY.md")
	}
	var n Notice
	b, err := m.direct(ref)
	if err == nil {
		m.store.Keep(b.Path, b.Hash, b.File.Text.String())
	} else {
		b, err = m.known(ref)
	}
	if err != nil {
		var v *store.Reading
		if v, n, err = m.view(ctx); err != nil {
			return nil, err
		}
		if b, err = m.resolve(v.View, ref); err != nil {
			return nil, err
		}
	} else {
		losses, notes := m.store.Check(ctx)
		n = m.notice(losses, notes)
	}
	r := &Read{Path: b.Path, Hash: b.Hash, Size: b.File.Text.Len(), Notice: n}
	meta := b.File.Meta()
	r.Name, r.Description = fit(meta.Name, maxName), fit(meta.Description, maxAbout)
	r.Type, r.Modified = fit(meta.Type, maxType), fit(meta.Modified, maxType)
	for i, p := range b.File.Problems {
		if i == 3*maxProblems {
			r.Problems = append(r.Problems, fmt.Sprintf("%d more problems", len(b.File.Problems)-i))
			break
		}
		r.Problems = append(r.Problems, fit(fmt.Sprintf("line %d: %s", b.File.Text.LineAt(p.Span.Start)+1, p.Message), maxAbout))
	}
	if b.Path == memfile.IndexName {
		f := memdir.FillOf(m.store.ParseIndex(b.File.Text.String()), m.rule())
		r.Fill = &f
	}
	whole := b.File.Text.String()
	if !utf8.ValidString(whole) { // a look is much cheaper than a walk
		whole = strings.ToValidUTF8(whole, "\uFFFD")
	}
	page, next, err := pageOf(whole, offset, Size(r.Notice)+Size(r.Problems)+Size(r.Path))
	if err != nil {
		return nil, err
	}
	r.Text = page
	if next > 0 {
		r.NextCursor = strconv.Itoa(next)
	}
	return r, nil
}

// direct loads a file that is named by its exact path, without looking at the
// whole directory.
func (m *Memory) direct(ref string) (*memdir.Body, error) {
	p := path.Clean(strings.TrimSpace(ref))
	if !memfile.IsMarkdown(p) {
		return nil, fs.ErrNotExist
	}
	if err := memdir.CheckPath(p); err != nil {
		return nil, err
	}
	// A folder with an index of its own is another memory directory, and at the
	// root of a repository only a View tells what is a topic.
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		if m.there(path.Join(dir, memfile.IndexName)) {
			return nil, fs.ErrNotExist
		}
	}
	if memdir.CheckTopic(p) == nil && m.there(".git") {
		return nil, fs.ErrNotExist
	}
	return m.store.Look(p)
}

// there reports whether something stands at a path in the memory directory; what
// cannot be looked at is taken to be there.
func (m *Memory) there(p string) bool {
	_, err := os.Lstat(filepath.Join(m.Location.Directory, filepath.FromSlash(p)))
	return err == nil || !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR)
}

// known loads the topic that a name meant in the last View, if no file came or
// went since and the topic still has this name: most reads come right after a
// list or a search, and need no look at all the other files.
func (m *Memory) known(ref string) (*memdir.Body, error) {
	m.mu.Lock()
	last := m.last
	m.mu.Unlock()
	if last == nil || !last.SameFiles() {
		return nil, fs.ErrNotExist
	}
	t, err := last.Resolve(ref)
	if err != nil {
		return nil, err
	}
	b, err := m.store.Load(t.Path)
	if err != nil || b.File.Value("name") != t.Meta.Name {
		return nil, fs.ErrNotExist
	}
	return b, nil
}

// resolve finds and loads the file that a reference means.
func (m *Memory) resolve(v *memdir.View, ref string) (*memdir.Body, error) {
	ref = strings.TrimSpace(ref)
	if day, err := time.Parse("2006-01-02", ref); err == nil && !slices.ContainsFunc(v.Logs, func(l memdir.DailyLog) bool { return l.Date == ref }) {
		if _, err := v.Resolve(ref); err != nil {
			return nil, fmt.Errorf("there is no daily log of %s (%s); memory_list gives the days that have one", ref, memdir.LogPath(day))
		}
	}
	for _, l := range v.Logs {
		if ref == l.Date || ref == l.Path {
			return m.store.Load(l.Path)
		}
	}
	if strings.EqualFold(ref, "index") && v.Index.Exists {
		return m.store.Load(memfile.IndexName)
	}
	t, err := v.Resolve(ref)
	if err == nil {
		return m.store.Load(t.Path)
	}
	if ref == memfile.IndexName && !v.Index.Exists {
		return nil, fmt.Errorf("there is no MEMORY.md in %s yet; the first memory_write makes it", m.Location.Directory)
	}
	for _, p := range v.Problems {
		if p.Path == ref || p.Path == ref+".md" {
			return nil, fmt.Errorf("%s %s", p.Path, p.Message)
		}
	}
	if memfile.IsMarkdown(ref) {
		if bad := memdir.CheckPath(ref); bad != nil {
			return nil, bad
		}
		if bad := v.CheckPlace(path.Clean(ref)); bad != nil {
			return nil, bad
		}
		if _, loadErr := m.store.Load(path.Clean(ref)); loadErr != nil && !errors.Is(loadErr, fs.ErrNotExist) {
			return nil, loadErr
		}
	}
	return nil, err
}
