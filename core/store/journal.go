package store

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// segmentSize is the size past which the journal goes on in a new file, so that
// old changes can be dropped a file at a time.
const segmentSize = 4 << 20

const segmentExt = ".journal"

// maxHeader bounds a header line; a change of 10,000 files takes about 2 MB.
const maxHeader = 16 << 20

// position is where a record stands.
type position struct {
	segment string
	payload int64
}

// journal is the list of the changes made to a memory directory, in append-only
// segment files. What it knows of them is brought up to date by refresh.
type journal struct {
	dir string

	mu       sync.Mutex
	segments []segment
	records  []*Record // oldest first
	byID     map[string]*Record
	open     []*Record // those without a mark, oldest first
}

// segment is a file of the journal as far as it was read.
type segment struct {
	name string
	read int64 // bytes of whole records
	size int64 // bytes there are; more than read where a record is torn
}

func newJournal(dir string) *journal {
	return &journal{dir: dir, byID: map[string]*Record{}}
}

// refresh reads what was appended since the last time.
func (j *journal) refresh() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.refreshLocked()
}

func (j *journal) refreshLocked() error {
	// The newest segment growing is the common case: one stat tells.
	entries, err := os.ReadDir(j.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reading the journal: %w", err)
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), segmentExt) {
			names = append(names, e.Name())
		}
	}
	if len(j.segments) > 0 && !slices.Contains(names, j.segments[0].name) {
		j.segments, j.records, j.open = nil, nil, nil // purged: start anew
		clear(j.byID)
	}
	for i, name := range names {
		if i < len(j.segments)-1 && j.segments[i].name == name {
			continue // only the last one grows
		}
		if i >= len(j.segments) {
			j.segments = append(j.segments, segment{name: name})
		}
		if err := j.readSegment(&j.segments[i]); err != nil {
			return err
		}
	}
	return nil
}

func (j *journal) readSegment(seg *segment) error {
	p := filepath.Join(j.dir, seg.name)
	info, err := os.Stat(p)
	if err != nil {
		return fmt.Errorf("reading the journal: %w", err)
	}
	if info.Size() == seg.size {
		return nil
	}
	f, err := os.Open(p)
	if err != nil {
		return fmt.Errorf("reading the journal: %w", err)
	}
	defer f.Close()
	seg.size = info.Size()
	rd := bufio.NewReaderSize(nil, 8<<10)
	for seg.read < seg.size {
		rd.Reset(io.NewSectionReader(f, seg.read, seg.size-seg.read))
		head, err := readHeader(rd)
		if err != nil {
			return nil // torn: the next writer starts a new segment
		}
		next, ok := j.take(seg, head)
		if !ok {
			return nil
		}
		seg.read = next
	}
	return nil
}

func readHeader(rd *bufio.Reader) ([]byte, error) {
	var head []byte
	for {
		part, err := rd.ReadSlice('\n')
		head = append(head, part...)
		if err == nil {
			return head, nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) || len(head) > maxHeader {
			return nil, io.ErrUnexpectedEOF
		}
	}
}

// take reads one header or mark and gives where the next one starts.
func (j *journal) take(seg *segment, head []byte) (next int64, ok bool) {
	after := seg.read + int64(len(head))
	if bytes.HasPrefix(head, []byte(`{"v":1,"done":`)) || bytes.HasPrefix(head, []byte(`{"v":1,"aborted":`)) {
		var m mark
		if json.Unmarshal(head, &m) != nil {
			return 0, false
		}
		id := m.Done + m.Aborted
		j.open = slices.DeleteFunc(j.open, func(r *Record) bool {
			ended := r.ID == id || r.Amends == id
			r.aborted = r.aborted || ended && m.Aborted != ""
			return ended
		})
		return after, true
	}
	r := &Record{}
	if json.Unmarshal(head, r) != nil || r.Version != formatVersion || r.ID == "" || r.Payload < 0 {
		return 0, false
	}
	next = after + int64(r.Payload) + 1
	if next > seg.size {
		return 0, false
	}
	r.at = position{seg.name, after}
	j.records = append(j.records, r)
	j.byID[r.ID] = r
	j.open = append(j.open, r)
	return next, true
}

