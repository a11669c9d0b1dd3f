package agentmem

import (
	"context"
	"sort"
	"time"

	"mem/core/memdir"
	"mem/core/memfile"
)

// Action is what a client does about a snapshot (seed 24.5).
type Action string

// The actions.
const (
	ActionNone         Action = "none"
	ActionInitialize   Action = "initialize"    // there is a snapshot and no memory here: copy it
	ActionPromptUpdate Action = "prompt-update" // the team has news: tell, never overwrite
)

// State is how the memory here and the snapshot stand to each other.
type State string

// The states.
const (
	StateNone       State = "none"          // there is no snapshot
	StateInitialize State = "initialize"    // a snapshot, and nothing here
	StateUpdate     State = "prompt-update" // the team has news, nothing new here
	StateInSync     State = "in-sync"
	StateAhead      State = "local-ahead" // something here is not in the snapshot
	StateDiverged   State = "diverged"    // both
	StateInvalid    State = "invalid"     // the snapshot cannot be used; Problems says why
)

// Counts counts topics, and the index as one more.
type Counts struct {
	Added   int `json:"added"`
	Changed int `json:"changed"`
	Removed int `json:"removed"`
	Renamed int `json:"renamed"`
}

func (c *Counts) add(kind string) {
	switch kind {
	case "added":
		c.Added++
	case "changed":
		c.Changed++
	case "removed":
		c.Removed++
	case "renamed":
		c.Renamed++
	}
}

// Sum gives how many there are.
func (c Counts) Sum() int { return c.Added + c.Changed + c.Removed + c.Renamed }

// FileStatus is one topic, or the index, that is not the same on both sides.
type FileStatus struct {
	Path string `json:"path"`
	From string `json:"from,omitempty"` // the name that it had, where a side renamed it
	// Mine and Team say what each side did since they last agreed: added, changed, removed,
	// renamed; "" nothing.
	Mine      string     `json:"mine,omitempty"`
	Team      string     `json:"team,omitempty"`
	Conflicts []Conflict `json:"-"`
	Parts     []string   `json:"conflicts,omitempty"` // the parts that both changed differently
	Private   bool       `json:"private,omitempty"`   // about a person: never published
	Skipped   bool       `json:"skipped,omitempty"`   // the team's version was looked at and left
}

// Status is a memory and its snapshot at a glance.
type Status struct {
	Agent    string `json:"agent"`
	Store    string `json:"store"`    // the memory directory
	Snapshot string `json:"snapshot"` // the folder of the snapshot
	Action   Action `json:"action"`
	State    State  `json:"state"`

	UpdatedAt string `json:"updatedAt,omitempty"`
	// Older says that the checkout has a snapshot from before the one that was synced last:
	// its news may be what was overcome.
	Older  bool   `json:"older,omitempty"`
	Author string `json:"author,omitempty"`
	Note   string `json:"note,omitempty"`
	// Base says where what both had in common is known from: state, git, or none, where
	// everything that differs is in doubt. BaseCommit is the commit of git.
	Base       string `json:"base"`
	BaseCommit string `json:"baseCommit,omitempty"`

	Topics      int    `json:"topics"`      // in the memory
	Shared      int    `json:"shared"`      // in the snapshot
	Mine        Counts `json:"mine"`        // since the last common state
	Team        Counts `json:"team"`        // news that are not here
	Conflicting int    `json:"conflicting"` // topics that both changed differently
	Private     int    `json:"private"`
	Skipped     int    `json:"skipped"`

	Files        []FileStatus `json:"files"`
	MoreFiles    int          `json:"moreFiles,omitempty"`
	Problems     []Problem    `json:"problems,omitempty"`
	MoreProblems int          `json:"moreProblems,omitempty"`
	Notes        []string     `json:"notes,omitempty"`
}

// Limits of what a result lists.
const (
	maxFiles    = 100
	maxProblems = 20
	maxNotes    = 10
	maxParts    = 10
)

// Status compares the memory with its snapshot. Contents decide, not times: git changes
// those of files, and clocks differ.
func (s *Shared) Status(ctx context.Context) (*Status, error) {
	return steady(ctx, func() (*Status, error) {
		a, err := s.look(ctx)
		if err != nil {
			return nil, err
		}
		defer a.close()
		return a.status()
	})
}

func (a *analysis) status() (*Status, error) {
	st, err := a.compare()
	if err != nil {
		return nil, err
	}
	a.finish(st)
	return st, nil
}

