package store

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"sync"
	"time"

	"mem/core/text"
)

// bases keeps texts by hash, bounded, one file each. They only make merges
// possible: losing one costs a merge, never a memory. So nothing is synced.
type bases struct {
	dir   string
	count int
	size  int64

	mu      sync.Mutex
	known   map[string]time.Time // when each was last seen to be there
	written int
}

// knownFor is how long a base counts as there without a look: other processes
// drop the oldest ones.
const knownFor = time.Minute

func newBases(dir string, count int, size int64) *bases {
	return &bases{dir: dir, count: count, size: size, known: map[string]time.Time{}}
}

// has reports whether a base was there a moment ago.
func (b *bases) has(hash string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return time.Since(b.known[hash]) < knownFor
}

func (b *bases) keep(hash, content string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if now.Sub(b.known[hash]) < knownFor || b.count < 1 || int64(len(content)) > b.size {
		return
	}
	p := filepath.Join(b.dir, hash)
	if info, err := os.Stat(p); err == nil && info.Size() == int64(len(content)) {
		_ = os.Chtimes(p, now, now) // as young as it is handed out
	} else {
		if os.MkdirAll(b.dir, 0o700) != nil || os.WriteFile(p, []byte(content), 0o600) != nil {
			return
		}
		b.written++
	}
	if len(b.known) > 4*b.count {
		clear(b.known)
	}
	b.known[hash] = now
	if b.written >= b.count/8+1 {
		b.written = 0
		b.prune()
	}
}

func (b *bases) find(hash string) (string, bool) {
	if !isHash(hash) {
		return "", false
	}
	content, err := readPlain(filepath.Join(b.dir, hash))
	// A base half written by a killed process is no base.
	if err != nil || text.Hash(string(content)) != hash {
		return "", false
	}
	return string(content), true
}

// readPlain reads a regular file; a pipe in its place would be waited on for ever.
func readPlain(p string) ([]byte, error) {
	info, err := os.Lstat(p)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", p)
	}
	return os.ReadFile(p)
}

// prune removes the oldest bases past the bounds.
func (b *bases) prune() {
	entries, err := os.ReadDir(b.dir)
	if err != nil {
		return
	}
	var files []os.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			files = append(files, info)
		}
	}
	sort.Slice(files, func(i, j int) bool { return files[i].ModTime().After(files[j].ModTime()) })
	var total int64
	for i, f := range files {
		total += f.Size()
		if i >= b.count || total > b.size {
			// Another process may have removed it first.
			_ = os.Remove(filepath.Join(b.dir, f.Name()))
			delete(b.known, f.Name())
		}
	}
}

func (b *bases) purge() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	clear(b.known)
	return os.RemoveAll(b.dir)
}

// isHash keeps what an agent gives for a hash from being used as a path.
func isHash(s string) bool {
	if len(s) != 32 {
		return false
	}
	for _, r := range s {
		if (r < '0' || r > '9') && (r < 'a' || r > 'f') {
			return false
		}
	}
	return true
}
