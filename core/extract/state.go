package extract

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mem/core/transcript"
)

// state is what extraction remembers of a memory: a cursor for each session, and which
// sessions wait.
type state struct{ dir string }

func stateOf(stateDirectory string) state {
	return state{filepath.Join(stateDirectory, "extract")}
}

const (
	cursors = "cursors"
	waiting = "waiting"
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

func (s state) setCursor(c Cursor) error {
	c.Version = 1
	name, err := s.file(cursors, c.Session)
	if err != nil {
		return err
	}
	return save(name, c)
}

// wait notes that a session waits for a run.
func (s state) wait(w Waiting) error {
	w.Version = 1
	name, err := s.file(waiting, w.Session)
	if err != nil {
		return err
	}
	return save(name, w)
}

// waiting lists the sessions that wait, the longest first.
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
			continue // of a later version, or torn: its next turn asks again
		}
		out = append(out, w)
	}
	slices.SortStableFunc(out, func(a, b Waiting) int { return a.Since.Compare(b.Since) })
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
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
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

// save writes a file of ours: a reader sees the old one or the new one.
func save(name string, v any) error {
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".*.tmp") // made with mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(append(b, '\n'))
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("keeping %s: %w", name, err), os.Remove(f.Name()))
	}
	return nil
}
