package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"mem/core/recall"
)

// Hit is one entry that was found.
type Hit struct {
	Session   string
	Path      string
	Project   string
	UUID      string // of the record; what a session is resumed from
	Role      Role
	Sidechain bool
	Time      time.Time // zero without one
	Offset    int64     // of the record in the transcript
	Length    int
	Score     float64 // comparable within one result only
	Snippet   recall.Snippet
	Matched   []string // words of the query that the entry has, as typed or as corrected
	Next      int      // the Begin of a query that goes on behind this hit
}

// Result of one search. Nothing that was done to the query is silent.
type Result struct {
	Hits  []Hit // best first
	Total int   // entries that match; a lower bound where Newest is set
	// Next is the Begin of the query for the hits after these, 0 where there are none.
	Next int
	// State changes whenever something is added to the index or taken out: the ranked
	// order of another state is another one, and places in it do not fit.
	State uint32

	Corrections []recall.Correction
	Unknown     []string // words that no entry has, as typed
	Ignored     []string // words that were not searched
	// Newest says that the words stand in too many entries to rank all of them:
	// only those of the newest sessions, or with the rarer words, were ranked.
	Newest bool
	// Stale counts entries that were found but whose record does not stand there
	// any more; the next update mends that.
	Stale int
	// Unread names transcripts of hits that could not be read; their hits have no
	// snippet.
	Unread []Unread

	Indexed int64 // bytes of transcript that the search covers
	Pending int64 // bytes that are not indexed yet
	LeftOut int   // sessions that the size limit left out

	// Reason says in words why there are no hits; empty where there are some.
	Reason string
}

// Ranking. The neighbours of a turn and its session lift most, and a person's own
// words count double: LoCoMo conversations and coding chats, 2026-11. On all ten
// LoCoMo conversations (1,978 questions, evidence found among the first 5, 10 and
// 25) these weights give 62, 72 and 81 %, and none of them 54, 63 and 72 %; values
// near them give the same. The weights of other roles are judged, not measured.
const (
	nearWeight    = 0.4 // of a neighbouring turn
	farWeight     = 0.2 // of the one after it
	sessionWeight = 0.7 // of the mean of the session's best turns
	sessionTurns  = 3
)

var roleWeight = [numRoles]float64{Prompt: 2, Answer: 1, ToolCall: 0.9, ToolResult: 0.8, Summary: 0.8, Task: 1}

// scored is an entry that matches.
type scored struct {
	id    rowID
	score float64
}

// Search returns the entries that match any word of the query, ranked. It sees
// what was indexed when it began; an update may run at the same time.
func (x *Index) Search(ctx context.Context, q Query) (Result, error) {
	x.reading.Lock()
	defer x.reading.Unlock()
	if x.read == nil {
		return Result{}, errClosed
	}
	// A search beside an update goes on with what is open; the next one follows.
	if x.updating.TryLock() {
		err := x.follow(ctx)
		x.updating.Unlock()
		if err != nil {
			return Result{}, err
		}
	}
	res, err := x.search(ctx, q)
	if err = x.problem(err); errors.Is(err, ErrDamaged) && !x.readOnly {
		// An update may never come to the damaged place; this tells it.
		if f, err := os.Create(x.path + damagedMark); err == nil {
			f.Close()
		}
	}
	return res, err
}

func (x *Index) search(ctx context.Context, q Query) (res Result, err error) {
	if err := x.refresh(ctx); err != nil {
		return res, err
	}
	f := x.filter(q)
	res.State = x.known.state
	for _, s := range x.known.sources {
		if s.omitted {
			res.LeftOut++
			continue
		}
		res.Indexed += s.offset
		res.Pending += s.pending()
	}
	p, err := x.parse(ctx, q.Text)
	if err != nil {
		return res, err
	}
	res.Corrections, res.Unknown, res.Ignored = p.corrections, p.unknown, p.ignored
	if len(p.terms) == 0 || len(f.sources) == 0 {
		res.Reason = x.reason(q, &p, &f)
		return res, nil
	}
	found, newest, err := x.candidates(ctx, &p, &f)
	if err != nil {
		return res, err
	}
	res.Newest, res.Total = newest, len(found)
	if len(found) == 0 {
		res.Reason = x.reason(q, &p, &f)
		return res, nil
	}
	rank(found)
	err = x.hits(ctx, q, &p, found, &res)
	return res, err
}

