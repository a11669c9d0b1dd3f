package sessions

import (
	"fmt"
	"time"

	"mem/core/memdir"
	"mem/core/memory"
	"mem/core/transcript"
)

// What sessions say has no bounds, a result has: lengths are weights, as in
// core/memory, which count characters once escaped as JSON.
const (
	maxPage    = 20_000 // of the main list of a result, which a tool gives twice
	maxSkipped = 20
	maxNotes   = 10
	maxNote    = 600
	maxLine    = 300 // of a title or a prompt
	maxName    = 200 // of a branch, a model
	maxPath    = 1_000
)

// page gives as many of the items from offset on as fit, at least one, and where the
// next page starts, 0 at the end.
func page[T any](items []T, offset, limit int) (kept []T, next int) {
	items = items[offset:]
	room := maxPage
	for i, it := range items[:min(len(items), limit)] {
		if room -= memory.Size(it) + 1; room < 0 && i > 0 {
			return items[:i:i], offset + i
		}
	}
	if limit < len(items) {
		return items[:limit:limit], offset + limit
	}
	return items, 0
}

// fewSkipped bounds what was skipped, with word of the rest.
func fewSkipped(all []transcript.Skipped) (some []transcript.Skipped, more int) {
	for _, x := range all[:min(len(all), maxSkipped)] {
		some = append(some, transcript.Skipped{Path: memory.Fit(x.Path, maxPath), Reason: memdir.Shown(x.Reason, maxNote)})
	}
	return some, len(all) - len(some)
}

// fewNotes bounds notes, each on one line.
func fewNotes(all []string) []string {
	var out []string
	for _, n := range all {
		if n == "" {
			continue
		}
		if len(out) == maxNotes {
			return append(out, fmt.Sprintf("More notes are left out here: %d.", len(all)-maxNotes))
		}
		out = append(out, memdir.Shown(n, maxNote))
	}
	return out
}

// stamp is a time as results give it, "" for none.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
