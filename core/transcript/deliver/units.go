package deliver

import (
	"iter"
	"slices"

	"mem/core/transcript"
)

// unit is a part of a chain that is delivered whole or not at all: a prompt with
// what the client added to it, or an answer with its tool calls and their
// results.
type unit struct {
	from, to int32 // positions on the chain
	turn     int32 // how many prompts the chain has up to here, in rows of the unit too
	starts   bool  // a turn
	pinned   bool  // comes with the first page
}

const (
	// maxRows is how many rows a unit has before a row that belongs to nothing
	// may begin another one.
	maxRows = 40
	// maxAhead is how far a result of an open call is looked for.
	maxAhead = 40
)

// unitsOf divides the beginning of a chain into units.
func unitsOf(t *transcript.Transcript, rows []int) []unit {
	var out []unit
	var cur *unit
	var answer uint64 // message.id of the unit's answer
	answered := false // the unit has an answer
	open := 0         // calls that wait for a result
	prompts := 0
	firstPrompt, summary := -1, -1
	for p, i := range rows {
		r := t.Rows.At(i)
		special := r.Kind.IsBoundary() || r.Flags.Has(transcript.FlagCompactSummary) || r.Flags.Has(transcript.FlagPrompt)
		begins := cur == nil
		switch {
		case begins:
		case r.Kind == transcript.Assistant && answered:
			same := r.Ref != 0 && r.Ref == answer
			if r.Ref == 0 && answer == 0 && t.Rows.At(rows[p-1]).Kind == transcript.Assistant {
				same = true
			}
			begins = !same
		case r.Kind == transcript.Assistant:
			begins = true
		case r.Flags.Has(transcript.FlagToolResult):
		case open > 0 && resultFollows(t, rows[p:]):
		case special, p-int(cur.from) >= maxRows:
			begins = true
		}
		if begins {
			if n := len(out); n == cap(out) {
				// As many as the whole chain will have, judged by what was divided so far.
				more := max(64, int(float64(n)*float64(len(rows)-p)/float64(max(p, 1))*1.05))
				out = slices.Grow(out, min(more, len(rows)-p))
			}
			out = append(out, unit{from: int32(p)})
			cur = &out[len(out)-1]
			answered, answer, open = false, 0, 0
			cur.starts = special
		}
		cur.to = int32(p + 1)
		if r.Kind == transcript.Assistant {
			answered, answer = true, r.Ref
		}
		if r.Flags.Has(transcript.FlagToolUse) && r.Kind == transcript.Assistant {
			open++
		}
		if r.Flags.Has(transcript.FlagToolResult) && open > 0 {
			open--
		}
		if r.Flags.Has(transcript.FlagPrompt) {
			prompts++
			if firstPrompt < 0 {
				firstPrompt = len(out) - 1
			}
		}
		if r.Kind == transcript.Collapse || r.Flags.Has(transcript.FlagCompactSummary) {
			summary = len(out) - 1
		}
		cur.turn = int32(prompts)
	}
	// A summary stands for the first prompt.
	if summary >= 0 {
		out[summary].pinned = true
	} else if firstPrompt >= 0 {
		out[firstPrompt].pinned = true
	}
	return out
}

// resultFollows reports whether a result stands among the next rows, before
// another answer.
func resultFollows(t *transcript.Transcript, rows []int) bool {
	for _, i := range rows[:min(len(rows), maxAhead)] {
		r := t.Rows.At(i)
		if r.Kind == transcript.Assistant || r.Kind.IsBoundary() {
			return false
		}
		if r.Flags.Has(transcript.FlagToolResult) {
			return true
		}
	}
	return false
}

// Exchange is a part of a chain that belongs together: a prompt with what the
// client added to it, or an answer with its tool calls and their results.
type Exchange struct {
	From, To int  // positions on the chain, To exclusive
	Begins   bool // a turn, or with a boundary or its summary what comes after
	Turn     int  // how many prompts the chain has up to here, with those in the exchange
}

// Exchanges divides a chain into the parts that a delivery has whole or not at
// all.
func Exchanges(t *transcript.Transcript, rows []int) iter.Seq[Exchange] {
	return func(yield func(Exchange) bool) {
		for _, u := range unitsOf(t, rows) {
			if !yield(Exchange{From: int(u.from), To: int(u.to), Begins: u.starts, Turn: int(u.turn)}) {
				return
			}
		}
	}
}
