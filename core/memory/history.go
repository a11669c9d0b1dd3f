package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/aymanbagabas/go-udiff"

	"mem/core/memdir"
	"mem/core/store"
)

// maxDiff bounds a diff in a result, in characters.
const maxDiff = 8_000

// History is one page of the changes made to a memory, newest first.
type History struct {
	Changes    []Event `json:"changes"`
	NextCursor string  `json:"nextCursor,omitempty"`
	// Open lists losses that nobody has put back: entries that another
	// program's write made vanish.
	Open []string `json:"openLosses,omitempty"`
	Notice
}

// Event is one change, with what it changed where that was asked for.
type Event struct {
	store.Event
	Diff string `json:"diff,omitempty"`
	// MoreFiles counts those that it changed as well and that Files leaves out.
	MoreFiles int `json:"moreFiles,omitempty"`
}

// maxEventFiles bounds the files listed of one change.
const maxEventFiles = 20

// short bounds what is told of a change.
func short(e store.Event) Event {
	out := Event{Event: e}
	out.Title, out.Origin, out.Actor = fit(e.Title, maxAbout), fit(e.Origin, maxName), fit(e.Actor, maxName)
	if n := len(e.Files); n > maxEventFiles {
		out.Files, out.MoreFiles = e.Files[:maxEventFiles], n-maxEventFiles
	}
	var left int
	out.Files, left = some(out.Files, 3*maxExtras)
	out.MoreFiles += left
	return out
}

// HistoryOptions selects changes.
type HistoryOptions struct {
	Topic  string // path; only changes that touched it
	Change string // id; only this change, with its diff
	Limit  int    // changes a page; 0 means 20, at most 100
	Cursor string
}

// changeID is the form of a change's id, which is the cursor too.
var changeID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-z]{13}$`) })

const (
	defaultEvents = 20
	MaxEvents     = 100 // changes on a page
)

// History lists changes, or shows one with its diff.
func (m *Memory) History(ctx context.Context, o HistoryOptions) (*History, error) {
	losses, notes := m.store.Check(ctx)
	h := &History{Changes: []Event{}, Notice: m.notice(losses, notes)}
	if o.Change != "" {
		e, err := m.store.Event(o.Change)
		if err != nil {
			return nil, err
		}
		var diff strings.Builder
		for _, f := range e.Files {
			if diff.Len() > 2*maxDiff {
				break
			}
			if e.Op == store.OpDisplaced {
				fmt.Fprintf(&diff, "--- what another program had written to %s\n%s\n", memdir.ShownName(f.Path), fence("text", f.Old))
				continue
			}
			diff.WriteString(unified(f.Path, f.Old, f.New))
		}
		ev := short(e)
		ev.Diff = m.shownDiff(diff.String(), 2*maxDiff)
		h.Changes = append(h.Changes, ev)
		return h, nil
	}
	if o.Cursor != "" && !changeID().MatchString(o.Cursor) {
		return nil, fmt.Errorf("cursor %s is not one that an earlier result gave; leave it out to start from the newest change", memdir.ShownName(o.Cursor))
	}
	limit := o.Limit
	if limit <= 0 {
		limit = defaultEvents
	}
	events, more, err := m.store.History(o.Cursor, o.Topic, min(limit, MaxEvents))
	if err == nil && o.Topic != "" && o.Cursor == "" && len(events) == 0 {
		// Not a path that was changed: a name, or nothing we know.
		var v *store.Reading
		if v, _, err = m.view(ctx); err != nil {
			return nil, err
		}
		t, notFound := v.Resolve(o.Topic)
		if notFound != nil {
			return nil, notFound
		}
		events, more, err = m.store.History("", t.Path, min(limit, MaxEvents))
	}
	if err != nil {
		return nil, err
	}
	room := newBudget()
	for _, full := range events {
		e := short(full)
		b, err := json.Marshal(e)
		if err != nil {
			return nil, fmt.Errorf("listing the history: %w", err)
		}
		if !room.take(string(b)) && len(h.Changes) > 0 {
			more = true
			break
		}
		h.Changes = append(h.Changes, e)
		if e.Op == store.OpVanished && e.UndoneBy == "" {
			h.Open = append(h.Open, e.ID)
		}
	}
	if more && len(h.Changes) > 0 {
		h.NextCursor = h.Changes[len(h.Changes)-1].ID
	}
	return h, nil
}

// Undo takes a change back.
func (m *Memory) Undo(ctx context.Context, id string) (*Change, error) {
	if strings.TrimSpace(id) == "" {
		return nil, fmt.Errorf("change is empty; give an id from memory_history or from the result of a write")
	}
	if err := m.MayWrite(); err != nil {
		return nil, err
	}
	losses, notes := m.store.Check(ctx)
	res, err := m.store.Undo(ctx, id, store.How{})
	var none *store.NoChangeError
	if errors.As(err, &none) {
		if words := m.undoSessions(id); words != "" {
			n := m.notice(losses, notes)
			n.note(words)
			return m.done(&store.Result{}, n), nil
		}
	}
	var conflict *store.ConflictError
	if errors.As(err, &conflict) {
		return nil, fmt.Errorf("the change %s cannot be taken back: a later change touched the same part. Undo that one first (memory_history lists them), or edit the text. %w", id, err)
	}
	if err != nil {
		return nil, err
	}
	n := m.notice(losses, notes)
	n.Note(m.followAdoption(id))
	return m.done(res, n), nil
}

// Purge empties the journal and the texts kept for merging.
func (m *Memory) Purge(ctx context.Context) (store.Purged, error) {
	if err := m.MayWrite(); err != nil {
		return store.Purged{}, err
	}
	return m.store.Purge(ctx)
}

// Status is a memory at a glance.
type Status struct {
	Store      string         `json:"store"`
	ReadOnly   bool           `json:"readOnly,omitempty"`
	Directory  string         `json:"directory"`
	Exists     bool           `json:"exists"`
	Rule       string         `json:"rule"` // what chose the directory
	Why        string         `json:"why"`
	State      string         `json:"stateDirectory"`
	On         bool           `json:"on"`
	OnWhy      string         `json:"onWhy"`
	DailyLog   bool           `json:"dailyLog"`
	Topics     int            `json:"topics"`
	ByType     map[string]int `json:"byType"`
	Logs       int            `json:"logs"`
	LastChange string         `json:"lastChange,omitempty"`
	Warnings   []string       `json:"warnings,omitempty"`
	Notice
}

// Status tells where memory lies, what is in it and what is wrong with it.
func (m *Memory) Status(ctx context.Context) (*Status, error) {
	v, n, err := m.view(ctx)
	if err != nil {
		return nil, err
	}
	l := m.Location
	n.note(unread(v)...)
	s := &Status{Store: m.StoreName(), ReadOnly: l.ReadOnly, Directory: l.Directory, Exists: v.Exists, Rule: string(l.Rule), Why: l.Why, State: m.store.StateDirectory(),
		On: l.Memory.On, OnWhy: l.Memory.Why, DailyLog: m.DailyLog(), Topics: len(v.Topics), Logs: len(v.Logs),
		ByType: map[string]int{}, Warnings: slices.Clone(l.Warnings), Notice: n}
	for _, t := range v.Topics {
		s.ByType[orNone(t.Meta.Type)]++
	}
	if events, _, err := m.store.History("", "", 1); err == nil && len(events) > 0 {
		s.LastChange = events[0].ID
	}
	return s, nil
}

func unified(path, old, new string) string {
	path = memdir.Shown(path, maxPath) // a name with a line break would end its line
	return udiff.Unified("a/"+path, "b/"+path, old, new)
}
