package dream

import (
	"encoding/json"
	"fmt"
	"strings"

	"mem/core/memdir"
	"mem/core/memfile"
)

// claim is what an agent says that it did. It serves to explain what the files show, and
// is never taken for it.
type claim struct {
	Did   string   `json:"did"` // merged, corrected, dropped, added
	Files []string `json:"files"`
	Into  string   `json:"into"`
	Why   string   `json:"why"`
	From  []string `json:"from"`
}

// Bounds of what is read of a report.
const (
	maxReportText = 64 << 10 // bytes
	maxClaims     = 500
	maxClaimLine  = 8 << 10 // bytes
)

// claimsOf reads the lines of a report that are claims, and gives what remains for people.
func claimsOf(report string) (claims []claim, rest string) {
	if len(report) > maxReportText {
		report = strings.ToValidUTF8(report[:maxReportText], "")
	}
	var words []string
	for line := range strings.Lines(report) {
		line = strings.TrimSpace(line)
		at := strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(line, "-"), "*"))
		if !strings.HasPrefix(at, "{") {
			if line != "```" && line != "```json" && line != "```jsonl" {
				words = append(words, line)
			}
			continue
		}
		var c claim
		if len(at) > maxClaimLine || json.Unmarshal([]byte(strings.TrimSuffix(at, ",")), &c) != nil || len(claims) == maxClaims {
			words = append(words, line)
			continue
		}
		for i := range c.Files {
			c.Files[i] = memoryPath(c.Files[i])
		}
		c.Into = memoryPath(c.Into)
		c.Why = memdir.Shown(c.Why, maxItemText)
		c.From = c.From[:min(len(c.From), maxFrom)]
		for i := range c.From {
			from := memoryPath(c.From[i])
			if id, ok := strings.CutPrefix(from, "/sessions/"); ok {
				from = "session " + strings.TrimSuffix(id, ".md")
			}
			c.From[i] = memdir.Shown(from, 200)
		}
		claims = append(claims, c)
	}
	return claims, strings.TrimSpace(strings.Join(words, "\n"))
}

const maxFrom = 20

// memoryPath is a path as the memory has it, however the agent writes it.
func memoryPath(p string) string {
	p = strings.TrimPrefix(strings.TrimSpace(p), "/memory/")
	return strings.TrimPrefix(p, "./")
}

// about reports whether a claim is about a file.
func (c claim) about(path string) bool {
	for _, f := range c.Files {
		if f == path {
			return true
		}
	}
	return c.Into == path
}

// unproven gives what the agent claims and the files do not show.
func (r *result) unproven() (out []string) {
	for _, c := range r.claims {
		var missing []string
		for _, p := range c.Files {
			if p == memfile.IndexName && r.index != nil {
				continue
			}
			f := r.by[p]
			if f == nil || (c.Did == "dropped" || c.Did == "merged" && p != c.Into) && f.stays && !f.loses {
				missing = append(missing, memdir.ShownName(p))
			}
		}
		if len(missing) > 0 {
			out = append(out, fmt.Sprintf("It says that it %s %s, and the files do not show that.", memdir.Shown(c.Did, 20), strings.Join(missing[:min(len(missing), 5)], ", ")))
		}
	}
	return out
}
