package transcript

import (
	"hash/maphash"
	"math/bits"
)

// noParent stands for the parent of a row that begins a tree.
const noParent = -1

// index finds rows by uuid: an open hash table of row numbers, 5.4 bytes a row. Its hash is
// seeded, so that no file can be made to be slow.
type index struct {
	seed  maphash.Seed
	slots []uint32 // row + 1; 0 is free
}

func newIndex(n int) index {
	return index{seed: maphash.MakeSeed(), slots: make([]uint32, n/3*4+16)}
}

// slot returns where u is, or the free slot where it goes.
func (x *index) slot(rows *Rows, u *UUID) *uint32 {
	first, _ := bits.Mul64(maphash.Bytes(x.seed, u[:]), uint64(len(x.slots)))
	for i := int(first); ; i++ {
		if i == len(x.slots) {
			i = 0
		}
		s := &x.slots[i]
		if *s == 0 || rows.At(int(*s)-1).UUID == *u {
			return s
		}
	}
}

func (x *index) find(rows *Rows, u UUID) (int, bool) {
	if len(x.slots) == 0 || u.IsZero() {
		return 0, false
	}
	s := *x.slot(rows, &u)
	return int(s) - 1, s != 0
}

// unite makes the last row of each uuid the only one, indexes the rows, and
// notes which row the conversation ends with.
func (t *Transcript) unite() {
	x := newIndex(t.Rows.Len())
	repeated := 0
	var last UUID
	for i := range t.Rows.Len() {
		r := t.Rows.At(i)
		s := x.slot(&t.Rows, &r.UUID)
		switch {
		case *s != 0:
			// A row that is written again keeps its place in the order, as in the
			// client's map of rows: copies at the end do not turn the conversation
			// back to where they come from.
			t.Problems.Duplicate.add(r.Line)
			r.Flags |= FlagDuplicate
			t.Rows.At(int(*s) - 1).Kind = NoKind
			repeated++
		case r.Kind.IsMessage() && !r.isMarker() && t.inMain(r):
			last = r.UUID
		}
		*s = uint32(i + 1)
	}
	if repeated > 0 {
		t.Rows.keep(func(r *Row) bool { return r.Kind != NoKind })
		clear(x.slots)
		for i := range t.Rows.Len() {
			*x.slot(&t.Rows, &t.Rows.At(i).UUID) = uint32(i + 1)
		}
	}
	t.index, t.last = x, noParent
	if i, ok := t.Row(last); ok {
		t.last = i
	}
}

// isMarker reports whether the row is a marker that has no uuid of its own.
func (r *Row) isMarker() bool {
	return r.Kind == Collapse && r.UUID == markerID(r.Offset)
}

// link gives each row its effective parent. A parent that is not in the
// conversation is bridged: the message before in the file stands in.
func (t *Transcript) link() {
	t.links = make([]int32, t.Rows.Len())
	before := [2]int32{noParent, noParent} // the message row before: main, sidechain
	for i := range t.Rows.Len() {
		r := t.Rows.At(i)
		side := 0
		if !t.inMain(r) {
			side = 1
		}
		t.links[i] = noParent
		if !r.Parent.IsZero() {
			j, ok := t.Row(r.Parent)
			if ok && (t.inMain(t.Rows.At(j)) || side == 1) {
				t.links[i] = int32(j)
			} else {
				t.Problems.Dangling.add(r.Line)
				if !r.Kind.IsBoundary() && before[side] != noParent {
					t.links[i] = before[side]
					r.Flags |= FlagBridged
				}
			}
		}
		if r.Kind.IsMessage() && !r.isMarker() {
			before[side] = int32(i)
		}
	}
	t.findCycles()
}

// findCycles counts cycles. They stay: whoever walks the tree remembers where it
// was.
func (t *Transcript) findCycles() {
	const walking, walked = 1, 2
	state := make([]uint8, len(t.links))
	for i := range t.links {
		at := int32(i)
		for at != noParent && state[at] == 0 {
			state[at] = walking
			at = t.links[at]
		}
		if at != noParent && state[at] == walking {
			first := at
			for j := t.links[at]; j != at; j = t.links[j] {
				first = min(first, j)
			}
			t.Problems.Cycle.add(t.Rows.At(int(first)).Line)
		}
		for at = int32(i); at != noParent && state[at] == walking; at = t.links[at] {
			state[at] = walked
		}
	}
}
