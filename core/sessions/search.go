package sessions

import (
	"context"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strings"
	"time"

	"mem/core/memdir"
	"mem/core/memory"
	"mem/core/transcript"
	"mem/core/transcript/index"
)

// Roles are what can be searched for.
var Roles = []string{"prompt", "answer", "call", "result", "summary", "task"}

const (
	defaultHits = 10
	maxHits     = 50
	maxQuery    = 500
	maxSnippet  = 1_500
	maxWords    = 20

	// DefaultWait is how long a search waits for what is not indexed yet. After that it
	// answers with what there is, and says so; clients end a call after a minute.
	DefaultWait = 5 * time.Second
)

// SearchOptions says what is looked for.
type SearchOptions struct {
	Query   string
	All     bool     // in all projects
	Session string   // only in this one: an id or the beginning of one
	Roles   []string // of Roles; none is all
	// Since and Until bound the time of what is found: a date or an RFC 3339 time.
	Since, Until string
	Limit        int           // hits a page: 10 unless told, at most 50
	Cursor       string        // of an earlier result of the same search
	Wait         time.Duration // DefaultWait unless it is set
	Progress     Progress
}

// Hit is a place in a session.
type Hit struct {
	Session string `json:"session"`
	Title   string `json:"title,omitempty"`
	Agent   string `json:"agent,omitempty"` // where a subagent's transcript has it
	// UUID names the record: a resume can end there.
	UUID    string   `json:"uuid,omitempty"`
	Role    string   `json:"role"`
	Time    string   `json:"time,omitempty"`
	Cwd     string   `json:"cwd,omitempty"`
	Score   float64  `json:"score"`
	Matched []string `json:"matched"`
	Snippet string   `json:"snippet"`
}

// Found is the result of a search.
type Found struct {
	Query string `json:"query"`
	Hits  []Hit  `json:"hits"` // best first
	Total int    `json:"total"`
	// NextCursor leads to the hits after these, "" where there are none.
	NextCursor string `json:"nextCursor,omitempty"`
	// Indexing says that transcripts are still being read: PendingBytes of them are not
	// searched yet, and a later search finds more.
	Indexing     bool     `json:"indexing"`
	IndexedBytes int64    `json:"indexedBytes"`
	PendingBytes int64    `json:"pendingBytes"`
	Corrected    []string `json:"corrected,omitempty"`
	Unknown      []string `json:"unknown,omitempty"`
	Ignored      []string `json:"ignored,omitempty"`
	Reason       string   `json:"reason,omitempty"` // why there is no hit
	// Skipped are places that were not searched.
	Skipped     []transcript.Skipped `json:"skipped,omitempty"`
	MoreSkipped int                  `json:"moreSkipped,omitempty"`
	Notes       []string             `json:"notes,omitempty"`
}

