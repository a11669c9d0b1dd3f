package transcript

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// SameRows reports whether two transcripts have the same rows.
func SameRows(a, b *Transcript) bool { return slices.Equal(listed(&a.Rows), listed(&b.Rows)) }

func listed(r *Rows) []Row {
	out := make([]Row, 0, r.Len())
	for i, q := range r.All() {
		if q != r.At(i) {
			panic("All and At differ")
		}
		out = append(out, *q)
	}
	return out
}

// TestRows adds rows in pieces of all sizes and takes some out again, beside a slice.
func TestRows(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{0, 1, 2, rowsChunk - 1, rowsChunk, rowsChunk + 1, 3*rowsChunk + 7} {
		for _, most := range []int{1 + n/5000, 1 + n/3, 3*n + 1} {
			var got Rows
			var want []Row
			for len(want) < n {
				part := make([]Row, min(1+rnd.IntN(most), n-len(want)))
				for i := range part {
					part[i] = Row{Line: uint32(i + 1), Offset: int64(len(want) + i)}
				}
				base := uint32(len(want))
				got.add(part, base)
				for _, r := range part {
					r.Line += base
					want = append(want, r)
				}
			}
			if got.Len() != n || !slices.Equal(listed(&got), want) {
				t.Fatalf("%d rows in pieces of up to %d differ", n, most)
			}
			for _, every := range []int64{1, 2, 100, 1 << 40} { // which rows stay
				stays := func(r *Row) bool { return r.Offset%every == every-1 }
				got.keep(stays)
				want = slices.DeleteFunc(want, func(r Row) bool { return !stays(&r) })
				if got.Len() != len(want) || !slices.Equal(listed(&got), want) {
					t.Fatalf("%d of %d rows are left where %d should be", got.Len(), n, len(want))
				}
			}
			got.add([]Row{{Line: 1}}, 0)
			if got.Len() != len(want)+1 || got.At(len(want)).Line != 1 {
				t.Fatal("a row that is added after others were taken out is not the last one")
			}
		}
	}
}
