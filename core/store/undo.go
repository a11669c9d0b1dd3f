package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"mem/core/change"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/text"
)

// NoChangeError says that no change has an id.
type NoChangeError struct{ ID string }

func (e *NoChangeError) Error() string {
	return fmt.Sprintf("there is no change %q in the history; memory_history lists the ids. Old changes are dropped by age and size", e.ID)
}

// Undo takes a change back as a three-way change: what came later stays, and
// where it touched the same part it is a *ConflictError with both texts.
// Undoing an undo makes the change again.
func (s *Store) Undo(ctx context.Context, id string, how How) (*Result, error) {
	if err := s.journal.refresh(); err != nil {
		return nil, s.explain(err)
	}
	r, err := s.find(id)
	if err != nil {
		return nil, err
	}
	if by := undone(s.journal.all())[r.ID]; by != "" {
		return nil, fmt.Errorf("the change %s was taken back already, by %s; undo that one to have it again", r.ID, by)
	}
	if r.aborted {
		return nil, fmt.Errorf("the change %s was not made: there is nothing to undo", r.ID)
	}
	if r.Op == OpDisplaced {
		return nil, fmt.Errorf("%s keeps a text of another program; look at it with history, it cannot be undone", r.ID)
	}
	steps, err := s.journal.steps(r)
	if err != nil {
		return nil, s.explain(err)
	}
	c := change.Change{Title: "undo: " + r.Title, Op: "undo"}
	var notes []string
	if r.Op != OpVanished {
		c.Files = inverse(steps, r, s.opt.Now())
	} else if c.Files, notes, err = s.putBack(ctx, r, steps); err != nil {
		return nil, s.explain(err)
	}
	how.Undoes, how.KeepTimes = r.ID, r.KeepTimes
	// A loss of which nothing is left to be put back is settled as well.
	how.noteUnchanged = r.Op == OpVanished || len(r.Files) == 0
	// What is put back was in memory before: it was looked at when it was written.
	how.AllowSecrets = true
	res, err := s.Apply(ctx, c, how)
	if err != nil {
		return nil, err
	}
	res.Notes = append(res.Notes, notes...)
	return res, nil
}

// inverse gives the file changes that take steps back.
func inverse(steps []step, r *Record, now time.Time) []change.File {
	renamed := map[string]bool{} // the deletions that belong to a rename
	for _, st := range steps {
		renamed[st.From] = st.From != ""
	}
	var out []change.File
	for _, st := range slices.Backward(steps) {
		switch {
		case st.Kind == string(change.Append):
			out = append(out, change.File{Path: st.Path, Kind: change.Append, New: memdir.LogWithdrawal(now, r.Time, r.Title)})
		case st.From != "":
			before := ""
			for _, other := range steps {
				if other.Path == st.From {
					before = other.before
				}
			}
			out = append(out, change.File{Path: st.Path, Kind: change.Rename, To: st.From, Base: st.after, Edits: text.Diff(st.after, before)})
		case !st.exists:
			out = append(out, change.File{Path: st.Path, Kind: change.Delete, Base: st.after})
		case !st.stays && renamed[st.Path]:
		case !st.stays && st.Path == memfile.IndexName:
			// Another program may have made a new one since: that is merged with.
			out = append(out, change.File{Path: st.Path, Kind: change.Edit, Edits: text.Diff("", st.before)})
		case !st.stays:
			out = append(out, change.File{Path: st.Path, Kind: change.Create, New: st.before})
		default:
			out = append(out, change.File{Path: st.Path, Kind: change.Edit, Base: st.after, Edits: text.Diff(st.after, st.before)})
		}
	}
	return out
}

// find gives the change with an id, or with an id that starts so.
func (s *Store) find(id string) (*Record, error) {
	id = strings.ToLower(strings.TrimSpace(id))
	var found []*Record
	for _, r := range s.journal.all() {
		if r.ID == id {
			return r, nil
		}
		if len(id) >= 6 && strings.HasPrefix(r.ID, id) {
			found = append(found, r)
		}
	}
	if len(found) == 1 {
		return found[0], nil
	}
	return nil, &NoChangeError{ID: id}
}