// compare gives the status with all files, as they come.
func (a *analysis) compare() (*Status, error) {
	st := &Status{Agent: a.Agent, Store: a.Store, Snapshot: a.Snapshot, Files: []FileStatus{}, Base: a.st.origin, BaseCommit: a.st.commit,
		Topics: topicsOf(a.mine), Shared: topicsOf(a.theirs),
		Author: memdir.Shown(a.manifest.Author, memdir.MaxShown), Note: memdir.Shown(a.manifest.Note, memdir.MaxShown)}
	if !a.manifest.UpdatedAt.IsZero() {
		st.UpdatedAt = a.manifest.UpdatedAt.Format(time.RFC3339)
	}
	a.fill(st)
	if !a.theirs.exists && len(a.problems) == 0 {
		st.Action, st.State, st.Private = ActionNone, StateNone, len(a.private)
		return st, nil
	}
	if len(a.problems) > 0 {
		st.Action, st.State = ActionNone, StateInvalid
		return st, nil
	}
	outcomes, err := a.pull(wishes{})
	if err != nil {
		return nil, err
	}
	st.Older = a.older()
	for _, o := range outcomes {
		f := FileStatus{Path: o.it.path(), Mine: a.mineKind(o.it), Team: o.team, Conflicts: o.open, Skipped: o.state.Seen != nil}
		if o.it.base != "" && o.it.base != f.Path {
			f.From = o.it.base
		} else if o.it.theirs != "" && o.it.theirs != f.Path {
			f.From = o.it.theirs
		}
		for _, c := range o.open {
			f.Parts = append(f.Parts, c.Part)
		}
		f.Private = a.private[o.it.mine]
		if f.Private {
			st.Private++
			f.Mine = ""
		}
		if f.Skipped {
			st.Skipped++
		}
		if len(o.open) > 0 {
			st.Conflicting++
		}
		st.Mine.add(f.Mine)
		st.Team.add(f.Team)
		if f.Mine != "" || f.Team != "" || f.Private || f.Skipped {
			st.Files = append(st.Files, f)
		}
	}
	switch news, own := st.Team.Sum() > 0, st.Mine.Sum() > 0; {
	case len(a.mine.files)+len(a.mine.left) == 0:
		st.Action, st.State = ActionInitialize, StateInitialize
	case news && own:
		st.Action, st.State = ActionPromptUpdate, StateDiverged
	case news:
		st.Action, st.State = ActionPromptUpdate, StateUpdate
	case own:
		st.Action, st.State = ActionNone, StateAhead
	default:
		st.Action, st.State = ActionNone, StateInSync
	}
	if st.Action == ActionPromptUpdate && a.st.origin == "none" {
		a.notes = append(a.notes, "What this memory and the snapshot had in common is not known: it was never synced here and git's history has no version of it. Everything that differs is shown as both sides' own.")
	}
	return st, nil
}

// mineKind says what was done here to a topic since the last common state.
func (a *analysis) mineKind(it *item) string {
	base := none
	if it.base != "" {
		base = a.st.Files[it.base].Base
	}
	sum := a.mine.sum(it.mine)
	if a.unread(it) {
		return "" // nobody knows
	}
	if it.base == memfile.IndexName && len(a.private) > 0 && it.mine != "" {
		s, err := a.mine.text(it.mine)
		if err == nil {
			sum = sumOf(without(s, a.private))
		}
	}
	switch {
	case sum == a.theirs.sum(it.theirs) && it.mine == it.theirs:
		return ""
	case base == none && sum != none:
		return "added"
	case sum == none && base != none:
		return "removed"
	case it.mine != "" && it.base != "" && it.mine != it.base && it.mine != it.theirs:
		return "renamed"
	case sum != base:
		return "changed"
	}
	return ""
}

func topicsOf(t *tree) int {
	n := len(t.files)
	if t.files[memfile.IndexName] != nil {
		n--
	}
	return n
}

// fill puts problems and notes into a status.
func (a *analysis) fill(st *Status) {
	problems := a.problems
	if len(problems) > maxProblems {
		st.MoreProblems = len(problems) - maxProblems
		problems = problems[:maxProblems]
	}
	for _, p := range problems {
		p.Path, p.Reason = memdir.Shown(p.Path, memdir.MaxShown), memdir.Shown(p.Reason, 500)
		st.Problems = append(st.Problems, p)
	}
}

// finish cuts what a result lists.
func (a *analysis) finish(st *Status) {
	sort.SliceStable(st.Files, func(i, j int) bool { return len(st.Files[i].Parts) > 0 && len(st.Files[j].Parts) == 0 })
	if len(st.Files) > maxFiles {
		st.MoreFiles = len(st.Files) - maxFiles
		st.Files = st.Files[:maxFiles]
	}
	for i := range st.Files {
		f := &st.Files[i]
		if len(f.Parts) > maxParts {
			f.Parts = append(f.Parts[:maxParts:maxParts], "and more")
		}
		for j := range f.Parts {
			f.Parts[j] = memdir.Shown(f.Parts[j], memdir.MaxShown)
		}
	}
	for _, n := range a.notes {
		if len(st.Notes) == maxNotes {
			st.Notes = append(st.Notes, "and more")
			break
		}
		st.Notes = append(st.Notes, memdir.Shown(n, 500))
	}
}
