package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mem/core/atomicfile"
	"mem/core/settings"
	"mem/core/text"
)

// The cache of facts keeps one file for each folder of sessions. It is written
// whole and put into place at once, so that several processes may use it: the last
// one wins, and what it lacks is read again. docs/formats.md specifies it.
const (
	// factsVersion goes up whenever the same transcript would give other facts.
	factsVersion = 1
	factsDir     = "sessions" // in the cache directory
	factsExt     = ".facts"
	// maxFactsFile bounds a file of the cache: facts take less than 2 KB a session.
	maxFactsFile = 64 << 20
	// unusedFacts is when the facts of a folder that nobody asks for are dropped.
	unusedFacts = 90 * 24 * time.Hour
)

// factsHeader is the first line of a file of the cache.
type factsHeader struct {
	Version int    `json:"v"`
	Size    int    `json:"size"` // of the rest
	Sum     uint32 `json:"sum"`  // CRC-32C of the rest
}

// shelf is the part of the cache for one folder.
type shelf struct {
	Folder string            `json:"folder"`
	Files  map[string]*noted `json:"files"` // by name

	path    string // "" where there is no cache
	changed bool
	touched time.Time // when the file was last written
}

// shelfOf reads the facts of a folder. What cannot be read is empty: the facts are
// made anew.
func shelfOf(env settings.Env, folder string) *shelf {
	s := &shelf{Folder: folder, Files: map[string]*noted{}}
	if env.CacheDir == "" {
		return s
	}
	s.path = filepath.Join(env.CacheDir, factsDir, text.Hash(folder)[:24]+factsExt)
	s.load()
	return s
}

func (s *shelf) load() {
	f, err := atomicfile.Open(s.path)
	if err != nil {
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxFactsFile {
		return
	}
	data := make([]byte, info.Size())
	if _, err := io.ReadFull(f, data); err != nil {
		return
	}
	head, body, ok := bytes.Cut(data, []byte("\n"))
	var h factsHeader
	if !ok || json.Unmarshal(head, &h) != nil || h.Version != factsVersion || h.Size != len(body) || h.Sum != crc32.Checksum(body, castagnoli()) {
		return
	}
	var kept shelf
	if json.Unmarshal(body, &kept) != nil || kept.Folder != s.Folder {
		return
	}
	for name, n := range kept.Files {
		if n != nil {
			s.Files[name] = n
		}
	}
	s.touched = info.ModTime()
}

// fresh gives what is kept of a file if it still is what it was.
func (s *shelf) fresh(f *file) *noted {
	n := s.Files[f.name]
	if n != nil && n.Size == f.size && n.Mtime == f.mtime.UnixNano() {
		return n
	}
	return nil
}

// keep keeps what is known of a file.
func (s *shelf) keep(f *file, n *noted) {
	n.Size, n.Mtime = f.size, f.mtime.UnixNano()
	s.Files[f.name] = n
	s.changed = true
}

// save writes the shelf without the files that are gone, where anything changed.
// The cache is a matter of speed: where it cannot be written, the error is for a
// note and no more.
func (s *shelf) save(there map[string]bool, now time.Time) error {
	for name := range s.Files {
		if !there[name] {
			delete(s.Files, name)
			s.changed = true
		}
	}
	if s.path == "" {
		return nil
	}
	if !s.changed {
		if now.Sub(s.touched) > unusedFacts/3 && len(s.Files) > 0 {
			_ = os.Chtimes(s.path, now, now) // it is in use; only its removal depends on that
		}
		return nil
	}
	body, err := json.Marshal(s)
	if err != nil {
		return err
	}
	head, err := json.Marshal(factsHeader{Version: factsVersion, Size: len(body), Sum: crc32.Checksum(body, castagnoli())})
	if err != nil {
		return err
	}
	s.changed = false
	return replaceFile(s.path, func(f *os.File) error {
		_, err := f.Write(append(append(head, '\n'), body...))
		return err
	}, atomicfile.Quick)
}

// dropUnused removes the facts of folders that nobody asked for in a long time, and
// what a process that died left.
func dropUnused(env settings.Env) {
	if env.CacheDir == "" {
		return
	}
	dir := filepath.Join(env.CacheDir, factsDir)
	list, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	now := env.Time()
	for _, e := range list {
		age := unusedFacts
		switch {
		case strings.HasPrefix(e.Name(), atomicfile.TempPrefix):
			age = 24 * time.Hour
		case !strings.HasSuffix(e.Name(), factsExt):
			continue
		}
		if info, err := e.Info(); err == nil && now.Sub(info.ModTime()) > age {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// replaceFile writes a file of ours, 0600 in folders of 0700, and puts it into its
// place when it is whole.
func replaceFile(path string, write func(*os.File) error, d atomicfile.Durability) error {
	if err := makeFolder(filepath.Dir(path)); err != nil {
		return err
	}
	return atomicfile.WriteFrom(path, 0o600, d, write)
}

// makeFolder makes a folder of ours with those above it.
func makeFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	if err == nil && !info.IsDir() {
		return &fs.PathError{Op: "open", Path: dir, Err: fmt.Errorf("it is a link or a file, and a folder of ours is none")}
	}
	return err
}
