package lspserver

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"go.lsp.dev/protocol"

	"mem/core/memdir"
	"mem/core/text"
)

// settleAfter is how long a file that differs from its buffer has to stay the same
// before that is said: an editor that saves writes it in pieces.
const settleAfter = 150 * time.Millisecond

// outside keeps what open files were on disk, to tell when another program
// changes one that has unsaved edits here.
type outside struct {
	mu    sync.Mutex
	files map[string]*onDisk
}

type onDisk struct {
	size  int64
	mtime time.Time
	hash  string // when it was opened or saved; "" where there was no file

	suspect string // what it was last seen to be
	since   time.Time
	told    string // what was said to be there
}

// read gives a file's modification time and a name for its text, both zero where
// there is none or it is no memory.
func (f *onDisk) read(path string) (hash string) {
	info, err := os.Stat(path)
	f.size, f.mtime = 0, time.Time{}
	if err != nil || !info.Mode().IsRegular() || info.Size() > memdir.DefaultTopicBytes {
		return ""
	}
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	b, err := io.ReadAll(io.LimitReader(file, memdir.DefaultTopicBytes))
	if err != nil {
		return ""
	}
	f.size, f.mtime = info.Size(), info.ModTime()
	return essence(string(b))
}

func (f *onDisk) changed(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return !f.mtime.IsZero()
	}
	return info.Size() != f.size || !info.ModTime().Equal(f.mtime)
}

// essence names a text without what editors change as they load and save it: a
// byte order mark, line ends, the last newline.
func essence(s string) string {
	s = strings.TrimPrefix(s, text.BOM)
	if strings.Contains(s, "\r") {
		s = strings.ReplaceAll(s, "\r\n", "\n")
	}
	return text.Hash(strings.TrimRight(s, "\n"))
}

// opened takes note of what an opened file is on disk, and gives the time at which
// the document's text was last changed.
func (s *server) opened(path string, t *text.Text) time.Time {
	if !isOurs(path) {
		return s.now()
	}
	f := &onDisk{}
	f.hash = f.read(path)
	s.outside.mu.Lock()
	defer s.outside.mu.Unlock()
	if s.outside.files == nil {
		s.outside.files = map[string]*onDisk{}
	}
	s.outside.files[path] = f
	if f.hash != "" && f.hash == essence(t.String()) {
		return f.mtime
	}
	return s.now()
}

// saved takes note that a file was written by the editor.
func (s *server) saved(doc *document) {
	if isOurs(doc.path) {
		s.opened(doc.path, doc.text)
	}
}

func (s *server) closed(path string) {
	s.outside.mu.Lock()
	defer s.outside.mu.Unlock()
	delete(s.outside.files, path)
}

// lookOutside says of each document with unsaved edits whose file another program
// has changed that this is so, once for each change. It reports whether one has to
// be looked at again to be sure.
func (s *server) lookOutside(open []*document) (unsure bool) {
	s.outside.mu.Lock()
	defer s.outside.mu.Unlock()
	for _, doc := range open {
		f := s.outside.files[doc.path]
		if f == nil || doc.lost || !f.changed(doc.path) {
			continue
		}
		seen := onDisk{}
		hash := seen.read(doc.path)
		here := essence(doc.text.String())
		switch {
		case hash == f.hash || hash == here: // touched; or saved, or loaded again
			f.size, f.mtime, f.hash, f.suspect = seen.size, seen.mtime, hash, ""
		case here == f.hash: // nothing unsaved: the editor loads the file again
		case f.told == hash:
		case f.suspect != hash:
			f.suspect, f.since, unsure = hash, time.Now(), true
		case time.Since(f.since) < settleAfter/2:
			unsure = true
		default:
			f.told = hash
			s.message(protocol.MessageTypeWarning, outsideMessage(doc, hash))
		}
	}
	return unsure
}

func outsideMessage(doc *document, hash string) string {
	name := shown(filepath.FromSlash(doc.rel))
	if hash == "" {
		return fmt.Sprintf("%s was deleted or replaced on disk while it has unsaved edits here. Saving would bring it back: make sure that this is wanted.", name)
	}
	return fmt.Sprintf("%s has changed on disk while it has unsaved edits here. Saving would replace what another program wrote: compare both first.", name)
}
