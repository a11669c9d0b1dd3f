package agentmem

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"mem/core/change"
	"mem/core/memdir"
	"mem/core/memory"
	"mem/core/project"
	"mem/core/proposal"
	"mem/core/text"
)

// PullOptions says what is taken of the team's news.
type PullOptions struct {
	// Apply takes all that neither conflicts with what was done here nor deletes anything.
	Apply bool
	// Wishes are decisions about single topics, or parts of them.
	Wishes []Wish
	// Accept takes texts that hold hidden characters or commands to their reader, and a
	// snapshot older than the last one. Only a person may set it. What looks like a secret is
	// taken only where the memory was opened, or the context made, to allow secrets.
	Accept bool
}

// Pulled is what a pull did, and what is left.
type Pulled struct {
	Initialized bool `json:"initialized,omitempty"` // the memory was a copy of the snapshot before this result
	// Left is what the state is afterwards: news that were not taken, and conflicts.
	Left *Status `json:"left"`
	// Text tells a model what news wait and what conflicts; "" where nothing does. What the
	// team wrote stands in it as data.
	Text string `json:"text,omitempty"`
	// Proposal is the id of the proposal that the news wait as, "" where none do.
	Proposal string `json:"proposal,omitempty"`
	memory.Change
}

// InvalidError says why a snapshot is not used. Nothing was written.
type InvalidError struct {
	Agent, Snapshot string
	Problems        []Problem
}

func (e *InvalidError) Error() string {
	var lines []string
	for i, p := range e.Problems {
		if i == 5 {
			lines = append(lines, fmt.Sprintf("and %d more", len(e.Problems)-i))
			break
		}
		lines = append(lines, p.String())
	}
	words := strings.Join(lines, "; ")
	var flags []string
	flag := func(f string) {
		if !slices.Contains(flags, f) {
			flags = append(flags, f)
		}
	}
	skip, hint := "", ""
	for _, p := range e.Problems {
		switch {
		case p.Kind != ProblemContent:
			continue
		case p.Secret:
			flag("--allow-secrets")
		default:
			flag("--accept")
		}
		if skip == "" {
			skip = memdir.ShownName(p.Path)
		}
	}
	if len(flags) > 0 {
		hint = fmt.Sprintf(". To take the rest without it, skip each such file: mem-mcp snapshot pull %s --apply --take skip:%s. A person who has read it can take it: %s", e.Agent, skip, strings.Join(flags, " "))
	}
	return fmt.Sprintf("the snapshot %s is not used, and nothing was written: %s%s", e.Snapshot, words, hint)
}

// OlderError says that the checkout has a snapshot from before the one that was last
// synced here.
type OlderError struct{ Agent, Have, Synced string }

func (e *OlderError) Error() string {
	return fmt.Sprintf("the snapshot in the checkout is of %s, and the one that this memory was last synced with of %s: an older commit or another branch is checked out, or the clock of whoever published it is behind; taking it could undo news. Nothing was written. Name the topics that you want, or check out the newer one; a person can take it all the same with mem-mcp snapshot pull %s --apply --accept", e.Have, e.Synced, e.Agent)
}

// lock keeps two pulls or publishes of one memory apart.
func (s *Shared) lock(ctx context.Context) (func(), error) {
	if err := os.MkdirAll(s.state.dir, 0o700); err != nil {
		return nil, fmt.Errorf("making %s: %w", s.state.dir, project.Reason(err))
	}
	l := flock.New(filepath.Join(s.state.dir, "lock"))
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	ok, err := l.TryLockContext(ctx, 20*time.Millisecond)
	if err != nil || !ok {
		return nil, fmt.Errorf("another program is pulling or publishing the memory of %s and holds %s: try again", s.Agent, l.Path())
	}
	return func() { _ = l.Unlock() }, nil
}

