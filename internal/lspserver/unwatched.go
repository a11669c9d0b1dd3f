package lspserver

import (
	"os"
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
	file    string // snapshot.json, which every publish writes last
	was     string
	unknown bool // it was not looked at yet
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

// teamChanged tells whether the snapshot was written since it was asked last.
func (d *directory) teamChanged(c *teamClock) bool {
	if c.file == "" {
		sh, err := d.shared()
		if err != nil || sh == nil {
			return false
		}
		c.file = filepath.Join(sh.Snapshot, agentmem.ManifestName)
	}
	now := ""
	if info, err := os.Stat(c.file); err == nil {
		now = info.ModTime().String() + " " + info.Mode().String()
	}
	changed := !c.unknown && now != c.was
	c.was, c.unknown = now, false
	return changed
}
