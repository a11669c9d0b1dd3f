package index

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"
)

// A batch is written when one of these is reached: small enough that other
// processes wait for a moment only, that little is done again after an end in
// the middle, and that a search soon sees what was read.
const (
	batchEntries = 4_000
	batchBytes   = 64 << 20
	batchTime    = time.Second
	batchFiles   = 100 // they are open until then
)

// UpdateOptions of one update.
type UpdateOptions struct {
	// Progress is told of bytes of transcript that were read, of those that are to
	// be read in this update. It is called by one goroutine.
	Progress func(done, total int64)
}

// Report says what an update did.
type Report struct {
	Files     int   // sources that were given
	Changed   int   // of these, new or changed
	Gone      int   // transcripts that are gone and were taken out
	Entries   int   // that were added
	Bytes     int64 // of transcript that were read
	Malformed int   // lines that are no JSON object
	TooLong   int   // records over MaxRecordBytes
	Repeated  int   // entries that were left out as further copies of a record
	LeftOut   int   // sessions that the size limit left out, in all
	Rebuilt   bool  // the index was damaged and was built anew
	Unread    []Unread
	Pending   int64 // bytes that are left to be read, where the update was ended early
}

var errClosed = errors.New("the index of transcripts is closed")

// Update brings the index up to date with sources: it reads what was appended to
// each since the last time, reads anew what was replaced, and takes out what is
// gone. Sources that are not given stay as they are while their files exist.
//
// A cancelled context ends it within one batch; what was read until then stays in
// the index, and the next update goes on from there. So a search that must answer
// in time gives the update a deadline, and searches what there is. An index that
// turns out to be damaged is built anew.
func (x *Index) Update(ctx context.Context, sources []Source, o UpdateOptions) (Report, error) {
	x.updating.Lock()
	defer x.updating.Unlock()
	if x.db == nil {
		return Report{}, errClosed
	}
	follow := func() error {
		x.reading.Lock()
		defer x.reading.Unlock()
		return x.follow(ctx)
	}
	if err := follow(); err != nil {
		return Report{}, err
	}
	rep, err := x.update(ctx, sources, o)
	if errors.Is(err, ErrBusy) && !x.readOnly && !x.named() {
		if err := follow(); err != nil {
			return rep, err
		}
		rep, err = x.update(ctx, sources, o)
	}
	if _, merr := os.Lstat(x.path + damagedMark); merr == nil && !x.readOnly || errors.Is(err, ErrDamaged) {
		if err := x.rebuild(ctx); err != nil {
			return rep, err
		}
		rep, err = x.update(ctx, sources, o)
		rep.Rebuilt = true
	}
	return rep, err
}

func (x *Index) update(ctx context.Context, sources []Source, o UpdateOptions) (Report, error) {
	rep := Report{Files: len(sources)}
	if x.readOnly {
		return rep, fmt.Errorf("%w: make %s writable, or set XDG_CACHE_HOME to a folder that is", ErrReadOnly, x.path)
	}
	p, err := x.plan(ctx, sources)
	if err == nil && !p.empty() {
		var unlock func()
		if unlock, err = x.lock(ctx); err == nil {
			defer unlock()
			// Another process may have done it all while we waited.
			if p, err = x.plan(ctx, sources); err == nil && !p.empty() {
				err = x.register(ctx, p)
			}
		}
	}
	if err != nil {
		return rep, x.problem(err)
	}
	rep.Unread = p.unread
	rep.Changed, rep.Gone = len(p.jobs), len(p.gone)
	for _, s := range p.known {
		if s.omitted {
			rep.LeftOut++
		}
	}
	if len(p.jobs) > 0 {
		u := &run{x: x, rep: &rep, o: o, jobs: p.jobs}
		err = u.all(ctx)
		for _, j := range p.jobs {
			if !j.done && !j.lost {
				rep.Pending += max(0, j.content-j.expect)
			}
		}
	}
	return rep, x.problem(err)
}

// run is one update: its jobs: workers parse, the caller's goroutine writes.
type run struct {
	x     *Index
	rep   *Report
	o     UpdateOptions
	jobs  []*job
	batch batch
	total int64
}

type task struct {
	job         *job
	from, to    int64
	first, last bool
	out         chan chunk
}

type batch struct {
	rows  []row
	words []string
	jobs  []*job // in the batch, each once
	bytes int64
	since time.Time
}

type row struct {
	id rowID
	entry
}

