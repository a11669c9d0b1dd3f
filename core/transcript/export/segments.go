package export

import (
	"slices"

	"mem/core/transcript"
)

// segments are the chain and before it what was compacted, oldest first. Each row
// is in one of them.
func segments(s Source, onlyChain bool) [][]int {
	t := s.Transcript
	out := [][]int{s.Chain.Rows}
	if onlyChain {
		return out
	}
	taken := make([]bool, t.Rows.Len())
	for _, i := range s.Chain.Rows {
		taken[i] = true
	}
	take := func(rows []int) []int {
		fresh := make([]int, 0, len(rows))
		for _, i := range rows {
			if !taken[i] {
				taken[i] = true
				fresh = append(fresh, i)
			}
		}
		if 2*len(fresh) < len(rows) {
			return slices.Clone(fresh) // the rest lies in other parts
		}
		return fresh
	}
	for c := s.Chain; len(c.Rows) > 0; {
		start := c.Boundary
		if start < 0 {
			if c.Coverage.Compacted == 0 {
				break
			}
			start = c.Rows[0] // the boundary itself is lost
		}
		before := logical(t, start)
		if before.IsZero() {
			break
		}
		c = t.Chain(before)
		rows := take(c.Rows)
		if len(rows) == 0 {
			break
		}
		out = append([][]int{rows}, out...)
	}
	return out
}

// logical is the row that a boundary follows: the one that it names, else the
// message before it in the file.
func logical(t *transcript.Transcript, boundary int) transcript.UUID {
	for i := range t.Compactions {
		if c := &t.Compactions[i]; c.UUID == t.Rows.At(boundary).UUID {
			if _, ok := t.Row(c.Logical); ok {
				return c.Logical
			}
		}
	}
	for i := boundary - 1; i >= 0; i-- {
		if r := t.Rows.At(i); r.Kind.IsMessage() && !r.UUID.IsZero() && r.Flags.Has(transcript.FlagSidechain) == t.Rows.At(boundary).Flags.Has(transcript.FlagSidechain) {
			return r.UUID
		}
	}
	return transcript.UUID{}
}
