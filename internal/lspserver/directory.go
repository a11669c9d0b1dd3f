package lspserver

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.lsp.dev/protocol"

	"mem/core/memdir"
	"mem/core/text"
	"mem/diagnostics"
	"mem/diagnostics/workspace"
)

// lateAfter is how long nothing is typed before the late rules run.
const lateAfter = 300 * time.Millisecond

// directory is a memory directory in which documents are open, with the one
// goroutine that checks it.
type directory struct {
	s    *server
	path string
	wake chan struct{}
	stop context.CancelFunc

	reading sync.Mutex // held while a Snapshot is made; before mu

	mu      sync.Mutex
	ws      *workspace.Directory
	config  fileStamp // of the user's configuration with which ws was opened
	last    recent
	abandon context.CancelFunc // the check under way
	typing  atomic.Bool        // nothing else happened since the last check
	lens    string             // what lenses said of a shared memory
	late    map[string]lateFindings
	given   map[string]given
}

// lateFindings are what the late rules last found in a document.
type lateFindings struct {
	in    *text.Text
	found []diagnostics.Finding
}

// given is what the client was given for a document.
type given struct {
	doc  *document
	hash string
}

// check has directories checked soon, in which documents are open; others are
// closed. Only what handles notifications calls it.
func (s *server) check(dirs ...string) {
	for _, path := range dirs {
		s.mu.Lock()
		d := s.dirs[path]
		s.mu.Unlock()
		if d != nil {
			d.typing.Store(false)
		}
	}
	s.checkTyped(dirs...)
}

// checkTyped is check where all that happened is that somebody typed.
func (s *server) checkTyped(dirs ...string) {
	for _, path := range dirs {
		if path == "" {
			continue
		}
		s.mu.Lock()
		d, open := s.dirs[path], len(s.docs.in(path)) > 0
		switch {
		case open && d == nil:
			d = s.newDirectory(path)
			s.dirs[path] = d
		case !open && d != nil:
			delete(s.dirs, path)
		}
		s.mu.Unlock()
		switch {
		case d == nil:
		case open:
			d.again()
		default:
			d.stop()
		}
	}
}

// checkAll has every directory checked.
func (s *server) checkAll() {
	s.mu.Lock()
	var all []string
	for path := range s.dirs {
		all = append(all, path)
	}
	s.mu.Unlock()
	s.check(all...)
}

// directory gives the directory of a document, nil where it is none of ours.
func (s *server) directory(doc *document) *directory {
	if doc == nil || doc.dir == "" {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dirs[doc.dir]
}

func (s *server) newDirectory(path string) *directory {
	ctx, cancel := context.WithCancel(s.ctx)
	d := &directory{s: s, path: path, wake: make(chan struct{}, 1), stop: cancel, late: map[string]lateFindings{}, given: map[string]given{}}
	s.running.Go(func() { d.run(ctx) })
	s.watchDirectory(ctx, path)
	return d
}

// closeDirectories lets all go, when nothing is checked any more.
func (s *server) closeDirectories() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, d := range s.dirs {
		d.stop()
	}
	s.dirs = map[string]*directory{}
}

// again has the directory checked, and what is being found abandoned: it is of a
// text that is no more.
func (d *directory) again() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.abandon != nil {
		d.abandon()
	}
}

func (d *directory) run(ctx context.Context) {
	defer func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.ws != nil {
			d.ws.Close()
		}
	}()
	idle := time.NewTimer(time.Hour)
	idle.Stop()
	defer idle.Stop()
	changed, unwatch := d.unwatched()
	defer unwatch()
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.wake:
			d.look(ctx, false)
			idle.Reset(lateAfter)
		case <-idle.C:
			d.look(ctx, true)
		case <-changed.C:
			if d.teamChanged(changed) {
				d.typing.Store(false)
				d.look(ctx, false)
				idle.Reset(lateAfter)
			}
		}
	}
}

// look checks what is open now and shows what was found.
func (d *directory) look(ctx context.Context, late bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	d.mu.Lock()
	d.abandon = cancel
	d.mu.Unlock()
	docs := d.s.documents()
	open := docs.in(d.path)
	if d.s.lookOutside(open) {
		time.AfterFunc(settleAfter, d.again)
	}
	want := fresh
	if d.typing.Swap(true) && !late {
		want = typed
	}
	c, err := d.find(ctx, open, want, late)
	if err != nil {
		if want == fresh {
			d.typing.Store(false) // the next look has to see what this one did not
		}
		if ctx.Err() == nil {
			d.s.logOnce(d.path+err.Error(), "%s cannot be checked: %v", shown(d.path), err)
		}
		return
	}
	if want == fresh {
		d.lensesAgain(ctx, c)
		if ctx.Err() != nil {
			d.typing.Store(false)
		}
	}
	if d.s.features.pull {
		d.askAgain(docs, open, c.found)
		return
	}
	for _, doc := range open {
		d.publish(docs, doc, c.found[doc.rel])
	}
	d.s.outbox.flush(d.s.ctx) // not with ctx, which the next key ends
}

