package transcript

import (
	"cmp"
	"slices"
)

// preserve puts the messages that the chain's boundary kept after their anchor.
// They were not written again, so they stand before the boundary in the file.
func (w *walk) preserve(c *Chain) {
	t := w.t
	if c.Boundary < 0 {
		return
	}
	said, ok := t.compaction(t.Rows.At(c.Boundary).UUID)
	if !ok {
		return
	}
	kept, lost := t.preservedRows(said, 0)
	c.Lost = lost
	kept = slices.DeleteFunc(kept, func(i int) bool {
		if w.marks[i] == onChain {
			return true
		}
		w.marks[i] = onChain
		return false
	})
	if len(kept) == 0 {
		return
	}
	// Without the anchor they come first, where nothing of them is lost.
	at := 1
	if i, ok := t.Row(said.Anchor); ok {
		if p := slices.Index(c.Rows, i); p >= 0 {
			at = p + 1
		}
	}
	c.Rows = slices.Insert(c.Rows, at, kept...)
	c.Preserved = kept
}

// maxNested bounds how many boundaries back a preserved segment may reach.
const maxNested = 100

// preservedRows are the rows that a boundary names as preserved, and how many of
// them are not there.
func (t *Transcript) preservedRows(said *Compaction, depth int) (rows []int, lost int) {
	names := said.Preserved
	if len(names) == 0 {
		names = said.AllPreserved
	}
	for _, u := range names {
		i, ok := t.Row(u)
		switch {
		case !ok:
			lost++
		case t.Rows.At(i).Kind.IsMessage():
			rows = append(rows, i)
		}
	}
	if len(names) > 0 || said.Tail.IsZero() {
		return rows, lost
	}
	// Only the ends of the segment are named: it is the part of its own
	// conversation between them.
	head, okHead := t.Row(said.Head)
	tail, okTail := t.Row(said.Tail)
	if !okHead || !okTail || depth > maxNested {
		return nil, 1
	}
	l := t.newWalk().line(tail, onChain)
	segment := l.rows
	if l.boundary >= 0 && !slices.Contains(segment, head) {
		// It reaches back beyond an earlier boundary, which preserved its head.
		if before, ok := t.compaction(t.Rows.At(l.boundary).UUID); ok && before.UUID != said.UUID {
			kept, _ := t.preservedRows(before, depth+1)
			at := 1
			if i, ok := t.Row(before.Anchor); ok {
				if p := slices.Index(segment, i); p >= 0 {
					at = p + 1
				}
			}
			segment = slices.Insert(segment, at, kept...)
		}
	}
	from := slices.Index(segment, head)
	if from < 0 {
		return nil, 1
	}
	return segment[from:], 0
}

// rejoin puts back what parallel tool calls branched off. The client writes one
// row for each content block of an answer, the rows of one API message sharing
// its id, and hangs each tool's result on its own call; the line goes on from
// one of them. The rest of the group belongs after its last row on the line:
// first calls, then results, each in file order.
func (w *walk) rejoin(c *Chain) {
	t := w.t
	preservedToo := w.preservedToo(c)
	branched, rows := w.branched(preservedToo)
	if len(branched) == 0 {
		return
	}
	anchored := false
	for _, i := range c.Rows {
		if r := t.Rows.At(i); r.Kind == Assistant && branched.has(r.Ref) {
			branched[r.Ref], anchored = int32(i), true
		}
	}
	dropped := map[uint64]bool{} // message.ids of what was compacted
	if w.cut >= 0 {
		for i, m := range w.marks {
			if r := t.Rows.At(i); m == compacted && r.Kind == Assistant && branched.has(r.Ref) {
				dropped[r.Ref] = true
			}
		}
	}
	if !anchored && len(dropped) == 0 {
		return
	}
	found := make([]beside, 0, rows)
	for i := range t.Rows.Len() { // calls first, then results, each in file order
		r := t.Rows.At(i)
		if r.Kind != Assistant || !branched.has(r.Ref) || !w.inWalk(r) ||
			w.marks[i] != unmarked && !preservedToo[i] || w.marks[i] == onChain {
			continue
		}
		if a := branched[r.Ref]; a >= 0 && (i >= w.cut || preservedToo[i]) {
			found = append(found, beside{a, int32(i)})
			w.marks[i] = onChain
		} else if dropped[r.Ref] {
			w.marks[i] = compacted
		}
	}
	for i := range t.Rows.Len() {
		r := t.Rows.At(i)
		if r.Kind != User || !r.Flags.Has(FlagToolResult) || !w.inWalk(r) ||
			w.marks[i] != unmarked && !preservedToo[i] || w.marks[i] == onChain {
			continue
		}
		call := w.callOf(i)
		if call < 0 || t.Rows.At(call).Kind != Assistant || t.Rows.At(call).Ref == 0 || !w.inWalk(t.Rows.At(call)) {
			continue
		}
		a, ok := branched[t.Rows.At(call).Ref]
		switch {
		case ok && a >= 0 && (i >= w.cut || preservedToo[i]):
			found = append(found, beside{a, int32(i)})
			w.marks[i] = onChain
		case w.marks[call] == compacted:
			w.marks[i] = compacted
		}
	}
	if len(found) == 0 {
		return
	}
	slices.SortStableFunc(found, func(p, q beside) int { return cmp.Compare(p.anchor, q.anchor) })
	// From the end, so that they move within the memory that is there.
	n, k := len(c.Rows), len(found)
	c.Rows = slices.Grow(c.Rows, k)[:n+k]
	c.Rejoined = make([]int, k)
	for i := n - 1; k > 0; i-- {
		row := c.Rows[i]
		if r := t.Rows.At(row); r.Kind == Assistant && branched.has(r.Ref) && branched[r.Ref] == int32(row) {
			end, _ := slices.BinarySearchFunc(found, int32(row)+1, func(b beside, anchor int32) int { return cmp.Compare(b.anchor, anchor) })
			for j := end - 1; j >= 0 && found[j].anchor == int32(row); j-- {
				k--
				c.Rows[i+1+k], c.Rejoined[k] = int(found[j].row), int(found[j].row)
			}
		}
		c.Rows[i+k] = row
	}
}

