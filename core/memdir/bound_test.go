package memdir

import (
	"context"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// endless is a directory whose every folder holds a thousand folders.
type endless struct{ listed *int }

var _ fs.ReadLinkFS = endless{}

func (endless) Open(name string) (fs.File, error)       { return nil, fs.ErrNotExist }
func (endless) ReadLink(string) (string, error)         { return "", fs.ErrInvalid }
func (e endless) Stat(name string) (fs.FileInfo, error) { return e.Lstat(name) }
func (e endless) Lstat(name string) (fs.FileInfo, error) {
	if name == ".git" || strings.HasSuffix(name, ".md") {
		return nil, fs.ErrNotExist
	}
	return fs.Stat(fstest.MapFS{"d/x": {}}, "d")
}

func (e endless) ReadDir(name string) ([]fs.DirEntry, error) {
	*e.listed++
	info, err := e.Lstat(name)
	all := make([]fs.DirEntry, 1000)
	for i := range all {
		all[i] = fs.FileInfoToDirEntry(info)
	}
	return all, err
}

// TestAnEndlessTreeEnds: whoever saves MEMORY.md in the wrong place is told so, and is
// not kept waiting while all of a disk is read.
func TestAnEndlessTreeEnds(t *testing.T) {
	listed := 0
	start := time.Now()
	_, err := Read(context.Background(), endless{&listed}, nil, Limits{})
	if err == nil || !strings.Contains(err.Error(), "is it the right one?") {
		t.Errorf("error %v", err)
	}
	if listed > maxNames/1000+1 {
		t.Errorf("%d folders were listed", listed)
	}
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
}