// Pull takes news of the team into this memory. What is here is never overwritten: texts
// are merged by sections, frontmatter by key and the index by entry. Where there is no
// memory yet, the snapshot is copied.
func (s *Shared) Pull(ctx context.Context, opt PullOptions) (*Pulled, error) {
	if err := checkWishes(opt.Wishes); err != nil {
		return nil, err
	}
	unlock, err := s.lock(ctx)
	if err != nil {
		return nil, err
	}
	defer unlock()
	a, err := s.look(ctx)
	if err != nil {
		return nil, err
	}
	defer a.close()
	w := wishes{list: opt.Wishes, apply: opt.Apply}
	if err := a.findWanted(w); err != nil {
		return nil, err
	}
	if bad := a.blocking(w, opt.Accept, s.m.AllowsSecrets(ctx)); len(bad) > 0 {
		return nil, &InvalidError{Agent: s.Agent, Snapshot: s.Snapshot, Problems: bad}
	}
	if err := a.wholeStore(); err != nil {
		return nil, err
	}
	out := &Pulled{}
	if !a.theirs.exists {
		nothing, err := s.m.Apply(ctx, change.Change{})
		if err != nil {
			return nil, err
		}
		out.Change = *nothing
		return out, s.left(ctx, out)
	}
	if len(a.mine.files)+len(a.mine.left) == 0 {
		out.Initialized, w.apply = true, true
		a.st.Files, a.st.stored, a.st.dropped = map[string]fileState{}, nil, nil
		a.items = nil
		if err := a.findItems(); err != nil {
			return nil, err
		}
	}
	outcomes, err := a.pull(w)
	if err != nil {
		return nil, err
	}
	if w.apply && !opt.Accept && !out.Initialized {
		if err := a.notOlder(outcomes); err != nil {
			return nil, err
		}
	}
	if err := a.allMeant(outcomes, opt.Wishes); err != nil {
		return nil, err
	}
	c, err := a.changeOf(outcomes)
	if err != nil {
		return nil, err
	}
	if err := a.unmoved(); err != nil {
		return nil, err
	}
	done, err := s.m.Apply(ctx, c)
	if err != nil {
		return nil, err
	}
	out.Change = *done
	if err := a.settleState(outcomes, done.ID); err != nil {
		return nil, fmt.Errorf("the news were taken (change %s), but that could not be noted, so they may be offered again: %w", done.ID, err)
	}
	return out, s.left(ctx, out)
}

// wholeStore makes sure that all of this memory was read: what was not would pass for
// deleted here.
func (a *analysis) wholeStore() error {
	if !a.mine.partial {
		return nil
	}
	return fmt.Errorf("the memory of %s is not read whole, and what was not read would pass for deleted: %s. Nothing was written", a.Agent, a.mine.problems[len(a.mine.problems)-1].Reason)
}

func checkWishes(list []Wish) error {
	for _, w := range list {
		switch w.Choice {
		case TakeTheirs, TakeMine, TakeBoth, Skip:
		default:
			return fmt.Errorf("%s is no choice about %s: give theirs, mine, both or skip", memdir.ShownName(string(w.Choice)), memdir.ShownName(w.Path))
		}
		if w.Part != "" && w.Choice == Skip {
			return fmt.Errorf("%s: a part of a topic cannot be skipped; mine keeps what is here", memdir.ShownName(w.Path))
		}
	}
	return nil
}

// allMeant refuses decisions about what is not there: they would be silently lost.
func (a *analysis) allMeant(outcomes []*outcome, list []Wish) error {
	names := map[string]bool{"*": true}
	for _, o := range outcomes {
		for _, n := range o.it.names() {
			names[n] = true
		}
	}
	for _, w := range list {
		if !names[w.Path] {
			return fmt.Errorf("there is no topic %s here or in the snapshot; mem-mcp snapshot status %s names those that differ", memdir.ShownName(w.Path), a.Agent)
		}
	}
	return nil
}

// older reports that the snapshot is from before the one that was synced last.
func (a *analysis) older() bool {
	last, err := time.Parse(time.RFC3339Nano, a.st.UpdatedAt)
	return err == nil && !a.manifest.UpdatedAt.IsZero() && a.manifest.UpdatedAt.Before(last)
}

// notOlder refuses what a snapshot from before the last sync would bring.
func (a *analysis) notOlder(outcomes []*outcome) error {
	if a.older() && slices.ContainsFunc(outcomes, func(o *outcome) bool { return o.team != "" }) {
		return &OlderError{Agent: a.Agent, Have: a.manifest.UpdatedAt.Format(time.RFC3339Nano), Synced: a.st.UpdatedAt}
	}
	return nil
}

