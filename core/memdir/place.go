package memdir

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"sync"

	"mem/core/memfile"
)

// Exists reports whether a file or folder stands at a slash-separated path in the
// directory, memory or not, letter for letter unless the file system knows no
// case. What it may not look at, it takes to exist.
func (v *View) Exists(p string) bool {
	switch {
	case v.byPath[p] != nil:
		return true
	case p == memfile.IndexName && (v.Index.Exists || v.IndexError != nil):
		return true
	case !fs.ValidPath(p):
		return false
	}
	look := func() bool {
		_, err := lstat(v.src, p)
		return err == nil || errors.Is(err, fs.ErrPermission)
	}
	if _, listed := v.dirs[path.Dir(p)]; !listed {
		return look()
	}
	return v.stands.get(p, look)
}

// standing keeps what was seen at paths in folders that were listed, for as long as
// no file comes there or goes: Views that Typed gives share it.
type standing struct {
	mu   sync.Mutex
	seen map[string]bool
}

// maxStanding bounds how many paths are kept.
const maxStanding = 10_000

func (s *standing) get(p string, look func() bool) bool {
	s.mu.Lock()
	at, ok := s.seen[p]
	s.mu.Unlock()
	if ok {
		return at
	}
	at = look()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil || len(s.seen) >= maxStanding {
		s.seen = map[string]bool{}
	}
	s.seen[p] = at
	return at
}

// CheckPlace says why a file at p, whose path would do for a topic, is none of
// this memory's: it belongs to the repository around the memory, or to a memory
// directory below it, or lies behind a link. Such a file is neither read nor
// written, and its text and hash are given to nobody. A path that is free is nil.
func (v *View) CheckPlace(p string) error {
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		info, err := lstat(v.src, dir)
		if err != nil {
			continue
		}
		if !info.IsDir() {
			return &FileError{Path: p, Reason: fmt.Sprintf("lies behind %s, which %s", dir, notFolder(info)), Hint: "choose another path"}
		}
		if _, err := lstat(v.src, path.Join(dir, memfile.IndexName)); err == nil {
			return &FileError{Path: p, Reason: "lies in " + dir + ", which is a memory directory of its own",
				Hint: "open that one with --memory-dir"}
		}
	}
	if !v.LinkedOnly || v.byPath[p] != nil || v.Index.Entry(p) != nil {
		return nil
	}
	if _, err := lstat(v.src, p); isNotExist(err) {
		return nil
	}
	return &FileError{Path: p, Reason: "is a file of the repository that this memory lies at the root of; MEMORY.md does not link it, so it is no topic and was left alone",
		Hint: "choose another path, or a topic that memory_list gives"}
}
