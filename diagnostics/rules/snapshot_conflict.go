package rules

import (
	"fmt"
	"slices"
	"strings"

	"mem/core/agentmem"
	"mem/core/change"
	"mem/core/memdir"
	"mem/diagnostics"
	"mem/diagnostics/fixes"
)

func snapshotConflict() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "snapshot-conflict",
		Severity: diagnostics.Warning,
		Summary:  "The team and this memory changed the same part differently.",
		Fixes:    []string{fixes.TakeTheirs, fixes.KeepMine, fixes.TakeBoth, fixes.OpenDifference},
		Evidence: []diagnostics.Evidence{
			{Claim: "a snapshot that is newer than the last one is told to the agent and never taken by itself", Source: "seed 24.5", Checked: "2026-11-30"},
		},
		Memory: func(p *diagnostics.Pass) {
			r := reviewed(p)
			if r == nil {
				return
			}
			for i := range r.Files {
				f := &r.Files[i]
				for _, c := range f.Conflicts {
					conflictOf(p, r, f, c)
				}
			}
		},
	}
}

func conflictOf(p *diagnostics.Pass, r *agentmem.Review, f *agentmem.Reviewed, c agentmem.Conflict) {
	name, part := memdir.ShownName(f.Path), memdir.Shown(c.Part, memdir.MaxShown)
	found := placed(p, f.Path, c.Ours)
	if c.Whole {
		arg := f.Path
		found.Message = fmt.Sprintf("%s: %s. Take theirs, or keep mine.", name, part)
		theirs := "Take theirs: bring " + name + " back as the team has it"
		if f.TheirPath == "" {
			theirs = "Take theirs: remove " + name
		}
		mine := "Keep mine: " + name + " stays"
		if f.MinePath == "" {
			mine = "Keep mine: " + name + " stays away"
		}
		found.Offers = []diagnostics.Offer{{Fix: fixes.TakeTheirs, Title: theirs, Arg: arg}, {Fix: fixes.KeepMine, Title: mine, Arg: arg}}
	} else {
		arg := diagnostics.PartArg(f.Path, c.Part)
		found.Message = fmt.Sprintf("The team changed %s, and it was changed here, too, differently. Take theirs, keep mine, or take both.", part)
		found.Offers = []diagnostics.Offer{{Fix: fixes.TakeTheirs, Title: "Take theirs of " + part, Arg: arg}, {Fix: fixes.KeepMine, Title: "Keep mine of " + part, Arg: arg}}
		if isSection(f, c.Part) && c.Ours != "" && c.Theirs != "" {
			found.Offers = append(found.Offers, diagnostics.Offer{Fix: fixes.TakeBoth, Title: "Take both of " + part, Arg: arg})
		} else {
			found.Message = fmt.Sprintf("The team changed %s, and it was changed here, too, differently. Take theirs, or keep mine.", part)
		}
		found.Offers = append(found.Offers, difference(f.Path, c.Part))
	}
	found.Message += published(r)
	found.Related = inTeams(p, f, c.Theirs, "What the team has is here.")
	p.Report(found)
}

// isSection tells whether a part is one of which a topic can hold both texts.
func isSection(f *agentmem.Reviewed, part string) bool {
	return slices.ContainsFunc(f.Changed, func(p change.Part) bool { return p.Name == part && strings.HasPrefix(p.Key, "s:") })
}
