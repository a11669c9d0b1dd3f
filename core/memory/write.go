package memory

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"mem/core/change"
	"mem/core/guard"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/store"
)

// Change is what an operation did to a memory.
type Change struct {
	ID        string             `json:"change"`    // for memory_undo; "" when nothing changed
	Directory string             `json:"directory"` // where the paths below lie
	Files     []store.FileResult `json:"files"`
	MoreFiles int                `json:"moreFiles,omitempty"` // changed as well, and not listed
	Index     memdir.Fill        `json:"index"`               // how full it is now
	Guarded   []Finding          `json:"guard,omitempty"`     // what the guard saw in the text
	Notice

	all []store.FileResult
}

// Finding is something the guard saw and let through, or refused.
type Finding struct {
	Rule        string `json:"rule"`
	Line        int    `json:"line"`
	Reason      string `json:"reason"`
	Fingerprint string `json:"fingerprint,omitempty"`
}

// Write is a memory to be written.
type Write struct {
	memdir.Memory
	// ExpectedHash is the hash of the text that is being replaced. Without it
	// only a new topic is written.
	ExpectedHash string
	Planned      Planned
}

// Planned is told of a change before it is durable: the look at the directory that the
// operation began with, nil where it took none, and the texts that files are about to
// get, see store.How.
type Planned func(began *memdir.View, texts map[string]string)

// how gives the way in which a change is applied that planned, which may be nil, is told of.
func (p Planned) how(began *memdir.View) store.How {
	if p == nil {
		return store.How{}
	}
	return store.How{Planned: func(texts map[string]string) { p(began, texts) }}
}

// Written is what became of it.
type Written struct {
	Path    string `json:"path"`
	Hash    string `json:"hash,omitempty"`
	Created bool   `json:"created"`
	Logged  bool   `json:"logged"` // it went to the daily log instead of a topic
	Entry   string `json:"entry,omitempty"`
	Merged  bool   `json:"merged,omitempty"` // with what somebody else wrote meanwhile
	Change
}

// ExistsError says that a write without a hash met an existing topic. Nothing
// was written.
type ExistsError struct {
	Path    string
	Current store.Current
	Given   string // the hash that was given, "" for none
}

func (e *ExistsError) Error() string {
	if e.Given == "" {
		return fmt.Sprintf("%s exists already. Nothing was written. Its text is given with this error: to replace it, write again with expected_hash %s; to change a part, use memory_edit; else choose another name", e.Path, e.Current.Hash)
	}
	return fmt.Sprintf("%s is not the text with the hash %s, which mem does not know. Nothing was written. Its text is given with this error: merge yours into it and write with expected_hash %s", e.Path, e.Given, e.Current.Hash)
}

// Write creates a topic with its entry, or replaces one whose hash is given. In
// daily-log mode a new memory is appended to the log instead.
func (m *Memory) Write(ctx context.Context, w Write) (*Written, error) {
	v, n, err := m.view(ctx)
	if err != nil {
		return nil, err
	}
	p, existing, err := v.Place(w.Memory)
	if err != nil {
		return nil, err
	}
	if existing == nil && w.ExpectedHash == "" {
		if m.DailyLog() {
			return m.logMemory(ctx, w, n)
		}
		if err := v.CheckPlace(p); err != nil {
			return nil, err
		}
		c, err := v.Create(p, w.Memory, m.stamp())
		if err != nil {
			return nil, err
		}
		out, err := m.written(ctx, v, p, c, n, w)
		if exists := (*ExistsError)(nil); errors.As(err, &exists) {
			if bad := v.CheckPlace(p); bad != nil {
				return nil, bad // it came just now, and is not ours to show
			}
		}
		return out, err
	}
	if err := v.CheckPlace(p); err != nil {
		return nil, err
	}
	base, err := m.base(p, w.ExpectedHash)
	if err != nil {
		return nil, err
	}
	c, err := v.Replace(p, base, w.Memory, m.stamp())
	if err != nil {
		return nil, err
	}
	return m.written(ctx, v, p, c, n, w)
}

func (m *Memory) written(ctx context.Context, v *store.Reading, p string, c change.Change, n Notice, w Write) (*Written, error) {
	done, err := m.apply(ctx, c, n, w.Planned.how(v.View))
	var refused *store.RefusedError
	if errors.As(err, &refused) && m.secretIn(w.Name+"\n"+w.Path) {
		refused.Path = "the memory" // its path is or is made of the secret
	}
	var conflict *store.ConflictError
	if errors.As(err, &conflict) && w.ExpectedHash == "" {
		if cur, ok := conflict.Current[p]; ok && cur.Exists {
			m.store.Keep(p, cur.Hash, cur.Text)
			return nil, &ExistsError{Path: p, Current: cur} // created by somebody else just now
		}
	}
	if err != nil {
		return nil, err
	}
	out := &Written{Path: p, Change: *done}
	for _, f := range done.all {
		switch f.Path {
		case p:
			out.Hash, out.Created, out.Merged = f.Hash, f.Action == "created", f.Merged
		case memfile.IndexName:
			out.Entry = m.entryOf(f.After, p)
		}
	}
	if out.Entry == "" || out.Hash == "" {
		m.fillFromDisk(out)
	}
	m.noteLongEntry(out)
	out.Entry = fit(out.Entry, 2*maxAbout)
	return out, nil
}

func (m *Memory) secretIn(s string) bool {
	return slices.ContainsFunc(m.scanner.Scan([]byte(s)), func(f guard.Finding) bool { return f.Kind == guard.KindSecret })
}

