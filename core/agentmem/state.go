package agentmem

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"mem/core/atomicfile"
	"mem/core/project"
)

// syncVersion is the format of sync.json; docs/formats.md specifies it.
const syncVersion = 1

// none stands for the text of a file that does not exist.
const none = ""

// syncState is what this memory and its snapshot last agreed on.
type syncState struct {
	Version  int    `json:"v"`
	Snapshot string `json:"snapshot"` // its directory, for people who look
	// UpdatedAt is that of the snapshot at the last pull or publish; it decides nothing.
	UpdatedAt string               `json:"updatedAt,omitempty"`
	Synced    time.Time            `json:"synced"`
	Files     map[string]fileState `json:"files"`
	Last      *lastPull            `json:"last,omitempty"`
	// Git says that git was seen to keep this snapshot, whatever is checked out now.
	Git bool `json:"git,omitempty"`

	stored  map[string]fileState // Files as they are saved, where the checkout went back
	dropped map[string]bool      // files of which nothing counts as common in this checkout

	known  bool   // there is a base at all
	origin string // where it comes from: state, git, none
	commit string // of git
	texts  map[string]string
}

// fileState is one file of it, by the SHA-256 of normalised texts.
type fileState struct {
	// Base is the text that both sides have in common, "" where neither had the file.
	Base string `json:"base,omitempty"`
	// Seen is the team's text that somebody looked at and did not want; nil where that is
	// Base. What comes next is compared with it, what is published with Base.
	Seen *string `json:"seen,omitempty"`
	// Shared is the team's text when this was noted; "" where that is not known.
	Shared string `json:"shared,omitempty"`
	// Before are earlier ones, the newest first, for a checkout that goes back.
	Before []common `json:"before,omitempty"`
}

// sums gives the hashes of the texts that it names.
func (f fileState) sums() []string {
	out := []string{f.Base, f.seen()}
	for _, c := range f.Before {
		out = append(out, c.Base)
	}
	return out
}

func (f fileState) seen() string {
	if f.Seen != nil {
		return *f.Seen
	}
	return f.Base
}

// stateFolder is where the state of snapshots lies below that of a memory.
const stateFolder = "snapshot"

type stateStore struct{ dir string }

func (s stateStore) file() string { return filepath.Join(s.dir, "sync.json") }

func (s stateStore) textFile(sum string) string { return filepath.Join(s.dir, "texts", sum) }

// load reads the state; a missing one is none. A damaged one is an error, since guessing
// a base would take what somebody deleted for new.
func (s stateStore) load() (*syncState, error) {
	out := &syncState{Version: syncVersion, Files: map[string]fileState{}, texts: map[string]string{}, origin: "none"}
	data, err := project.ReadFile(s.file(), 8<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err == nil {
		err = json.Unmarshal(data, out)
	}
	if err == nil && out.Version > syncVersion {
		err = fmt.Errorf("it has version %d, and this program knows %d; update mem", out.Version, syncVersion)
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w. Without it the snapshot can be compared by git or by both sides only: remove the file to do that", s.file(), project.Reason(err))
	}
	if out.Files == nil {
		out.Files = map[string]fileState{}
	}
	out.known, out.origin = true, "state"
	return out, nil
}

// text gives a text that the state names.
func (s stateStore) text(st *syncState, sum string) (string, bool) {
	if sum == none {
		return "", true
	}
	if t, ok := st.texts[sum]; ok {
		return t, true
	}
	if !isSum(sum) {
		return "", false
	}
	b, err := project.ReadFile(s.textFile(sum), MaxFile+1)
	if err != nil || sumOf(string(b)) != sum {
		return "", false
	}
	st.texts[sum] = string(b)
	return string(b), true
}

// save writes the state: texts first, so that it never names one that is not there; then
// those that nothing names any more are removed.
func (s stateStore) save(st *syncState) error {
	texts := filepath.Join(s.dir, "texts")
	if err := os.MkdirAll(texts, 0o700); err != nil {
		return fmt.Errorf("making %s: %w", texts, project.Reason(err))
	}
	used := map[string]bool{}
	for _, f := range st.Files {
		for _, sum := range f.sums() {
			used[sum] = true
		}
	}
	for _, sum := range st.Last.sums() {
		used[sum] = true
	}
	delete(used, none)
	for sum := range used {
		t, ok := st.texts[sum]
		if !ok {
			continue // it stands there already
		}
		if _, err := os.Lstat(s.textFile(sum)); err == nil {
			continue
		}
		if err := writeAtomic(s.textFile(sum), []byte(t), 0o600); err != nil {
			return err
		}
	}
	data, err := json.MarshalIndent(st, "", " ")
	if err != nil {
		return fmt.Errorf("writing %s: %w", s.file(), err)
	}
	if err := writeAtomic(s.file(), append(data, '\n'), 0o600); err != nil {
		return err
	}
	st.known, st.origin = true, "state"
	list, err := os.ReadDir(texts)
	if err != nil {
		return nil // what is too much is removed next time
	}
	for _, d := range list {
		if !used[d.Name()] {
			_ = os.Remove(filepath.Join(texts, d.Name())) // bounded anyway: next time
		}
	}
	return nil
}

// writeAtomic writes a file of ours so that readers see the old or the new one whole.
func writeAtomic(name string, data []byte, mode fs.FileMode) error {
	if err := atomicfile.Write(name, data, mode, atomicfile.Durable); err != nil {
		return fmt.Errorf("writing %s: %w", name, project.Reason(err))
	}
	return nil
}
