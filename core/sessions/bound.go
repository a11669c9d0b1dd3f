package sessions

import (
	"encoding/json"
	"fmt"
	"time"

	"mem/core/memdir"
	"mem/core/memory"
	"mem/core/text"
	"mem/core/transcript"
	"mem/core/transcript/shown"
)

// What sessions say has no bounds, a result has: lengths are weights, as in
// core/memory, which count characters once escaped as JSON.
const (
	maxPage    = 20_000 // of the main part of a result, which a tool gives twice
	maxTokens  = 10_000 // of the same
	maxSkipped = 20
	maxNotes   = 10
	maxNote    = 600
	maxLine    = 300 // of a title or a prompt
	maxName    = 200 // of a branch, a model
	maxPath    = 1_000
)

// page gives as many of the items as fit, at least one, and how many these are where
// that is not all, else 0.
func page[T any](items []T, limit int) (kept []T, next int) {
	room, tokens := maxPage, 4*maxTokens
	for i, it := range items[:min(len(items), limit)] {
		b, err := json.Marshal(it)
		if err != nil {
			continue // what cannot be encoded is an error elsewhere
		}
		c, q := text.Weight(string(b))
		room, tokens = room-c, tokens-q
		if (room < 0 || tokens < 0) && i > 0 {
			return items[:i:i], i
		}
	}
	if limit < len(items) {
		return items[:limit:limit], limit
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

// said is a text of a transcript within a result: bounded, and with what nobody would see
// spelled out, since a model reads what a person does not.
func said(s string, limit int) string { return memory.Fit(shown.Plain(s), limit) }

// fact is what records say of a session, without secrets unless they are asked for: directories,
// branches and models are named by whoever works there.
func (s *Sessions) fact(v string, limit int) string {
	return said(shown.NewRedactor(s.scanner()).Text(v), limit)
}

// stamp is a time as results give it, "" for none.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
