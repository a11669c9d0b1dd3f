package agentmem

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"mem/core/memdir"
	"mem/core/memory"
)

// Look reads a memory directory and says what rules find in it: how many problems of
// each severity, nil where it was not checked. Whoever calls again gets what has not
// changed from what is kept. The directory exists.
type Look func(ctx context.Context, dir string) (view *memdir.View, problems map[string]int, err error)

// Health is the state of a store at a glance.
type Health struct {
	Topics int         `json:"topics"`
	Logs   int         `json:"logs"`
	Index  memdir.Fill `json:"index"`
	Unread int         `json:"unread,omitempty"` // files that could not be read
	// Problems counts what rules find, by severity; secrets are not searched here.
	Problems   map[string]int `json:"problems,omitempty"`
	LastChange *time.Time     `json:"lastChange,omitempty"` // of a topic or log
}

// healthOf reads the state of a view.
func healthOf(m *memory.Memory, v *memdir.View, problems map[string]int) *Health {
	rule := memdir.SeedRule()
	rule.Lines, rule.Size = m.Config.Limits.IndexLines, int(m.Config.Limits.IndexBytes)
	h := &Health{Topics: len(v.Topics), Logs: len(v.Logs), Index: memdir.FillOf(v.Index, rule), Unread: len(v.Problems), Problems: problems}
	var last time.Time
	for _, t := range v.Topics {
		if t.ModTime.After(last) {
			last = t.ModTime
		}
	}
	for _, l := range v.Logs {
		if l.ModTime.After(last) {
			last = l.ModTime
		}
	}
	if !last.IsZero() {
		last = last.UTC()
		h.LastChange = &last
	}
	return h
}

// readView reads a directory once, for those who have no Look.
func readView(m *memory.Memory) Look {
	l := m.Config.Limits
	limits := memdir.Limits{TopicBytes: l.TopicBytes, ScanLines: l.ScanLines, EntryLength: l.EntryLength}
	return func(ctx context.Context, dir string) (*memdir.View, map[string]int, error) {
		root, err := os.OpenRoot(dir)
		if err != nil {
			return nil, nil, err
		}
		// Closed by the collector: who has the View loads topics later.
		v, err := memdir.Read(ctx, memdir.Disk(root), nil, limits)
		return v, nil, err
	}
}

// isFolder reports whether a directory is there; one that may not be looked at is.
func isFolder(dir string) bool {
	info, err := os.Stat(dir)
	if err != nil {
		return errors.Is(err, fs.ErrPermission)
	}
	return info.IsDir()
}
