package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// append writes a record; sync makes it durable. When it fails, the journal is
// as it was.
func (j *journal) append(r Record, steps []step) error {
	r, b, header, err := encode(r, steps)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	start, err := j.add(b, r.ID, true)
	if err != nil {
		return err
	}
	seg := &j.segments[len(j.segments)-1]
	r.at = position{seg.name, start, start + int64(header)}
	j.know(seg, &r)
	return nil
}

// mark notes how a change ended. It is not synced: should it be lost with the
// power, recovery finds the files as the change left them.
func (j *journal) mark(m mark) error {
	m.Version = formatVersion
	b, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encoding the journal mark: %w", err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, err := j.add(append(b, '\n'), "", false); err != nil {
		return err
	}
	j.ended(m)
	return nil
}

// withdraw notes that a change was not made. On a full disk, where there is no
// room for the mark, the record itself is cut off.
func (j *journal) withdraw(id string) error {
	err := j.mark(mark{Aborted: id})
	if err == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	n, s := len(j.records)-1, len(j.segments)-1
	if n < 0 || j.records[n].ID != id || j.records[n].at.segment != j.segments[s].name {
		return err
	}
	// One byte stays, so that nothing is ever put where others read a record.
	at := j.records[n].at.header + 1
	p := filepath.Join(j.dir, j.segments[s].name)
	if cutErr := j.instant.at("cut", p); cutErr != nil {
		return errors.Join(err, cutErr)
	}
	if cutErr := os.Truncate(p, at); cutErr != nil {
		return errors.Join(err, cutErr)
	}
	j.segments[s].read, j.segments[s].size = at-1, at
	j.records = j.records[:n]
	j.reindex()
	j.open = slices.DeleteFunc(j.open, func(r *Record) bool { return r.ID == id })
	return nil
}

// add puts bytes at the end of the newest segment, or into a new one, and gives
// where they start.
func (j *journal) add(b []byte, id string, rotate bool) (start int64, err error) {
	if j.newer > 0 {
		return 0, j.newerError()
	}
	name, last, fresh := "", segment{}, true
	if n := len(j.segments); n > 0 {
		last = j.segments[n-1]
		// A torn record at the end of a segment stays where it is.
		fresh = last.broken || last.read != last.size || rotate && last.size >= j.segmentSize
		name = last.name
	}
	flags := os.O_APPEND | os.O_WRONLY
	if fresh {
		if id == "" {
			id = idAfter(strings.TrimSuffix(name, segmentExt))
		}
		if name != "" {
			j.unsynced = append(j.unsynced, name) // its marks
		}
		name, last, flags = id+segmentExt, segment{name: id + segmentExt}, flags|os.O_CREATE|os.O_EXCL
	}
	if err := j.addTo(name, b, flags, last.size, fresh); err != nil {
		return 0, fmt.Errorf("writing the journal: %w", err)
	}
	if fresh {
		j.segments = append(j.segments, last)
	}
	seg := &j.segments[len(j.segments)-1]
	start = seg.size
	seg.size += int64(len(b))
	seg.read = seg.size
	if !slices.Contains(j.unsynced, name) {
		j.unsynced = append(j.unsynced, name)
	}
	return start, nil
}

func (j *journal) addTo(name string, b []byte, flags int, size int64, fresh bool) error {
	p := filepath.Join(j.dir, name)
	if fresh {
		if err := j.instant.at("mkdir", j.dir); err != nil {
			return err
		}
		if err := makeDirs(j.dir); err != nil {
			return err
		}
		j.unsynced = append(j.unsynced, "")
	}
	if err := j.instant.at("open", name); err != nil {
		return &fs.PathError{Op: "open", Path: p, Err: err}
	}
	f, err := os.OpenFile(p, flags, 0o600)
	if err != nil {
		return err
	}
	_, err = writeText(f, string(b), name, j.instant)
	if err == nil {
		return f.Close()
	}
	// A record in part would hide what comes after it.
	err = errors.Join(&fs.PathError{Op: "write", Path: p, Err: err}, f.Truncate(size), f.Close())
	if fresh {
		err = errors.Join(err, os.Remove(p))
	}
	return err
}