// checked is what was found in the open documents of a directory, and in what.
type checked struct {
	ws    *workspace.Directory
	snap  *diagnostics.Snapshot
	found map[string][]diagnostics.Finding // by path in the directory
}

// find gives what is wrong with documents of the directory. Without late, it has
// what the late rules found before.
func (d *directory) find(ctx context.Context, open []*document, want freshness, late bool) (checked, error) {
	c := checked{found: map[string][]diagnostics.Finding{}}
	var paths []string
	for _, doc := range open {
		if !doc.lost {
			paths = append(paths, doc.rel)
		}
	}
	if len(paths) == 0 {
		return c, nil
	}
	var err error
	if c.ws, c.snap, err = d.snapshot(ctx, open, want); err != nil {
		return c, err
	}
	r, err := c.ws.Check(ctx, c.snap, diagnostics.Scope{Paths: paths, Late: late})
	if err != nil {
		return c, err
	}
	for _, f := range r.Failures {
		d.s.failed(d, f)
	}
	for _, p := range r.Unread {
		if slices.Contains(paths, p.Path) {
			d.s.unread(d, p)
		}
	}
	for _, f := range r.Findings {
		c.found[f.Path] = append(c.found[f.Path], f)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, doc := range open {
		if doc.lost {
			continue
		}
		if late {
			d.late[doc.rel] = lateFindings{doc.text, onlyLate(c.ws.Engine, c.found[doc.rel])}
		} else if kept, ok := d.late[doc.rel]; ok {
			c.found[doc.rel] = append(c.found[doc.rel], carried(kept, doc.text)...)
		}
	}
	return c, nil
}

// failed says once of a rule and a file that nothing is known of it there.
func (s *server) failed(d *directory, f diagnostics.Failure) {
	where := filepath.Join(d.path, filepath.FromSlash(f.Path))
	if _, said := s.logged.LoadOrStore("rule "+f.Rule+" "+where, true); said {
		return
	}
	s.logf("%s: %v", shown(d.path), f)
	if _, said := s.logged.LoadOrStore("rule "+f.Rule, true); !said {
		on := shown(f.Path)
		if f.Path == "" {
			on = shown(d.path)
		}
		s.message(protocol.MessageTypeWarning, fmt.Sprintf("The rule %s could not do its work on %s: what it would have found is missing. The log says why.", f.Rule, on))
	}
}

// unread says once of a file that is open that no rule could look at it.
func (s *server) unread(d *directory, p memdir.Problem) {
	if _, said := s.logged.LoadOrStore("unread "+filepath.Join(d.path, p.Path), true); said {
		return
	}
	says := p.Message // of a file, or of one that it names itself
	if name := shown(p.Path); !strings.HasPrefix(says, name) {
		says = name + " " + says
	}
	s.message(protocol.MessageTypeWarning, "Not checked: "+says)
}

func onlyLate(e *diagnostics.Engine, found []diagnostics.Finding) []diagnostics.Finding {
	var out []diagnostics.Finding
	for _, f := range found {
		if r := e.Rule(f.Rule); r != nil && r.Late {
			out = append(out, f)
		}
	}
	return out
}

// carried gives what the late rules found in an earlier text of a document, where
// that still stands in the text: a secret does not vanish for as long as somebody
// types somewhere else.
func carried(kept lateFindings, now *text.Text) []diagnostics.Finding {
	if len(kept.found) == 0 {
		return nil
	}
	edits := text.Diff(kept.in.String(), now.String())
	var out []diagnostics.Finding
next:
	for _, f := range kept.found {
		for _, e := range edits {
			switch by := len(e.New) - e.Len(); {
			case f.Span.End <= e.Start:
			case f.Span.Start >= e.End:
				f.Span.Start, f.Span.End = f.Span.Start+by, f.Span.End+by
			default:
				continue next
			}
		}
		f.Text, f.Related = now, nil
		out = append(out, f)
	}
	return out
}
