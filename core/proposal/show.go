package proposal

import (
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"mem/core/change"
	"mem/core/memdir"
)

// FileDiff is what a unit does to one file, for people and agents.
type FileDiff struct {
	Path string      `json:"path"`
	To   string      `json:"to,omitempty"`
	Kind change.Kind `json:"kind"`
	// Diff is a unified diff without secrets.
	Diff string `json:"diff"`
}

// Diffs shows a unit file by file, as unified diffs from the texts that it was made for.
// Secrets are taken out, those in the lines around a change included.
func (p *Proposals) Diffs(u Unit) []FileDiff {
	var out []FileDiff
	for _, f := range u.Change.Files {
		after, stays, err := f.After()
		if err != nil {
			out = append(out, FileDiff{Path: f.Path, Kind: f.Kind, Diff: "(" + memdir.Shown(err.Error(), memdir.MaxShown) + ")\n"})
			continue
		}
		from, to := "a/"+memdir.Shown(f.Path, maxTitle), "b/"+memdir.Shown(f.Target(), maxTitle)
		base := f.Base
		switch {
		case f.Kind == change.Create:
			from = "/dev/null"
		case f.Kind == change.Append:
			base = ""
		case !stays:
			to = "/dev/null"
		}
		d := udiff.Unified(from, to, base, after)
		if d == "" && f.Kind == change.Rename {
			d = "--- " + from + "\n+++ " + to + "\n"
		}
		shown, _ := p.m.Guard().Redact([]byte(d))
		x := FileDiff{Path: f.Path, Kind: f.Kind, Diff: strings.ToValidUTF8(string(shown), "\uFFFD")}
		if f.Kind == change.Rename {
			x.To = f.To
		}
		out = append(out, x)
	}
	return out
}

// Conflicts says why a unit that waits cannot be applied to the memory as it is now, ""
// when it can.
func (p *Proposals) Conflicts(u Unit) string {
	if u.State != Open {
		return ""
	}
	if v := p.examine(u); !v.fits() {
		return bounded(v.note(), maxNote)
	}
	return ""
}
