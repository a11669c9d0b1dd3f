package index

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// lock waits until no other process updates or replaces the index. Where the
// system has no locks it goes on without: transactions keep the index right.
func (x *Index) lock(ctx context.Context) (unlock func(), err error) {
	l := flock.New(filepath.Join(x.opts.Dir, "lock"), flock.SetPermissions(0o600))
	for {
		ok, err := l.TryLock()
		if err != nil || ok {
			return func() { l.Unlock() }, nil // closing it unlocks
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(25 * time.Millisecond):
		}
	}
}

// oldAge is how long an index of another version is kept: as long as it is
// written to, an older mem is in use beside this one.
const oldAge = 14 * 24 * time.Hour

// removeOld deletes indexes of other versions that nobody uses any more.
func (x *Index) removeOld() {
	names, err := filepath.Glob(filepath.Join(globEscape(x.opts.Dir), "transcripts-*.db"))
	if err != nil {
		return
	}
	for _, name := range names {
		st, err := os.Lstat(name)
		if err != nil || filepath.Base(name) == FileName || !st.Mode().IsRegular() || time.Since(st.ModTime()) < oldAge {
			continue
		}
		for _, suffix := range []string{"-wal", "-shm", ""} {
			os.Remove(name + suffix) // the next start tries again
		}
	}
}

func globEscape(dir string) string {
	if runtime.GOOS == "windows" {
		return dir // has no escapes; a miss leaves a file
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}
