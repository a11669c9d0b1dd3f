package spend

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// maxLine is the longest row that is read, in bytes; ours have at most a few
// texts of maxText.
const maxLine = 64 << 10

// skipped counts what could not be read.
type skipped struct {
	rows  int // no rows of ours, damaged ones included
	newer int // of a later version
}

// read gives every row of a time span, in the order of the files. What cannot be read is
// counted and left out: a ledger is never lost over one line.
func (l *Ledger) read(from, to time.Time, each func(row)) (skipped, error) {
	var s skipped
	if l.dir == "" {
		return s, errNowhere
	}
	dir, err := os.ReadDir(l.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	first, last := from.UTC().Format(month), to.UTC().Format(month)
	for _, e := range dir {
		name, ok := strings.CutSuffix(e.Name(), fileExt)
		if !ok || !e.Type().IsRegular() || name < first || name > last || len(name) != len(month) {
			continue
		}
		if err := l.readFile(filepath.Join(l.dir, e.Name()), from, to, &s, each); err != nil {
			return s, err
		}
	}
	return s, nil
}

func (l *Ledger) readFile(path string, from, to time.Time, s *skipped, each func(row)) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	in := bufio.NewReaderSize(f, maxLine)
	for {
		line, err := in.ReadSlice('\n')
		whole := err == nil
		for errors.Is(err, bufio.ErrBufferFull) { // too long to be a row
			line = nil
			_, err = in.ReadSlice('\n')
			if err == nil || errors.Is(err, io.EOF) {
				s.rows++
			}
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			s.take(line, whole, from, to, each)
		}
		if err != nil {
			return nil
		}
	}
}

// head is how every row of ours begins, up to its time.
const head = `{"v":1,"time":"`

// take reads one row.
func (s *skipped) take(line []byte, whole bool, from, to time.Time, each func(row)) {
	// Most rows of a month are of other days; their time tells without the rest.
	if rest, ok := bytes.CutPrefix(line, []byte(head)); ok {
		if i := bytes.IndexByte(rest, '"'); i > 0 && bytes.HasSuffix(rest, []byte("}")) {
			if t, err := time.Parse(time.RFC3339, string(rest[:i])); err == nil && (t.Before(from) || !t.Before(to)) {
				return
			}
		}
	}
	var r row
	err := json.Unmarshal(line, &r)
	switch {
	case err != nil && !whole: // is being written, or a crash cut it
		return
	case err != nil || r.Version < version || r.Version == version && (!sound(r.Usage) || r.Time.IsZero()):
		s.rows++
	case r.Version > version:
		s.newer++
	case !r.Time.Before(from) && r.Time.Before(to):
		each(r)
	}
}

// notes says what was left out.
func (s skipped) notes(dir string) []string {
	var out []string
	if s.rows > 0 {
		out = append(out, fmt.Sprintf("%d lines in %s are damaged and were left out", s.rows, dir))
	}
	if s.newer > 0 {
		out = append(out, fmt.Sprintf("%d rows in %s are of a later mem and were left out; update this one", s.newer, dir))
	}
	return out
}
