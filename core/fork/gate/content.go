package gate

import (
	"bytes"
	"crypto/sha256"
	"sync"
	"unicode/utf8"

	"mem/core/guard"
	"mem/core/transcript/shown"
)

// redactor takes secrets out of everything that is read, once for all that is made
// of it: what a shell cuts to pieces cannot be recognised any more.
type redactor struct {
	mu  sync.Mutex
	red *shown.Redactor
}

func newRedactor(scan *guard.Scanner) *redactor { return &redactor{red: shown.NewRedactor(scan)} }

func (r *redactor) text(s string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.red.Text(s)
}

// maxCached bounds the contents that are kept without their secrets, in bytes: so
// that a second search of the same files does not look for secrets again.
const maxCached = 32 << 20

// cache keeps contents as they may be shown.
type cache struct {
	mu   sync.Mutex
	size int
	list map[string]cached
}

type cached struct {
	hash [sha256.Size]byte // of what lies on disk
	text []byte
}

// text is a file as it may be shown.
type text struct {
	bytes  []byte            // without secrets; nil where it is binary
	hash   [sha256.Size]byte // of what lies on disk
	size   int
	binary bool
}

// content gives a file as it may be shown.
func (w *world) content(p place) (text, error) {
	raw, _, err := p.read()
	if err != nil {
		return text{}, err
	}
	t := text{hash: sha256.Sum256(raw), size: len(raw), binary: isBinary(raw)}
	if !t.binary {
		t.bytes = w.shown(p, raw, t.hash)
	}
	return t, nil
}

func (w *world) shown(p place, raw []byte, sum [sha256.Size]byte) []byte {
	key := p.String()
	w.cache.mu.Lock()
	c, ok := w.cache.list[key]
	w.cache.mu.Unlock()
	if ok && c.hash == sum {
		return c.text
	}
	valid := raw
	if !utf8.Valid(raw) {
		valid = bytes.ToValidUTF8(raw, []byte("\ufffd"))
	}
	text := []byte(w.redact.text(string(valid)))
	w.cache.mu.Lock()
	defer w.cache.mu.Unlock()
	if w.cache.list == nil || w.cache.size+len(text) > maxCached {
		w.cache.list, w.cache.size = map[string]cached{}, 0
	}
	if len(text) <= maxCached {
		w.cache.size += len(text) - len(w.cache.list[key].text)
		w.cache.list[key] = cached{sum, text}
	}
	return text
}

// isBinary reports whether b is no text: one with a NUL in its first 8 KB, as git
// and grep tell.
func isBinary(b []byte) bool {
	return bytes.IndexByte(b[:min(len(b), 8<<10)], 0) >= 0
}
