// Package spend keeps the ledger of what jobs used: a row for each run, of all memories
// together, by which budgets are kept and people see what was spent on what.
package spend

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"mem/core/model"
	"mem/core/settings"
)

// Where the ledger lies, below the state directory.
const (
	dirName  = "usage"
	lockName = ".lock"
	fileExt  = ".jsonl"
	month    = "2006-01" // of UTC, so that no file changes its meaning with the time zone
)

// version of the rows that we write.
const version = 1

const (
	// maxText bounds each text of a row, in bytes.
	maxText = 4096
	// lockWait is how long a row waits for other writers, which take less than a millisecond.
	lockWait = 10 * time.Second
)

// Entry is what one run used.
type Entry struct {
	Time   time.Time // when it ended; zero is now
	Memory string    // the memory directory
	Job    string    // id of its record; "" without one
	Kind   string    // of the job
	Engine string
	Model  string
	Usage  model.Usage
}

// row is an entry as it is stored. docs/formats.md specifies it.
type row struct {
	Version int         `json:"v"`
	Time    time.Time   `json:"time"`
	Memory  string      `json:"memory,omitempty"`
	Job     string      `json:"job,omitempty"`
	Kind    string      `json:"kind,omitempty"`
	Engine  string      `json:"engine,omitempty"`
	Model   string      `json:"model,omitempty"`
	Usage   model.Usage `json:"usage"`
}

// Ledger is the ledger of a user. It is safe for concurrent use, by any number of processes.
type Ledger struct {
	env settings.Env
	dir string // "" where there is no state directory
}

// Open gives the ledger of a user. It touches nothing.
func Open(env settings.Env) *Ledger {
	l := &Ledger{env: env}
	if env.StateDir != "" {
		l.dir = filepath.Join(env.StateDir, dirName)
	}
	return l
}

var errNowhere = errors.New("the ledger of what was spent has no place: neither HOME nor XDG_STATE_HOME is set; set one")

// Add appends a row with one write.
func (l *Ledger) Add(e Entry) error {
	if err := l.add(e); err != nil {
		return fmt.Errorf("recording what was spent: %w", err)
	}
	return nil
}

func (l *Ledger) add(e Entry) error {
	if l.dir == "" {
		return errNowhere
	}
	if e.Time.IsZero() {
		e.Time = l.env.Time()
	}
	if !sound(e.Usage) || e.Time.Year() < 1970 || e.Time.Year() > 9999 {
		return fmt.Errorf("no run uses %+v, or ends %v", e.Usage, e.Time)
	}
	line, err := json.Marshal(row{Version: version, Time: e.Time.UTC().Truncate(time.Millisecond), Memory: cut(e.Memory), Job: cut(e.Job),
		Kind: cut(e.Kind), Engine: cut(e.Engine), Model: cut(e.Model), Usage: e.Usage})
	if err != nil {
		return err
	}
	if err := makeFolder(l.dir); err != nil {
		return err
	}
	unlock, err := l.lock()
	if err != nil {
		return err
	}
	return errors.Join(appendLine(filepath.Join(l.dir, e.Time.UTC().Format(month)+fileExt), line), unlock())
}

// cut shortens a text.
func cut(s string) string { return strings.ToValidUTF8(s[:min(len(s), maxText)], "�") }

// sound reports whether a run can have used that. What is not is left out when the ledger
// is read, too: no row may give a budget back.
func sound(u model.Usage) bool {
	const most = math.MaxInt64 >> 20 // so that no sum overflows
	for _, n := range []int64{int64(u.Requests), u.Input, u.Output, u.CacheRead, u.CacheWrite} {
		if n < 0 || n > most {
			return false
		}
	}
	return u.Cost >= 0 && u.Cost < 1e9 // also not NaN
}

// lock keeps other writers away: not every system appends with one step.
func (l *Ledger) lock() (unlock func() error, err error) {
	wait, cancel := context.WithTimeout(context.Background(), lockWait)
	defer cancel()
	f := flock.New(filepath.Join(l.dir, lockName), flock.SetPermissions(0o600))
	ok, err := f.TryLockContext(wait, 2*time.Millisecond)
	if !ok && (err == nil || errors.Is(err, context.DeadlineExceeded)) {
		err = fmt.Errorf("another process has kept %s locked for %v; end it if it hangs", l.dir, lockWait)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f.Close, nil
}

// appendLine adds a line to a file, under the lock. A last line that a crash cut is
// ended first.
func appendLine(path string, line []byte) (err error) {
	before, err := os.Lstat(path)
	if err == nil && !before.Mode().IsRegular() {
		return fmt.Errorf("%s is no regular file; remove it", path)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	switch {
	case err != nil:
		return err
	case before != nil && !os.SameFile(before, info):
		return fmt.Errorf("%s was replaced at this moment; try again", path)
	}
	line = append(line, '\n')
	if size := info.Size(); size > 0 {
		var last [1]byte
		if _, err := f.ReadAt(last[:], size-1); err != nil {
			return err
		}
		if last[0] != '\n' {
			line = append([]byte{'\n'}, line...)
		}
	}
	_, err = f.Write(line)
	return err
}

func makeFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	if err == nil && !info.IsDir() {
		return fmt.Errorf("%s is a link or a file, and a folder of ours is none; remove it", dir)
	}
	return err
}