// noteLongEntry tells a writer that a summary of theirs makes a long entry.
func (m *Memory) noteLongEntry(out *Written) {
	if n, most := utf8.RuneCountInString(out.Entry), m.Config.Limits.EntryLength; n > most {
		out.note(fmt.Sprintf("The entry has %d characters; more than %d are bad advice, since an index is cut by its size. Give a shorter summary.", n, most))
	}
}

// fillFromDisk completes a result whose topic or index stayed as it was.
func (m *Memory) fillFromDisk(out *Written) {
	if b, err := m.store.Look(memfile.IndexName); err == nil && out.Entry == "" {
		out.Entry = m.entryOf(b.File.Text.String(), out.Path)
	}
	if b, err := m.store.Load(out.Path); err == nil && out.Hash == "" {
		out.Hash = b.Hash
	}
}

func (m *Memory) entryOf(index, p string) string {
	x := m.store.ParseIndex(index)
	e := x.Entry(p)
	if e == nil {
		return ""
	}
	return strings.TrimSpace(x.Text().Slice(x.Text().Line(e.Line)))
}

func (m *Memory) logMemory(ctx context.Context, w Write, n Notice) (*Written, error) {
	note := memdir.LogNote{Name: w.Name, Type: w.Type, Description: w.Description, Body: w.Body}
	done, err := m.apply(ctx, memdir.Log(note, m.stamp()), n, store.How{})
	if err != nil {
		return nil, err
	}
	return &Written{Path: done.Files[0].Path, Logged: true, Change: *done}, nil
}

// base gives the text that a writer started from: the current one, or an
// earlier one that mem still knows by its hash.
func (m *Memory) base(p, expected string) (string, error) {
	cur := store.Current{}
	b, err := m.store.Load(p)
	if err == nil {
		cur = store.Current{Text: b.File.Text.String(), Hash: b.Hash, Exists: true}
	}
	if expected != "" && expected == cur.Hash {
		return cur.Text, nil
	}
	if expected != "" && cur.Exists {
		if content, ok := m.store.Base(expected); ok {
			return content, nil
		}
	}
	if !cur.Exists {
		if err != nil && expected == "" {
			return "", err
		}
		return "", fmt.Errorf("%s does not exist, so there is nothing with the hash %s to replace. Nothing was written; leave expected_hash out to create it", p, expected)
	}
	return "", &ExistsError{Path: p, Current: cur, Given: expected}
}

// opFix is the op of changes that mend: mending is no touching, so topics keep their
// times.
const opFix = "fix"

func (m *Memory) apply(ctx context.Context, c change.Change, n Notice, how store.How) (*Change, error) {
	if err := m.MayWrite(); err != nil {
		return nil, err
	}
	if _, err := os.Lstat(m.Location.Directory); errors.Is(err, fs.ErrNotExist) {
		n.Note(m.whereWritten())
	}
	how.AllowSecrets, how.KeepTimes = m.mayWriteSecrets(ctx), c.Op == opFix
	res, err := m.store.Apply(ctx, c, how)
	if err != nil {
		return nil, err
	}
	return m.done(res, n), nil
}

func (m *Memory) done(res *store.Result, n Notice) *Change {
	out := &Change{ID: res.ID, Directory: m.Location.Directory, Files: []store.FileResult{}, Notice: n, all: res.Files}
	if len(res.Files) > 0 {
		out.Files, out.MoreFiles = some(res.Files, maxExtras)
	}
	out.lose(res.Losses...)
	out.note(res.Notes...)
	out.Guarded = findings(res.Findings)
	for _, f := range res.Files {
		if f.Hash != "" {
			m.store.Keep(f.Path, f.Hash, f.After)
		}
	}
	out.Index = m.fill(res)
	return out
}

func findings(found []guard.Finding) []Finding {
	var out []Finding
	for _, f := range found {
		out = append(out, Finding{Rule: f.Rule, Line: f.Line, Reason: fit(f.Reason, 2*maxAbout), Fingerprint: f.Fingerprint})
	}
	out, more := some(out, 2*maxExtras)
	if more > 0 {
		out[len(out)-1].Reason += fmt.Sprintf(" (%d more findings)", more)
	}
	return out
}

// fill tells how full the index is after a change.
func (m *Memory) fill(res *store.Result) memdir.Fill {
	for _, f := range res.Files {
		if f.Path == memfile.IndexName {
			return memdir.FillOf(m.store.ParseIndex(f.After), m.rule())
		}
	}
	if b, err := m.store.Look(memfile.IndexName); err == nil {
		return memdir.FillOf(m.store.ParseIndex(b.File.Text.String()), m.rule())
	}
	return memdir.FillOf(memfile.NoIndex(), m.rule())
}

// Logged is what an append to the daily log did.
type Logged struct {
	Path  string `json:"path"`
	Entry string `json:"entry"` // what was appended
	Change
}

// Log appends a note to today's daily log.
func (m *Memory) Log(ctx context.Context, note memdir.LogNote) (*Logged, error) {
	if strings.TrimSpace(note.Body) == "" && strings.TrimSpace(note.Description) == "" {
		return nil, errors.New("text is empty; give what the log should say")
	}
	if note.Type != "" && !memfile.KnownType(note.Type) {
		return nil, fmt.Errorf("type %q is unknown; it is one of %s", note.Type, strings.Join(memfile.Types, ", "))
	}
	losses, notes := m.store.Check(ctx)
	done, err := m.apply(ctx, memdir.Log(note, m.stamp()), m.notice(losses, notes), store.How{})
	if err != nil {
		return nil, err
	}
	return &Logged{Path: done.Files[0].Path, Entry: fit(done.Files[0].After, maxDiff), Change: *done}, nil
}
