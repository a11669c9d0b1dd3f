package lspserver

import (
	"context"
	"path/filepath"
	"slices"
	"time"

	"mem/core/memdir"
	"mem/diagnostics"
	"mem/diagnostics/workspace"
)

// restAfter is how old a Snapshot may be for an answer about a place. What is
// shown of a file is read anew anyway; only that files came or went, or what their
// frontmatter says, could be as old.
const restAfter = time.Second

// recent is the last Snapshot that was made, and of what.
type recent struct {
	open []*document
	snap *diagnostics.Snapshot
	at   time.Time
	docs map[string]*diagnostics.Doc // what was asked about, parsed
}

// opened gives the directory for use. It is opened when it is first needed.
func (d *directory) opened() (*workspace.Directory, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ws != nil {
		return d.ws, nil
	}
	ws, err := workspace.Open(d.path, workspace.Options{Env: d.s.o.Env, Project: d.s.projectOf(d.path), Origin: d.s.origin})
	if err != nil {
		return nil, err
	}
	for _, w := range ws.Warnings {
		d.s.logOnce(w, "%s", w)
	}
	if d.s.engine != nil {
		ws.Engine = d.s.engine
	}
	d.ws = ws
	return ws, nil
}

// snapshot gives the directory with open documents over it. fresh asks for one
// that is read now.
func (d *directory) snapshot(ctx context.Context, open []*document, fresh bool) (*workspace.Directory, *diagnostics.Snapshot, error) {
	ws, err := d.opened()
	if err != nil {
		return nil, nil, err
	}
	d.mu.Lock()
	last := d.last
	d.mu.Unlock()
	if !fresh && last.snap != nil && time.Since(last.at) < restAfter && slices.Equal(last.open, open) && last.snap.View.SameFiles() {
		return ws, last.snap, nil
	}
	at := time.Now()
	buffers := map[string]memdir.Buffer{}
	for _, doc := range open {
		if !doc.lost {
			buffers[doc.rel] = doc.buffer()
		}
	}
	snap, err := ws.Snapshot(ctx, buffers)
	if err != nil {
		return nil, nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.last = recent{open: open, snap: snap, at: at}
	return ws, snap, nil
}

// parsed gives a file of a Snapshot. Of the last one it is kept, with its outline.
func (d *directory) parsed(snap *diagnostics.Snapshot, rel string) (*diagnostics.Doc, error) {
	d.mu.Lock()
	kept, current := d.last.docs[rel], d.last.snap == snap
	d.mu.Unlock()
	if current && kept != nil {
		return kept, nil
	}
	doc, err := snap.Doc(rel)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.last.snap == snap {
		if d.last.docs == nil {
			d.last.docs = map[string]*diagnostics.Doc{}
		}
		d.last.docs[rel] = doc
	}
	return doc, nil
}

// projectOf gives the folder of the workspace whose memory a directory is, ""
// where none is.
func (s *server) projectOf(dir string) string {
	for _, folder := range s.features.folders {
		if rel, err := filepath.Rel(folder, dir); err == nil && filepath.IsLocal(rel) {
			return folder
		}
	}
	for _, folder := range s.features.folders {
		if l, err := memdir.Locate(s.o.Env, memdir.LocateOptions{Project: folder}); err == nil && (l.Directory == dir || l.Real == dir) {
			return folder
		}
	}
	return ""
}
