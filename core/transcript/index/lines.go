package index

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"

	"mem/core/rawjson"
	"mem/core/recall"
)

// chunkBytes is how much of a transcript is parsed in one piece. Pieces of one
// file are parsed side by side.
const chunkBytes = 4 << 20

// entry is what goes into the index.
type entry struct {
	role      Role
	sidechain bool
	offset    int64
	length    int
	uuid      []byte
	time      int64
	terms     string
}

// chunk is a parsed piece of a transcript.
type chunk struct {
	end       int64 // after the last line that was read; 0 where none was
	entries   []entry
	words     []string // surfaces for corrections, each once
	malformed int
	tooLong   int
	repeated  int // entries that are left out as further copies
	err       error
}

// parser turns pieces of transcripts into entries. One is used by one worker.
type parser struct {
	tokens recall.Tokenizer
	redact func(string) string
	buf    []byte
	terms  []byte
	words  map[string]struct{}
	copies map[string]int // entries of a record in this piece
}

// maxCopies is how many entries of one role a record has in one piece. A client writes a
// record once, and seldom a second time; a transcript that repeats one by the thousand would
// leave no room for others in what a search ranks.
const maxCopies = 8

// parse reads the lines that begin in [from, to) of f, which has size bytes. The
// first piece begins at a line; what stands before the first line end of every
// other one belongs to the piece before. A last line without an end counts if it
// is whole.
func (p *parser) parse(ctx context.Context, f io.ReaderAt, from, to, size int64, first bool) (c chunk) {
	clear(p.words)
	clear(p.copies)
	start := from
	if !first {
		start-- // where the line before ends, if this piece begins with a line
	}
	r := lineReader{f: f, size: size, buf: p.buf[:0], base: start, end: start, next: start}
	defer func() { p.buf = r.buf[:0] }()
	if !first {
		if _, _, err := r.line(); err == io.EOF {
			return c
		} else if err != nil && err != errTooLong && err != errNoise {
			c.err = err
			return c
		}
	}
	for r.next < to {
		if c.err = ctx.Err(); c.err != nil {
			return c
		}
		offset := r.next
		line, ended, err := r.line()
		switch {
		case err == errTooLong, err == errNoise:
			if err == errTooLong {
				c.tooLong++
			}
			c.end = r.next
			continue
		case err == io.EOF:
		case err != nil:
			c.err = err
			return c
		case ended || whole(line): // else it is being written
			c.end = r.next
			p.line(&c, line, offset)
			continue
		}
		break
	}
	for w := range p.words {
		c.words = append(c.words, w)
	}
	return c
}

var bom = []byte("\xef\xbb\xbf")

func (p *parser) line(c *chunk, line []byte, offset int64) {
	length := len(line)
	if offset == 0 {
		line = bytes.TrimPrefix(line, bom)
	}
	if noise(line) || len(bytes.TrimSpace(line)) == 0 {
		return
	}
	h, entries, malformed := extract(line, p.redact)
	if malformed {
		c.malformed++
		return
	}
	for _, x := range entries {
		if key := string(append(packUUID(h.uuid), byte(x.role))); len(key) > 1 {
			if p.copies[key]++; p.copies[key] > maxCopies {
				c.repeated++
				continue
			}
		}
		p.terms = p.terms[:0]
		for tok := range p.tokens.Tokens(x.text) {
			if len(p.terms) > 0 {
				p.terms = append(p.terms, ' ')
			}
			p.terms = appendTerm(p.terms, tok.Term)
			if tok.Kind <= recall.Part && recall.Correctable(tok.Surface) {
				p.words[tok.Surface] = struct{}{}
			}
		}
		if len(p.terms) == 0 {
			continue
		}
		c.entries = append(c.entries, entry{
			role: x.role, sidechain: h.sidechain, offset: offset, length: length,
			uuid: packUUID(h.uuid), time: h.time, terms: string(p.terms),
		})
	}
}