// beside is a row that goes after another one, which is on the chain.
type beside struct{ anchor, row int32 }

// anchors are message.ids with the last row of each on the chain, -1 where there is none.
type anchors map[uint64]int32

func (a anchors) has(id uint64) bool {
	_, ok := a[id]
	return ok
}

// branched are the message.ids of which something stands beside the chain: rows of the
// answer itself, or a result of a call in it; and rows, how many these are. They are few, and the other ids of a long conversation
// are not worth remembering.
func (w *walk) branched(preservedToo map[int]bool) (ids anchors, rows int) {
	t := w.t
	ids = anchors{}
	for i := range t.Rows.Len() {
		r := t.Rows.At(i)
		if w.marks[i] != unmarked && !preservedToo[i] || !w.inWalk(r) {
			continue
		}
		if r.Kind == User && r.Flags.Has(FlagToolResult) {
			call := w.callOf(i)
			if call < 0 {
				continue
			}
			r = t.Rows.At(call)
		}
		if r.Kind == Assistant && r.Ref != 0 {
			ids[r.Ref] = -1
			rows++
		}
	}
	return ids, rows
}

// preservedToo are the rows that the chain's boundary preserved without sending
// them in their own right: results that belong to preserved calls.
func (w *walk) preservedToo(c *Chain) map[int]bool {
	if c.Boundary < 0 {
		return nil
	}
	said, ok := w.t.compaction(w.t.Rows.At(c.Boundary).UUID)
	if !ok {
		return nil
	}
	set := map[int]bool{}
	for _, u := range said.AllPreserved {
		if i, ok := w.t.Row(u); ok {
			set[i] = true
		}
	}
	return set
}

// callOf finds the row of the tool call that a result answers: the one that it
// names, else the one that it hangs on, past what only links. -1 for none.
func (w *walk) callOf(i int) int {
	t := w.t
	r := t.Rows.At(i)
	at := t.links[i]
	for steps := 0; at != noParent && !t.Rows.At(int(at)).Kind.IsMessage() && steps < maxLinks; steps++ {
		at = t.links[at]
	}
	if r.Ref == 0 || at != noParent && t.Rows.At(int(at)).UUID.key() == r.Ref {
		return int(at)
	}
	// It hangs elsewhere, which is rare: its parent was lost.
	if w.calls == nil {
		w.calls = map[uint64]int32{}
		for j := range t.Rows.Len() {
			if q := t.Rows.At(j); q.Kind == Assistant && q.Ref != 0 {
				w.calls[q.UUID.key()] = int32(j)
			}
		}
	}
	if j, ok := w.calls[r.Ref]; ok {
		return int(j)
	}
	return -1
}

// maxLinks bounds the way from a result over rows that only link to its call.
const maxLinks = 1000
