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
	header  int64
	payload int64
}

// journal is the list of the changes made to a memory directory, in append-only
// segment files. What it knows of them is brought up to date by refresh.
// Appending, marking, trimming and purging need the lock of the directory.
type journal struct {
	dir         string
	segmentSize int64
	instant     instant

	mu       sync.Mutex
	segments []segment
	records  []*Record        // oldest first
	byPath   map[string][]int // which records were made to a path
	open     []*Record        // those without a mark, oldest first
	newer    int              // version of a record that only a later mem can read
	damaged  int64            // bytes that are no records, since they were last told of
	unsynced []string         // paths that the next sync makes durable
	listed   listing
}

// segment is a file of the journal as far as it was read.
type segment struct {
	name   string
	read   int64     // bytes of whole records
	size   int64     // bytes there are; more than read where a record is torn
	whole  bool      // read when a later segment existed already: it grows no more
	broken bool      // damage lies in it: readers without the lock stop there, so nothing is added
	newest time.Time // of its records
}

func newJournal(dir string, in instant) *journal {
	return &journal{dir: dir, segmentSize: segmentSize, instant: in, byPath: map[string][]int{}}
}

// refresh reads what was appended since the last time.
func (j *journal) refresh() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	err := j.refreshLocked()
	if errors.Is(err, fs.ErrNotExist) { // purged or trimmed while it was read
		err = j.refreshLocked()
	}
	if err != nil {
		return fmt.Errorf("reading the journal: %w", err)
	}
	return nil
}

// listing is what the journal's folder held when it was read.
type listing struct {
	names   []string
	folder  os.FileInfo
	settled bool // its time was old enough then
}

// settledAfter is how old a folder's time must be for an equal time later to mean
// an equal folder: some file systems keep times of two seconds.
const settledAfter = 2100 * time.Millisecond

func (j *journal) reset() {
	j.segments, j.records, j.open, j.newer, j.unsynced = nil, nil, nil, 0, nil
	clear(j.byPath)
}

func (j *journal) refreshLocked() error {
	if err := j.instant.at("list journal", j.dir); err != nil {
		return err
	}
	names, err := j.list()
	if err != nil {
		return err
	}
	if j.extends(names) {
		late, err := j.readSegments(names)
		if !late && !errors.Is(err, errCut) {
			return err
		}
	}
	j.reset()
	_, err = j.readSegments(names)
	return err
}

// list gives the names of the segments. The folder is read again when its time says
// that a file came or went; a time that was young at the last look says nothing.
func (j *journal) list() ([]string, error) {
	now := time.Now()
	info, err := os.Stat(j.dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		j.listed = listing{}
		return nil, nil
	case err != nil:
		return nil, err
	}
	if j.listed.settled && os.SameFile(info, j.listed.folder) && info.ModTime().Equal(j.listed.folder.ModTime()) {
		return j.listed.names, nil
	}
	entries, err := os.ReadDir(j.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), segmentExt) && (e.Type().IsRegular() || e.IsDir()) { // opening a pipe would wait for ever
			names = append(names, e.Name())
		}
	}
	j.listed = listing{names: names, folder: info, settled: now.Sub(info.ModTime()) > settledAfter}
	return names, nil
}

// readSegments reads what is new. It reports whether a record came to light that
// is older than others, which were read when it was taken for torn.
func (j *journal) readSegments(names []string) (late bool, err error) {
	for i, name := range names {
		last := i == len(names)-1
		switch {
		case i >= len(j.segments):
			j.segments = append(j.segments, segment{name: name})
		case j.segments[i].whole:
			continue
		}
		known := len(j.records)
		if err := j.readSegment(&j.segments[i], last); err != nil {
			return false, err
		}
		j.segments[i].whole = !last
		late = late || known > 0 && known < len(j.records) && j.records[known].ID < j.records[known-1].ID
	}
	return late, nil
}

// extends reports whether the segments known are the first ones of names.
func (j *journal) extends(names []string) bool {
	if len(names) < len(j.segments) {
		return false
	}
	return slices.EqualFunc(j.segments, names[:len(j.segments)], func(s segment, n string) bool { return s.name == n })
}

// errCut says that a segment has less than what was read of it.
var errCut = errors.New("the segment was cut")

// readSegment reads what was appended to a segment. The last one may end in a
// record that is just being written, or torn; in others what is damaged is
// skipped.
func (j *journal) readSegment(seg *segment, last bool) error {
	p := filepath.Join(j.dir, seg.name)
	info, err := os.Stat(p)
	if err != nil {
		return err
	}
	if info.Size() < seg.read {
		return errCut
	}
	if info.Size() == seg.read {
		seg.size = seg.read
		return nil
	}
	f, err := os.Open(p)
	if err != nil {
		return err
	}
	defer f.Close()
	seg.size = info.Size()
	rd := bufio.NewReaderSize(nil, 8<<10)
	for seg.read < seg.size && j.newer == 0 {
		rd.Reset(io.NewSectionReader(f, seg.read, seg.size-seg.read))
		head, err := readHeader(rd)
		if err == nil {
			if next, ok := j.take(seg, head); ok {
				seg.read = next
				continue
			}
		}
		if last || j.newer > 0 {
			return nil // the next writer starts a new segment
		}
		from := seg.read
		if err := j.skipDamage(seg, f); err != nil {
			return err
		}
		if seg.read == seg.size && !torn(f, from) {
			j.damaged += seg.size - from
		}
	}
	return nil
}

