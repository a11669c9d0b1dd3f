package transcript

import (
	"context"
	"errors"
	"io"
)

// maxTailRows is how many rows are read backwards, 11 MB of them: real transcripts have as
// many in two gigabytes.
const maxTailRows = 150_000

// rows counts the rows of the parts from lo on.
func (g *grid) rows(lo int) int {
	n := 0
	for _, p := range g.parts[lo:] {
		n += len(p.rows)
	}
	return n
}

// ReadTail reads backwards until it knows the chain that the client would
// resume, which takes no more than what follows the last boundary and what that
// preserved. Then Transcript.Base tells from where on the file was read: lines
// count from there, and what is before is pending; Complete reads it. Where
// there is no boundary, or where only the whole file can tell the chain, it has
// read the whole file, in the time of Read, and Base is 0. o.From is not used.
func ReadTail(ctx context.Context, src io.ReaderAt, size int64, o Options) (*Transcript, error) {
	o.From = 0
	o = o.withDefaults()
	if size <= o.part {
		return Read(ctx, src, size, o)
	}
	g := newGrid(src, size, o)
	for hi := len(g.parts); hi > 0; {
		lo := max(0, hi-max(1, o.Workers))
		err := g.scan(ctx, lo, hi)
		if errors.Is(err, errShort) {
			return Read(ctx, src, size, o) // what was the end is gone
		}
		if err != nil {
			return nil, err
		}
		hi = lo
		if g.rows(lo) > maxTailRows && lo > 0 {
			// The rows of parts that wait for those before them lie in memory twice in the end.
			// So many short rows without a boundary are read in the order of the file instead.
			g.parts = nil
			return Read(ctx, src, size, o)
		}
		if lo == 0 || !g.hasBoundary(lo) {
			continue
		}
		if t := assemble(g.parts[lo:], g.parts[lo].start).finish(); t.settled() {
			t.pending, t.pendingParts = g, lo
			return t, nil
		}
	}
	return g.finish()
}

// Complete returns the transcript with what ReadTail left pending: t itself
// where that is nothing.
func (t *Transcript) Complete(ctx context.Context) (*Transcript, error) {
	if t.pending == nil {
		return t, nil
	}
	g := t.pending
	if g.joined != nil {
		return Read(ctx, g.src, g.size, g.o) // an earlier call, which was cancelled, took the parts
	}
	g.joined = newAssembly(0)
	err := g.scan(ctx, 0, t.pendingParts)
	if errors.Is(err, errShort) {
		return Read(ctx, g.src, g.size, g.o)
	}
	if err != nil {
		return nil, err
	}
	return g.joined.finish(), g.joined.verdict()
}

func (g *grid) finish() (*Transcript, error) {
	a := assemble(g.parts, g.o.From)
	return a.finish(), a.verdict()
}

func (g *grid) hasBoundary(lo int) bool {
	for _, p := range g.parts[lo:] {
		if len(p.compactions.all) > 0 {
			return true
		}
	}
	return false
}

// settled reports whether nothing before Base can change the chain, but for rows
// that were written twice: it starts at a boundary, nothing on it is bridged or
// lost, and the latest last-prompt names a row of it or the one that its
// boundary follows.
func (t *Transcript) settled() bool {
	if t.Subagent {
		return false // the main conversation may lie before
	}
	c := t.Chain(UUID{})
	if c.By != ByFileOrder || c.Boundary < 0 || len(c.Bridged) > 0 || c.Lost > 0 || c.Cycle {
		return false
	}
	for i := c.Boundary + 1; i < t.Rows.Len(); i++ {
		// Its parent may lie before: what stands in for that here, a row beside the chain,
		// would count as compacted.
		if t.Rows.At(i).Flags.Has(FlagBridged) {
			return false
		}
	}
	said, ok := t.compaction(t.Rows.At(c.Boundary).UUID)
	if !ok {
		return false
	}
	for _, u := range said.AllPreserved {
		if _, ok := t.Row(u); !ok {
			return false
		}
	}
	i, ok := t.Row(t.LastPrompt)
	return ok && (c.marks[i] == onChain || i == t.logicalParent(c.Boundary))
}
