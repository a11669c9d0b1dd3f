package lspserver

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync/atomic"

	"go.lsp.dev/jsonrpc2"
)

// Limits of what a client may send.
const (
	// maxMessage is the longest message in bytes: eight times the largest file that
	// is read as memory, so that even one whose every byte is escaped fits.
	maxMessage = 64 << 20
	// maxHeader is the longest line of a header in bytes. LSP's own take 30.
	maxHeader = 8 << 10
	// keepBuffer is how large a buffer is kept for the next message.
	keepBuffer = 1 << 20
)

// stream frames messages as LSP does. jsonrpc2's own ends the connection at the
// first byte that it does not like; this one skips to the next message, because an
// editor that sent garbage once still has its files open.
type stream struct {
	jsonrpc2.Stream // frames what is written

	in      *bufio.Reader
	buf     bytes.Buffer
	reject  func(*jsonrpc2.Error) // answers what could not be understood
	log     func(format string, args ...any)
	settle  func()      // waits for the requests under way, at the end of the input
	noMore  atomic.Bool // nothing is read any more
	garbage bool        // it was said that garbage is skipped
}

func newStream(in io.Reader, out io.Writer) *stream {
	return &stream{
		Stream: jsonrpc2.NewHeaderStream(halves{in, out}),
		in:     bufio.NewReaderSize(in, maxHeader),
	}
}

// halves is a connection made of two streams that are somebody else's to close.
type halves struct {
	io.Reader
	io.Writer
}

func (halves) Close() error { return nil }

// Read gives the next message that can be understood.
func (s *stream) Read(ctx context.Context) (jsonrpc2.Message, int64, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		if s.noMore.Load() {
			return nil, 0, io.EOF
		}
		body, err := s.frame()
		if err != nil {
			if !s.noMore.Load() {
				s.settle()
			}
			return nil, 0, err
		}
		m, err := jsonrpc2.DecodeMessage(body)
		if err == nil {
			return m, int64(len(body)), nil
		}
		s.log("a message of %d bytes is skipped: %v", len(body), err)
		s.reject(wireError(err))
	}
}

func wireError(err error) *jsonrpc2.Error {
	var e *jsonrpc2.Error
	if errors.As(err, &e) {
		return e
	}
	return jsonrpc2.NewError(jsonrpc2.ParseError, err.Error())
}

// frame gives the body of the next message. It is valid until the next call.
func (s *stream) frame() ([]byte, error) {
	if s.buf.Cap() > keepBuffer {
		s.buf = bytes.Buffer{}
	}
	for {
		n, err := s.header()
		if err != nil {
			return nil, err
		}
		if n > maxMessage {
			s.log("a message of %d bytes is skipped: the limit is %d", n, maxMessage)
			s.reject(jsonrpc2.NewError(jsonrpc2.InvalidRequest, fmt.Sprintf("a message of %d bytes is too long; the limit is %d", n, maxMessage)))
			if _, err := io.CopyN(io.Discard, s.in, n); err != nil {
				return nil, ended(err)
			}
			continue
		}
		s.buf.Reset()
		// What is announced is not allocated before it comes.
		if _, err := io.CopyN(&s.buf, s.in, n); err != nil {
			return nil, ended(err)
		}
		s.garbage = false
		return s.buf.Bytes(), nil
	}
}

// ended makes an end in the middle of a message an end.
func ended(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return io.EOF
	}
	return err
}

const contentLength = "content-length"

// header reads up to the end of a header and gives the length that it announces.
// Lines that are no header are skipped.
func (s *stream) header() (int64, error) {
	length := int64(-1)
	tail := "" // of a line that is too long: the next header may begin in it
	for {
		line, err := s.in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			s.skipped(line)
			tail, length = string(line[len(line)-len(contentLength):]), -1
			continue
		}
		if err != nil {
			return 0, ended(err)
		}
		text := tail + strings.TrimRight(string(line), "\r\n")
		tail = ""
		if text == "" {
			if length > 0 {
				return length, nil
			}
			continue
		}
		// A header may stand right behind what is garbage.
		if at := strings.LastIndex(lower(text), contentLength+":"); at > 0 {
			s.skipped(line)
			text = text[at:]
		}
		name, value, ok := strings.Cut(text, ":")
		switch {
		case !ok:
			s.skipped(line)
			length = -1
		case strings.EqualFold(name, contentLength):
			n, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
			if err != nil || n <= 0 {
				s.skipped(line)
				n = -1
			}
			length = n
		}
	}
}

// lower gives the text with the letters of ASCII in lower case, and of the same
// length, whatever else it is.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// skipped says once for each run of garbage that there is some.
func (s *stream) skipped(line []byte) {
	if !s.garbage {
		s.log("what is no header is skipped: %.60q", line)
	}
	s.garbage = true
}
