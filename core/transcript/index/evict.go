package index

import (
	"cmp"
	"context"
	"errors"
	"slices"
)

// keepPart is how much of the limit is used after sessions were left out, so that
// it is not done again at once.
const keepPart = 0.75

var errNothing = errors.New("no session can be left out")

// used returns the bytes of the file that hold something.
func (x *Index) used(ctx context.Context) (int64, error) {
	var pages, free, size int64
	for query, into := range map[string]*int64{"PRAGMA page_count": &pages, "PRAGMA freelist_count": &free, "PRAGMA page_size": &size} {
		if err := scanOne(ctx, x.db, into, query); err != nil {
			return 0, err
		}
	}
	return (pages - free) * size, nil
}

// limit leaves out the sessions that were written to longest ago where the index
// has become too large.
func (x *Index) limit(ctx context.Context, u *run) error {
	for range 3 {
		used, err := x.used(ctx)
		if err != nil || used <= x.opts.MaxBytes {
			return err
		}
		if err := x.leaveOut(ctx, float64(x.opts.MaxBytes)*keepPart/float64(used), u); err != nil {
			if errors.Is(err, errNothing) {
				return nil
			}
			return err
		}
	}
	return nil
}

// leaveOut takes out the sessions that were written to longest ago, all but the
// part keep of the entries. A source that is left out is read anew when it
// changes. The newest one stays, whatever its size.
func (x *Index) leaveOut(ctx context.Context, keep float64, u *run) error {
	sources, err := loadSources(ctx, x.db)
	if err != nil {
		return err
	}
	total := 0
	for _, s := range sources {
		total += s.entries
	}
	slices.SortFunc(sources, func(p, q *source) int {
		return cmp.Or(cmp.Compare(p.mtime, q.mtime), cmp.Compare(p.id, q.id))
	})
	jobs := map[int64]*job{}
	for _, j := range u.jobs {
		jobs[j.id] = j
	}
	left, out := total, []*source(nil)
	for _, s := range sources[:max(0, len(sources)-1)] {
		if float64(left) <= keep*float64(total) {
			break
		}
		if s.omitted || s.entries == 0 && s.size != unfinished {
			continue
		}
		left -= s.entries
		out = append(out, s)
	}
	if len(out) == 0 {
		return errNothing
	}
	tx, err := x.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, s := range out {
		if err := clearEntries(ctx, tx, s.id); err != nil {
			return err
		}
		size, mtime := s.size, s.mtime
		if j := jobs[s.id]; j != nil {
			size, mtime = j.size, j.mtime
		}
		if _, err := tx.ExecContext(ctx, `UPDATE source SET omitted = 1, size = ?, mtime = ?, offset = 0, mark = NULL, turn = 0, within = 0, entries = 0 WHERE id = ?`, size, mtime, s.id); err != nil {
			return err
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	for _, s := range out {
		u.rep.LeftOut++
		if j := jobs[s.id]; j != nil {
			j.lost = true
		}
	}
	return x.compact(ctx)
}

// compact merges the index, which drops the terms of entries that were taken
// out, in steps that each are a transaction, and gives their pages back.
func (x *Index) compact(ctx context.Context) error {
	conn, err := x.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	// A negative number merges segments of all ages; more steps than this are as
	// many pages as the index can have.
	for pages := -1000; ; pages = 1000 {
		var before, after int64
		if err := scanOne(ctx, conn, &before, "SELECT total_changes()"); err != nil {
			return err
		}
		if _, err := conn.ExecContext(ctx, "INSERT INTO term(term, rank) VALUES('merge', ?)", pages); err != nil {
			return err
		}
		if err := scanOne(ctx, conn, &after, "SELECT total_changes()"); err != nil {
			return err
		}
		if after-before < 2 { // as the documentation of FTS5 says: nothing was left to merge
			break
		}
	}
	if _, err := conn.ExecContext(ctx, "PRAGMA incremental_vacuum"); err != nil {
		return err
	}
	// The file itself becomes shorter, unless a search is running.
	_, err = conn.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	return err
}
