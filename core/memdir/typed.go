package memdir

import (
	"cmp"
	"context"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"mem/core/memfile"
)

// Typed gives the View with newer texts of the buffers that it was read with,
// without looking at other files again: of 200 topics that is half of the time
// that Read takes. What they hold is as old as v; that none came or went is made
// sure of. ok is false where a whole Read is needed.
//
// It is for the moment after a key was pressed. Whoever shows what it gives reads
// again soon.
func (v *View) Typed(ctx context.Context, buffers map[string]Buffer) (now *View, ok bool) {
	was, isOverlay := v.src.(*overlay)
	if !isOverlay || v.LinkedOnly || len(buffers) != len(was.files) || ctx.Err() != nil || !v.SameFiles() {
		return nil, false
	}
	src := &overlay{base: was.base, files: maps.Clone(was.files), below: was.below}
	n := &View{Topics: v.Topics, Logs: v.Logs, Nested: v.Nested, Problems: v.Problems,
		src: src, cache: v.cache, limits: v.limits, byPath: v.byPath, dirs: v.dirs, stands: v.stands, readAt: v.readAt}
	n.names = sync.OnceValue(func() *names { return n.cache.namesOf(n.Topics) })
	own := false // Topics and byPath: most that is typed is in no head
	for p, b := range buffers {
		before, known := was.files[p]
		if !known || int64(len(b.Text)) > v.limits.topicBytes() {
			return nil, false
		}
		b.ModTime = b.ModTime.Round(0)
		src.files[p] = b
		switch {
		case b.Text == before.Text && b.ModTime.Equal(before.ModTime):
		case strings.HasPrefix(p, LogsDir+"/"):
			return nil, false // its size is in the list of logs
		case v.byPath[p] != nil:
			if !own {
				n.Topics, n.byPath, own = slices.Clone(v.Topics), maps.Clone(v.byPath), true
			}
			if !n.retype(p, src) {
				return nil, false
			}
		case p != memfile.IndexName && int64(len(before.Text)) > v.limits.topicBytes():
			return nil, false // it is small enough now
		}
	}
	if v.IndexError != nil || n.readIndex() != nil || n.IndexError != nil {
		return nil, false
	}
	return n, true
}

// changedWithin is how long a change may take for Changed to serve: a write takes
// milliseconds, but may wait for another process.
const changedWithin = 2 * time.Second

// Changed gives the View after files at the given paths changed, came or went, without
// looking at other files again: what they hold is as old as v. ok is false where a
// whole Read is needed.
//
// It is for whoever changed them, shortly after v was read: what a View shows that is
// older than changedWithin may have passed long ago, and needs a Read.
func (v *View) Changed(ctx context.Context, paths []string) (now *View, ok bool) {
	return v.changed(ctx, v.src, paths)
}

// Expecting gives the View as it will be when files have got the given texts, by path,
// which they have not yet. It is Changed otherwise.
func (v *View) Expecting(ctx context.Context, texts map[string]string) (now *View, ok bool) {
	buffers := make(map[string]Buffer, len(texts))
	for p, text := range texts {
		if int64(len(text)) > v.limits.topicBytes() {
			return nil, false
		}
		buffers[p] = Buffer{Text: text, ModTime: time.Now()}
	}
	src := Overlay(v.src, buffers).(*overlay)
	if len(src.files) != len(texts) {
		return nil, false // something else stands there
	}
	return v.changed(ctx, src, slices.Sorted(maps.Keys(texts)))
}

func (v *View) changed(ctx context.Context, src fs.FS, paths []string) (now *View, ok bool) {
	if v.LinkedOnly || v.IndexError != nil || ctx.Err() != nil || time.Since(v.readAt) > changedWithin {
		return nil, false
	}
	n := &View{Topics: slices.Clone(v.Topics), Logs: v.Logs, Nested: v.Nested, Problems: v.Problems,
		src: src, cache: v.cache, limits: v.limits, byPath: maps.Clone(v.byPath), stands: new(standing), readAt: v.readAt}
	n.names = sync.OnceValue(func() *names { return n.cache.namesOf(n.Topics) })
	for i, p := range paths {
		same := func(o string) bool { return strings.EqualFold(o, p) } // one file, to some systems
		if slices.ContainsFunc(paths[:i], same) || slices.ContainsFunc(v.Problems, func(x Problem) bool { return x.Path == p }) {
			return nil, false
		}
		if p == memfile.IndexName {
			continue // it is read in any case
		}
		_, listed := v.dirs[path.Dir(p)]
		if !listed || slices.Contains(v.Nested, path.Dir(p)) || !isTopicName(p) || strings.HasPrefix(p, LogsDir+"/") || !n.lookAgain(p) {
			return nil, false
		}
	}
	if n.readIndex() != nil || n.IndexError != nil {
		return nil, false
	}
	// At the root of a repository an index decides what is a topic.
	return n, n.Index.Exists == v.Index.Exists
}

// lookAgain lists a topic as it is now, or no more.
func (v *View) lookAgain(p string) bool {
	at, listed := slices.BinarySearchFunc(v.Topics, p, func(t *Topic, p string) int { return cmp.Compare(t.Path, p) })
	info, err := lstat(v.src, p)
	switch {
	case isNotExist(err):
		if listed {
			v.Topics = slices.Delete(v.Topics, at, at+1)
			delete(v.byPath, p)
		}
		return true
	case err != nil || notRegular(info) != "" || info.Size() > v.limits.topicBytes():
		return false
	case !listed:
		v.Topics = slices.Insert(v.Topics, at, nil)
	}
	return v.retypeAt(at, p, info)
}

// retype reads the head of one topic again.
func (v *View) retype(p string, src *overlay) bool {
	info, err := src.Lstat(p)
	if err != nil {
		return false
	}
	at, found := slices.BinarySearchFunc(v.Topics, p, func(t *Topic, p string) int { return cmp.Compare(t.Path, p) })
	return found && v.retypeAt(at, p, info)
}

func (v *View) retypeAt(at int, p string, info fs.FileInfo) bool {
	t := v.cache.head(p, info)
	if t == nil {
		var err error
		if t, err = v.cache.readHead(v.src, p, info, v.limits.scanLines(), newPatience(lookAtMost)); err != nil {
			return false
		}
	}
	v.Topics[at], v.byPath[p] = t, t
	return true
}
