package agentmem

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mem/core/change"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/project"
)

// Review is a memory and its snapshot part by part, for whoever decides where the texts
// stand, such as an editor. It is not changed once it is made.
type Review struct {
	Status *Status // its lists are not cut
	// Older says that the checkout has a snapshot from before the one that was synced last.
	Older bool
	Files []Reviewed
	// Held is what a publish would hold back of what was written here; where there is no
	// snapshot, FirstHeld says that.
	Held []Held

	s    *Shared
	over map[string]string
}

// Reviewed is one topic, or the index, that is not the same on both sides.
type Reviewed struct {
	FileStatus
	// MinePath and TheirPath are its names in this memory and in the snapshot, "" where it is
	// not there.
	MinePath, TheirPath string
	// BaseText, MineText and TheirText are its texts with newlines only, "" where there is none.
	BaseText, MineText, TheirText string
	// Changed are the parts that are not the same on both sides.
	Changed []change.Part
}

// News gives the parts that the team changed and that conflict with nothing here.
func (f *Reviewed) News() []change.Part {
	var out []change.Part
	for _, p := range f.Changed {
		if !p.Conflict && strings.TrimRight(p.Theirs, "\n") != strings.TrimRight(p.Base, "\n") && f.Team != "" {
			out = append(out, p)
		}
	}
	return out
}

// Conflict gives the conflict in a part, nil where it has none.
func (f *Reviewed) Conflict(part string) *Conflict {
	for i := range f.Conflicts {
		if f.Conflicts[i].Part == part {
			return &f.Conflicts[i]
		}
	}
	return nil
}

// Review compares both sides, with texts by path in place of files of this memory: what
// somebody has typed and not saved.
func (s *Shared) Review(ctx context.Context, over map[string]string) (*Review, error) {
	return steady(ctx, func() (*Review, error) { return s.review(ctx, over) })
}

func (s *Shared) review(ctx context.Context, over map[string]string) (*Review, error) {
	a, err := s.lookOver(ctx, over)
	if err != nil {
		return nil, err
	}
	defer a.close()
	r := &Review{s: s, over: maps.Clone(over), Older: a.older()}
	if r.Status, err = a.compare(); err != nil {
		return nil, err
	}
	if r.Status.State == StateNone || r.Status.State == StateInvalid || r.Status.State == StateInitialize {
		return r, nil
	}
	for _, f := range r.Status.Files {
		one, err := a.reviewed(f)
		if err != nil {
			return nil, err
		}
		r.Files = append(r.Files, *one)
	}
	r.Held, err = a.wouldHold(ctx)
	return r, err
}

// File gives what is known of a file by one of its names, nil where both sides agree.
func (r *Review) File(p string) *Reviewed {
	for i := range r.Files {
		if f := &r.Files[i]; f.Path == p || f.MinePath == p || f.TheirPath == p {
			return f
		}
	}
	return nil
}

// FirstHeld gives what a publish would hold back where there is no snapshot yet. It looks
// at all that is here, which Review does not.
func (r *Review) FirstHeld(ctx context.Context) ([]Held, error) {
	if r.Status.State != StateNone || r.Status.Topics == 0 {
		return nil, nil
	}
	return steady(ctx, func() ([]Held, error) {
		a, err := r.s.lookOver(ctx, r.over)
		if err != nil {
			return nil, err
		}
		defer a.close()
		return a.wouldHold(ctx)
	})
}

// Shared gives what was compared.
func (r *Review) Shared() *Shared { return r.s }

func (a *analysis) reviewed(f FileStatus) (*Reviewed, error) {
	out := &Reviewed{FileStatus: f}
	it := &item{base: memfile.IndexName, mine: memfile.IndexName, theirs: memfile.IndexName}
	if f.Path != memfile.IndexName {
		for _, x := range a.items {
			if x.path() == f.Path {
				it = x
			}
		}
	}
	var err error
	var here, there bool
	if out.MineText, here, err = a.side(a.mine, it.mine); err != nil {
		return nil, err
	}
	if out.TheirText, there, err = a.side(a.theirs, it.theirs); err != nil {
		return nil, err
	}
	if here {
		out.MinePath = it.mine
	}
	if there {
		out.TheirPath = it.theirs
	}
	if it.base != "" {
		out.BaseText = a.known(a.st.Files[it.base].seen())
	}
	if here && there {
		change.Resolve(f.Path, out.BaseText, out.MineText, out.TheirText, func(p change.Part) change.Decision {
			if strings.TrimSpace(p.Base+p.Ours+p.Theirs) == "" {
				return change.Decision{} // a blank line
			}
			if strings.TrimRight(p.Ours, "\n") != strings.TrimRight(p.Theirs, "\n") || p.Ours == "" || p.Theirs == "" {
				out.Changed = append(out.Changed, p) // else only the blank lines behind it differ
			}
			return change.Decision{}
		})
	}
	return out, nil
}

