package proposal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"mem/core/atomicfile"
	"mem/core/change"
	"mem/core/memfile"
	"mem/core/memory"
	"mem/core/text"
)

const (
	// appliedName is in the state of a memory; docs/formats.md specifies it.
	appliedName    = "proposals-applied.json"
	appliedVersion = 1
	// maxMarks bounds what is remembered of applied changes: the oldest are forgotten.
	maxMarks = 20_000
	// maxAppliedFile bounds what is read of it, in bytes: a mark takes 70.
	maxAppliedFile = 8 << 20
)

// applied is what is known of the changes that results of jobs became.
type applied struct {
	Version int             `json:"v"`
	Changes []appliedChange `json:"changes"` // oldest first
}

// appliedChange is one of them: by its marks its units are known again when somebody took
// it back.
type appliedChange struct {
	Change string    `json:"change"`
	Kind   string    `json:"kind"`
	Time   time.Time `json:"time"`
	Marks  []string  `json:"marks"`
}

// marksOf tells a unit, and the texts that it began and ended with.
func marksOf(u Unit) []string {
	out := []string{Key(u)}
	for _, f := range u.Change.Files {
		if f.Kind == change.Append {
			continue // the log of a day is appended to again and again
		}
		if f.Kind != change.Create {
			out = append(out, text.Hash("before\x00"+f.Path+"\x00"+f.Base))
		}
		if after, stays, err := f.After(); err == nil && stays {
			out = append(out, text.Hash("after\x00"+f.Target()+"\x00"+after))
		}
	}
	return out
}

func (p *Proposals) appliedFile() string { return filepath.Join(p.m.StateDirectory(), appliedName) }

func (p *Proposals) readApplied() (a applied, err error) {
	f, err := atomicfile.Open(p.appliedFile())
	if errors.Is(err, fs.ErrNotExist) {
		return applied{Version: appliedVersion}, nil
	}
	if err != nil {
		return a, fmt.Errorf("reading what results of jobs became: %w", err)
	}
	b, err := io.ReadAll(io.LimitReader(f, maxAppliedFile+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return a, fmt.Errorf("reading what results of jobs became: %w", err)
	}
	err = json.Unmarshal(b, &a)
	switch {
	case len(b) > maxAppliedFile:
		err = fmt.Errorf("it has more than %d bytes", maxAppliedFile)
	case err == nil && a.Version != appliedVersion:
		err = fmt.Errorf("it has the format %d, and this program knows %d", a.Version, appliedVersion)
	}
	if err != nil {
		return a, fmt.Errorf("%s cannot be read: %w. Remove it; then what was undone of earlier dreams may be done again", p.appliedFile(), err)
	}
	return a, nil
}

// remember notes what a change did, so that it is known again when somebody takes it back.
// The lock is held.
func (p *Proposals) remember(kind, id string, units []*Unit) error {
	a, err := p.readApplied()
	if err != nil {
		return err
	}
	now := p.m.Now().UTC()
	next := appliedChange{Change: id, Kind: kind, Time: now}
	for _, u := range units {
		next.Marks = append(next.Marks, marksOf(*u)...)
	}
	next.Marks = next.Marks[:min(len(next.Marks), maxMarks)]
	a.Changes = slices.DeleteFunc(append(a.Changes, next), func(c appliedChange) bool { return now.Sub(c.Time) > KeepClosed })
	n := 0
	for i, c := range slices.Backward(a.Changes) {
		if n += len(c.Marks); n > maxMarks {
			a.Changes = a.Changes[i+1:]
			break
		}
	}
	b, err := json.Marshal(a)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(p.m.StateDirectory(), 0o700); err != nil {
		return fmt.Errorf("noting what a result became: %w", err)
	}
	if err := atomicfile.Write(p.appliedFile(), append(b, '\n'), 0o600, atomicfile.Durable); err != nil {
		return fmt.Errorf("noting what a result became: %w", err)
	}
	return nil
}

// Undone is what somebody took back of earlier results of a kind of job.
type Undone map[string]bool

// Has reports whether a unit does to a text what was taken back, or anything to a text that
// was brought back so. The index counts where nothing else is in the unit: all that has an
// entry touches it.
func (d Undone) Has(u Unit) bool {
	if len(d) == 0 {
		return false
	}
	if slices.ContainsFunc(u.Change.Files, func(f change.File) bool { return f.Path != memfile.IndexName }) {
		u.Change.Files = slices.DeleteFunc(slices.Clone(u.Change.Files), func(f change.File) bool { return f.Path == memfile.IndexName })
	}
	return slices.ContainsFunc(marksOf(u), func(m string) bool { return d[m] })
}

// Undone gives what was taken back of a kind of job, as long as it is remembered (90 days):
// whoever undid a change is not to find it made again.
func (p *Proposals) Undone(ctx context.Context, kind string) (Undone, error) {
	a, err := p.readApplied()
	if err != nil {
		return nil, err
	}
	marks := map[string][]string{}
	var oldest time.Time
	for _, c := range a.Changes {
		if c.Kind == kind {
			if marks[c.Change] = c.Marks; oldest.IsZero() || c.Time.Before(oldest) {
				oldest = c.Time
			}
		}
	}
	out := Undone{}
	o := memory.HistoryOptions{Limit: 100}
	for pages := 0; len(marks) > 0 && pages < 50; pages++ {
		h, err := p.m.History(ctx, o)
		if err != nil {
			return nil, err
		}
		for _, e := range h.Changes {
			if e.UndoneBy != "" {
				for _, m := range marks[e.ID] {
					out[m] = true
				}
			}
			delete(marks, e.ID)
			if e.Time.Before(oldest.Add(-time.Hour)) {
				return out, nil
			}
		}
		if h.NextCursor == "" {
			break
		}
		o.Cursor = h.NextCursor
	}
	return out, nil
}
