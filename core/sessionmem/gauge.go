package sessionmem

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"mem/core/settings"
)

// Gauge is what a measure of a whole transcript found, kept so that the next look reads only
// what came since: a transcript that does not tell its tokens would be read whole after every
// batch of tools. What it says of the new part is an upper bound, so that it never misses
// that a summary is due; where it may be, the whole is measured again.
// docs/formats.md specifies how it is stored.
type Gauge struct {
	Version    int    `json:"v"`
	Transcript string `json:"transcript"`
	// Size is up to where it was read, in bytes, the end of a line; Seam the hash of what
	// stands right before, by which a transcript that was written anew is known.
	Size int64  `json:"size"`
	Seam string `json:"seam"`
	// Updated is that of the State that it was measured with.
	Updated time.Time `json:"updated,omitzero"`
	// Tokens is the context, From the one from which its growth counts.
	Tokens    int  `json:"tokens"`
	From      int  `json:"from"`
	Estimated bool `json:"estimated,omitempty"`
	Calls     int  `json:"calls"`
	Pause     bool `json:"pause,omitempty"`
	// Compacted says that what came since holds a compaction, and only the whole tells.
	Compacted bool `json:"compacted,omitempty"`
}

const (
	gaugeFolder = "gauges"
	// gaugeKept is how long one is kept that nobody looks at.
	gaugeKept = 30 * 24 * time.Hour
	// seamBytes is how much is hashed before the place up to where a transcript was read.
	seamBytes = 256
	// maxGaugeLine is the longest line that is parsed; a longer one is counted by its length, as
	// a message and a call.
	maxGaugeLine = 8 << 20
)

// NewGauge keeps what Take measured of a transcript of this size; nil where the transcript
// cannot be read again from there.
func NewGauge(transcript string, src io.ReaderAt, size int64, st *State, m Measure) *Gauge {
	end := lastLine(src, size)
	if end <= 0 {
		return nil
	}
	g := &Gauge{Version: 1, Transcript: transcript, Size: end, Seam: seam(src, end), Tokens: m.Tokens, Estimated: m.Estimated, Calls: m.Calls, Pause: m.Pause}
	if st != nil && !st.Updated.IsZero() {
		g.Updated, g.From = st.Updated, st.Tokens
		if m.Boundary != st.Boundary {
			g.From = m.Baseline
		}
	}
	return g
}

// lastLine gives the end of the last whole line of a transcript, 0 where none is near its end.
func lastLine(src io.ReaderAt, size int64) int64 {
	from := max(size-maxGaugeLine, 0)
	for to := size; to > from; {
		part := make([]byte, min(to-from, 64<<10))
		if n, err := src.ReadAt(part, to-int64(len(part))); n < len(part) && err != nil {
			return 0
		}
		if i := bytes.LastIndexByte(part, '\n'); i >= 0 {
			return to - int64(len(part)) + int64(i) + 1
		}
		to -= int64(len(part))
	}
	return 0
}

// seam hashes what stands before a place; "" where that cannot be read.
func seam(src io.ReaderAt, end int64) string {
	part := make([]byte, min(end, seamBytes))
	if n, err := src.ReadAt(part, end-int64(len(part))); n < len(part) && err != nil {
		return ""
	}
	sum := sha256.Sum256(part)
	return hex.EncodeToString(sum[:16])
}

// Of reports whether a gauge belongs to this transcript and state.
func (g *Gauge) Of(transcript string, src io.ReaderAt, size int64, st *State) bool {
	var updated time.Time
	if st != nil {
		updated = st.Updated
	}
	return g.Transcript == transcript && g.Size <= size && g.Updated.Equal(updated) && g.Seam != "" && g.Seam == seam(src, g.Size)
}

// gauged is what is read of a row: more than Peek does, since calls are counted.
type gauged struct {
	Type      string          `json:"type"`
	UUID      json.RawMessage `json:"uuid"`
	Sidechain bool            `json:"isSidechain"`
	Message   struct {
		Content json.RawMessage `json:"content"`
	} `json:"message"`
}