func (x *Index) reason(q Query, p *parsed, f *filter) string {
	switch {
	case strings.TrimSpace(q.Text) == "":
		return "The query is empty."
	case len(x.known.sources) == 0:
		return "No transcript is indexed yet."
	case len(f.sources) == 0:
		return "No indexed session passes the filters."
	case len(p.terms) == 0 && len(p.unknown) == 0:
		return "The query has only words that are in every text; add one that says what it is about."
	case len(p.terms) == 0:
		return "No transcript has any of these words."
	}
	return "No entry that passes the filters has any of these words."
}

// filter is what of the index a query looks at.
type filter struct {
	sources  map[int64]bool
	all      bool // sources are all there are
	lo, hi   int64
	roles    uint
	from, to int64 // milliseconds
	timed    bool
}

func (x *Index) filter(q Query) filter {
	f := filter{sources: map[int64]bool{}, all: true, lo: math.MaxInt64, to: math.MaxInt64}
	for _, r := range q.Roles {
		f.roles |= 1 << r
	}
	if !q.From.IsZero() {
		f.from, f.timed = max(1, q.From.UnixMilli()), true
	}
	if !q.To.IsZero() {
		f.to, f.timed = q.To.UnixMilli(), true
	}
	if f.timed {
		f.from = max(1, f.from)
	}
	for id, s := range x.known.sources {
		if q.Project != "" && s.Project != q.Project || len(q.Sessions) > 0 && !slices.Contains(q.Sessions, s.Session) ||
			f.timed && (s.last < f.from || s.first >= f.to) {
			f.all = false
			continue
		}
		f.sources[id] = true
		from, to := span(id)
		f.lo, f.hi = min(f.lo, from), max(f.hi, to)
	}
	return f
}

// where writes the filter as conditions on the id of a row, which SQLite tests
// before it asks FTS5 for a score.
func (f *filter) where() (cond string, args []any) {
	cond, args = "term.rowid >= ? AND term.rowid < ?", []any{f.lo, f.hi}
	if !f.all {
		var list strings.Builder
		for id := range f.sources {
			fmt.Fprintf(&list, ",%d", id)
		}
		cond += " AND (term.rowid >> ?) IN (SELECT value FROM json_each(?))"
		args = append(args, srcShift, "["+list.String()[1:]+"]")
	}
	if f.roles != 0 {
		cond += " AND (? >> (term.rowid & ?)) & 1"
		args = append(args, int64(f.roles), 1<<roleBits-1)
	}
	if f.timed {
		cond += " AND entry.time >= ? AND entry.time < ?"
		args = append(args, f.from, f.to)
	}
	return cond, args
}

// rank adds to each entry what its surroundings say and sorts, best first. found
// is in falling order of ids, so the turns of a session stand together.
func rank(found []scored) {
	// The score of a turn is that of its best entry.
	type turn struct {
		source int64
		number int
		score  float64
	}
	var turns []turn
	at := make([]int, len(found)) // the turn of each entry
	for i, s := range found {
		src, n := s.id.source(), s.id.turn()
		if k := len(turns) - 1; k < 0 || turns[k].source != src || turns[k].number != n {
			turns = append(turns, turn{src, n, s.score})
		} else {
			turns[k].score = max(turns[k].score, s.score)
		}
		at[i] = len(turns) - 1
	}
	bonus := make([]float64, len(turns))
	for i := 0; i < len(turns); {
		z := i
		var best [sessionTurns]float64 // falling
		for ; z < len(turns) && turns[z].source == turns[i].source; z++ {
			for b, s := 0, turns[z].score; b < len(best); b++ {
				if s > best[b] {
					best[b], s = s, best[b]
				}
			}
		}
		mean := 0.0
		for _, s := range best {
			mean += s / sessionTurns
		}
		for k := i; k < z; k++ {
			bonus[k] = sessionWeight * mean
			for o := max(i, k-2); o < min(z, k+3); o++ {
				switch d := turns[o].number - turns[k].number; d {
				case -1, 1:
					bonus[k] += nearWeight * turns[o].score
				case -2, 2:
					bonus[k] += farWeight * turns[o].score
				}
			}
		}
		i = z
	}
	for i := range found {
		found[i].score += bonus[at[i]]
	}
	slices.SortStableFunc(found, func(p, q scored) int { return cmp.Compare(q.score, p.score) })
}
