package stdio

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
)

// readBuffer is what one read is given, in bytes.
const readBuffer = 64 << 10

// lines cuts the input into messages and never holds more than one message of the allowed length.
type lines struct {
	in    *bufio.Reader
	max   int
	begun bool
}

func newLines(in io.Reader, max int) *lines {
	return &lines{in: bufio.NewReaderSize(in, readBuffer), max: max}
}

// next returns the next line without its end, in memory of its own. For a line over the limit it returns what
// could be made out while it was passed over. The last line need not end in a newline.
func (l *lines) next() (line []byte, long *passedOver, err error) {
	for {
		chunk, err := l.in.ReadSlice('\n')
		if long == nil && len(line)+len(chunk) > l.max+len("\r\n") {
			long = &passedOver{}
			long.feed(line)
			line = nil
		}
		if long != nil {
			long.feed(chunk)
		} else {
			line = append(line, chunk...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if len(line) > 0 || long != nil {
			// What came before the end is served first; the error comes again with the next call.
			err = nil
		}
		line = bytes.TrimRight(line, "\r\n")
		if !l.begun {
			l.begun = true
			line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf")) // what a Windows shell may put before a pipe
		}
		if long == nil && len(line) > l.max {
			long = &passedOver{}
			long.feed(line)
			line = nil
		}
		return line, long, err
	}
}

// more tells whether input is in hand that next has not returned.
func (l *lines) more() bool { return l.in.Buffered() > 0 }

// endOfInput tells the end of the input from a fault.
func endOfInput(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, os.ErrClosed) || errors.Is(err, io.ErrClosedPipe)
}

// passedOver looks for the id of a message that is too long to be kept, byte by byte: clients put the id first or,
// like the TypeScript SDK, last.
type passedOver struct {
	method bool
	answer bool

	id       []byte
	token    []byte // the key or the value being read at depth one, up to maxToken bytes
	key      string
	depth    int
	inString bool
	escaped  bool
	isValue  bool
}

const maxToken = 256

func (p *passedOver) feed(chunk []byte) {
	for _, b := range chunk {
		p.step(b)
	}
}

func (p *passedOver) step(b byte) {
	if p.inString {
		p.keep(b)
		switch {
		case p.escaped:
			p.escaped = false
		case b == '\\':
			p.escaped = true
		case b == '"':
			p.inString = false
		}
		return
	}
	switch b {
	case '"':
		p.inString = true
		p.keep(b)
	case '{', '[':
		p.keep(b)
		p.depth++
	case '}', ']':
		if p.depth == 1 {
			p.endMember()
		}
		p.depth--
	case ':':
		if p.depth == 1 {
			p.key, p.token, p.isValue = string(p.token), p.token[:0], true
		}
	case ',':
		if p.depth == 1 {
			p.endMember()
		}
	case ' ', '\t', '\r', '\n':
	default:
		p.keep(b)
	}
}

func (p *passedOver) keep(b byte) {
	if p.depth == 1 && len(p.token) < maxToken {
		p.token = append(p.token, b)
	}
}

func (p *passedOver) endMember() {
	if p.isValue {
		switch p.key {
		case `"id"`:
			p.id = append(p.id[:0], p.token...)
		case `"method"`:
			p.method = true
		case `"result"`, `"error"`:
			p.answer = true
		}
	}
	p.key, p.token, p.isValue = "", p.token[:0], false
}

// foundID is nil when there was none that an error reply could repeat.
func (p *passedOver) foundID() json.RawMessage {
	if len(p.id) == 0 || len(p.id) >= maxToken {
		return nil
	}
	id, err := checkID(p.id)
	if err != nil {
		return nil
	}
	return id
}
