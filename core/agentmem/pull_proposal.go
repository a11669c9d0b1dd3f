package agentmem

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"

	"mem/core/change"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/memory"
	"mem/core/proposal"
	"mem/core/text"
)

// ProposalKind is the kind of the proposals that news of a team become.
const ProposalKind = "snapshot"

// maxRecent is how many earlier proposals are compared with a new one.
const maxRecent = 10

// propose leaves the news that wait as a proposal, unit by unit: where both sides changed a
// part differently, the unit keeps both texts and says so. What was proposed before, and is
// open or was discarded, is not proposed again. It gives the id, "" where nothing waits.
func (a *analysis) propose(ctx context.Context, report string) (string, error) {
	units, _, err := a.waiting()
	if err != nil || len(units) == 0 {
		return "", err
	}
	ps := proposal.Of(a.m)
	recent, _, err := ps.List(proposal.ListOptions{Kind: ProposalKind, Limit: maxRecent})
	if err != nil {
		return "", err
	}
	for _, p := range recent {
		switch {
		case p.State == proposal.Open && sameUnits(openUnits(p), units):
			return p.ID, nil
		case p.State == proposal.Discarded && sameUnits(p.Units, units):
			return "", nil
		}
	}
	done, err := ps.Settle(ctx, proposal.Submission{Kind: ProposalKind, Title: "News of the team for " + a.Agent, Report: report,
		Origin: a.m.Origin(), Policy: proposal.Review, Units: units, Supersedes: ProposalKind})
	if err != nil {
		return "", err
	}
	if done.Proposal == nil {
		return "", nil
	}
	return done.Proposal.ID, nil
}

// waiting gives the news that wait as units, and for each the topics that it is about.
func (a *analysis) waiting() (units []proposal.Unit, about [][]string, err error) {
	now, err := a.pull(wishes{})
	if err != nil {
		return nil, nil, err
	}
	w := wishes{apply: true}
	conflicts := map[string][]Conflict{}
	for _, o := range now {
		name := o.it.path()
		switch {
		case o.team == "removed" && len(o.open) == 0:
			w.list = append(w.list, Wish{Path: name, Choice: TakeTheirs})
		case len(o.open) > 0:
			w.list = append(w.list, Wish{Path: name, Choice: TakeBoth})
			conflicts[name] = o.open
		}
	}
	all, err := a.pull(w)
	if err != nil {
		return nil, nil, err
	}
	for _, o := range all {
		if !o.kept && len(conflicts[o.it.path()]) > 0 && len(o.text) > MaxFile {
			o.kept = true
			a.notes = append(a.notes, fmt.Sprintf("%s is not among the news that wait as a proposal: both texts together are more than a topic holds. Take theirs or mine of it.", memdir.ShownName(o.it.path())))
		}
	}
	c, err := a.changeOf(all)
	if err != nil || c.Empty() {
		return nil, nil, err
	}
	topics := map[string]string{} // path in the change -> topic
	for _, o := range all {
		for _, n := range append(o.it.names(), o.path) {
			topics[n] = o.it.path()
		}
	}
	units = proposal.Split(c)
	for i := range units {
		var names []string
		for _, f := range units[i].Change.Files {
			for _, x := range conflicts[f.Path] {
				units[i].Reason = fmt.Sprintf("The team and this memory changed %s differently; this keeps both texts.", memdir.Shown(x.Part, memdir.MaxShown))
				units[i].Note = a.bothTexts(x)
			}
			if f.Path != memfile.IndexName || len(units[i].Change.Files) == 1 {
				names = append(names, topics[f.Path])
			}
		}
		about = append(about, names)
	}
	return units, about, nil
}

func openUnits(p *proposal.Proposal) []proposal.Unit {
	var out []proposal.Unit
	for _, u := range p.Units {
		if u.State == proposal.Open {
			out = append(out, u)
		}
	}
	return out
}

// Discarders notes what was discarded of a proposal where it came from.
func Discarders() map[string]proposal.Discarder {
	return map[string]proposal.Discarder{ProposalKind: skipDiscarded}
}

// skipDiscarded notes that news were looked at and are not wanted, so that they are not
// offered again before the team changes them. What the team changed since they were
// proposed stays news.
func skipDiscarded(ctx context.Context, m *memory.Memory, _ *proposal.Proposal, units []proposal.Unit) error {
	s := sharedOf(m, filepath.Base(m.Location.Directory))
	unlock, err := s.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	a, err := s.look(ctx)
	if err != nil {
		return err
	}
	defer a.close()
	now, about, err := a.waiting()
	if err != nil {
		return err
	}
	var w wishes
	for i, u := range now {
		if slices.ContainsFunc(units, func(d proposal.Unit) bool { return sameChange(d.Change, u.Change) }) {
			for _, topic := range about[i] {
				w.list = append(w.list, Wish{Path: topic, Choice: Skip})
			}
		}
	}
	if len(w.list) == 0 {
		return nil
	}
	outcomes, err := a.pull(w)
	if err != nil {
		return err
	}
	return a.settleState(outcomes, "")
}

// bothTexts shows the two versions of a part, without secrets.
func (a *analysis) bothTexts(c Conflict) string {
	out, _ := a.m.Guard().Redact(text.Bytes("here:\n" + memory.Fit(c.Ours, maxToldPart) + "\nthe team:\n" + memory.Fit(c.Theirs, maxToldPart)))
	return string(out)
}

func sameUnits(a, b []proposal.Unit) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !sameChange(a[i].Change, b[i].Change) {
			return false
		}
	}
	return true
}

// sameChange compares what two changes make, not how.
func sameChange(a, b change.Change) bool {
	result := func(c change.Change) [][4]string {
		var out [][4]string
		for _, f := range c.Files {
			after, _, err := f.After()
			if err != nil {
				after = err.Error()
			}
			out = append(out, [4]string{f.Path, f.Target(), string(f.Kind), after})
		}
		return out
	}
	return reflect.DeepEqual(result(a), result(b))
}
