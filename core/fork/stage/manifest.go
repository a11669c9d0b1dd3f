package stage

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"mem/core/atomicfile"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/text"
)

// version is that of the format in docs/formats.md.
const version = 1

// manifest is the first line of the file that holds the base. The texts of its files
// follow, one after the other.
type manifest struct {
	Version   int              `json:"v"`
	ID        string           `json:"id"`
	Job       string           `json:"job,omitempty"`
	Created   time.Time        `json:"created"`
	Directory string           `json:"directory"` // of the memory
	Origin    string           `json:"origin,omitempty"`
	LogOnly   string           `json:"logOnly,omitempty"`
	Form      memfile.Form     `json:"form,omitempty"`
	Files     []file           `json:"files"`
	Skipped   []memdir.Problem `json:"skipped,omitempty"`
}

// file is one file of the base.
type file struct {
	Path   string `json:"path"`
	Hash   string `json:"hash"`
	Size   int    `json:"size"`
	Pinned bool   `json:"pinned,omitempty"`

	text    string
	modTime time.Time
}

// maxManifest bounds the first line.
const maxManifest = 64 << 20

// save writes the base of the stage.
func (s *Stage) save(files []file) error {
	s.about.Files, s.about.Skipped = files, s.Skipped
	head, err := json.Marshal(s.about)
	if err != nil {
		return err
	}
	size := len(head) + 1
	for _, f := range files {
		size += f.Size
	}
	all := make([]byte, 0, size)
	all = append(append(all, head...), '\n')
	for _, f := range files {
		all = append(all, f.text...)
	}
	return atomicfile.Write(filepath.Join(s.dir, baseName), all, 0o600, atomicfile.Quick)
}

// load reads the base back, and makes sure that it is what was written.
func (s *Stage) load() ([]file, error) {
	name := filepath.Base(s.dir)
	f, err := os.Open(filepath.Join(s.dir, baseName))
	if errors.Is(err, os.ErrNotExist) {
		return nil, &GoneError{name, "it is not there any more, or never was"}
	}
	if err != nil {
		return nil, fmt.Errorf("opening a stage: %w", err)
	}
	all, err := io.ReadAll(io.LimitReader(f, MaxBytes+maxManifest))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("reading a stage: %w", err)
	}
	head, rest, ok := bytes.Cut(all, []byte("\n"))
	if !ok || json.Unmarshal(head, &s.about) != nil {
		return nil, &GoneError{name, "its record is damaged"}
	}
	if s.about.Version != version {
		return nil, &GoneError{name, fmt.Sprintf("it has the format %d, and this program knows %d", s.about.Version, version)}
	}
	if s.about.Directory != s.m.Location.Directory {
		return nil, &GoneError{name, "it is one of another memory directory"}
	}
	texts := string(rest)
	for i := range s.about.Files {
		f := &s.about.Files[i]
		if f.Size < 0 || f.Size > len(texts) || text.Hash(texts[:f.Size]) != f.Hash {
			return nil, &GoneError{name, "the text of " + f.Path + " in its record is damaged"}
		}
		f.text, texts = texts[:f.Size], texts[f.Size:]
	}
	s.Skipped = s.about.Skipped
	return s.about.Files, nil
}
