package sessionmem

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"mem/core/settings"
)

const (
	// peekBytes is how much of the end of a transcript is looked at: the last answers with
	// the results of tools between them (p95 of a row is below 20 KB by FACTS §2).
	peekBytes = 256 << 10
	// peekSince bounds what is searched for a compaction since the last summary.
	peekSince = 8 << 20
)

// boundaryMark is in each row that ends a compacted part, and costs little to look for.
var boundaryMark = []byte(`"compact_boundary"`)

// peeked is what Peek reads of a row.
type peeked struct {
	Type      string `json:"type"`
	Sidechain bool   `json:"isSidechain"`
	usage
}

// Peek says that a session memory is surely not due, from the end of a transcript alone: a
// hook asks after every batch of tools, and to measure a whole conversation each time
// would keep the session waiting. ok is false where that does not say, and Take has to.
func Peek(c settings.SessionMemoryConfig, st *State, src io.ReaderAt, size int64) (Decision, bool) {
	first := st == nil || st.Updated.IsZero()
	if !first && (st.Size == 0 || st.Size > size || compacted(src, st.Size, size)) {
		return Decision{}, false
	}
	n, ok := peekTokens(src, size)
	if !ok {
		return Decision{}, false
	}
	m := Measure{Tokens: n}
	d := Decision{Tokens: n, Grown: n}
	if first {
		d.Reason = fmt.Sprintf("the context has %s, and the first summary is written at %d", tokens(m), c.FirstTokens)
		return d, n < c.FirstTokens
	}
	d.Grown = max(n-st.Tokens, 0)
	d.Reason = fmt.Sprintf("the context has grown by %d tokens since the last summary; the next summary is written after %d", d.Grown, c.EveryTokens)
	return d, d.Grown < c.EveryTokens
}

// compacted reports whether a part of a transcript may hold a compaction.
func compacted(src io.ReaderAt, from, to int64) bool {
	if to-from > peekSince {
		return true
	}
	part := make([]byte, to-from)
	n, err := src.ReadAt(part, from)
	return err != nil && err != io.EOF || bytes.Contains(part[:n], boundaryMark)
}

// peekTokens gives the context after the last answer that tells it, with an estimate of
// what came since.
func peekTokens(src io.ReaderAt, size int64) (int, bool) {
	from := max(size-peekBytes, 0)
	part := make([]byte, size-from)
	n, err := src.ReadAt(part, from)
	if err != nil && err != io.EOF {
		return 0, false
	}
	part = part[:n]
	if from > 0 { // the first line is a part of one
		_, part, _ = bytes.Cut(part, []byte("\n"))
	}
	since := 0
	for len(part) > 0 {
		part = bytes.TrimRight(part, "\n")
		i := bytes.LastIndexByte(part, '\n')
		line := part[i+1:]
		part = part[:i+1]
		var p peeked
		if json.Unmarshal(line, &p) != nil || p.Sidechain {
			continue
		}
		if bytes.Contains(line, boundaryMark) {
			return 0, false
		}
		if p.Type != "assistant" {
			if p.Type == "user" || p.Type == "attachment" {
				since += max(len(line)-envelope, 0) / 4
			}
			continue
		}
		if n := p.tokens(); n > 0 {
			return n + since, true
		}
	}
	return 0, false
}