// torn reports whether what stands at an offset can be the beginning of a record of
// ours that a crash cut short, or the zeros that a crash of the system leaves. Then no
// change is lost with it; anything else has taken the place of some.
func torn(f *os.File, at int64) bool {
	const begin = `{"v":1,`
	b := make([]byte, len(begin))
	n, err := f.ReadAt(b, at)
	if err != nil && !errors.Is(err, io.EOF) {
		return true // who reads the segment next says so
	}
	return strings.HasPrefix(begin, string(b[:n])) || len(bytes.Trim(b[:n], "\x00")) == 0
}

// pastDamage reads what lies behind damage in the newest segment. The caller holds
// the lock: nobody is just writing there.
func (j *journal) pastDamage() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	for len(j.segments) > 0 && j.newer == 0 {
		seg := &j.segments[len(j.segments)-1]
		read := seg.read
		if read == seg.size {
			return nil
		}
		f, err := os.Open(filepath.Join(j.dir, seg.name))
		if err != nil {
			return err
		}
		err = errors.Join(j.skipDamage(seg, f), f.Close())
		if err == nil && seg.read < seg.size {
			seg.broken = true
			err = j.readSegment(seg, true)
		} else if err == nil {
			seg.read = read // nothing behind it: a record that a crash tore, never begun
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// skipDamage goes on to the next whole record of a segment that grows no more.
func (j *journal) skipDamage(seg *segment, f *os.File) error {
	rest := make([]byte, seg.size-seg.read)
	if _, err := f.ReadAt(rest, seg.read); err != nil {
		return err
	}
	for at := 0; ; {
		i := bytes.Index(rest[at:], []byte("\n{\"v\":1,\"id\":"))
		if i < 0 {
			break
		}
		at += i + 1
		head, _, ok := bytes.Cut(rest[at:], []byte{'\n'})
		r := &Record{}
		if !ok || json.Unmarshal(head, r) != nil || !r.valid() || r.Payload >= len(rest)-at-len(head)-1 {
			continue
		}
		payload := rest[at+len(head)+1:][:r.Payload]
		if checksum(payload) == r.Sum {
			j.damaged += int64(at)
			seg.read += int64(at)
			return nil
		}
	}
	seg.read = seg.size // torn at its end by a crash: that change was never begun
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
		j.ended(m)
		return after, true
	}
	r := &Record{}
	if json.Unmarshal(head, r) != nil {
		return 0, false
	}
	if r.Version > formatVersion {
		j.newer = r.Version
		return 0, false
	}
	if !r.valid() || int64(r.Payload) >= seg.size-after {
		return 0, false
	}
	next = after + int64(r.Payload) + 1
	r.at = position{seg.name, seg.read, after}
	j.know(seg, r)
	return next, true
}

// know adds a record to what is known.
func (j *journal) know(seg *segment, r *Record) {
	for _, f := range r.Files {
		j.byPath[f.Path] = append(j.byPath[f.Path], len(j.records))
	}
	j.records = append(j.records, r)
	j.open = append(j.open, r)
	if r.Time.After(seg.newest) {
		seg.newest = r.Time
	}
}

// ended notes how a change ended. Records are never changed, since readers hold
// them: an aborted one is replaced.
func (j *journal) ended(m mark) {
	id := m.Done + m.Aborted
	j.open = slices.DeleteFunc(j.open, func(r *Record) bool { return r.ID == id || r.Amends == id })
	if m.Aborted == "" {
		return
	}
	for i, r := range j.records {
		if r.ID == id || r.Amends == id && r.Op != OpDisplaced {
			aborted := *r
			aborted.aborted = true
			j.records[i] = &aborted
		}
	}
}

// steps reads the texts of a record.
func (j *journal) steps(r *Record) ([]step, error) {
	if err := j.instant.at("read journal", r.at.segment); err != nil {
		return nil, fmt.Errorf("reading the journal: %w", err)
	}
	f, err := os.Open(filepath.Join(j.dir, r.at.segment))
	if err != nil {
		return nil, fmt.Errorf("reading the journal: %w", err)
	}
	defer f.Close()
	payload := make([]byte, r.Payload)
	if _, err := f.ReadAt(payload, r.at.payload); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, &damagedError{r.ID, "it is cut short"}
		}
		return nil, fmt.Errorf("reading the journal record %s: %w", r.ID, err)
	}
	return decodeSteps(*r, payload)
}

// readable says why nothing must be written to the journal, nil when it may.
func (j *journal) readable() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.newer > 0 {
		return j.newerError()
	}
	return nil
}

// damage says what of the journal cannot be read, once; "" for nothing.
func (j *journal) damage() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := j.damaged
	j.damaged = 0
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d bytes of the history in %s are damaged; the changes in them cannot be undone. All others can.", n, j.dir)
}
