package memory

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/recall"
	"mem/core/store"
)

// SearchOptions says what to look for.
type SearchOptions struct {
	Query  string
	Type   string // only topics of this type
	Limit  int    // hits a page; 0 means 10, at most 50
	Cursor string // from an earlier result
	Logs   bool   // daily logs too
}

const (
	defaultHits = 10
	maxHits     = 50
)

// Hit is one memory that was found.
type Hit struct {
	Path        string  `json:"path"`
	Name        string  `json:"name"`
	Description string  `json:"description,omitempty"`
	Type        string  `json:"type,omitempty"`
	Score       float64 `json:"score"` // comparable within one result
	// Matched names the fields that hold words of the query, and which.
	Matched []Match `json:"matched"`
	Snippet string  `json:"snippet,omitempty"`
}

// Match is a field with the words found in it.
type Match struct {
	Field string   `json:"field"` // name, description, headings or body
	Words []string `json:"words"`
}

// Found is one page of hits, best first.
type Found struct {
	Query      string   `json:"query"`
	Hits       []Hit    `json:"hits"`
	Total      int      `json:"total"`
	NextCursor string   `json:"nextCursor,omitempty"`
	Corrected  []string `json:"corrected,omitempty"` // words with a slip, and what was searched instead
	Unknown    []string `json:"unknown,omitempty"`   // words that no memory holds
	Ignored    []string `json:"ignored,omitempty"`   // words too common to search
	Reason     string   `json:"reason,omitempty"`    // why nothing was found
	Notice
}

// Search ranks topics, and daily logs where asked, by a query.
func (m *Memory) Search(ctx context.Context, o SearchOptions) (*Found, error) {
	if strings.TrimSpace(o.Query) == "" {
		return nil, fmt.Errorf("query is empty; give a few words to look for")
	}
	if o.Type != "" && !memfile.KnownType(o.Type) {
		return nil, fmt.Errorf("type %q is unknown; it is one of %s", o.Type, strings.Join(memfile.Types, ", "))
	}
	offset, err := cursorOffset(o.Cursor)
	if err != nil {
		return nil, err
	}
	v, n, err := m.view(ctx)
	if err != nil {
		return nil, err
	}
	x, notes, err := m.searchIndex(ctx, v)
	if err != nil {
		return nil, err
	}
	n.Notes = append(append(n.Notes, unread(v)...), notes...)
	limit := o.Limit
	if limit <= 0 {
		limit = defaultHits
	}
	res := x.Search(o.Query, recall.Options{Limit: min(limit, maxHits), Offset: offset, Filter: func(id string) bool {
		t := v.Topic(id)
		if t == nil {
			return o.Logs && o.Type == ""
		}
		return o.Type == "" || t.Meta.Type == o.Type
	}})
	f := &Found{Query: o.Query, Hits: []Hit{}, Total: res.Total, Unknown: res.Unknown, Ignored: res.Ignored, Reason: res.Reason, Notice: n}
	if res.Total == 0 && !o.Logs && o.Type == "" {
		if all := x.Search(o.Query, recall.Options{Limit: 1, SnippetBytes: -1}); all.Total > 0 {
			f.Reason = fmt.Sprintf("no topic matches, but %d daily logs do; search again with logs", all.Total)
		}
	}
	for _, c := range res.Corrections {
		f.Corrected = append(f.Corrected, c.Word+" → "+strings.Join(c.To, ", "))
	}
	room := newBudget()
	for _, h := range res.Hits {
		hit := hitOf(h, v)
		b, err := json.Marshal(hit)
		if err != nil {
			return nil, fmt.Errorf("searching: %w", err)
		}
		if !room.take(string(b)) {
			break
		}
		f.Hits = append(f.Hits, hit)
	}
	if end := offset + len(f.Hits); end < res.Total && len(f.Hits) > 0 {
		f.NextCursor = strconv.Itoa(end)
	}
	return f, nil
}

func hitOf(h recall.Hit, v *store.Reading) Hit {
	hit := Hit{Path: h.ID, Name: memdir.Stem(h.ID), Score: float64(int(h.Score*1000)) / 1000, Matched: []Match{}}
	if t := v.Topic(h.ID); t != nil {
		hit.Name, hit.Description, hit.Type = t.Name(), t.Meta.Description, t.Meta.Type
	}
	for _, f := range h.Matched {
		hit.Matched = append(hit.Matched, Match{Field: f.Field.String(), Words: f.Terms})
	}
	if h.Snippet.Field == recall.Body || h.Snippet.Field == recall.Headings {
		hit.Snippet = strings.ToValidUTF8(strings.TrimSpace(h.Snippet.Text), "\uFFFD")
		if h.Snippet.Start > 0 {
			hit.Snippet = "… " + hit.Snippet
		}
		if h.Snippet.More {
			hit.Snippet += " …"
		}
	}
	return hit
}

// searchIndex gives the search index of a View. It reads only what changed
// since the last one.
func (m *Memory) searchIndex(ctx context.Context, v *store.Reading) (*recall.Index, []string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var docs []recall.Doc
	var notes []string
	for _, t := range v.Topics {
		d := recall.Doc{ID: t.Path, Hash: fmt.Sprintf("%d %d %s", t.Size, t.ModTime.UnixNano(), t.Hash)}
		if !m.index.Has(d.ID, d.Hash) {
			if err := ctx.Err(); err != nil {
				return nil, nil, err
			}
			b, err := v.Load(t)
			if err != nil {
				notes = append(notes, fmt.Sprintf("%s was not searched: %v", t.Path, err))
				continue
			}
			d.Name, d.Description = t.Name(), b.File.Value("description")
			d.Body = strings.TrimSpace(b.File.BodyText())
			d.Headings = strings.Join(memdir.Sections(b.File), "\n")
		}
		docs = append(docs, d)
	}
	for _, l := range v.Logs {
		d := recall.Doc{ID: l.Path, Hash: fmt.Sprintf("%d %d", l.Size, l.ModTime.UnixNano())}
		if !m.index.Has(d.ID, d.Hash) {
			b, err := v.LoadPath(l.Path)
			if err != nil {
				notes = append(notes, fmt.Sprintf("%s was not searched: %v", l.Path, err))
				continue
			}
			d.Name, d.Body = l.Date, b.File.Text.String()
		}
		docs = append(docs, d)
	}
	m.index = m.index.Update(docs)
	return m.index, notes, nil
}