func (u *run) all(ctx context.Context) error {
	for _, j := range u.jobs {
		u.total += j.content - j.offset
	}
	work, stop := context.WithCancel(ctx)
	queue := make(chan *task, 2*u.x.opts.Workers) // in order
	todo := make(chan *task)
	var running sync.WaitGroup
	running.Go(func() { u.split(work, queue, todo) })
	for range u.x.opts.Workers {
		running.Go(func() {
			p := &parser{redact: u.x.redact, words: map[string]struct{}{}, copies: map[string]int{}}
			for t := range todo {
				t.out <- p.parse(work, t.job.file, t.from, t.to, t.job.content, t.first)
			}
		})
	}
	err := u.write(ctx, queue)
	stop()
	running.Wait()
	for _, j := range u.jobs {
		j.close()
	}
	return err
}

func (j *job) close() {
	if j.file != nil {
		j.file.Close()
		j.file = nil
	}
}

// split opens the jobs and cuts them into tasks. A job that cannot be opened
// gets one task that says so.
func (u *run) split(ctx context.Context, queue, todo chan<- *task) {
	defer close(queue)
	defer close(todo)
	for _, j := range u.jobs {
		f, err := u.x.opts.Open(j.Path)
		if err == nil && f.Size() < j.content {
			f.Close()
			err = errCut
		}
		if err != nil {
			t := &task{job: j, last: true, out: make(chan chunk, 1)}
			t.out <- chunk{err: err}
			select {
			case queue <- t:
			case <-ctx.Done():
				return
			}
			continue
		}
		j.file = f
		begin := j.offset // which moves as soon as the first task is out
		for from := begin; ; {
			to := min(from+chunkBytes, j.content)
			t := &task{job: j, from: from, to: to, first: from == begin, last: to >= j.content, out: make(chan chunk, 1)}
			select {
			case queue <- t:
			case <-ctx.Done():
				return
			}
			select {
			case todo <- t:
			case <-ctx.Done():
				return
			}
			if from = to; t.last {
				break
			}
		}
	}
}

// write takes the parsed chunks in order and writes them in batches.
func (u *run) write(ctx context.Context, queue <-chan *task) error {
	u.batch.since = time.Now()
	for {
		var t *task
		var ok bool
		select {
		case t, ok = <-queue:
		case <-ctx.Done():
		}
		if t == nil && ctx.Err() == nil {
			return u.flush(ctx) // the queue is closed
		}
		var c chunk
		if ok {
			select {
			case c = <-t.out:
			case <-ctx.Done():
			}
		}
		if err := ctx.Err(); err != nil {
			// What was parsed is written all the same: it is little, and it is what
			// a search with a deadline waits for.
			if ferr := u.flush(context.WithoutCancel(ctx)); ferr != nil {
				return ferr
			}
			return err
		}
		u.take(t, c)
		b := &u.batch
		if len(b.rows) >= batchEntries || len(b.jobs) >= batchFiles || b.bytes >= batchBytes || time.Since(b.since) >= batchTime {
			if err := u.flush(ctx); err != nil {
				return err
			}
		}
		if u.o.Progress != nil {
			u.o.Progress(u.rep.Bytes, u.total)
		}
	}
}

// take puts a chunk into the batch.
func (u *run) take(t *task, c chunk) {
	j, b := t.job, &u.batch
	u.rep.Bytes += t.to - t.from
	if j.lost {
		return
	}
	if c.err != nil {
		j.lost = true
		u.rep.Unread = append(u.rep.Unread, Unread{j.Path, c.err.Error()})
		return
	}
	if !slices.Contains(b.jobs, j) {
		b.jobs = append(b.jobs, j)
	}
	u.rep.Malformed += c.malformed
	u.rep.TooLong += c.tooLong
	u.rep.Repeated += c.repeated
	b.bytes += t.to - t.from
	b.words = append(b.words, c.words...)
	for _, e := range c.entries {
		turn, within, ok := j.place.next(e.role)
		if !ok {
			break
		}
		if e.time > 0 {
			if j.first == 0 || e.time < j.first {
				j.first = e.time
			}
			j.last = max(j.last, e.time)
		}
		j.entries++
		b.rows = append(b.rows, row{makeID(j.id, turn, within, e.role), e})
	}
	j.offset = max(j.offset, c.end)
	j.done = j.done || t.last
}

// redact removes secrets from a text.
func (x *Index) redact(text string) string {
	b := []byte(text)
	out, found := x.guard.Redact(b)
	if len(found) == 0 {
		return text
	}
	return string(out)
}
