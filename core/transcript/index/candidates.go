package index

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"hash/maphash"
)

const (
	// maxLooks bounds how often a search that finds mostly copies looks for more.
	maxLooks = 8
	// sampled is how many of many entries tell whether most of them are copies: one look-up
	// costs twice as much as ranking an entry.
	sampled = 256
)

// candidates returns the entries that match and pass the filter, with the score
// that FTS5 gives them. Where there are too many to rank, it takes those with the
// highest ids, which are those of the newest sessions. Copies of a record must not take the place of
// everything else: where they would, each record is taken once.
func (x *Index) candidates(ctx context.Context, p *parsed, f *filter) (found []scored, newest bool, err error) {
	expr, newest := p.expression()
	older := *f
	c := copies{seed: maphash.MakeSeed(), seen: map[uint64]bool{}}
	for range maxLooks {
		got, more, err := x.matching(ctx, expr, &older)
		if err != nil {
			return nil, false, err
		}
		if !more {
			return append(found, got...), newest, nil
		}
		older.hi = int64(got[len(got)-1].id)
		if len(found) == 0 {
			if many, err := x.mostlyCopies(ctx, got, c.seed); err != nil || !many {
				return got, true, err
			}
		}
		if got, err = c.without(ctx, x, got); err != nil {
			return nil, false, err
		}
		found = append(found, got...)
		if len(found) >= rankEntries {
			return found[:rankEntries], true, nil
		}
	}
	return found, true, nil
}

// matching returns the newest entries of a filter, at most rankEntries, and whether there are more.
func (x *Index) matching(ctx context.Context, expr string, f *filter) (found []scored, more bool, err error) {
	from := "term"
	if f.timed {
		from = "term CROSS JOIN entry ON entry.id = term.rowid" // CROSS: the index first
	}
	cond, args := f.where()
	rows, err := x.read.QueryContext(ctx,
		"SELECT term.rowid, bm25(term) FROM "+from+" WHERE term MATCH ? AND "+cond+" ORDER BY term.rowid DESC LIMIT ?",
		append(append([]any{expr}, args...), rankEntries+1)...)
	if err != nil {
		return nil, false, err
	}
	defer rows.Close()
	for rows.Next() {
		var s scored
		if err := rows.Scan(&s.id, &s.score); err != nil {
			return nil, false, err
		}
		s.score = -s.score * roleWeight[min(s.id.role(), numRoles-1)] // FTS5 gives the best the least
		found = append(found, s)
	}
	if len(found) > rankEntries {
		return found[:rankEntries], true, rows.Err()
	}
	return found, false, rows.Err()
}

// mostlyCopies reports whether a sample of entries names few records.
func (x *Index) mostlyCopies(ctx context.Context, found []scored, seed maphash.Seed) (bool, error) {
	sample := make([]scored, 0, sampled)
	for i := range sampled {
		sample = append(sample, found[i*len(found)/sampled])
	}
	c := copies{seed: seed, seen: map[uint64]bool{}}
	kept, err := c.without(ctx, x, sample)
	return len(kept) < sampled*3/4, err
}

// copies remembers which records were seen.
type copies struct {
	seed maphash.Seed
	seen map[uint64]bool // hashes of uuid and role
}

// without leaves out the entries of records that were seen before.
func (c *copies) without(ctx context.Context, x *Index, found []scored) ([]scored, error) {
	ids := make([]rowID, len(found))
	for i, s := range found {
		ids[i] = s.id
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	rows, err := x.read.QueryContext(ctx, "SELECT id, uuid FROM entry WHERE id IN (SELECT value FROM json_each(?))", string(list))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	of := make(map[rowID]uint64, len(found))
	for rows.Next() {
		var id rowID
		var uuid []byte
		if err := rows.Scan(&id, &uuid); err != nil {
			return nil, err
		}
		if len(uuid) > 0 { // without one it is no copy of anything
			of[id] = maphash.Bytes(c.seed, binary.LittleEndian.AppendUint16(uuid, uint16(id.role())))
		}
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	kept := found[:0:0]
	for _, s := range found {
		h, ok := of[s.id]
		if ok && c.seen[h] {
			continue
		}
		c.seen[h] = ok
		kept = append(kept, s)
	}
	return kept, nil
}