// appendTerm writes a term as FTS5's ascii tokeniser will take it for one word:
// that ends words at ASCII punctuation, of which it was told to keep the dot and
// the underline.
func appendTerm(b []byte, term string) []byte {
	for i := range len(term) {
		c := term[i]
		if c < 0x80 && c != '.' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			c = '_'
		}
		b = append(b, c)
	}
	return b
}

// whole reports a line that is a JSON object to its end.
func whole(line []byte) bool {
	i := rawjson.Space(line, 0)
	if i >= len(line) || line[i] != '{' {
		return false
	}
	end := rawjson.Value(line, i)
	return end > 0 && rawjson.Space(line, end) == len(line)
}

var (
	errTooLong = errors.New("a record is too long")
	errNoise   = errors.New("a record is too long, and none that is indexed")
	errCut     = errors.New("the file became shorter while it was read")
)

// lineReader hands out lines with one buffer, which grows to the longest line.
type lineReader struct {
	f         io.ReaderAt
	size      int64
	buf       []byte
	base, end int64 // file offsets of buf
	next      int64 // offset of the next line; set by line
}

const readBytes = 256 << 10

// line returns the next line without its end, and whether it has one. The line
// is good until the next call.
func (r *lineReader) line() (line []byte, ended bool, err error) {
	start, searched := r.next, r.next
	for {
		if n := bytes.IndexByte(r.buf[searched-r.base:], '\n'); n >= 0 {
			at := searched + int64(n)
			r.next = at + 1
			if at-start > MaxRecordBytes {
				return nil, true, r.tooLong(start)
			}
			return trimCR(r.buf[start-r.base : at-r.base]), true, nil
		}
		searched = r.end
		if r.end-start > MaxRecordBytes {
			return nil, false, r.skip(r.tooLong(start))
		}
		more, err := r.more(start)
		if err != nil {
			return nil, false, err
		}
		if !more {
			if start == r.end {
				return nil, false, io.EOF
			}
			r.next = r.end
			return trimCR(r.buf[start-r.base:]), false, nil
		}
	}
}

// tooLong is the error about the line at start, of which the beginning is read.
func (r *lineReader) tooLong(start int64) error {
	if noise(r.buf[start-r.base : start-r.base+256]) {
		return errNoise
	}
	return errTooLong
}

// skip passes over the rest of a line that is too long, and returns cause.
func (r *lineReader) skip(cause error) error {
	for {
		r.buf, r.base = r.buf[:0], r.end
		r.next = r.end
		more, err := r.more(r.end)
		if err != nil {
			return err
		}
		if !more {
			return cause
		}
		if n := bytes.IndexByte(r.buf, '\n'); n >= 0 {
			r.next = r.base + int64(n) + 1
			return cause
		}
	}
}

// more reads on. What lies before keep is dropped.
func (r *lineReader) more(keep int64) (bool, error) {
	want := min(readBytes, r.size-r.end)
	if want <= 0 {
		return false, nil
	}
	n := copy(r.buf, r.buf[keep-r.base:])
	r.buf, r.base = r.buf[:n], keep
	if cap(r.buf) < n+int(want) {
		grown := make([]byte, n, max(2*cap(r.buf), n+int(want), 4*readBytes))
		copy(grown, r.buf)
		r.buf = grown
	}
	got, err := r.f.ReadAt(r.buf[n:n+int(want)], r.end)
	r.buf = r.buf[:n+got]
	r.end += int64(got)
	if got < int(want) {
		if err == nil || err == io.EOF {
			return false, errCut
		}
		return false, err
	}
	return true, nil
}

func trimCR(line []byte) []byte { return bytes.TrimSuffix(line, []byte{'\r'}) }

// query text and indexed text become terms in the same way.
func termOf(term string) string {
	var b strings.Builder
	b.Write(appendTerm(nil, term))
	return b.String()
}
