package dream

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"mem/core/atomicfile"
)

// Names in the state of a memory. docs/formats.md specifies both.
const (
	recordName = "dream.json"
	scanName   = "dream-sessions.json"
)

// recordVersion is the version of both files.
const recordVersion = 1

// maxRecord bounds what is read of either, in bytes.
const maxRecord = 1 << 20

// record is what we know of runs apart from the lock file, so that a crash neither
// delays nor doubles one. Only who holds the lock writes it.
type record struct {
	Version int `json:"v"`
	// Last is when the last run of ours that succeeded began.
	Last time.Time `json:"lastSuccess,omitzero"`
	// Run is a run that was begun and has not ended. It is unfinished where its process died.
	Run *unfinished `json:"run,omitempty"`
}

// unfinished is a run between taking the lock and letting go of it.
type unfinished struct {
	Job   string `json:"job,omitempty"`
	PID   int    `json:"pid"`
	Start string `json:"pidStart,omitempty"` // tells the process from a later one with the same pid
	// Began is the time that the lock file was given.
	Began time.Time `json:"began"`
	// Prior is the time of the lock file before; zero where there was none.
	Prior time.Time `json:"prior,omitzero"`
	// Rolling says that the run failed and was putting the lock file back.
	Rolling bool `json:"rolling,omitempty"`
}

// readRecord reads our record; one that is missing is empty. A record that cannot be
// read is an error: what it knows may say that a run is not due.
func readRecord(state string) (record, error) {
	var r record
	if err := readState(state, recordName, &r); err != nil {
		return record{}, err
	}
	if r.Version > recordVersion {
		return record{}, fmt.Errorf("%s was written by a later version of mem (%d; this one knows %d). Update mem", filepath.Join(state, recordName), r.Version, recordVersion)
	}
	return r, nil
}

func readState(state, name string, into any) error {
	p := filepath.Join(state, name)
	f, err := os.Open(p)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading what is known of earlier dreams: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxRecord+1))
	if err != nil {
		return fmt.Errorf("reading what is known of earlier dreams: %w", err)
	}
	if len(b) > maxRecord {
		return fmt.Errorf("%s is larger than %d bytes, so it is no record of mem. Remove it", p, maxRecord)
	}
	if err := json.Unmarshal(b, into); err != nil {
		return fmt.Errorf("%s is damaged (%v). Remove it; then the time of %s alone says when the last dream was", p, err, LockName)
	}
	return nil
}

// writeState puts a file in place of the one before, durably: all of it or nothing.
func writeState(state, name string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(state, 0o700); err != nil {
		return fmt.Errorf("recording the dream: %w", err)
	}
	if err := atomicfile.Write(filepath.Join(state, name), append(b, '\n'), 0o600, atomicfile.Durable); err != nil {
		return fmt.Errorf("recording the dream: %w", err)
	}
	return nil
}