// append writes a record, durably or with the next durable one. The caller
// holds the lock.
func (j *journal) append(r *Record, steps []step, durable bool) error {
	b, err := encode(*r, steps)
	if err != nil {
		return err
	}
	return j.write(r.ID, b, durable)
}

// mark notes how a change ended. It is not synced: should it be lost with the
// power, recovery finds the files as the change left them.
func (j *journal) mark(m mark) error {
	m.Version = formatVersion
	b, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("encoding the journal mark: %w", err)
	}
	return j.write(m.Done+m.Aborted, append(b, '\n'), false)
}

func (j *journal) write(id string, b []byte, durable bool) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := os.MkdirAll(j.dir, 0o700); err != nil {
		return fmt.Errorf("creating the journal: %w. Nothing was written", err)
	}
	name, fresh := id+segmentExt, true
	if n := len(j.segments); n > 0 {
		last := j.segments[n-1]
		// A torn record at the end of a segment stays where it is.
		if last.read == last.size && (last.size < segmentSize || !durable) {
			name, fresh = last.name, false
		}
	}
	f, err := os.OpenFile(filepath.Join(j.dir, name), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("writing the journal: %w. Nothing was written", err)
	}
	if _, err = f.Write(b); err == nil && durable {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil && fresh {
		err = syncDir(j.dir)
	}
	if err != nil {
		return fmt.Errorf("writing the journal: %w. Nothing was written; free some space or check the disk", err)
	}
	return j.refreshLocked()
}

// sync makes what was appended durable.
func (j *journal) sync() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	f, err := os.OpenFile(filepath.Join(j.dir, j.segments[len(j.segments)-1].name), os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("syncing the journal: %w", err)
	}
	return errors.Join(f.Sync(), f.Close())
}

// steps reads the texts of a record.
func (j *journal) steps(r *Record) ([]step, error) {
	f, err := os.Open(filepath.Join(j.dir, r.at.segment))
	if err != nil {
		return nil, fmt.Errorf("reading the journal: %w", err)
	}
	defer f.Close()
	payload := make([]byte, r.Payload)
	if _, err := f.ReadAt(payload, r.at.payload); err != nil {
		return nil, fmt.Errorf("reading the journal record %s: %w", r.ID, err)
	}
	return decodeSteps(*r, payload)
}

// last gives the newest record, nil when there is none.
func (j *journal) last() *Record {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.records) == 0 {
		return nil
	}
	return j.records[len(j.records)-1]
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
	for _, r := range slices.Backward(j.records) {
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

// trim drops old segments by age and total size, never the newest. The caller
// holds the lock.
func (j *journal) trim(now time.Time, age time.Duration, size int64) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	newest := map[string]time.Time{}
	for _, r := range j.records {
		if r.Time.After(newest[r.at.segment]) {
			newest[r.at.segment] = r.Time
		}
	}
	var total int64
	drop := -1
	for i, seg := range slices.Backward(j.segments) {
		total += seg.size
		last := i == len(j.segments)-1
		if !last && (total > size || now.Sub(newest[seg.name]) > age) {
			drop = i
			break
		}
	}
	for _, seg := range j.segments[:drop+1] {
		if err := os.Remove(filepath.Join(j.dir, seg.name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("trimming the journal: %w", err)
		}
	}
	if drop >= 0 {
		return j.refreshLocked()
	}
	return nil
}

// purge removes all segments. The caller holds the lock.
func (j *journal) purge() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := os.RemoveAll(j.dir); err != nil {
		return fmt.Errorf("purging the journal: %w", err)
	}
	j.segments, j.records, j.open = nil, nil, nil
	clear(j.byID)
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