// changeOf gives what the outcomes make of this memory.
func (a *analysis) changeOf(outcomes []*outcome) (change.Change, error) {
	c := change.Change{Title: "Take news of the team for " + a.Agent, Op: "pull"}
	for _, o := range outcomes {
		if o.kept || (o.path == "" && a.mine.files[o.it.mine] == nil) {
			continue
		}
		raw, err := a.mine.raw(o.it.mine)
		if err != nil {
			return c, err
		}
		here := a.mine.files[o.it.mine] != nil
		after := likeRaw(raw, o.text)
		if len(after) > MaxFile && len(after) > len(raw) {
			return c, fmt.Errorf("%s would have %d bytes, and a memory has at most %d in a topic. Nothing was written; take theirs or mine of it, or skip it: mem-mcp snapshot pull %s --take skip:%s", memdir.ShownName(o.it.path()), len(after), MaxFile, a.Agent, memdir.ShownName(o.it.path()))
		}
		switch {
		case !here:
			c.Files = append(c.Files, change.File{Path: o.path, Kind: change.Create, New: after})
		case o.path == "":
			c.Files = append(c.Files, change.File{Path: o.it.mine, Kind: change.Delete, Base: raw})
		case o.path != o.it.mine:
			c.Files = append(c.Files, change.File{Path: o.it.mine, Kind: change.Rename, To: o.path, Base: raw, Edits: diff(raw, after)})
		case raw != after:
			c.Files = append(c.Files, change.File{Path: o.path, Kind: change.Edit, Base: raw, Edits: diff(raw, after)})
		}
	}
	return c, nil
}

func diff(from, to string) []text.Edit {
	if from == to {
		return nil
	}
	return text.Diff(from, to)
}

// settleState notes what both sides have in common now, after the change id.
func (a *analysis) settleState(outcomes []*outcome, id string) error {
	s := &settling{analysis: a, files: map[string]fileState{}}
	defer s.close()
	settled := true
	for _, o := range outcomes {
		key := o.it.base
		if (o.moved || key == "") && o.it.theirs != "" {
			key = o.it.theirs
		}
		if key == "" {
			continue // only here
		}
		settled = settled && o.settle
		if o.state.Base != none || o.state.Seen != nil {
			equal := a.theirs.sum(o.it.theirs) == a.mine.sum(o.it.mine) && o.it.theirs == o.it.mine
			s.files[key] = s.now(o.it, o.state, a.theirs.sum(o.it.theirs), equal)
		}
		for _, t := range []struct {
			*tree
			p string
		}{{a.mine, o.it.mine}, {a.theirs, o.it.theirs}} {
			l := t.files[t.p]
			if l == nil || (l.sum != o.state.Base && l.sum != o.state.seen()) {
				continue
			}
			if _, err := os.Lstat(a.state.textFile(l.sum)); err == nil {
				continue
			}
			text, err := t.text(t.p)
			if err != nil {
				return err
			}
			a.keep(text, true)
		}
	}
	s.keepDropped()
	before := a.st.stored
	a.st.Files = s.files
	if id != "" {
		a.st.noteLast(id, before, outcomes)
	}
	return a.saveState(settled)
}

// saveState writes the state. The time of the snapshot is noted once all of it was looked
// at.
func (a *analysis) saveState(settled bool) error {
	a.st.Snapshot, a.st.Synced = a.Snapshot, a.m.Env().Time().UTC()
	if settled && !a.manifest.UpdatedAt.IsZero() {
		a.st.UpdatedAt = a.manifest.UpdatedAt.Format(time.RFC3339Nano)
	}
	return a.state.save(a.st)
}

// left looks again: what is open after a pull.
func (s *Shared) left(ctx context.Context, out *Pulled) error {
	a, err := s.look(ctx)
	if err != nil {
		return err
	}
	defer a.close()
	if out.Left, err = a.status(); err != nil {
		return err
	}
	out.Text = a.told(out.Left)
	told := len(a.notes)
	switch {
	case out.Left.Action == ActionPromptUpdate && out.Left.Older:
		// Applying a proposal would take it without a word of that.
	case out.Left.Action == ActionPromptUpdate:
		out.Proposal, err = a.propose(ctx, out.Text)
	default:
		_, err = proposal.Of(s.m).Supersede(ctx, ProposalKind, "snapshot")
	}
	out.Left.Notes = append(out.Left.Notes, few(a.notes[told:])...)
	if err != nil {
		out.Left.Notes = append(out.Left.Notes, memdir.Shown(fmt.Sprintf("The news could not be kept as a proposal: %v.", err), 500))
	}
	return nil
}
