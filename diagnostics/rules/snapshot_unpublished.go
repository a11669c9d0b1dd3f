package rules

import (
	"mem/core/agentmem"
	"mem/core/change"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/diagnostics"
	"mem/diagnostics/fixes"
)

func snapshotUnpublished() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "snapshot-unpublished",
		Severity: diagnostics.Hint,
		Summary:  "The team does not have what was changed here.",
		Fixes:    []string{fixes.PublishTopic, fixes.OpenDifference},
		Evidence: []diagnostics.Evidence{
			{Claim: "what an agent learns stays on one machine unless somebody publishes it to the snapshot", Source: "seed 24.5", Checked: "2026-11-30"},
		},
		Memory: func(p *diagnostics.Pass) {
			r := reviewed(p)
			if r == nil {
				return
			}
			for i := range r.Files {
				f := &r.Files[i]
				if f.Mine == "" || f.Private {
					continue
				}
				var own []change.Part
				for _, part := range f.Changed {
					if part.Ours != part.Base && !part.Conflict {
						own = append(own, part)
					}
				}
				own = without(r, f, own, func(x *agentmem.Reviewed) bool { return x.Mine != "" || x.Private })
				if len(own) == 0 && (f.Path == memfile.IndexName || len(f.Conflicts) > 0) {
					continue // entries go with their topics; what conflicts is decided first
				}
				at := ""
				if len(own) > 0 {
					at = own[0].Ours
				}
				found := placed(p, f.Path, at)
				name := memdir.ShownName(f.Path)
				switch {
				case f.MinePath == "":
					found.Message = name + " was removed here, and the team still has it."
				case f.TheirPath == "":
					found.Message = "The team does not have this topic."
				case f.Mine == "renamed":
					found.Message = "This topic was renamed here, and the team has it as " + memdir.ShownName(f.From) + "."
				default:
					found.Message = "The team does not have what was changed here"
					if len(own) > 0 {
						found.Message += ": " + inWords(own)
					}
					found.Message += "."
				}
				found.Message += " Publish it when it is of use to others."
				if len(f.Conflicts) == 0 {
					found.Offers = append(found.Offers, diagnostics.Offer{Fix: fixes.PublishTopic, Title: "Publish " + name + " to the team…", Arg: f.Path})
				}
				found.Offers = append(found.Offers, difference(f.Path, ""))
				p.Report(found)
			}
		},
	}
}
