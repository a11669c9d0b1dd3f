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
	"strings"
	"time"

	"mem/core/atomicfile"
	"mem/core/job"
	"mem/core/memdir"
	"mem/core/memory"
)

// Bounds of what is kept.
const (
	// MaxOpen is how many proposals wait at most; of more, the oldest are discarded, which
	// their notes say.
	MaxOpen = 50
	// KeepClosed is how long one is kept that is applied, discarded or superseded.
	KeepClosed = 90 * 24 * time.Hour
	// maxStored is the size in bytes past which a file is none of ours.
	maxStored = 128 << 20
	maxTitle  = 200      // characters
	maxReason = 2_000    // characters
	maxReport = 64 << 10 // bytes
	maxNote   = 6_000    // characters
	// maxSources is how many sources a unit names.
	maxSources = 50
	// MaxUnits is how many units a proposal has at most.
	MaxUnits = 5_000
)

const (
	version  = 1
	dirName  = "proposals"
	lockName = "proposals"
	ext      = ".json"
	// lockWait is how long a process waits for another one that applies something.
	lockWait = 60 * time.Second
	lockPoll = 5 * time.Millisecond
)

// Proposals are those of one memory.
type Proposals struct {
	m     *memory.Memory
	jobs  *job.Jobs // for its locks
	dir   string
	hears map[string]Discarder
}

// Discarder is told which units of a proposal of its kind somebody discarded, for a kind
// that has to note the decision elsewhere as well. The units are discarded by then, and no
// lock of the proposals is held.
type Discarder func(ctx context.Context, m *memory.Memory, p *Proposal, units []Unit) error

// Hearing gives the same proposals, of which discarding tells the Discarder of their kind.
func (p *Proposals) Hearing(by map[string]Discarder) *Proposals {
	out := *p
	out.hears = by
	return &out
}

// Of gives the proposals of a memory. It touches nothing.
func Of(m *memory.Memory) *Proposals {
	return &Proposals{m: m, jobs: job.Open(m.StateDirectory(), m.Env()), dir: filepath.Join(m.StateDirectory(), dirName)}
}

// NotFoundError says that there is no such proposal, or several.
type NotFoundError struct {
	Ref   string
	Match []string
}

func (e *NotFoundError) Error() string {
	if len(e.Match) > 1 {
		return fmt.Sprintf("several proposals begin with %s: %s. Give more of the id", memdir.ShownName(e.Ref), strings.Join(e.Match, ", "))
	}
	return fmt.Sprintf("there is no proposal %s; proposal_list names those that there are. Closed ones are kept for %d days", memdir.ShownName(e.Ref), int(KeepClosed.Hours())/24)
}

// Is makes a missing proposal an fs.ErrNotExist.
func (e *NotFoundError) Is(target error) bool { return target == fs.ErrNotExist && len(e.Match) == 0 }

// lock makes this process the only one that changes proposals.
func (p *Proposals) lock(ctx context.Context) (unlock func(), err error) {
	start := time.Now()
	for {
		unlock, ok, err := p.jobs.TryLock(lockName)
		if ok || err != nil {
			return unlock, err
		}
		if time.Since(start) > lockWait {
			return nil, fmt.Errorf("another process has been changing proposals of this memory for %s. Nothing was changed; try again, or end that process if it hangs", lockWait)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(lockPoll):
		}
	}
}

// ids lists what is stored, oldest first.
func (p *Proposals) ids() ([]string, error) {
	entries, err := os.ReadDir(p.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing proposals: %w", err)
	}
	var out []string
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), ext); ok && job.ValidID(id) && e.Type().IsRegular() {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out, nil
}

// resolve finds the id that ref is or begins.
func (p *Proposals) resolve(ref string) (string, error) {
	ref = strings.TrimSpace(ref)
	ids, err := p.ids()
	if err != nil {
		return "", err
	}
	var match []string
	for _, id := range ids {
		if id == ref {
			return id, nil
		}
		if ref != "" && strings.HasPrefix(id, ref) {
			match = append(match, id)
		}
	}
	if len(match) != 1 {
		return "", &NotFoundError{ref, match[:min(len(match), 10)]}
	}
	return match[0], nil
}

func (p *Proposals) file(id string) string { return filepath.Join(p.dir, id+ext) }