// Search ranks what was said in sessions. What is not in the index yet is read in the
// background: a first search over much answers with what there is, and says
// how far it is.
func (s *Sessions) Search(ctx context.Context, o SearchOptions) (_ *Found, err error) {
	defer s.clean(&err)
	q, err := query(o)
	if err != nil {
		return nil, err
	}
	h, err := s.shelf(ctx, o.All, o.Progress)
	if err != nil {
		return nil, err
	}
	q.Project = h.key
	var state uint32
	if o.Cursor != "" {
		if q.Begin, state, err = placeOf(o, h.key); err != nil {
			return nil, err
		}
	}
	var notes []string
	if o.Session != "" {
		x, err := s.pick(ctx, o.Session, o.Progress)
		if err != nil {
			return nil, err
		}
		notes = append(notes, x.notes...)
		q.Sessions, q.Project = []string{x.ID}, ""
		if h.byPath[x.Path] == nil {
			h.sources = append(h.sources, index.Source{Path: x.Path, Session: x.ID, Project: s.rootOf(x.Cwd, map[string]string{})})
			h.byPath[x.Path] = x.Session
		}
	}
	x, err := s.openIndex(ctx)
	if err != nil {
		return nil, err
	}
	notes = append(notes, x.Notices()...)
	u := s.begin(x, h.sources, h.size)
	if err := u.wait(ctx, o); err != nil {
		return nil, err
	}
	res, err := x.Search(ctx, q)
	if err != nil {
		return nil, err
	}
	f := &Found{Query: memory.Fit(o.Query, maxQuery), Hits: []Hit{}, Total: res.Total, IndexedBytes: res.Indexed, PendingBytes: res.Pending,
		Unknown: fewWords(res.Unknown), Ignored: fewWords(res.Ignored), Reason: memdir.Shown(res.Reason, maxNote)}
	if o.Cursor != "" && state != res.State {
		notes = append(notes, "More was said since the page before, so the order is another one: a hit may come twice or not at all.")
	}
	f.Skipped, f.MoreSkipped = s.fewSkipped(h.found.Skipped)
	notes = append(notes, h.found.Notes...)
	f.Notes = s.fewNotes(append(notes, f.progress(u, &res)...))
	for _, c := range res.Corrections[:min(len(res.Corrections), maxWords)] {
		f.Corrected = append(f.Corrected, memory.Fit(c.Word+" → "+strings.Join(c.To, ", "), maxName))
	}
	hits := make([]Hit, 0, len(res.Hits))
	for i := range res.Hits {
		hits = append(hits, s.hit(h, &res.Hits[i]))
	}
	next := 0
	if f.Hits, next = page(hits, maxHits); next > 0 {
		res.Next = res.Hits[next-1].Next
	}
	if res.Next > 0 {
		f.NextCursor = cursor(o, h.key, res.Next, res.State)
	}
	return f, nil
}

// A cursor of a search is the place in the ranked order, what is searched as a
// checksum, and the state of the index that had this order.
func cursor(o SearchOptions, project string, next int, state uint32) string {
	return fmt.Sprintf("%d.%08x.%08x", next, searched(o, project), state)
}

// searched stands for what decides about the hits and their order.
func searched(o SearchOptions, project string) uint32 {
	return crc32.ChecksumIEEE(fmt.Appendf(nil, "%q %q %q %q %q %q", o.Query, project, o.Session, o.Roles, o.Since, o.Until))
}

// placeOf reads a cursor.
func placeOf(o SearchOptions, project string) (begin int, state uint32, err error) {
	var of uint32
	if n, err := fmt.Sscanf(o.Cursor, "%d.%08x.%08x", &begin, &of, &state); n != 3 || err != nil || begin <= 0 || cursor(o, project, begin, state) != o.Cursor {
		if n == 3 && err == nil && of != searched(o, project) {
			return 0, 0, fmt.Errorf("the cursor %s belongs to another search; repeat the query and the filters that gave it, or start again without a cursor", memdir.ShownName(o.Cursor))
		}
		return 0, 0, fmt.Errorf("%s is no cursor of a search; start again without one", memdir.ShownName(o.Cursor))
	}
	return begin, state, nil
}

// query checks what is looked for.
func query(o SearchOptions) (index.Query, error) {
	q := index.Query{Text: o.Query, Limit: o.Limit}
	if strings.TrimSpace(o.Query) == "" {
		return q, fmt.Errorf("query is empty; give a few words to look for")
	}
	if q.Limit <= 0 {
		q.Limit = defaultHits
	}
	q.Limit = min(q.Limit, maxHits)
	for _, name := range o.Roles {
		var r index.Role
		if r.UnmarshalText([]byte(name)) != nil || !slices.Contains(Roles, name) {
			return q, fmt.Errorf("there is no role %s; there are %s", memdir.ShownName(name), strings.Join(Roles, ", "))
		}
		q.Roles = append(q.Roles, r)
	}
	var err error
	if q.From, err = when("since", o.Since, false); err != nil {
		return q, err
	}
	q.To, err = when("until", o.Until, true)
	return q, err
}

// when reads a date or a time; the end of a date is the next midnight.
func when(name, s string, end bool) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t, nil
	}
	t, err := time.ParseInLocation(time.DateOnly, s, time.Local)
	if err != nil {
		return t, fmt.Errorf("%s is %s; give a date such as 2026-11-30, or a time such as 2026-11-30T10:00:00Z", name, memdir.ShownName(s))
	}
	if end {
		t = t.AddDate(0, 0, 1)
	}
	return t, nil
}

