package job

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

	"mem/core/atomicfile"
	"mem/core/settings"
)

// Version is that of the records which this program writes.
const Version = 1

// Bounds of what is kept.
const (
	// KeepAge is how long a record is kept that is over, or that nobody touched.
	KeepAge = 30 * 24 * time.Hour
	// KeepRecords is how many records are kept at most. What is not over is never
	// dropped for it: where so much is open, no more is begun.
	KeepRecords = 500
	// maxRecord is the size in bytes past which a file is no record of ours: several times
	// what the bounds of its lists and texts add up to.
	maxRecord = 8 << 20
	// unseenAfter is how long a record may go without news when its process is in
	// another container or on another machine, where we cannot see whether it lives.
	unseenAfter = time.Hour
)

// Names in the state directory.
const (
	jobsDir   = "jobs"
	locksDir  = "locks"
	lockName  = "lock"
	recordExt = ".json"
	cancelExt = ".cancel"
	logExt    = ".log"
	tempExt   = ".tmp"
)

// Jobs are the records of one memory.
type Jobs struct {
	state string
	dir   string
	env   settings.Env
}

// Open gives the jobs of the memory with this state directory. It touches nothing: the
// folder is made with the first record.
func Open(stateDirectory string, env settings.Env) *Jobs {
	return &Jobs{state: stateDirectory, dir: filepath.Join(stateDirectory, jobsDir), env: env}
}

// Directory is where the records lie.
func (j *Jobs) Directory() string { return j.dir }

// Log is the file that takes what the process of a job prints.
func (j *Jobs) Log(id string) string { return filepath.Join(j.dir, id+logExt) }

// NotFoundError says that there is no such job, or several.
type NotFoundError struct {
	Ref   string
	Match []string // ids that begin so, when there are several
}

func (e *NotFoundError) Error() string {
	if len(e.Match) > 1 {
		return fmt.Sprintf("several jobs begin with %q: %s. Give more of the id", e.Ref, strings.Join(e.Match, ", "))
	}
	return fmt.Sprintf("there is no job %q; records are kept for %d days. `mem-mcp jobs` lists them", e.Ref, int(KeepAge.Hours())/24)
}

// Is makes a missing job an fs.ErrNotExist.
func (e *NotFoundError) Is(target error) bool { return target == fs.ErrNotExist && len(e.Match) == 0 }

// RecordError says that a record cannot be read.
type RecordError struct {
	File string
	Err  error
}

func (e *RecordError) Error() string {
	return fmt.Sprintf("the record %s cannot be read: %v. Remove the file if it is of no use", e.File, e.Err)
}

func (e *RecordError) Unwrap() error { return e.Err }

// Create stores a new record, with an id and the time. The state is Queued unless the
// record has one. What is too old goes, see KeepAge.
func (j *Jobs) Create(r Record) (*Record, error) {
	if r.Kind == "" {
		return nil, errors.New("a job needs a kind")
	}
	unlock, err := j.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	ids, err := j.ids()
	if err != nil {
		return nil, err
	}
	if ids, err = j.trim(ids); err != nil {
		return nil, err
	}
	last := ""
	if len(ids) > 0 {
		last = ids[len(ids)-1]
	}
	now := j.env.Time()
	r.Version = Version
	r.Created = now
	if r.State == "" {
		r.State = Queued
	}
	if r.ID, err = newID(now, last); err != nil {
		return nil, err
	}
	if err := j.write(&r, durable); err != nil {
		return nil, err
	}
	return &r, nil
}

// Get gives the job with this id, or the only one whose id begins so. One whose process
// died comes back as Lost.
func (j *Jobs) Get(ref string) (*Record, error) {
	id, err := j.resolve(ref)
	if err != nil {
		return nil, err
	}
	return j.read(id)
}

// ListOptions choose what List gives; zero is everything.
type ListOptions struct {
	Kind  string
	Open  bool // only what is not over
	Limit int  // 0 is all
}

// List gives the records, newest first. One that cannot be read is there too: Lost, with
// the reason, unless a kind or open ones are asked for.
func (j *Jobs) List(o ListOptions) ([]*Record, error) {
	ids, err := j.ids()
	if err != nil {
		return nil, err
	}
	var out []*Record
	for _, id := range slices.Backward(ids) {
		if o.Limit > 0 && len(out) == o.Limit {
			break
		}
		r, err := j.read(id)
		var wrong *RecordError
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue // dropped meanwhile
		case errors.As(err, &wrong):
			r = &Record{ID: id, State: Lost, Reason: wrong.Error()}
		case err != nil:
			return nil, err
		}
		if (o.Kind != "" && r.Kind != o.Kind) || (o.Open && r.State.Final()) {
			continue
		}
		out = append(out, r)
	}
	return out, nil
}

