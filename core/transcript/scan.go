package transcript

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
)

// windowSize is how much of the file a worker holds at a time: enough that
// system calls cost nothing, little enough to stay in its core's cache. The file
// is read and not mapped, since a mapped file that another program cuts kills
// the process that looks at it.
const windowSize = 1 << 20

// noise lists types of records that are known to be outside of the tree and to
// hold nothing that the reader wants. A line that begins with one of them is
// counted and dropped without being taken apart.
var noise = [][]byte{
	[]byte("api-request-blob"), []byte("api-request-shape"), []byte("api-request"), []byte("prompt_snapshot"),
	[]byte("skill_listing"), []byte("rendered"), []byte("queue-operation"), []byte("atis-latch"), []byte("tools-used"),
	[]byte("cost-state"), []byte("mode"), []byte("worktree-state"),
}

var typePrefix = []byte(`{"type":"`)

// noiseType returns the type that line begins with if it is one of those above.
func noiseType(line []byte) []byte {
	if !bytes.HasPrefix(line, typePrefix) {
		return nil
	}
	rest := line[len(typePrefix):]
	for _, n := range noise {
		if len(rest) > len(n) && rest[len(n)] == '"' && bytes.Equal(rest[:len(n)], n) {
			return n
		}
	}
	return nil
}

// lineScanner hands the lines of a part of a file to a part. One is used by one
// worker for many parts.
type lineScanner struct {
	src    io.ReaderAt
	size   int64 // what is behind it does not count, however the file grows
	max    int64
	strict bool
	walker *walker
	moved  func(n int64) // told of bytes that are done

	window []byte // of windowSize
	base   int64  // offset of window[0]
	n      int    // bytes in window
	long   []byte // a record that the window cannot hold

	rows  []Row // memory for the rows of the next part
	part  *part
	limit int64 // lines that begin here or behind belong to the next part
}

// errShort says that the file ended before its size.
var errShort = errors.New("the file became shorter")

// read fills the window from offset on. It returns io.EOF at size, and errShort
// where the file ends before.
func (s *lineScanner) read(keep int, offset int64) error {
	want := int64(len(s.window) - keep)
	if rest := s.size - offset; rest < want {
		want = rest
	}
	// Reading beyond the limit is only needed to complete the last line.
	if rest := s.limit - offset; rest > 0 && rest < want {
		want = rest
	}
	if want <= 0 {
		return io.EOF
	}
	n, err := s.src.ReadAt(s.window[keep:keep+int(want)], offset)
	s.base, s.n = offset-int64(keep), keep+n
	if int64(n) == want {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		if n > 0 {
			return nil // the next read finds nothing
		}
		return errShort
	}
	return fmt.Errorf("reading at byte %d: %w", offset, err)
}

// scan reads the lines that begin in [from, to). It returns errShort when the
// file ended early; what was read until then is in the part.
func (s *lineScanner) scan(ctx context.Context, from, to int64, first bool) (*part, error) {
	p := newPart(s.walker, s.max, s.strict)
	p.rows = s.rows
	p.start, p.length = from, to-from
	s.part, s.limit = p, to
	pos := from // of the next byte to look at
	if !first {
		// The line that runs into this part belongs to the one before.
		var err error
		pos, err = s.skipLine(ctx, from-1)
		p.start = pos
		if err != nil || pos >= to {
			s.moved(to - from)
			return p, ignoreEOF(err)
		}
	} else if err := s.read(0, pos); err != nil {
		s.moved(to - from)
		return p, ignoreEOF(err)
	}
	at := int(pos - s.base)
	if first && from == 0 && bytes.HasPrefix(s.window[at:s.n], []byte("\xef\xbb\xbf")) {
		at += 3
	}
	told := from
	for {
		// Lines that lie in the window.
		for at < s.n && s.base+int64(at) < to {
			end := bytes.IndexByte(s.window[at:s.n], '\n')
			if end < 0 {
				break
			}
			p.line(s.window[at:at+end], s.base+int64(at))
			at += end + 1
			p.end = s.base + int64(at)
		}
		if s.base+int64(at) >= to {
			s.moved(to - told)
			return p, nil
		}
		if done := s.base + int64(at); done > told {
			s.moved(done - told)
			told = done
		}
		if err := ctx.Err(); err != nil {
			return p, err
		}
		// The window ends within a line.
		var err error
		if at == 0 && s.n == len(s.window) {
			at, err = s.longLine(ctx)
		} else {
			start, keep := s.base+int64(at), copy(s.window, s.window[at:s.n])
			if err = s.read(keep, start+int64(keep)); err != nil && keep > 0 {
				p.lastLine(s.window[:keep], start)
				p.end = start + int64(keep)
			}
			at = 0
		}
		if err != nil {
			s.moved(to - told)
			return p, ignoreEOF(err)
		}
	}
}

func ignoreEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

// skipLine returns the offset after the next line end from offset on, which lies
// in the window then. It stops looking at the limit.
func (s *lineScanner) skipLine(ctx context.Context, offset int64) (int64, error) {
	for offset < s.limit {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if err := s.read(0, offset); err != nil {
			return 0, err
		}
		if i := bytes.IndexByte(s.window[:s.n], '\n'); i >= 0 {
			return offset + int64(i) + 1, nil
		}
		offset += int64(s.n)
	}
	return s.limit, nil
}

// longLine reads a line that fills the whole window and goes on. Only a record
// that may be of the conversation is kept in memory, and only up to the limit.
// It returns where the next line begins in the window.
func (s *lineScanner) longLine(ctx context.Context) (int, error) {
	start := s.base
	l := longLine{head: s.window[:s.n:s.n]}
	l.typ = noiseType(trimSpace(l.head))
	keep := s.strict || l.typ == nil
	s.long = s.long[:0]
	for {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		chunk := s.window[:s.n]
		end := bytes.IndexByte(chunk, '\n')
		if end >= 0 {
			chunk = chunk[:end]
		}
		l.add(chunk)
		if keep && l.size <= s.max {
			s.long = s.growLong(chunk)
		}
		if end >= 0 {
			s.finishLong(&l, start, keep, true)
			s.part.end = s.base + int64(end) + 1
			return end + 1, nil
		}
		if err := s.read(0, s.base+int64(s.n)); err != nil {
			s.finishLong(&l, start, keep, false)
			s.part.end = start + l.size
			return 0, err
		}
	}
}

// growLong appends chunk to the long record. It grows by doubling up to the
// limit and no further.
func (s *lineScanner) growLong(chunk []byte) []byte {
	need := len(s.long) + len(chunk)
	if need > cap(s.long) {
		grown := make([]byte, len(s.long), int(min(max(2*int64(cap(s.long)), int64(need), 4*int64(len(s.window))), max(s.max, int64(need)))))
		copy(grown, s.long)
		s.long = grown
	}
	return append(s.long, chunk...)
}

func (s *lineScanner) finishLong(l *longLine, start int64, keep, ended bool) {
	switch {
	case keep && l.size <= s.max:
		if ended {
			s.part.line(s.long, start)
		} else {
			s.part.lastLine(s.long, start)
		}
	default:
		s.part.longLine(l, start, s.max, ended)
	}
}

// longLine is what is known of a line that was not kept.
type longLine struct {
	head []byte // overwritten once the second chunk is read
	typ  []byte // of the noise that it begins with
	size int64
	nul  bool
	last byte // the last byte that is no white space
}

func (l *longLine) add(chunk []byte) {
	l.size += int64(len(chunk))
	if !l.nul && bytes.IndexByte(chunk, 0) >= 0 {
		l.nul = true
	}
	for i := len(chunk) - 1; i >= 0; i-- {
		if c := chunk[i]; c != ' ' && c != '\t' && c != '\r' {
			l.last = c
			break
		}
	}
}

// trimSpace removes what JSON takes for white space.
func trimSpace(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t' || b[0] == '\r') {
		b = b[1:]
	}
	for len(b) > 0 && (b[len(b)-1] == ' ' || b[len(b)-1] == '\t' || b[len(b)-1] == '\r') {
		b = b[:len(b)-1]
	}
	return b
}
