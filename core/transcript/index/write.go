package index

import (
	"context"
	"database/sql"
	"slices"
	"time"
)

// flush writes the batch in one transaction.
func (u *run) flush(ctx context.Context) error {
	b := u.batch
	u.batch = batch{since: time.Now(), rows: b.rows[:0], words: b.words[:0], jobs: b.jobs[:0]}
	if len(b.jobs) == 0 {
		return nil
	}
	// FTS5 takes rows fastest in the order of their ids.
	slices.SortFunc(b.rows, func(p, q row) int { return int(min(max(p.id-q.id, -1), 1)) })
	tx, err := u.x.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, j := range b.jobs {
		if err := u.move(ctx, tx, j); err != nil {
			return err
		}
	}
	if err := u.insert(ctx, tx, b.rows); err != nil {
		return err
	}
	added, err := u.x.addWords(ctx, tx, b.words)
	if err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	for _, w := range added {
		u.x.words[w] = struct{}{}
	}
	for _, j := range b.jobs {
		j.expect = j.offset
		if j.done {
			j.close()
		}
	}
	return u.x.limit(ctx, u)
}

// move sets how far a source is indexed. Where the table does not say what this
// process wrote last, another one works on the source, or it was left out: then
// the job ends here, and its entries are not written.
func (u *run) move(ctx context.Context, tx *sql.Tx, j *job) error {
	if j.lost {
		return nil
	}
	mark, err := markOf(j.file, j.offset)
	if err != nil {
		j.lost = true
		u.rep.Unread = append(u.rep.Unread, Unread{j.Path, err.Error()})
		return nil
	}
	size := int64(unfinished)
	if j.done {
		size = j.size
	}
	r, err := tx.ExecContext(ctx, `UPDATE source SET size = ?, mtime = ?, offset = ?, mark = ?, turn = ?, within = ?, first = ?, last = ?, entries = ?
		WHERE id = ? AND offset = ? AND omitted = 0`,
		size, j.mtime, j.offset, mark, j.place.turn, j.place.within, j.first, j.last, j.entries, j.id, j.expect)
	if err != nil {
		return err
	}
	if n, err := r.RowsAffected(); err != nil || n == 0 {
		j.lost = true
		return err
	}
	return nil
}

func (u *run) insert(ctx context.Context, tx *sql.Tx, rows []row) error {
	if len(rows) == 0 {
		return nil
	}
	lost := map[int64]bool{}
	for _, j := range u.jobs {
		lost[j.id] = j.lost
	}
	terms, err := tx.PrepareContext(ctx, "INSERT INTO term(rowid, terms) VALUES(?, ?)")
	if err != nil {
		return err
	}
	defer terms.Close()
	entries, err := tx.PrepareContext(ctx, "INSERT INTO entry VALUES(?, ?, ?, ?, ?, ?)")
	if err != nil {
		return err
	}
	defer entries.Close()
	for i := range rows {
		r := &rows[i]
		if lost[r.id.source()] {
			continue
		}
		if _, err := terms.Exec(int64(r.id), r.terms); err != nil {
			return err
		}
		if _, err := entries.Exec(int64(r.id), r.offset, r.length, r.uuid, r.time, r.sidechain); err != nil {
			return err
		}
		u.rep.Entries++
	}
	return nil
}

// addWords stores words that the index has not seen, for corrections.
func (x *Index) addWords(ctx context.Context, tx *sql.Tx, words []string) (added []string, err error) {
	if x.words == nil || len(x.words) > maxWords {
		x.words = map[string]struct{}{}
	}
	for _, w := range words {
		if _, ok := x.words[w]; !ok {
			added = append(added, w)
		}
	}
	if len(added) == 0 {
		return nil, nil
	}
	slices.Sort(added)
	added = slices.Compact(added)
	st, err := tx.PrepareContext(ctx, "INSERT OR IGNORE INTO word(text) VALUES(?)")
	if err != nil {
		return nil, err
	}
	defer st.Close()
	for _, w := range added {
		if _, err := st.Exec(w); err != nil {
			return nil, err
		}
	}
	return added, nil
}

// maxWords is how many words an update remembers to have stored.
const maxWords = 1 << 18