// wait waits until an update has ended, or long enough.
func (u *update) wait(ctx context.Context, o SearchOptions) error {
	if o.Wait <= 0 {
		o.Wait = DefaultWait
	}
	enough := time.NewTimer(o.Wait)
	defer enough.Stop()
	tell := time.NewTicker(100 * time.Millisecond)
	defer tell.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-u.done:
			return nil
		case <-enough.C:
			return nil
		case <-tell.C:
			if o.Progress != nil {
				o.Progress("indexing transcripts", u.read.Load(), u.total.Load())
			}
		}
	}
}

// leftOut says in words what an update did not index, "" where that is nothing.
func leftOut(malformed, tooLong, repeated int) string {
	var parts []string
	add := func(n int, one, many string) {
		switch {
		case n == 1:
			parts = append(parts, "1 "+one)
		case n > 1:
			parts = append(parts, fmt.Sprintf("%d %s", n, many))
		}
	}
	add(malformed, "line that is no record", "lines that are no records")
	add(tooLong, "record that is too long to be searched", "records that are too long to be searched")
	add(repeated, "entry that repeats another of the same uuid", "entries that repeat others of the same uuid")
	return strings.Join(parts, ", ")
}

// progress says what an update and a search left out.
func (f *Found) progress(u *update, res *index.Result) (notes []string) {
	select {
	case <-u.done:
		if u.err != nil {
			notes = append(notes, fmt.Sprintf("The index could not be brought up to date: %v. What it has was searched.", u.err))
		}
		notes = append(notes, unreadWords(u.report.Unread)...)
		if out := leftOut(u.report.Malformed, u.report.TooLong, u.report.Repeated); out != "" {
			notes = append(notes, "Left out of what was indexed just now: "+out+".")
		}
	default:
		f.Indexing = true
		read, total := u.read.Load(), u.total.Load()
		f.PendingBytes = max(f.PendingBytes, total-read)
		percent := 0
		if total > 0 {
			percent = int(read * 100 / total)
		}
		notes = append(notes, fmt.Sprintf("Transcripts are still being indexed (%d %% of %d MB): this is what was found so far. Search again for the rest.", percent, total>>20))
	}
	if res.Newest {
		notes = append(notes, "The words stand in very many places: only the newest sessions, or the rarer words, were ranked.")
	}
	if res.LeftOut > 0 {
		notes = append(notes, fmt.Sprintf("%d old sessions are not in the index, whose size is limited.", res.LeftOut))
	}
	for i, x := range res.Unread {
		if i == 3 {
			break
		}
		notes = append(notes, fmt.Sprintf("%s could not be read for its snippets: %s", memdir.ShownName(x.Path), x.Reason))
	}
	return notes
}

func (s *Sessions) hit(h *shelf, x *index.Hit) Hit {
	out := Hit{Session: x.Session, Agent: h.agents[x.Path], UUID: said(x.UUID, maxName), Role: x.Role.String(), Time: stamp(x.Time),
		Score: math.Round(x.Score*1e3) / 1e3, Matched: fewWords(x.Matched), Snippet: said(x.Snippet.Text, maxSnippet)}
	if out.Matched == nil {
		out.Matched = []string{}
	}
	if x.Snippet.Start > 0 {
		out.Snippet = "…" + out.Snippet
	}
	if x.Snippet.More {
		out.Snippet += "…"
	}
	if of := h.byPath[x.Path]; of != nil {
		out.Title, out.Cwd = said(of.Title, maxLine), said(s.places.directory(of.Cwd), maxPath)
		if out.Title == "" {
			out.Title = said(of.FirstPrompt, maxLine)
		}
	}
	return out
}

// fewWords bounds words of a query in number and length.
func fewWords(words []string) []string {
	var out []string
	for _, w := range words[:min(len(words), maxWords)] {
		out = append(out, memory.Fit(w, 60))
	}
	return out
}
