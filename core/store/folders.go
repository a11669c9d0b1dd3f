package store

import (
	"errors"
	"os"
	"path"
	"strings"

	"mem/core/memdir"
	"mem/core/memfile"
)

// folders keeps the directories of one change open until it is done.
type folders struct {
	root    *os.Root
	limit   int64 // of the folders
	instant instant
	open    map[string]*folder
}

func (s *Store) folders(root *os.Root) *folders {
	return &folders{root: root, limit: s.topicBytes(), instant: s.instant, open: map[string]*folder{}}
}

// topicBytes is the size past which a file is not memory.
func (s *Store) topicBytes() int64 {
	if n := s.opt.Limits.TopicBytes; n > 0 {
		return n
	}
	return memdir.DefaultTopicBytes
}

func (ds *folders) of(p string, create bool) (*folder, error) {
	dir := path.Dir(p)
	if d := ds.open[dir]; d != nil {
		return d, nil
	}
	d, err := openFolder(ds.root, dir, create, ds.instant)
	if err != nil {
		return nil, err
	}
	d.limit = ds.limit
	ds.open[dir] = d
	return d, nil
}

// sync makes the directories of the steps durable.
func (ds *folders) sync(steps []step) error {
	var err error
	done := map[string]bool{}
	for _, st := range steps {
		dir := path.Dir(st.Path)
		if d := ds.open[dir]; d != nil && !done[dir] {
			done[dir] = true
			err = errors.Join(err, d.syncNames())
		}
	}
	return err
}

func (ds *folders) close() {
	for _, d := range ds.open {
		_ = d.close() // opened for reading: nothing is lost
	}
}

// ownIndex names a folder above p, inside the memory directory, that is a
// memory directory of its own.
func ownIndex(root *os.Root, p string) string {
	for dir := path.Dir(p); dir != "." && dir != "/"; dir = path.Dir(dir) {
		if _, err := root.Lstat(path.Join(dir, memfile.IndexName)); err == nil {
			return dir
		}
	}
	return ""
}

// otherCase gives the name among names that differs from name only by case.
func otherCase(names []string, name string) string {
	for _, n := range names {
		if n != name && strings.EqualFold(n, name) {
			return n
		}
	}
	return ""
}