// Advance takes in what was written since, up to the end of the last whole line.
func (g *Gauge) Advance(ctx context.Context, src io.ReaderAt, size int64) error {
	r := bufio.NewReaderSize(io.NewSectionReader(src, g.Size, size-g.Size), 64<<10)
	for {
		line, length, err := readLine(r)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		g.row(line, length)
		g.Size += length
	}
	g.Seam = seam(src, g.Size)
	return nil
}

// readLine gives a whole line and its length with the newline; of one that is too long, nil.
func readLine(r *bufio.Reader) (line []byte, length int64, err error) {
	long := false
	for {
		part, err := r.ReadSlice('\n')
		length += int64(len(part))
		switch {
		case err == nil && len(line) == 0 && !long:
			return part, length, nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return nil, length, err // a line that is being written is none yet
		case long || len(line)+len(part) > maxGaugeLine:
			line, long = nil, true
		default:
			line = append(line, part...)
		}
		if err == nil {
			return line, length, nil
		}
	}
}

// row takes in one row.
func (g *Gauge) row(line []byte, length int64) {
	tokens := max(int(length)-envelope, 0) / 4
	if line == nil {
		g.Tokens, g.Calls = g.Tokens+tokens, g.Calls+1
		return
	}
	var row gauged
	if json.Unmarshal(line, &row) != nil || row.Sidechain || row.UUID == nil {
		return // without an id it is none of the conversation
	}
	if bytes.Contains(line, boundaryMark) {
		g.Compacted = true
		return
	}
	switch row.Type {
	case "assistant":
		var told usage
		if json.Unmarshal(line, &told) == nil && told.tokens() > 0 {
			g.Tokens, g.Estimated, tokens = told.tokens(), false, 0
		}
		calls := count(row.Message.Content, "tool_use")
		g.Calls += calls
		g.Pause = calls == 0
	case "user":
		if count(row.Message.Content, "tool_result") > 0 {
			g.Pause = false
		}
	}
	g.Tokens += tokens
}

// count gives how many blocks of a type a message has.
func count(content json.RawMessage, kind string) int {
	var blocks []struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(content, &blocks) != nil {
		return 0 // a plain text
	}
	n := 0
	for _, b := range blocks {
		if b.Type == kind {
			n++
		}
	}
	return n
}

// Peek says that a session memory is surely not due; ok is false where it may be.
func (g *Gauge) Peek(c settings.SessionMemoryConfig) (d Decision, ok bool) {
	if g.Compacted {
		return Decision{}, false
	}
	m := Measure{Tokens: g.Tokens, Estimated: g.Estimated, Calls: g.Calls, Pause: g.Pause, Baseline: g.From}
	st := &State{Updated: g.Updated, Tokens: g.From}
	d = Decide(c, st, m)
	return d, !d.Due
}

// gaugeFile is where the gauge of a transcript is kept; "" without a cache directory.
func gaugeFile(env settings.Env, transcript string) string {
	if env.CacheDir == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(transcript))
	return filepath.Join(env.CacheDir, gaugeFolder, hex.EncodeToString(sum[:12])+".json")
}

// LoadGauge gives the gauge of a transcript, nil where there is none that can be used.
func LoadGauge(env settings.Env, transcript string) *Gauge {
	name := gaugeFile(env, transcript)
	if name == "" {
		return nil
	}
	b, err := os.ReadFile(name)
	if err != nil {
		return nil // it is made again
	}
	var g Gauge
	if json.Unmarshal(b, &g) != nil || g.Version != 1 || g.Transcript != transcript || g.Size <= 0 {
		return nil
	}
	return &g
}

// Save keeps a gauge for the next look.
func (g *Gauge) Save(env settings.Env) error {
	name := gaugeFile(env, g.Transcript)
	if name == "" {
		return nil
	}
	b, err := json.Marshal(g)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	if _, err := os.Lstat(name); err != nil {
		sweepGauges(filepath.Dir(name))
	}
	f, err := os.CreateTemp(filepath.Dir(name), "*.tmp")
	if err != nil {
		return err
	}
	_, err = f.Write(append(b, '\n'))
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("keeping how far a transcript was measured: %w", err), os.Remove(f.Name()))
	}
	return nil
}

// sweepGauges removes what nobody looks at any more, once for each new session.
func sweepGauges(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // tried again for the next one
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > gaugeKept {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}