// sync makes what was appended durable.
func (j *journal) sync() error {
	j.mu.Lock()
	names := j.unsynced
	j.unsynced = nil
	j.mu.Unlock()
	for i, name := range names {
		err := j.instant.at("sync", "journal "+name)
		if err == nil && name == "" {
			err = syncDir(j.dir)
		} else if err == nil {
			err = syncPath(filepath.Join(j.dir, name))
		}
		if errors.Is(err, fs.ErrNotExist) && i < len(names)-1 {
			continue // an older segment that somebody removed
		}
		if err != nil {
			return fmt.Errorf("syncing the journal in %s: %w", j.dir, err)
		}
	}
	return nil
}

func syncPath(p string) error {
	f, err := os.OpenFile(p, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// makeDirs makes a directory and those above it, durably, for this user alone.
func makeDirs(dir string) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if err := makeDirs(parent); err != nil {
			return err
		}
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		if info, statErr := os.Stat(dir); statErr == nil && info.IsDir() {
			return nil // somebody else made it
		}
		return err
	}
	return syncDir(parent)
}

func (j *journal) newerError() error {
	return fmt.Errorf("the journal in %s was written by a later version of mem (format %d; this one knows %d). Use that version, or move the folder away", j.dir, j.newer, formatVersion)
}

// trim drops old segments by age and total size, never the newest and none with
// a change that is not done.
func (j *journal) trim(now time.Time, age time.Duration, size int64) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.segments) < 2 {
		return nil
	}
	last := j.segments[len(j.segments)-1]
	total, newest := last.size, now
	drop := 0
	for i := len(j.segments) - 2; i >= 0; i-- {
		total += j.segments[i].size
		// One without a record that can be read is as old as what follows it, or it
		// would take all before it along.
		if n := j.segments[i].newest; !n.IsZero() {
			newest = n
		}
		if total > size || now.Sub(newest) > age {
			drop = i + 1
			break
		}
	}
	for i, seg := range j.segments[:drop] {
		if slices.ContainsFunc(j.open, func(r *Record) bool { return r.at.segment == seg.name }) {
			drop = i
			break
		}
	}
	if drop == 0 {
		return nil
	}
	gone := map[string]bool{}
	for _, seg := range j.segments[:drop] {
		if err := j.removeSegment(seg.name); err != nil {
			return err
		}
		gone[seg.name] = true
	}
	j.segments = slices.Clone(j.segments[drop:])
	j.records = slices.DeleteFunc(slices.Clone(j.records), func(r *Record) bool { return gone[r.at.segment] })
	j.reindex()
	j.unsynced = slices.DeleteFunc(j.unsynced, func(n string) bool { return gone[n] })
	return nil
}

// reindex finds the records anew, where some went.
func (j *journal) reindex() {
	clear(j.byPath)
	for n, r := range j.records {
		for _, f := range r.Files {
			j.byPath[f.Path] = append(j.byPath[f.Path], n)
		}
	}
}

func (j *journal) removeSegment(name string) error {
	err := j.instant.at("remove", name)
	if err == nil {
		err = os.Remove(filepath.Join(j.dir, name))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("trimming the journal: %w", err)
	}
	return nil
}

// forget lets go of what was read, where it cannot be read to its end.
func (j *journal) forget() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.reset()
}

// purge removes all segments.
func (j *journal) purge() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	err := j.instant.at("remove", j.dir)
	if err == nil {
		err = os.RemoveAll(j.dir)
	}
	if err != nil {
		return fmt.Errorf("purging the journal: %w", err)
	}
	j.reset()
	j.unsynced = nil
	return nil
}

// size gives the bytes of all segments.
func (j *journal) size() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	var n int64
	for _, seg := range j.segments {
		n += seg.size
	}
	return n
}
