package agentmem

import (
	"context"
	"fmt"
	"reflect"

	"mem/core/change"
	"mem/core/memdir"
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
	now, err := a.pull(wishes{})
	if err != nil {
		return "", err
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
		return "", err
	}
	c, err := a.changeOf(all)
	if err != nil || c.Empty() {
		return "", err
	}
	units := proposal.Split(c)
	for i := range units {
		for _, f := range units[i].Change.Files {
			for _, x := range conflicts[f.Path] {
				units[i].Reason = fmt.Sprintf("The team and this memory changed %s differently; this keeps both texts.", memdir.Shown(x.Part, memdir.MaxShown))
				units[i].Note = a.bothTexts(x)
			}
		}
	}
	ps := proposal.Of(a.m)
	recent, _, err := ps.List(proposal.ListOptions{Kind: ProposalKind, Limit: maxRecent})
	if err != nil {
		return "", err
	}
	for _, p := range recent {
		if sameUnits(p.Units, units) && (p.State == proposal.Open || p.State == proposal.Discarded) {
			if p.State == proposal.Open {
				return p.ID, nil
			}
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
