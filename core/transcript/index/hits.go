package index

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"math"
	"slices"
	"time"

	"mem/core/recall"
)

// hits reads the best entries from their transcripts until there are enough.
// Entries whose record does not stand there any more are passed over, and so are
// copies: clients used to copy a session's records when it was resumed. A copy of
// what an earlier page told is looked for in the index alone.
func (x *Index) hits(ctx context.Context, q Query, p *parsed, found []scored, res *Result) error {
	limit := q.Limit
	if limit <= 0 {
		limit = recall.DefaultLimit
	}
	limit = min(limit, MaxLimit)
	r := reader{x: x, q: q, weights: map[string]float64{}, words: map[string]string{}, files: map[int64]File{}}
	defer r.close()
	for _, s := range p.terms {
		r.weights[s.stem], r.words[s.stem] = s.weight, s.word
	}
	type record struct {
		uuid string
		role Role
	}
	seen := map[record]bool{}
	// A file that was replaced must not make a search read all its entries.
	q.Begin = min(max(q.Begin, 0), len(found))
	toRead := 3*limit + 20
	at := 0
	for ; at < len(found) && len(res.Hits) < limit && toRead > 0; at++ {
		s := found[at]
		if err := ctx.Err(); err != nil {
			return err
		}
		h, err := x.lookUp(ctx, s)
		if errors.Is(err, sql.ErrNoRows) {
			continue // taken out since
		}
		if err != nil {
			return err
		}
		if key := (record{h.UUID, h.Role}); h.UUID != "" && seen[key] {
			continue
		} else {
			seen[key] = true
		}
		if at < q.Begin {
			continue
		}
		toRead--
		ok, err := r.read(&h, s.id.source())
		if err != nil && !slices.ContainsFunc(res.Unread, func(u Unread) bool { return u.Path == h.Path }) {
			res.Unread = append(res.Unread, Unread{h.Path, err.Error()})
		}
		if err == nil && !ok {
			res.Stale++
			continue
		}
		h.Next = at + 1
		res.Hits = append(res.Hits, h)
	}
	if at < len(found) {
		res.Next = at
	}
	switch {
	case len(res.Hits) > 0:
	case res.Stale > 0 || len(res.Unread) > 0:
		res.Reason = "What was found does not stand in the transcripts any more; update the index and search again."
	default:
		res.Reason = "There are no more hits."
	}
	return nil
}

func (x *Index) lookUp(ctx context.Context, s scored) (Hit, error) {
	src := x.known.sources[s.id.source()]
	if src == nil {
		return Hit{}, sql.ErrNoRows
	}
	h := Hit{Session: src.Session, Path: src.Path, Project: src.Project, Role: s.id.role(), Score: math.Round(s.score*1e4) / 1e4}
	var uuid []byte
	var ms int64
	row := x.read.QueryRowContext(ctx, "SELECT offset, length, uuid, time, sidechain FROM entry WHERE id = ?", int64(s.id))
	if err := row.Scan(&h.Offset, &h.Length, &uuid, &ms, &h.Sidechain); err != nil {
		return h, err
	}
	h.UUID = unpackUUID(uuid)
	if ms > 0 {
		h.Time = time.UnixMilli(ms).UTC()
	}
	return h, nil
}

// openFiles is how many transcripts a search has open at a time.
const openFiles = 32

// reader reads the texts of hits.
type reader struct {
	x       *Index
	q       Query
	tokens  recall.Tokenizer
	weights map[string]float64 // by term
	words   map[string]string  // by term
	files   map[int64]File     // opened, by source
}

func (r *reader) close() {
	for _, f := range r.files {
		f.Close()
	}
}

// read fills in the snippet of h. ok is false where its record does not stand in
// the transcript.
func (r *reader) read(h *Hit, source int64) (ok bool, err error) {
	f := r.files[source]
	if f == nil {
		if len(r.files) >= openFiles {
			r.close()
			clear(r.files)
		}
		if f, err = r.x.opts.Open(h.Path); err != nil {
			return false, err
		}
		r.files[source] = f
	}
	if h.Length > MaxRecordBytes || h.Offset+int64(h.Length) > f.Size() {
		return false, nil
	}
	line := make([]byte, h.Length)
	if n, err := f.ReadAt(line, h.Offset); n < len(line) && err != nil {
		return false, nil // it was cut since it was opened
	}
	if h.Offset == 0 {
		line = bytes.TrimPrefix(line, bom)
	}
	head, entries, _ := extract(line, r.x.redact)
	i := slices.IndexFunc(entries, func(e extracted) bool { return e.role == h.Role })
	if i < 0 || head.uuid != h.UUID {
		return false, nil
	}
	text := entries[i].text
	for tok := range r.tokens.Tokens(text) {
		if w, ok := r.words[tok.Term]; ok && !slices.Contains(h.Matched, w) {
			h.Matched = append(h.Matched, w)
		}
	}
	if len(h.Matched) == 0 {
		return false, nil // another text under the same id
	}
	h.Snippet = r.tokens.Excerpt(text, r.weights, r.q.SnippetBytes)
	return true, nil
}
