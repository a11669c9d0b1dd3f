package transcript

import "iter"

// rowsChunk is how many rows lie together: 520 kB of them.
const rowsChunk = 1 << 13

// Rows is a list of rows in chunks. A list of millions that had to lie in one piece would be
// copied while it grows, and its old and its new piece be there at once; and room that is
// reserved counts for the garbage collector as if it were used.
type Rows struct {
	chunks [][]Row // all of rowsChunk but the last
	n      int
}

// Len is how many rows there are.
func (r *Rows) Len() int { return r.n }

// At returns the row at i, to be read only. It panics where there is none, as an index
// into a slice does.
func (r *Rows) At(i int) *Row { return &r.chunks[uint(i)/rowsChunk][uint(i)%rowsChunk] }

// All gives the rows in order with their indexes.
func (r *Rows) All() iter.Seq2[int, *Row] {
	return func(yield func(int, *Row) bool) {
		i := 0
		for _, c := range r.chunks {
			for k := range c {
				if !yield(i, &c[k]) {
					return
				}
				i++
			}
		}
	}
}

// add appends rows whose lines count from base.
func (r *Rows) add(rows []Row, base uint32) {
	for len(rows) > 0 {
		last := len(r.chunks) - 1
		if last < 0 || len(r.chunks[last]) == rowsChunk {
			room := rowsChunk
			if last < 0 {
				room = min(rowsChunk, len(rows)) // most transcripts are one part
			}
			r.chunks = append(r.chunks, make([]Row, 0, room))
			last++
		}
		c := r.chunks[last]
		n := min(len(rows), rowsChunk-len(c))
		if len(c)+n > cap(c) {
			c = append(make([]Row, 0, rowsChunk), c...)
		}
		from := len(c)
		c = append(c, rows[:n]...)
		for i := range c[from:] {
			c[from+i].Line += base
		}
		r.chunks[last], rows = c, rows[n:]
		r.n += n
	}
}

// keep leaves out the rows that are not wanted.
func (r *Rows) keep(wanted func(*Row) bool) {
	n := 0
	for _, q := range r.All() {
		if wanted(q) {
			*r.At(n) = *q
			n++
		}
	}
	used := (n + rowsChunk - 1) / rowsChunk
	clear(r.chunks[used:])
	r.chunks = r.chunks[:used]
	if used > 0 {
		r.chunks[used-1] = r.chunks[used-1][:n-(used-1)*rowsChunk]
	}
	r.n = n
}
