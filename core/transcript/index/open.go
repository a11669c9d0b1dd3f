package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the driver

	"mem/core/guard"
	"mem/core/recall"
)

// busyTimeout is how long a statement waits for another process. A batch takes
// a small part of it.
const busyTimeout = 10 * time.Second

// An Index is the index of transcripts, opened. It is safe for concurrent use.
type Index struct {
	path     string
	opts     Options
	readOnly bool
	notices  []string
	opened   os.FileInfo // of the file, to see when it is another
	guard    *guard.Scanner
	db       *sql.DB

	reading sync.Mutex // around the connection that searches use
	read    *sql.Conn
	known   known

	updating sync.Mutex // one Update at a time in this process
	words    map[string]struct{}
}

// Open opens the index, and makes a new one where there is none, where it is
// damaged, or where it is of another version. What was done is in Notices. An
// index that cannot be written is opened to search what it has.
func Open(ctx context.Context, o Options) (*Index, error) {
	if o.Dir == "" {
		return nil, errors.New("the index of transcripts needs a cache directory; set XDG_CACHE_HOME or HOME")
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	if o.MaxBytes < MinMaxBytes {
		return nil, fmt.Errorf("the index of transcripts needs at least %d bytes, not %d", int64(MinMaxBytes), o.MaxBytes)
	}
	if o.Open == nil {
		o.Open = openPlain
	}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	x := &Index{path: filepath.Join(o.Dir, FileName), opts: o, guard: o.Guard}
	if x.guard == nil {
		g, err := guard.New(guard.Options{})
		if err != nil {
			return nil, err
		}
		x.guard = g
	}
	mkdirErr := os.MkdirAll(o.Dir, 0o700)
	if st, err := os.Stat(o.Dir); err != nil || !st.IsDir() {
		if mkdirErr == nil {
			mkdirErr = err
		}
		return nil, fmt.Errorf("%w: %s cannot be made a folder; set XDG_CACHE_HOME to one that can be written (%v)", ErrReadOnly, o.Dir, mkdirErr)
	}
	err := x.connectPatiently(ctx)
	if err != nil && damaged(err) {
		err = x.replace(ctx, err)
	}
	if err != nil && errors.Is(x.problem(err), ErrReadOnly) {
		err = x.connectReadOnly(ctx, err)
	}
	if err != nil {
		x.Close()
		return nil, x.problem(err)
	}
	if !x.readOnly {
		x.removeOld()
	}
	return x, nil
}

// Rebuild throws away what the index has and begins anew; the next update fills
// it.
func (x *Index) Rebuild(ctx context.Context) error {
	x.updating.Lock()
	defer x.updating.Unlock()
	return x.rebuild(ctx)
}

// rebuild is called by who holds x.updating.
func (x *Index) rebuild(ctx context.Context) error {
	x.reading.Lock()
	defer x.reading.Unlock()
	if x.readOnly {
		return x.problem(fs.ErrPermission)
	}
	x.known, x.words = known{}, nil
	x.disconnect() // it may be too damaged to be closed well
	unlock, err := x.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	if err := x.remove(); err != nil {
		return err
	}
	return x.problem(x.connectPatiently(ctx))
}

// remove deletes the files of the index. The caller holds the lock and is not
// connected.
func (x *Index) remove() error {
	for _, suffix := range []string{"-wal", "-shm", "-journal", "", damagedMark} {
		if err := os.Remove(x.path + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w, and %s cannot be removed; end other processes of mem and try again (%v)", ErrDamaged, x.path+suffix, err)
		}
	}
	return nil
}

// Path returns the path of the index file.
func (x *Index) Path() string { return x.path }

// Notices says in words what was noteworthy when the index was opened.
func (x *Index) Notices() []string { return x.notices }

// Close ends all use of the index. It waits for an update that is running.
func (x *Index) Close() error {
	x.updating.Lock()
	defer x.updating.Unlock()
	x.reading.Lock()
	defer x.reading.Unlock()
	return x.disconnect()
}

func (x *Index) disconnect() error {
	var err error
	if x.read != nil {
		err = x.read.Close()
		x.read = nil
	}
	if x.db != nil {
		err = errors.Join(err, x.db.Close())
		x.db = nil
	}
	return err
}

// dsn names the file as a URI: a path may hold what SQLite takes for parameters.
func (x *Index) dsn(params ...string) string {
	p := filepath.ToSlash(x.path)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p // C:/…
	}
	u := url.URL{Scheme: "file", Path: p}
	return u.String() + "?" + strings.Join(params, "&")
}