// undone gives, for each change that was taken back, by which change that still
// stands.
func undone(all []*Record) map[string]string {
	by := map[string]string{}
	for _, r := range slices.Backward(all) {
		// Later ones were looked at: it is known whether this one stands.
		if r.Undoes != "" && !r.aborted && by[r.ID] == "" && by[r.Undoes] == "" {
			by[r.Undoes] = r.ID
		}
	}
	return by
}

// Event is a change as the history tells it.
type Event struct {
	ID       string      `json:"id"`
	Time     time.Time   `json:"time"`
	Op       string      `json:"op"`
	Title    string      `json:"title"`
	Origin   string      `json:"origin,omitempty"`
	Actor    string      `json:"actor,omitempty"`
	Undoes   string      `json:"undoes,omitempty"`
	UndoneBy string      `json:"undoneBy,omitempty"`
	Aborted  bool        `json:"aborted,omitempty"`
	Files    []EventFile `json:"files"`
}

// EventFile is one file of an event; the texts are given where they are asked for.
type EventFile struct {
	Path   string `json:"path"`
	Kind   string `json:"kind"`
	Before string `json:"beforeHash,omitempty"`
	After  string `json:"afterHash,omitempty"`
	Old    string `json:"-"`
	New    string `json:"-"`
}

// History gives changes, newest first: those before the change with id before
// ("" for the newest), of one path where path is not "", at most limit; more
// tells whether there are older ones.
func (s *Store) History(before, path string, limit int) (events []Event, more bool, err error) {
	if err := s.journal.refresh(); err != nil {
		return nil, false, err
	}
	all := s.journal.all()
	by := undone(all)
	for _, r := range slices.Backward(all) {
		if before != "" && r.ID >= before {
			continue
		}
		if path != "" && !slices.ContainsFunc(r.Files, func(f FileRecord) bool { return f.Path == path }) {
			continue
		}
		if len(events) == limit {
			return events, true, nil
		}
		events = append(events, event(r, by[r.ID]))
	}
	return events, false, nil
}

func event(r *Record, undoneBy string) Event {
	e := Event{ID: r.ID, Time: r.Time, Op: r.Op, Title: r.Title, Origin: r.Origin, Actor: r.Actor,
		Undoes: r.Undoes, UndoneBy: undoneBy, Aborted: r.aborted, Files: []EventFile{}}
	for _, f := range r.Files {
		e.Files = append(e.Files, EventFile{Path: f.Path, Kind: f.Kind, Before: f.Before, After: f.After})
	}
	return e
}

// Event gives one change with the texts before and after.
func (s *Store) Event(id string) (Event, error) {
	if err := s.journal.refresh(); err != nil {
		return Event{}, err
	}
	r, err := s.find(id)
	if err != nil {
		return Event{}, err
	}
	steps, err := s.journal.steps(r)
	if err != nil {
		return Event{}, err
	}
	e := event(r, undone(s.journal.all())[r.ID])
	for i, st := range steps {
		e.Files[i].Old, e.Files[i].New = st.before, st.after
	}
	return e, nil
}

// Purged is what a purge removed.
type Purged struct {
	Changes int   `json:"changes"`
	Bytes   int64 `json:"bytes"`
}

// Purge empties the journal and the merge bases of this directory: what was
// redacted or deleted from memory is gone then, and nothing before can be undone.
func (s *Store) Purge(ctx context.Context) (Purged, error) {
	root, unlock, err := s.lock(ctx)
	if err != nil {
		return Purged{}, err
	}
	defer unlock()
	// What cannot be completed goes with the rest: a purge is the way out of it.
	if _, err := s.settle(root); err != nil {
		s.journal.forget()
	}
	p := Purged{Changes: len(s.journal.all()), Bytes: s.journal.size()}
	if err := s.journal.purge(); err != nil {
		return Purged{}, err
	}
	if err := s.bases.purge(); err != nil {
		return Purged{}, fmt.Errorf("purging the merge bases: %w", err)
	}
	return p, nil
}
