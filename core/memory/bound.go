package memory

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"mem/core/memdir"
	"mem/core/store"
)

// What a directory holds has no bounds: files by the thousand, names and
// descriptions of any length. A result has: every list in it ends somewhere, with
// word of how much was left out, and every text is cut. Lengths are weights, which
// count characters as they are once escaped as JSON.
const (
	maxNotes    = 10
	maxNote     = 400
	maxVanished = 10
	maxName     = 200
	maxType     = 60
	maxPath     = 6_200 // of the longest that can be written, 1,024 times "&"
	maxAbout    = 500   // a description or an entry
	maxProblems = 3
	maxWords    = 20    // of a query
	maxExtras   = 3_000 // each list beside the main one
)

// fit cuts s to what weighs at most n, with a mark.
func fit(s string, n int) string {
	if len(s) <= n/maxEscaped {
		return s
	}
	chars := 0
	for i, r := range s {
		c, _ := weight(string(r))
		if chars += c; chars > n-1 {
			if rest, _ := weight(s[i:]); chars-c+rest <= n {
				return s
			}
			return s[:i] + "…"
		}
	}
	return s
}

// Fit cuts s to what weighs at most n in a result, with a mark.
func Fit(s string, n int) string { return fit(s, n) }

// Size is what a value weighs as JSON.
func Size(v any) int {
	b, err := json.Marshal(v)
	if err != nil {
		return 0 // what cannot be encoded is an error elsewhere
	}
	return utf8.RuneCount(b)
}

// some gives as many items as weigh no more than room, at least one, and how many
// are left out.
func some[T any](items []T, room int) (kept []T, more int) {
	for i, it := range items {
		if room -= Size(it) + 1; room < 0 && i > 0 {
			return items[:i:i], len(items) - i
		}
	}
	return items, 0
}

// Note adds words to a notice: each on one line, as many as fit; empty ones are none.
func (n *Notice) Note(notes ...string) {
	for _, s := range notes {
		if s != "" {
			n.note(s)
		}
	}
}

func (n *Notice) note(notes ...string) {
	for _, s := range notes {
		if len(n.Notes) < maxNotes {
			n.Notes = append(n.Notes, memdir.Shown(s, maxNote))
			continue
		}
		n.more++
		n.Notes = append(n.Notes[:maxNotes:maxNotes], fmt.Sprintf("%d more notes are left out here.", n.more))
	}
}

// lose adds losses to a notice, as many as fit; the history has them all.
func (n *Notice) lose(losses ...store.Loss) {
	left := 0
	for _, l := range losses {
		if len(n.Vanished) == maxVanished {
			left++
			continue
		}
		l.Path, l.Entry = fit(l.Path, maxAbout), fit(l.Entry, maxAbout)
		n.Vanished = append(n.Vanished, l)
	}
	if left > 0 {
		n.note(fmt.Sprintf("%d more memories vanished; memory_history lists them.", left))
	}
}

// LossWords says what vanished, on one line.
func LossWords(l store.Loss) string {
	l.Path, l.Entry = memdir.ShownName(l.Path), memdir.Shown(l.Entry, maxName)
	return memdir.Shown(l.String(), 4*maxName)
}

// problemWords says what is wrong with a file, on one line.
func problemWords(p memdir.Problem) string {
	return memdir.ShownName(p.Path) + " " + memdir.Shown(p.Message, maxNote)
}