// Update changes a record, alone among all processes. f sees it as Get gives it; when f
// fails nothing changes, and its error comes back.
func (j *Jobs) Update(id string, f func(*Record) error) (*Record, error) {
	return j.update(id, durable, f)
}

func (j *Jobs) update(ref string, how atomicfile.Durability, f func(*Record) error) (*Record, error) {
	id, err := j.resolve(ref)
	if err != nil {
		return nil, err
	}
	unlock, err := j.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	r, err := j.read(id)
	if err != nil {
		return nil, err
	}
	if err := f(r); err != nil {
		return nil, err
	}
	r.ID, r.Version = id, Version
	if err := j.write(r, how); err != nil {
		return nil, err
	}
	return r, nil
}

// Cancel ends a job, whoever runs it. What nobody works on is Cancelled at once; a process
// that runs one is told, and its record says Cancelled when it obeyed. A job that is over
// stays as it is.
func (j *Jobs) Cancel(ref string) (*Record, error) {
	return j.Update(ref, func(r *Record) error {
		switch {
		case r.State.Final():
			return nil
		case r.State == Running:
			return j.tellCancel(r.ID)
		}
		reason := "cancelled before it was begun"
		if r.State == Waiting {
			reason = "cancelled while it waited for a host"
		}
		r.State, r.Ended, r.Reason = Cancelled, j.env.Time(), reason
		r.Process, r.ProcessStart = 0, ""
		return nil
	})
}

func (j *Jobs) tellCancel(id string) error {
	f, err := os.OpenFile(j.cancelFile(id), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("telling the process of job %s to stop: %w", id, err)
	}
	return f.Close()
}

func (j *Jobs) cancelFile(id string) string { return filepath.Join(j.dir, id+cancelExt) }

func (j *Jobs) recordFile(id string) string { return filepath.Join(j.dir, id+recordExt) }

// resolve finds the id that ref is or begins.
func (j *Jobs) resolve(ref string) (string, error) {
	if validID(ref) {
		if _, err := os.Lstat(j.recordFile(ref)); err == nil {
			return ref, nil
		}
	}
	ids, err := j.ids()
	if err != nil {
		return "", err
	}
	var match []string
	if ref != "" {
		for _, id := range ids {
			if strings.HasPrefix(id, ref) {
				match = append(match, id)
			}
		}
	}
	if len(match) == 1 {
		return match[0], nil
	}
	if len(match) > 10 {
		match = append(match[:10], "…")
	}
	return "", &NotFoundError{Ref: ref, Match: match}
}

// ids gives the ids of all records, oldest first.
func (j *Jobs) ids() ([]string, error) {
	entries, err := os.ReadDir(j.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("listing jobs: %w", err)
	}
	var ids []string
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), recordExt); ok && validID(id) {
			ids = append(ids, id)
		}
	}
	return ids, nil // ReadDir sorts
}

// read gives a record as it is now: Lost when its process died.
func (j *Jobs) read(id string) (*Record, error) {
	name := j.recordFile(id)
	b, info, err := readRegular(name, maxRecord)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &NotFoundError{Ref: id}
	}
	if err != nil {
		return nil, &RecordError{name, err}
	}
	var r Record
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, &RecordError{name, err}
	}
	switch {
	case r.Version > Version:
		return nil, &RecordError{name, fmt.Errorf("a later version of mem wrote it (format %d; this one knows %d)", r.Version, Version)}
	case r.Version < 1 || r.Kind == "" || r.State == "":
		return nil, &RecordError{name, errors.New("it has no version, kind or state")}
	}
	r.ID = id
	j.settle(&r, info.ModTime())
	return &r, nil
}

// settle makes a record Lost whose process is no more; heard is when it last wrote.
func (j *Jobs) settle(r *Record, heard time.Time) {
	if r.State.Final() || r.Process == 0 {
		return
	}
	life := look(r.Process, r.ProcessStart)
	if life == alive || life == unseen && j.env.Time().Sub(heard) < unseenAfter {
		return
	}
	how := "ended without a word, and"
	if life == unseen {
		how = "is in another container or on another machine, and"
	}
	r.State, r.Ended = Lost, heard
	r.Reason = fmt.Sprintf("its process %d %s was last heard of at %s", r.Process, how, heard.UTC().Format(time.RFC3339))
}