// wouldHold gives what a publish would hold back. Topics about a person that were never
// shared are not among them: they stay here, as they should.
func (a *analysis) wouldHold(ctx context.Context) ([]Held, error) {
	p := &publishing{analysis: a, hold: map[string]bool{}, allowed: map[string]bool{}}
	var first *PullFirstError
	if err := p.plan(); err != nil && !errors.As(err, &first) && len(p.held) == 0 {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	held := slices.DeleteFunc(p.held, func(h Held) bool { return h.Kind == "user-topic" && a.private[h.Path] })
	slices.SortFunc(held, func(x, y Held) int {
		if c := strings.Compare(x.Path, y.Path); c != 0 {
			return c
		}
		return x.Line - y.Line
	})
	return held, nil
}

// Take gives the change of this memory that takes news of the team: of one file, or with
// a part of this alone; path "*" takes everything that neither conflicts nor deletes
// anything. Nothing is written and nothing noted: Settle does that once the change was
// made.
func (r *Review) Take(ctx context.Context, path, part string, c Choice) (change.Change, error) {
	w := wishes{exact: true, list: []Wish{{Path: path, Part: part, Choice: c}}}
	if path == "*" {
		w = wishes{apply: true}
	}
	if err := checkWishes(w.list); err != nil {
		return change.Change{}, err
	}
	return steady(ctx, func() (change.Change, error) { return r.take(ctx, path, part, w) })
}

func (r *Review) take(ctx context.Context, path, part string, w wishes) (change.Change, error) {
	a, err := r.s.lookOver(ctx, r.over)
	if err != nil {
		return change.Change{}, err
	}
	defer a.close()
	if err := a.findWanted(w); err != nil {
		return change.Change{}, err
	}
	if bad := a.blocking(w, false, false); len(bad) > 0 {
		return change.Change{}, &InvalidError{Agent: r.s.Agent, Snapshot: r.s.Snapshot, Problems: bad}
	}
	if err := a.wholeStore(); err != nil {
		return change.Change{}, err
	}
	if f := r.File(path); f != nil && part == "" && len(f.Conflicts) > 0 && !f.Conflicts[0].Whole {
		// What conflicts is decided part by part.
		c := w.list[0].Choice
		w.list = nil
		for _, p := range f.News() {
			w.list = append(w.list, Wish{Path: path, Part: p.Name, Choice: c})
		}
	}
	outcomes, err := a.pull(w)
	if err != nil {
		return change.Change{}, err
	}
	if path == "*" {
		if err := a.notOlder(outcomes); err != nil {
			return change.Change{}, err
		}
	}
	if err := a.allMeant(outcomes, w.list); err != nil {
		return change.Change{}, err
	}
	return a.changeOf(outcomes)
}

// Decide remembers that the text here stays, or that this version of the team's is not
// wanted, so that it is not offered again: of one part, or of a whole topic. The memory is
// not changed; what lies on disk counts.
func (s *Shared) Decide(ctx context.Context, w Wish) error {
	if w.Choice != TakeMine && w.Choice != Skip {
		return fmt.Errorf("%s of %s changes the memory: take it", w.Choice, memdir.ShownName(w.Path))
	}
	if err := checkWishes([]Wish{w}); err != nil {
		return err
	}
	return s.settle(ctx, []Wish{w})
}

// Settle notes what both sides have in common by now on disk, so that what was taken is
// not asked again when it changes here. Where it was never known what they had in common,
// it notes nothing: a pull begins that.
func (s *Shared) Settle(ctx context.Context) error { return s.settle(ctx, nil) }

func (s *Shared) settle(ctx context.Context, list []Wish) error {
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	_, err = steady(ctx, func() (struct{}, error) { return struct{}{}, s.note(ctx, list) })
	return err
}

// note writes what both sides have in common now, with what was decided.
func (s *Shared) note(ctx context.Context, list []Wish) error {
	a, err := s.look(ctx)
	if err != nil {
		return err
	}
	defer a.close()
	bad := a.blocking(wishes{list: list}, true, true)
	part := a.wholeStore()
	switch {
	case len(list) > 0 && len(bad) > 0:
		return &InvalidError{Agent: s.Agent, Snapshot: s.Snapshot, Problems: bad}
	case len(list) > 0 && part != nil:
		return part
	case len(list) == 0 && (len(bad) > 0 || part != nil || !a.st.known), !a.theirs.exists, len(a.mine.files) == 0:
		return nil
	}
	outcomes, err := a.pull(wishes{exact: true, noted: true, list: list})
	if err != nil {
		return err
	}
	if err := a.allMeant(outcomes, list); err != nil {
		return err
	}
	if err := a.settleState(outcomes, ""); err != nil {
		return fmt.Errorf("what was decided about %s could not be noted: %w", s.Agent, project.Reason(err))
	}
	return nil
}
