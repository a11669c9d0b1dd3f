package workspace

import (
	"context"
	"io/fs"
	"maps"
	"slices"

	"mem/core/memdir"
	"mem/diagnostics"
)

// Ahead is a check of what somebody is about to write to a directory: it is made while
// the writer waits for the disk. It is for one change.
type Ahead struct {
	d    *Directory
	ctx  context.Context
	stop context.CancelFunc

	read chan struct{} // closed when view is there; nil where nobody reads
	src  fs.FS
	view *memdir.View // nil where it could not be read

	texts    map[string]string // that are expected
	checked  chan struct{}     // closed when the check of them is done; nil where there is none
	snapshot *diagnostics.Snapshot
	result   *diagnostics.Result // nil where it could not be made
}

// Ahead prepares the check of a change that is about to be made. Whoever made it calls
// Stop.
func (d *Directory) Ahead(ctx context.Context) *Ahead {
	a := &Ahead{d: d}
	a.ctx, a.stop = context.WithCancel(ctx)
	return a
}

// Stop ends what is still under way.
func (a *Ahead) Stop() { a.stop() }

// Read begins to read the directory, for a writer who takes no whole look at it.
func (a *Ahead) Read() {
	a.read = make(chan struct{})
	aside(a.read, func() {
		var err error
		if a.src, err = a.d.disk(); err == nil {
			a.view, _ = memdir.Read(a.ctx, a.src, a.d.views, a.d.limits) // Check reads again and says why
		}
	})
}

// aside looks ahead, beside whoever called. A look that breaks down ends quietly: Check
// looks again, where the caller reports a breakdown.
func aside(done chan<- struct{}, look func()) {
	go func() {
		defer close(done)
		defer func() { _ = recover() }()
		look()
	}()
}

// Expect begins to check what files will hold, by path. began is a View that the writer
// read with the cache of Options, nil where Read was called. It does not wait.
//
// A memory that is shared with a team is not checked ahead: its rules compare both sides
// as they are on disk.
func (a *Ahead) Expect(began *memdir.View, texts map[string]string) {
	if shared, err := a.d.Shared(); shared != nil || err != nil {
		return
	}
	a.texts, a.checked = texts, make(chan struct{})
	aside(a.checked, func() {
		v := began
		if v == nil && a.read != nil {
			<-a.read
			v = a.view
		}
		src, err := a.d.disk()
		if v == nil || err != nil {
			return
		}
		v, ok := v.Expecting(a.ctx, texts)
		if !ok {
			return
		}
		s := a.d.snapshotOf(v, src, nil)
		r, err := a.d.Check(a.ctx, s, diagnostics.Scope{Paths: slices.Sorted(maps.Keys(texts)), Late: true})
		if err == nil {
			a.snapshot, a.result = s, r
		}
	})
}

// Check gives what the rules, the late ones too, find in files that were written, and of
// which directory. left reports whether what was expected of the files is all that became
// of them; otherwise the files that changed, or went, are read and checked now, others as
// they were when Read was called or later.
func (a *Ahead) Check(left func(texts map[string]string) bool, changed, gone []string) (*diagnostics.Snapshot, *diagnostics.Result, error) {
	if a.checked != nil && left(a.texts) {
		<-a.checked
		if a.result != nil {
			return a.snapshot, a.result, nil
		}
	}
	s, err := a.after(slices.Concat(changed, gone))
	if err != nil {
		return nil, nil, err
	}
	r, err := a.d.Check(a.ctx, s, diagnostics.Scope{Paths: changed, Late: true})
	return s, r, err
}

func (a *Ahead) after(paths []string) (*diagnostics.Snapshot, error) {
	if a.read != nil {
		<-a.read
		if src, err := a.d.disk(); err == nil && a.view != nil && src == a.src {
			if v, ok := a.view.Changed(a.ctx, paths); ok {
				return a.d.snapshotOf(v, src, nil), nil
			}
		}
	}
	return a.d.Snapshot(a.ctx, nil)
}
