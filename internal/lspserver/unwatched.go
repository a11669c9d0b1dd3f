package lspserver

import (
	"fmt"
	"hash/fnv"
	"io/fs"
	"path/filepath"
	"time"

	"mem/core/agentmem"
	"mem/core/memdir"
)

// teamEvery is how often it is looked whether the team's snapshot changed, where the
// client does not watch files: git brings news while nobody types.
const teamEvery = time.Second

// teamClock ticks where a snapshot has to be looked at, and knows what it was.
type teamClock struct {
	C       <-chan time.Time
	dir     string // the snapshot
	was     uint64 // what was in it, as stamp says
	unknown bool   // it was not looked at yet
}

// unwatched gives a clock for a memory that a team may share, where the client tells of no
// change on disk; elsewhere one that never ticks.
func (d *directory) unwatched() (c *teamClock, stop func()) {
	c = &teamClock{unknown: true}
	if p := memdir.PlaceOf(d.path); d.s.features.watch || p != memdir.PlaceAgent && p != memdir.PlaceSnapshot {
		return c, func() {}
	}
	t := time.NewTicker(teamEvery)
	c.C = t.C
	return c, t.Stop
}

// teamChanged tells whether anything in the snapshot was written since it was asked last:
// not its manifest alone, which git may write before the topics that it lists.
func (d *directory) teamChanged(c *teamClock) bool {
	if c.dir == "" {
		sh, err := d.shared()
		if err != nil || sh == nil {
			return false
		}
		c.dir = sh.Snapshot
	}
	now := stamp(c.dir)
	changed := !c.unknown && now != c.was
	c.was, c.unknown = now, false
	return changed
}

// maxStamped bounds the files that a stamp is of: more no snapshot has.
const maxStamped = 2 * agentmem.MaxFiles

// stamp gives a number for the files below a folder: their names, sizes and times. No
// file is opened.
func stamp(dir string) uint64 {
	h := fnv.New64a()
	n := 0
	_ = filepath.WalkDir(dir, func(p string, e fs.DirEntry, err error) error {
		if n++; n > maxStamped {
			return fs.SkipAll
		}
		if err != nil {
			return nil // what cannot be looked at is not there for anybody
		}
		info, err := e.Info()
		if err == nil && !e.IsDir() {
			fmt.Fprintln(h, p, info.Size(), info.ModTime().UnixNano(), info.Mode())
		}
		return nil
	})
	return h.Sum64()
}
