package index

import (
	"errors"
	"fmt"
	"io/fs"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// What can be wrong with an index. Test with errors.Is; the error itself says in
// words which file it is about and what to do.
var (
	ErrReadOnly = errors.New("the index of transcripts cannot be written")
	ErrFull     = errors.New("the disk is full")
	ErrBusy     = errors.New("the index of transcripts is in use")
	ErrDamaged  = errors.New("the index of transcripts is damaged")
)

// problem puts an error of SQLite into words.
func (x *Index) problem(err error) error { return problem(x.path, err) }

func problem(path string, err error) error {
	if err == nil {
		return nil
	}
	if replaced(err) {
		return fmt.Errorf("%w: another process builds %s anew; try again in a moment (%v)", ErrBusy, path, err)
	}
	switch code(err) {
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("%w: the index of transcripts %s cannot grow; free some space and search again, nothing is lost (%v)", ErrFull, path, err)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH:
		return fmt.Errorf("%w: make %s writable, or set XDG_CACHE_HOME to a folder that is (%v)", ErrReadOnly, path, err)
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fmt.Errorf("%w: another process writes to %s; try again in a moment (%v)", ErrBusy, path, err)
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("%w: the next update builds %s anew from the transcripts, nothing is lost (%v)", ErrDamaged, path, err)
	}
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w: make %s writable, or set XDG_CACHE_HOME to a folder that is (%v)", ErrReadOnly, path, err)
	}
	return err
}

// code returns the primary result code of SQLite; 0 for other errors.
func code(err error) int {
	var e *sqlite.Error
	if errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

// replaced reports what SQLite says when a file is deleted, or another one takes
// its place, while it is at work on it.
func replaced(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code() {
	case sqlite3.SQLITE_READONLY_DBMOVED, sqlite3.SQLITE_IOERR_DELETE_NOENT, sqlite3.SQLITE_IOERR_SHORT_READ, sqlite3.SQLITE_IOERR_VNODE:
		return true
	}
	return false
}

// damaged reports an error that a new index would not have.
func damaged(err error) bool {
	if errors.Is(err, errVersion) {
		return true
	}
	switch code(err) {
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_SCHEMA, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_FORMAT:
		return true
	}
	return false
}
