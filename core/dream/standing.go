package dream

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"mem/core/job"
)

// LockName is the lock file, in the memory directory (seed 24.6).
const LockName = ".consolidate-lock"

// StaleAfter is how old a lock whose process lives may be before it counts as left
// behind (seed 24.6). Runs of ours end by their own limit well before.
const StaleAfter = time.Hour

// sameTime is how far two times of one file may lie apart: file systems keep them to a
// nanosecond, a second (HFS+, NFS of old) or two (FAT).
const sameTime = 2 * time.Second

// Standing is what the lock file says, put right by our record.
type Standing struct {
	// Last is when the last successful run began; zero where there was none.
	Last time.Time `json:"lastSuccess,omitzero"`
	// Holder is the process that dreams now, 0 where none does.
	Holder int       `json:"pid,omitempty"`
	Since  time.Time `json:"since,omitzero"`
	// Crashed says that the last run of ours died; what it left was not counted.
	Crashed bool `json:"crashed,omitempty"`

	exists bool
	mtime  time.Time
}

// Standing looks at the lock without taking it: one stat, and our record. The content of
// the file is read only where somebody may hold it.
func (l *Lock) Standing() (Standing, error) {
	rec, err := readRecord(l.State)
	if err != nil {
		return Standing{}, err
	}
	p := filepath.Join(l.Directory, LockName)
	info, err := os.Lstat(p)
	if errors.Is(err, fs.ErrNotExist) {
		return Standing{}, nil
	}
	if err != nil {
		return Standing{}, err
	}
	if !info.Mode().IsRegular() {
		return Standing{}, notRegular(p)
	}
	now := l.now()
	content := ""
	if rec.Run != nil || info.Size() > 0 && fresh(now, info.ModTime()) {
		if content, err = readContent(p); err != nil {
			return Standing{}, err
		}
	}
	return l.stand(rec, seen{exists: true, mtime: info.ModTime(), content: content}, now), nil
}

// seen is a lock file as it was found.
type seen struct {
	exists  bool
	mtime   time.Time
	content string
}

// stand says what a lock file means.
func (l *Lock) stand(rec record, s seen, now time.Time) Standing {
	st := Standing{exists: s.exists, mtime: s.mtime}
	if !s.exists {
		return st
	}
	st.Last = s.mtime
	pid := holderOf(s.content)
	own := rec.Run != nil && rec.Run.left(s)
	if own {
		st.Last = rec.Run.Prior
	}
	switch {
	case own && rec.Run.PID == pid && l.alive(pid, rec.Run.Start):
		// What a run of ours that lives holds is held, however long it takes.
		st.Holder, st.Since = pid, rec.Run.Began
	case own:
		st.Crashed = true
	case pid != 0 && pid != l.pid() && fresh(now, s.mtime) && l.alive(pid, ""): // one with our number is dead
		st.Holder, st.Since = pid, s.mtime
	}
	if !st.Last.IsZero() && st.Last.Unix() <= 0 {
		st.Last = time.Time{} // what begins a lock file is no success, see create
	}
	return st
}

// left reports whether a lock file is as this run left it: then its time is no success.
func (u *unfinished) left(s seen) bool {
	since := s.mtime.Sub(u.Began)
	if since.Abs() <= sameTime || s.mtime.Unix() <= 0 {
		return true
	}
	if since < -sameTime || since > StaleAfter {
		return false // somebody else ran since, or it was put back already
	}
	return holderOf(s.content) == u.PID || u.Rolling && strings.TrimSpace(s.content) == ""
}

// fresh reports whether a lock of this age counts as held by a process that lives. A
// time that lies an hour ahead says as little as one that lies an hour back.
func fresh(now, mtime time.Time) bool { return now.Sub(mtime).Abs() < StaleAfter }

// holderOf gives the process that a lock file names, read as clients read it: the digits
// at the start. 0 is none.
func holderOf(content string) int {
	s := strings.TrimSpace(content)
	end := strings.IndexFunc(s, func(r rune) bool { return r < '0' || r > '9' })
	if end >= 0 {
		s = s[:end]
	}
	n, err := strconv.Atoi(s)
	if err != nil || n <= 0 || n > 1<<31-1 {
		return 0
	}
	return n
}

func (l *Lock) now() time.Time {
	if l.Now == nil {
		return time.Now()
	}
	return l.Now()
}

func (l *Lock) alive(pid int, start string) bool {
	if l.Alive != nil {
		return l.Alive(pid, start)
	}
	return job.Alive(pid, start)
}

func (l *Lock) processStart(pid int) string {
	if l.Start != nil {
		return l.Start(pid)
	}
	return job.ProcessStart(pid)
}
