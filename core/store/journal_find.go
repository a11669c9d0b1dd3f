package store

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// last gives the newest record, nil when there is none.
func (j *journal) last() *Record {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.records) == 0 {
		return nil
	}
	return j.records[len(j.records)-1]
}

// lastID gives the newest id that was ever used here, as far as is known.
func (j *journal) lastID() string {
	id := idOf(j.last())
	j.mu.Lock()
	defer j.mu.Unlock()
	if n := len(j.segments); n > 0 {
		id = max(id, strings.TrimSuffix(j.segments[n-1].name, segmentExt))
	}
	return id
}

// unmarked gives the records of which it is not known how they ended.
func (j *journal) unmarked() []*Record {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.open)
}

// lastOf gives the newest record that was made to a path.
func (j *journal) lastOf(path string) (*Record, *FileRecord) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, n := range slices.Backward(j.byPath[path]) {
		r := j.records[n]
		if r.aborted || r.Op == OpDisplaced {
			continue
		}
		for i := range r.Files {
			if r.Files[i].Path == path {
				return r, &r.Files[i]
			}
		}
	}
	return nil, nil
}

// holds reports whether the journal has the text that the newest change left at a path,
// and it is the one with this hash. Another process may have trimmed or purged it since
// the last refresh: where the record lay is looked at.
func (j *journal) holds(path, hash string) bool {
	r, f := j.lastOf(path)
	if f == nil || f.After != hash {
		return false
	}
	_, err := os.Lstat(filepath.Join(j.dir, r.at.segment))
	return err == nil
}

// all gives the records, oldest first.
func (j *journal) all() []*Record {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.records)
}

// findText looks for a text by hash among what the journal holds.
func (j *journal) findText(hash string) (string, bool) {
	if !isHash(hash) || j.refresh() != nil {
		return "", false
	}
	for _, r := range slices.Backward(j.all()) {
		for i, f := range r.Files {
			if f.Before != hash && f.After != hash {
				continue
			}
			steps, err := j.steps(r)
			if err != nil {
				continue
			}
			if f.Before == hash {
				return steps[i].before, true
			}
			return steps[i].after, true
		}
	}
	return "", false
}