func (x *Index) connect(ctx context.Context) error {
	if abs, err := filepath.Abs(x.path); err == nil {
		x.path = abs
	}
	// A file of another user, or one that a person made read-only, is not opened
	// for writing: SQLite would report that at the first write only.
	f, err := os.OpenFile(x.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	x.db, err = sql.Open("sqlite", x.dsn(
		"_txlock=immediate", // else two writers can both read first, and one loses its rows
		"_pragma=busy_timeout("+strconv.Itoa(int(busyTimeout.Milliseconds()))+")",
		"_pragma=auto_vacuum(incremental)",
		"_pragma=journal_mode(wal)",
		"_pragma=synchronous(normal)",
		"_pragma=cache_size(-16000)",
		"_pragma=journal_size_limit(16777216)",
	))
	if err != nil {
		return err
	}
	if err := x.prepare(ctx); err != nil {
		return err
	}
	if x.opened, err = os.Stat(x.path); err != nil {
		return err
	}
	x.read, err = x.db.Conn(ctx)
	return err
}

// follow opens the index again where another process built it anew, or a person
// deleted it: what this process has open then is a file without a name. The caller
// holds both locks.
func (x *Index) follow(ctx context.Context) error {
	if x.readOnly || x.db == nil || x.named() {
		return nil
	}
	x.disconnect() // nothing of it is of use
	x.known, x.words = known{}, nil
	if err := os.MkdirAll(x.opts.Dir, 0o700); err != nil {
		return err
	}
	return x.problem(x.connectPatiently(ctx))
}

// named reports whether the file that is open still has its name.
func (x *Index) named() bool {
	st, err := os.Stat(x.path)
	return err == nil && os.SameFile(st, x.opened)
}

// connectPatiently connects, again where another process is just making the
// index: SQLite does not wait for a change of the journal mode.
func (x *Index) connectPatiently(ctx context.Context) error {
	for end := time.Now().Add(busyTimeout); ; {
		err := x.connect(ctx)
		if err == nil || !errors.Is(x.problem(err), ErrBusy) || time.Now().After(end) {
			return err
		}
		x.disconnect() // it is not of use
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// damagedMark is the ending of a file beside the index by which a search tells
// updates, also of other processes, that the index is to be built anew.
const damagedMark = ".damaged"

const schema = `
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE source(
	id      INTEGER PRIMARY KEY,
	path    TEXT NOT NULL UNIQUE,
	session TEXT NOT NULL,
	project TEXT NOT NULL,
	size    INTEGER NOT NULL,           -- of the file, as stat said
	mtime   INTEGER NOT NULL,           -- nanoseconds
	content INTEGER NOT NULL,           -- bytes of transcript in it
	offset  INTEGER NOT NULL DEFAULT 0, -- indexed up to here
	mark    BLOB,                       -- hash of the beginning, and of what is before offset
	turn    INTEGER NOT NULL DEFAULT 0,
	within  INTEGER NOT NULL DEFAULT 0,
	first   INTEGER NOT NULL DEFAULT 0, -- times of its entries, milliseconds
	last    INTEGER NOT NULL DEFAULT 0,
	entries INTEGER NOT NULL DEFAULT 0,
	omitted INTEGER NOT NULL DEFAULT 0  -- 1 where the size limit left it out
);
CREATE TABLE entry(
	id        INTEGER PRIMARY KEY,
	offset    INTEGER NOT NULL,
	length    INTEGER NOT NULL,
	uuid      BLOB NOT NULL,
	time      INTEGER NOT NULL,
	sidechain INTEGER NOT NULL
);
CREATE TABLE word(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
CREATE VIRTUAL TABLE term USING fts5(terms, content='', contentless_delete=1, detail=full, tokenize="ascii tokenchars '._'");
INSERT INTO term(term, rank) VALUES('hashsize', 8388608);
`

// prepare makes the tables of a new index and checks those of an old one.
func (x *Index) prepare(ctx context.Context) error {
	want := map[string]string{"schema": strconv.Itoa(Schema), "tokenizer": strconv.Itoa(recall.TokenizerVersion)}
	check := func(q interface {
		QueryContext(context.Context, string, ...any) (*sql.Rows, error)
	}) (fresh bool, err error) {
		var n int
		if err := scanOne(ctx, q, &n, "SELECT count(*) FROM sqlite_schema"); err != nil || n == 0 {
			return err == nil, err
		}
		for key, value := range want {
			var got string
			if err := scanOne(ctx, q, &got, "SELECT value FROM meta WHERE key = ?", key); err != nil && !errors.Is(err, sql.ErrNoRows) {
				return false, err
			}
			if got != value {
				return false, errVersion
			}
		}
		var id int64
		err = scanOne(ctx, q, &id, "SELECT coalesce(max(id), 0) FROM source")
		return false, err
	}
	fresh, err := check(x.db)
	if err != nil || !fresh {
		return err
	}
	tx, err := x.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // after a commit there is nothing to take back
	if fresh, err = check(tx); err != nil || !fresh {
		return err // another process was faster
	}
	if _, err := tx.ExecContext(ctx, schema); err != nil {
		return err
	}
	for key, value := range want {
		if _, err := tx.ExecContext(ctx, "INSERT INTO meta VALUES(?, ?)", key, value); err != nil {
			return err
		}
	}
	return tx.Commit()
}

var errVersion = errors.New("the index is of another version")

func scanOne(ctx context.Context, q interface {
	QueryContext(context.Context, string, ...any) (*sql.Rows, error)
}, into any, query string, args ...any) error {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	if !rows.Next() {
		if err := rows.Err(); err != nil {
			return err
		}
		return sql.ErrNoRows
	}
	if err := rows.Scan(into); err != nil {
		return err
	}
	return rows.Err()
}

// replace puts a new index in the place of one that cannot be used. Under the
// lock it looks again: another process may have done it already.
func (x *Index) replace(ctx context.Context, cause error) error {
	if err := x.disconnect(); err != nil && !damaged(err) {
		return err
	}
	unlock, err := x.lock(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	err = x.connectPatiently(ctx)
	if err == nil || !damaged(err) {
		return err
	}
	x.disconnect() // it is thrown away
	if err := x.remove(); err != nil {
		return err
	}
	x.notices = append(x.notices, fmt.Sprintf("The index of transcripts could not be used (%v) and is built anew from the transcripts.", cause))
	return x.connectPatiently(ctx)
}

// connectReadOnly opens an index that cannot be written as it is on disk.
func (x *Index) connectReadOnly(ctx context.Context, cause error) error {
	x.disconnect() // it did not open
	if st, err := os.Stat(x.path); err != nil || st.Size() == 0 {
		return cause
	}
	var err error
	if x.db, err = sql.Open("sqlite", x.dsn("mode=ro", "immutable=1", "_pragma=query_only(1)")); err != nil {
		return err
	}
	var version string
	if err := scanOne(ctx, x.db, &version, "SELECT value FROM meta WHERE key = 'schema'"); err != nil {
		return cause
	}
	x.readOnly = true
	x.notices = append(x.notices, fmt.Sprintf("The index of transcripts %s cannot be written (%v): what was said since it was written last is not found.", x.path, cause))
	x.read, err = x.db.Conn(ctx)
	return err
}
