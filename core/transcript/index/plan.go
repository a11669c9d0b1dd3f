package index

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
)

// unfinished stands for the size of a source whose indexing was interrupted.
const unfinished = -1

// source is a row of the table.
type source struct {
	id int64
	Source
	size, mtime, content, offset int64
	mark                         []byte
	place                        place
	first, last                  int64
	entries                      int
	omitted                      bool
}

// pending is how much of the source is still to be read.
func (s *source) pending() int64 {
	if s.omitted || s.size != unfinished {
		return 0 // what is behind offset then is a last line without its end
	}
	return max(0, s.content-s.offset)
}

func loadSources(ctx context.Context, q interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
}) ([]*source, error) {
	rows, err := q.QueryContext(ctx, `SELECT id, path, session, project, size, mtime, content, offset, mark, turn, within, first, last, entries, omitted FROM source`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var all []*source
	for rows.Next() {
		s := new(source)
		if err := rows.Scan(&s.id, &s.Path, &s.Session, &s.Project, &s.size, &s.mtime, &s.content, &s.offset, &s.mark,
			&s.place.turn, &s.place.within, &s.first, &s.last, &s.entries, &s.omitted); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, rows.Err()
}

// job is one source that has something to be read.
type job struct {
	source           // id is 0 until it is registered
	stale      int64 // id of a source that it replaces; 0 for none
	size       int64 // as stat said before the file was opened
	mtime      int64
	file       File
	expect     int64 // offset in the table, as far as we wrote it
	done, lost bool
}

// plan is what an update has to do.
type plan struct {
	jobs    []*job // newest first
	gone    []int64
	touched []*job    // only their attributes changed
	unread  []Unread  // given sources that cannot be read
	files   int       // given
	known   []*source // all that are in the index, for its numbers
}

func (p *plan) empty() bool { return len(p.jobs)+len(p.gone)+len(p.touched) == 0 }

// Unread is a source that was not indexed, or not to its end.
type Unread struct {
	Path   string
	Reason string
}

// plan compares the sources with what the index knows of them. It opens only
// files that changed.
func (x *Index) plan(ctx context.Context, sources []Source) (*plan, error) {
	known, err := loadSources(ctx, x.db)
	if err != nil {
		return nil, err
	}
	p := &plan{files: len(sources), known: known}
	by := make(map[string]*source, len(known))
	for _, s := range known {
		by[s.Path] = s
	}
	given := make(map[string]bool, len(sources))
	for _, src := range sources {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if given[src.Path] {
			continue
		}
		given[src.Path] = true
		if err := x.look(p, src, by[src.Path]); err != nil {
			p.unread = append(p.unread, Unread{src.Path, err.Error()})
		}
	}
	for _, s := range known {
		if given[s.Path] {
			continue
		}
		if _, err := os.Lstat(s.Path); errors.Is(err, fs.ErrNotExist) {
			p.gone = append(p.gone, s.id)
		}
	}
	slices.SortStableFunc(p.jobs, func(a, b *job) int { return cmp.Compare(b.mtime, a.mtime) })
	return p, nil
}

// look decides what to do about one source.
func (x *Index) look(p *plan, src Source, old *source) error {
	st, err := os.Stat(src.Path)
	if err != nil {
		if old != nil && errors.Is(err, fs.ErrNotExist) {
			p.gone = append(p.gone, old.id)
			return nil
		}
		return err
	}
	if !st.Mode().IsRegular() {
		return fmt.Errorf("%s is no regular file", src.Path)
	}
	j := &job{source: source{Source: src}, size: st.Size(), mtime: st.ModTime().UnixNano()}
	same := false
	if old != nil {
		same = old.size == j.size && old.mtime == j.mtime
		if same && old.Source == src {
			return nil
		}
		if same {
			j.source = *old
			j.Source = src
			p.touched = append(p.touched, j)
			return nil
		}
	}
	f, err := x.opts.Open(src.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	content := f.Size()
	if old != nil {
		ok, err := continues(f, old)
		if err != nil {
			return err
		}
		if ok {
			j.source = *old
			j.Source = src
		} else {
			j.stale = old.id
		}
	}
	j.content, j.expect = content, j.offset
	p.jobs = append(p.jobs, j)
	return nil
}

// continues reports whether f still begins with what was indexed of it.
func continues(f File, old *source) (bool, error) {
	if old.omitted || f.Size() < old.offset {
		return false, nil
	}
	m, err := markOf(f, old.offset)
	return bytes.Equal(m, old.mark), err
}

const (
	markHead = 4 << 10
	markTail = 1 << 10
)

// markOf hashes the beginning of a transcript and what stands before offset: a
// file that was replaced by another, or written anew, differs in one of them.
func markOf(f io.ReaderAt, offset int64) ([]byte, error) {
	if offset <= 0 {
		return nil, nil
	}
	head := make([]byte, min(offset, markHead))
	tail := make([]byte, min(offset, markTail))
	for _, part := range []struct {
		buf []byte
		at  int64
	}{{head, 0}, {tail, offset - int64(len(tail))}} {
		if n, err := f.ReadAt(part.buf, part.at); n < len(part.buf) {
			if err == nil || err == io.EOF {
				err = errCut
			}
			return nil, err
		}
	}
	h := sha256.New()
	h.Write(head)
	h.Write(tail)
	return h.Sum(nil)[:16], nil
}

// register writes the plan into the table, so that other processes and searches
// see what is pending. New sources get ids by age: a search that does not rank
// everything prefers high ids.
func (x *Index) register(ctx context.Context, p *plan) error {
	tx, err := x.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, id := range p.gone {
		if err := forget(ctx, tx, id); err != nil {
			return err
		}
	}
	for _, j := range slices.Backward(p.jobs) {
		if j.stale != 0 {
			if err := forget(ctx, tx, j.stale); err != nil {
				return err
			}
		}
		if j.id != 0 {
			_, err = tx.ExecContext(ctx, "UPDATE source SET session = ?, project = ?, size = ?, content = ? WHERE id = ?",
				j.Session, j.Project, unfinished, j.content, j.id)
		} else {
			var r sql.Result
			r, err = tx.ExecContext(ctx, "INSERT INTO source(path, session, project, size, mtime, content) VALUES(?, ?, ?, ?, ?, ?)",
				j.Path, j.Session, j.Project, unfinished, j.mtime, j.content)
			if err == nil {
				j.id, err = r.LastInsertId()
			}
			if j.id > maxSource {
				err = fmt.Errorf("%w: it has no ids left", ErrDamaged)
			}
		}
		if err != nil {
			return err
		}
	}
	for _, j := range p.touched {
		if _, err := tx.ExecContext(ctx, "UPDATE source SET session = ?, project = ? WHERE id = ?", j.Session, j.Project, j.id); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// forget removes a source with its entries.
func forget(ctx context.Context, tx *sql.Tx, id int64) error {
	if err := clearEntries(ctx, tx, id); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, "DELETE FROM source WHERE id = ?", id)
	return err
}

func clearEntries(ctx context.Context, tx *sql.Tx, source int64) error {
	from, to := span(source)
	if _, err := tx.ExecContext(ctx, "DELETE FROM term WHERE rowid IN (SELECT id FROM entry WHERE id >= ? AND id < ?)", from, to); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, "DELETE FROM entry WHERE id >= ? AND id < ?", from, to)
	return err
}
