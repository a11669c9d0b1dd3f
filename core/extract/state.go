package extract

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mem/core/atomicfile"
	"mem/core/job"
	"mem/core/transcript"
)

// state is what extraction remembers of a memory: a cursor for each session, and which
// sessions wait.
type state struct{ dir string }

func stateOf(stateDirectory string) state {
	return state{filepath.Join(stateDirectory, "extract")}
}

// Folders of the state. Turns are counted apart from the cursors: hooks write the one and
// runs the other, at the same time.
const (
	cursors = "cursors"
	waiting = "waiting"
	turns   = "turns"
)

// maxWaiting is how many sessions wait at most; the rest is looked at when their next
// turn ends. Nobody has as many conversations at once.
const maxWaiting = 1000

func (s state) file(kind, session string) (string, error) {
	if err := transcript.ValidID(session); err != nil {
		return "", err
	}
	return filepath.Join(s.dir, kind, session+".json"), nil
}

// cursor gives up to where a session was looked at; the zero one where that is not known
// or cannot be read, so that all of it is new.
func (s state) cursor(session string) (Cursor, error) {
	c := Cursor{Version: 1, Session: session}
	name, err := s.file(cursors, session)
	if err != nil {
		return c, err
	}
	var read Cursor
	if ok, err := load(name, &read); err != nil || !ok || read.Version != 1 || read.Session != session {
		return c, err
	}
	return read, nil
}

// cursors lists all that can be read, the last one moved first.
func (s state) cursors() ([]Cursor, error) {
	list, err := os.ReadDir(filepath.Join(s.dir, cursors))
	if err = gone(err); err != nil {
		return nil, err
	}
	var out []Cursor
	for _, e := range list {
		id, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok {
			continue
		}
		if c, err := s.cursor(id); err == nil && !c.Time.IsZero() {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b Cursor) int { return b.Time.Compare(a.Time) })
	return out, nil
}

// keepState is how long what is remembered of a session is kept after it was last
// written. Clients keep transcripts for 30 days unless told otherwise, some for ever: one
// that is taken up after this is looked at as new.
const keepState = 400 * 24 * time.Hour

// keepTemp is when a temporary file counts as left by a process that was killed.
const keepTemp = time.Hour

// sweep removes what is older than keepState, and what processes left that were killed.
func (s state) sweep(now time.Time) error {
	var errs []error
	for _, folder := range []string{cursors, waiting, turns} {
		list, err := os.ReadDir(filepath.Join(s.dir, folder))
		if err = gone(err); err != nil {
			errs = append(errs, err)
			continue
		}
		for _, e := range list {
			keep := keepState
			if strings.HasSuffix(e.Name(), ".tmp") {
				keep = keepTemp
			}
			if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > keep {
				errs = append(errs, gone(os.Remove(filepath.Join(s.dir, folder, e.Name()))))
			}
		}
	}
	return errors.Join(errs...)
}

func (s state) setCursor(c Cursor) error {
	c.Version = 1
	name, err := s.file(cursors, c.Session)
	if err != nil {
		return err
	}
	return save(name, c, durable)
}

// counted is how many turns of a session ended since its last run.
type counted struct {
	Version int `json:"v"`
	Turns   int `json:"turns"`
}

func (s state) turns(session string) (int, error) {
	name, err := s.file(turns, session)
	if err != nil {
		return 0, err
	}
	var c counted
	if ok, err := load(name, &c); err != nil || !ok || c.Version != 1 {
		return 0, err
	}
	return max(c.Turns, 0), nil
}

func (s state) setTurns(session string, n int) error {
	name, err := s.file(turns, session)
	if err != nil {
		return err
	}
	if n > 0 {
		return save(name, counted{1, n}, quick)
	}
	return gone(os.Remove(name))
}

// gone is an error of a removal, nil where there was nothing to remove.
func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// waits reports whether a session waits, and since when.
func (s state) waits(session string) (w Waiting, ok bool, err error) {
	name, err := s.file(waiting, session)
	if err != nil {
		return w, false, err
	}
	ok, err = load(name, &w)
	return w, ok && w.Version == 1 && w.Session == session, err
}