// read reads a proposal by its id.
func (p *Proposals) read(id string) (*Proposal, error) {
	f, err := atomicfile.Open(p.file(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &NotFoundError{Ref: id}
	}
	if err != nil {
		return nil, fmt.Errorf("reading a proposal: %w", err)
	}
	b, err := io.ReadAll(io.LimitReader(f, maxStored+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("reading a proposal: %w", err)
	}
	var out Proposal
	err = json.Unmarshal(b, &out)
	switch {
	case len(b) > maxStored:
		err = fmt.Errorf("it has more than %d bytes", maxStored)
	case err == nil && out.Version != version:
		err = fmt.Errorf("it has the format %d, and this program knows %d", out.Version, version)
	case err == nil && out.ID != id:
		err = errors.New("it is another proposal's")
	}
	if err != nil {
		return nil, fmt.Errorf("the proposal %s cannot be read: %w. Remove the file if it is of no use", p.file(id), err)
	}
	return &out, nil
}

// write stores a proposal whole or not at all, durably. The lock is held.
func (p *Proposals) write(x *Proposal) error {
	b, err := json.Marshal(x)
	if err == nil && len(b) > maxStored {
		err = fmt.Errorf("it would take %d bytes, at most %d are kept", len(b), maxStored)
	}
	if err != nil {
		return fmt.Errorf("storing a proposal: %w", err)
	}
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return fmt.Errorf("storing a proposal: %w", err)
	}
	if err := atomicfile.Write(p.file(x.ID), append(b, '\n'), 0o600, atomicfile.Durable); err != nil {
		return fmt.Errorf("storing a proposal: %w", err)
	}
	return nil
}

// ListOptions choose what List gives.
type ListOptions struct {
	Kind  string
	Open  bool // only what waits
	Limit int  // 0 is all
}

// List gives proposals, newest first, and what could not be read.
func (p *Proposals) List(o ListOptions) (list []*Proposal, notes []string, err error) {
	ids, err := p.ids()
	if err != nil {
		return nil, nil, err
	}
	for _, id := range slices.Backward(ids) {
		if o.Limit > 0 && len(list) == o.Limit {
			break
		}
		x, err := p.read(id)
		var missing *NotFoundError
		switch {
		case errors.As(err, &missing):
			continue // dropped meanwhile
		case err != nil:
			notes = append(notes, err.Error())
			continue
		}
		if x.begun() {
			x = p.takeUpNow(x)
		}
		if o.Kind != "" && x.Kind != o.Kind || o.Open && x.State != Open {
			continue
		}
		list = append(list, x)
	}
	return list, notes, nil
}

// Get gives a proposal by its id or the beginning of it, with what a process that died
// had begun taken up.
func (p *Proposals) Get(ctx context.Context, ref string) (*Proposal, error) {
	id, err := p.resolve(ref)
	if err != nil {
		return nil, err
	}
	x, err := p.read(id)
	if err != nil || !x.begun() {
		return x, err
	}
	unlock, err := p.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return p.takeUp(ctx, id)
}

// begun reports whether a change is being made of a unit, or was when a process died.
func (p *Proposal) begun() bool {
	return slices.ContainsFunc(p.Units, func(u Unit) bool { return u.Attempt != "" })
}

// takeUpNow takes up what a process that died had begun, for a list: where another process is
// at it, or nothing can be written, it gives the proposal as it is stored.
func (p *Proposals) takeUpNow(x *Proposal) *Proposal {
	unlock, ok, err := p.jobs.TryLock(lockName)
	if err != nil || !ok {
		return x
	}
	defer unlock()
	if up, err := p.takeUp(context.Background(), x.ID); err == nil {
		return up
	}
	return x
}

// takeUp reads a proposal; units whose change was under way when a process died are
// marked as applied where the history has that change. The lock is held, so that nobody
// is at it.
func (p *Proposals) takeUp(ctx context.Context, id string) (*Proposal, error) {
	x, err := p.read(id)
	if err != nil {
		return nil, err
	}
	changed := false
	for i := range x.Units {
		u := &x.Units[i]
		if u.Attempt == "" {
			continue
		}
		changeID, err := p.made(ctx, x, u.Attempt)
		if err != nil {
			return nil, err
		}
		if changeID != "" {
			u.State, u.Applied, u.Note = Applied, changeID, ""
			if err := p.remember(x.Kind, changeID, []*Unit{u}); err != nil {
				return nil, err
			}
		}
		u.Attempt, changed = "", true
	}
	if !changed {
		return x, nil
	}
	x.close(p.m.Now())
	return x, p.write(x)
}

// made looks whether the history has the change of an attempt, and gives its id.
func (p *Proposals) made(ctx context.Context, x *Proposal, attempt string) (string, error) {
	o := memory.HistoryOptions{Limit: 100}
	for range 50 { // pages: the journal is bounded by size as well
		h, err := p.m.History(ctx, o)
		if err != nil {
			return "", err
		}
		for _, e := range h.Changes {
			if strings.HasSuffix(e.Title, mark(attempt)) && !e.Aborted {
				return e.ID, nil
			}
			if e.Time.Before(x.Created.Add(-time.Hour)) {
				return "", nil
			}
		}
		if h.NextCursor == "" {
			break
		}
		o.Cursor = h.NextCursor
	}
	return "", nil
}

// mark is what the title of a change ends with that was made of a proposal.
func mark(attempt string) string { return " (proposal " + attempt + ")" }

// trim drops closed proposals that are old, and discards the oldest open ones where too
// many wait. The lock is held.
func (p *Proposals) trim() (notes []string, err error) {
	ids, err := p.ids()
	if err != nil {
		return nil, err
	}
	open, now := 0, p.m.Now()
	for _, id := range slices.Backward(ids) {
		x, err := p.read(id)
		if err != nil {
			continue // List tells of it
		}
		if x.State != Open {
			if now.Sub(x.Closed) > KeepClosed {
				if err := os.Remove(p.file(id)); err != nil {
					return notes, fmt.Errorf("dropping an old proposal: %w", err)
				}
			}
			continue
		}
		if open++; open < MaxOpen { // one more is about to come
			continue
		}
		why := crowdedOut
		for i := range x.Units {
			if u := &x.Units[i]; u.State == Open {
				u.State, u.Note = Discarded, why
			}
		}
		x.close(now)
		if err := p.write(x); err != nil {
			return notes, err
		}
		notes = append(notes, fmt.Sprintf("The proposal %s was discarded: %s. It is kept for %d days.", id, why, int(KeepClosed.Hours())/24))
	}
	return notes, nil
}
