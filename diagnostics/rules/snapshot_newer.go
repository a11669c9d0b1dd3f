package rules

import (
	"fmt"

	"mem/core/agentmem"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/diagnostics"
	"mem/diagnostics/fixes"
)

func snapshotNewer() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "snapshot-newer",
		Severity: diagnostics.Information,
		Summary:  "The team has news of a topic that were not taken.",
		Fixes:    []string{fixes.TakeTheirs, fixes.SkipNews, fixes.KeepMine, fixes.OpenDifference},
		Evidence: []diagnostics.Evidence{
			{Claim: "a snapshot that is newer than the last one is told to the agent and never taken by itself", Source: "seed 24.5", Checked: "2026-11-30"},
		},
		Memory: func(p *diagnostics.Pass) {
			r := reviewed(p)
			if r == nil {
				return
			}
			for i := range r.Files {
				if f := &r.Files[i]; f.Team != "" {
					newer(p, r, f)
				}
			}
		},
	}
}

func newer(p *diagnostics.Pass, r *agentmem.Review, f *agentmem.Reviewed) {
	if len(f.Conflicts) > 0 && f.Conflicts[0].Whole {
		return // a conflict, all of it
	}
	name := memdir.ShownName(f.Path)
	take := func(title string) diagnostics.Offer {
		return diagnostics.Offer{Fix: fixes.TakeTheirs, Title: title, Arg: f.Path}
	}
	skip := diagnostics.Offer{Fix: fixes.SkipNews, Title: "Skip this version of the team's " + name, Arg: f.Path}
	var found diagnostics.Finding
	switch {
	case f.Team == "added" && f.MinePath == "":
		found = placed(p, memfile.IndexName, "")
		found.Message = fmt.Sprintf("The team has a topic that is not here: %s. Take it, or skip it.", name)
		found.Offers = []diagnostics.Offer{take("Take " + name + " from the team"), skip}
	case f.Team == "removed":
		found = placed(p, f.MinePath, "")
		found.Message = "The team removed this topic, which was not changed here. Remove it here, too, or keep it."
		found.Offers = []diagnostics.Offer{take("Remove " + name + ", as the team did"),
			{Fix: fixes.KeepMine, Title: "Keep " + name, Arg: f.Path}}
	case f.Team == "renamed" && f.TheirPath != f.MinePath:
		found = placed(p, f.MinePath, "")
		found.Message = fmt.Sprintf("The team renamed this topic to %s. Take that, or skip it.", memdir.ShownName(f.TheirPath))
		found.Offers = []diagnostics.Offer{take("Rename it to " + memdir.ShownName(f.TheirPath) + ", as the team did"), skip}
	default:
		news := ownNews(r, f)
		if len(news) == 0 {
			return
		}
		found = placed(p, f.MinePath, news[0].Ours)
		found.Message = fmt.Sprintf("The team changed %s, and nothing here conflicts with that. Take it, or skip this version.", inWords(news))
		found.Offers = []diagnostics.Offer{take("Take the team's news of " + name)}
		if len(f.Conflicts) == 0 && f.Path != memfile.IndexName {
			found.Offers = append(found.Offers, skip)
		}
		found.Related = inTeams(p, f, news[0].Theirs, "What the team has is here.")
	}
	found.Message += published(r)
	if f.TheirPath != "" {
		found.Offers = append(found.Offers, difference(f.Path, ""))
	}
	p.Report(found)
}