// wait notes that a session waits for a run.
func (s state) wait(w Waiting) error {
	w.Version = 1
	name, err := s.file(waiting, w.Session)
	if err != nil {
		return err
	}
	if before, ok, err := s.waits(w.Session); err == nil && ok && before.Asked {
		w.Asked = true // what somebody asked for is not forgotten for a turn that ends
	}
	return save(name, w, quick)
}

// waiting lists the sessions that wait, the longest first, and those after all others on
// which runs failed: one that always fails keeps no other from being looked at.
func (s state) waiting() ([]Waiting, error) {
	list, err := os.ReadDir(filepath.Join(s.dir, waiting))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var out []Waiting
	for _, e := range list {
		id, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || len(out) == maxWaiting {
			continue
		}
		var w Waiting
		if ok, err := load(filepath.Join(s.dir, waiting, e.Name()), &w); err != nil || !ok || w.Version != 1 || w.Session != id {
			continue // of a later version, or no file of ours: its next turn asks again
		}
		out = append(out, w)
	}
	slices.SortStableFunc(out, func(a, b Waiting) int { return cmp.Or(a.Failed-b.Failed, a.Since.Compare(b.Since)) })
	return out, nil
}

// served forgets that a session waits, unless it asked again since.
func (s state) served(w Waiting) error {
	name, err := s.file(waiting, w.Session)
	if err != nil {
		return err
	}
	var now Waiting
	if ok, err := load(name, &now); err != nil || ok && !now.Since.Equal(w.Since) {
		return err
	}
	return gone(os.Remove(name))
}

// failed notes that a run failed on a session that waits. After so many it waits no more:
// its next turn asks again. It reports whether it still waits.
func (s state) failed(w Waiting) (bool, error) {
	now, ok, err := s.waits(w.Session)
	if err != nil || !ok {
		return false, err
	}
	if !now.Since.Equal(w.Since) {
		return true, nil // it asked again meanwhile
	}
	if now.Failed++; now.Failed >= maxFailed {
		return false, s.served(w)
	}
	return true, s.wait(now)
}

// maxFailed is how often a run may fail on a session before it stops waiting.
const maxFailed = 5

// runner is the process that has the lock of a memory.
type runner struct {
	Version int    `json:"v"`
	Job     string `json:"job"`
	Process int    `json:"pid"`
	Start   string `json:"pidStart"`
}

const runnerFile = "running.json"

// begin notes who runs; end takes that back. Only who has the lock calls them.
func (s state) begin(id string) (end func() error, err error) {
	name := filepath.Join(s.dir, runnerFile)
	if err := save(name, runner{1, id, os.Getpid(), job.ProcessStart(os.Getpid())}, quick); err != nil {
		return nil, err
	}
	return func() error { return gone(os.Remove(name)) }, nil
}

// running gives the job that runs, "" where none does. It takes no lock and leaves nothing
// behind, so that looking is in nobody's way.
func (s state) running() string {
	var r runner
	if ok, err := load(filepath.Join(s.dir, runnerFile), &r); err != nil || !ok || r.Version != 1 || !job.Alive(r.Process, r.Start) {
		return ""
	}
	return r.Job
}

// load reads a file of ours; ok is false where there is none or where it is no JSON.
func load(name string, into any) (ok bool, err error) {
	b, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return json.Unmarshal(b, into) == nil, nil
}

// What is quick may be lost when the machine fails; a session then waits for its next turn.
// Hooks write nothing else: to wait for the disk would keep a session waiting.
const (
	quick   = atomicfile.Quick
	durable = atomicfile.Durable
)

// save writes a file of ours: a reader sees the old one or the new one.
func save(name string, v any, d atomicfile.Durability) error {
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := atomicfile.Write(name, append(b, '\n'), 0o600, d); err != nil {
		return fmt.Errorf("keeping %s: %w", name, err)
	}
	return nil
}
