package job

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"

	"mem/core/atomicfile"
)

const (
	// cancelPoll is how often a running job looks whether somebody cancelled it.
	cancelPoll = 100 * time.Millisecond
	// progressEvery is how often progress reaches the record.
	progressEvery = 250 * time.Millisecond
)

// ErrCancelled is the cause with which the context of a job ends that somebody cancelled.
var ErrCancelled = errors.New("the job was cancelled")

// BusyError says that a job cannot be begun as it stands.
type BusyError struct {
	Record *Record
}

func (e *BusyError) Error() string {
	r := e.Record
	switch {
	case r.State.Final():
		return fmt.Sprintf("job %s is over: %s", r.ID, r.State)
	case r.State == Waiting:
		return fmt.Sprintf("job %s waits for what a host makes of it", r.ID)
	}
	return fmt.Sprintf("process %d has job %s already", r.Process, r.ID)
}

// EndedError says that a run was ended before.
type EndedError struct {
	ID string
}

func (e *EndedError) Error() string { return fmt.Sprintf("job %s was ended before", e.ID) }

// Run is a job that this process runs. End ends it.
type Run struct {
	jobs   *Jobs
	id     string
	cancel context.CancelCauseFunc
	stop   chan struct{}
	over   chan struct{} // the watcher returned

	mu    sync.Mutex
	rec   Record
	dirty bool
	ended bool
}

// Begin makes a queued job one that this process runs. The context that it gives ends
// with ctx, and with the cause ErrCancelled within 200 ms of a Cancel from any process.
// A *BusyError says that it is not to be begun.
func (j *Jobs) Begin(ctx context.Context, id string) (context.Context, *Run, error) {
	self := os.Getpid()
	rec, err := j.Update(id, func(r *Record) error {
		if r.State != Queued || r.Process != 0 && r.Process != self {
			return &BusyError{r}
		}
		if err := os.Remove(j.cancelFile(r.ID)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("beginning job %s: %w", r.ID, err)
		}
		r.State, r.Started = Running, j.env.Time()
		r.Process, r.ProcessStart = self, ProcessStart(self)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	run := &Run{jobs: j, id: rec.ID, cancel: cancel, stop: make(chan struct{}), over: make(chan struct{}), rec: clone(*rec)}
	go run.watch()
	return ctx, run, nil
}

// ID is that of the job.
func (r *Run) ID() string { return r.id }

// Record is the job as this process sees it now.
func (r *Run) Record() Record {
	r.mu.Lock()
	defer r.mu.Unlock()
	return clone(r.rec)
}

// Progress changes the record. It returns at once: the file follows about four times a
// second, and at the end. After End it does nothing.
func (r *Run) Progress(f func(*Record)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return
	}
	f(&r.rec)
	r.dirty = true
}

// End stores how the job ended, or, with Queued or Waiting, that it goes on elsewhere; f
// may change the record before. The context of Begin ends. A second End is an *EndedError.
func (r *Run) End(s State, f func(*Record)) error {
	r.mu.Lock()
	if r.ended {
		r.mu.Unlock()
		return &EndedError{r.id}
	}
	r.ended = true
	r.mu.Unlock()
	close(r.stop)
	<-r.over
	r.cancel(context.Canceled)
	if f != nil {
		f(&r.rec)
	}
	r.rec.State = s
	if s.Final() {
		r.rec.Ended = r.jobs.env.Time()
	} else {
		r.rec.Process, r.rec.ProcessStart = 0, ""
	}
	err := r.store(durable)
	if rm := os.Remove(r.jobs.cancelFile(r.id)); rm != nil && !errors.Is(rm, fs.ErrNotExist) {
		err = errors.Join(err, fmt.Errorf("ending job %s: %w", r.id, rm))
	}
	return err
}

// watch looks for a cancel and stores progress until End.
func (r *Run) watch() {
	defer close(r.over)
	tick := time.NewTicker(cancelPoll)
	defer tick.Stop()
	var stored time.Time
	for {
		select {
		case <-r.stop:
			return
		case <-tick.C:
		}
		if _, err := os.Lstat(r.jobs.cancelFile(r.id)); err == nil {
			r.cancel(ErrCancelled)
		}
		r.mu.Lock()
		due := r.dirty && time.Since(stored) >= progressEvery
		r.mu.Unlock()
		if due {
			stored = time.Now()
			_ = r.store(passing) // the next one, or the end, tries again
		}
	}
}

// store writes the record as this process sees it: nobody else changes one that runs.
func (r *Run) store(how atomicfile.Durability) error {
	_, err := r.jobs.update(r.id, how, func(disk *Record) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		if disk.State.Final() && disk.State != Lost {
			return &BusyError{disk}
		}
		*disk = clone(r.rec)
		r.dirty = false
		return nil
	})
	return err
}

// clone copies what a record shares with others.
func clone(r Record) Record {
	r.Params = append(r.Params[:0:0], r.Params...)
	r.Last = append(r.Last[:0:0], r.Last...)
	r.Touched = append(r.Touched[:0:0], r.Touched...)
	r.Sessions = append(r.Sessions[:0:0], r.Sessions...)
	r.Refused = append(r.Refused[:0:0], r.Refused...)
	return r
}
