package lspserver

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"mem/core/memdir"
	"mem/diagnostics"
)

// lease is a memory directory opened for use, with those who use it. The folder
// may be renamed, deleted or made anew behind the editor's back; what was opened
// would stay the old folder, so whoever needs the directory gets a lease of the
// one that stands at the path now, and the old one is closed after its last use.
type lease struct {
	ws   *workspaceDirectory
	info os.FileInfo // of the folder; nil where there is none yet
	dir  *directory

	// guarded by dir.mu
	uses    int
	retired bool

	mu   sync.Mutex
	last struct {
		open []*document
		snap *diagnostics.Snapshot
		at   time.Time
	}
}

// lease gives the directory at the path as it stands there now. The caller
// returns it.
func (d *directory) lease() (*lease, error) {
	info, err := os.Stat(d.path)
	if err != nil {
		info = nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if l := d.current; l != nil {
		if l.info == nil && info == nil || l.info != nil && info != nil && os.SameFile(l.info, info) {
			l.uses++
			return l, nil
		}
		d.retire()
	}
	ws, err := openWorkspace(d.path, workspaceOptions{Env: d.s.o.Env, Project: d.s.projectOf(d.path)})
	if err != nil {
		return nil, err
	}
	for _, w := range ws.Warnings {
		d.s.logOnce(w, "%s", w)
	}
	d.current = &lease{ws: ws, info: info, dir: d, uses: 1}
	return d.current, nil
}

// retire gives the current lease up. d.mu is held.
func (d *directory) retire() {
	if l := d.current; l != nil {
		d.current = nil
		l.retired = true
		if l.uses == 0 {
			l.ws.Close()
		}
	}
}

func (l *lease) done() {
	l.dir.mu.Lock()
	defer l.dir.mu.Unlock()
	if l.uses--; l.uses == 0 && l.retired {
		l.ws.Close()
	}
}

// restAfter is how old a Snapshot may be for an answer about a place. What is
// shown of a file is read anew anyway; only that files came or went, or what their
// frontmatter says, could be as old.
const restAfter = time.Second

// snapshot gives the directory with open documents over it. fresh asks for one
// that was read after the call.
func (l *lease) snapshot(ctx context.Context, open []*document, fresh bool) (*diagnostics.Snapshot, error) {
	l.mu.Lock()
	last := l.last
	l.mu.Unlock()
	if !fresh && last.snap != nil && time.Since(last.at) < restAfter && slices.Equal(last.open, open) && last.snap.View.SameFiles() {
		return last.snap, nil
	}
	at := time.Now()
	buffers := map[string]memdir.Buffer{}
	for _, doc := range open {
		if !doc.lost {
			buffers[doc.rel] = doc.buffer()
		}
	}
	snap, err := l.ws.Snapshot(ctx, buffers)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last.open, l.last.snap, l.last.at = open, snap, at
	return snap, nil
}

// projectOf gives the folder of the workspace whose memory a directory is, ""
// where none is.
func (s *server) projectOf(dir string) string {
	for _, folder := range s.features.folders {
		if l, err := memdir.Locate(s.o.Env, memdir.LocateOptions{Project: folder}); err == nil && (l.Directory == dir || l.Real == dir) {
			return folder
		}
	}
	for _, folder := range s.features.folders {
		if rel, err := filepath.Rel(folder, dir); err == nil && filepath.IsLocal(rel) && !strings.HasPrefix(rel, "..") {
			return folder
		}
	}
	return ""
}
