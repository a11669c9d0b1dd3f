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
	MaxHits     = 50 // on a page
)

// Hit is one memory that was found.
type Hit struct {
	Path        string  `json:"path"`
	Name        string  `json:"name"`
	Description string  `json:"description,omitempty"`
	Type        string  `json:"type,omitempty"`
	Score       float64 `json:"score"` // comparable within one result
	// Store is where it was found, in a search of several; "" in one of a single store.
	Store string `json:"store,omitempty"`
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
	Stores     []string `json:"stores,omitempty"` // searched, in a search of several
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
	if err := o.check(); err != nil {
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
	n.note(unread(v)...)
	n.note(notes...)
	return o.search(x, n, func(id string) (*store.Reading, string, string) { return v, "", id })
}

func (o SearchOptions) check() error {
	if strings.TrimSpace(o.Query) == "" {
		return fmt.Errorf("query is empty; give a few words to look for")
	}
	if o.Type != "" && !memfile.KnownType(o.Type) {
		return fmt.Errorf("type %q is unknown; it is one of %s", o.Type, strings.Join(memfile.Types, ", "))
	}
	_, err := cursorOffset(o.Cursor)
	return err
}

// search looks into an index. of tells of a document in it: the View that it is
// from, the name of the store where there are several, and its path.
func (o SearchOptions) search(x *recall.Index, n Notice, of func(id string) (v *store.Reading, name, path string)) (*Found, error) {
	offset, err := cursorOffset(o.Cursor)
	if err != nil {
		return nil, err
	}
	limit := o.Limit
	if limit <= 0 {
		limit = defaultHits
	}
	res := x.Search(o.Query, recall.Options{Limit: min(limit, MaxHits), Offset: offset, Filter: func(id string) bool {
		v, _, p := of(id)
		t := v.Topic(p)
		if t == nil {
			return o.Logs && o.Type == ""
		}
		return o.Type == "" || t.Meta.Type == o.Type
	}})
	f := &Found{Query: fit(o.Query, maxAbout), Hits: []Hit{}, Total: res.Total, Unknown: fewWords(res.Unknown), Ignored: fewWords(res.Ignored), Reason: fit(res.Reason, 2*maxAbout), Notice: n}
	if more := len(res.Unknown) + len(res.Ignored) - len(f.Unknown) - len(f.Ignored); more > 0 {
		f.note(fmt.Sprintf("The query has %d more words that are in no memory or too common to search.", more))
	}
	if res.Total == 0 && !o.Logs && o.Type == "" {
		if all := x.Search(o.Query, recall.Options{Limit: 1, SnippetBytes: -1}); all.Total > 0 {
			f.Reason = fmt.Sprintf("no topic matches, but %d daily logs do; search again with logs", all.Total)
		}
	}
	for i, c := range res.Corrections {
		if i == maxWords {
			f.note(fmt.Sprintf("%d more words were searched as others.", len(res.Corrections)-i))
			break
		}
		f.Corrected = append(f.Corrected, fit(c.Word+" → "+strings.Join(c.To, ", "), maxName))
	}
	room := newBudget()
	for _, h := range res.Hits {
		v, name, p := of(h.ID)
		hit := hitOf(h, p, v)
		hit.Store = name
		b, err := json.Marshal(hit)
		if err != nil {
			return nil, fmt.Errorf("searching: %w", err)
		}
		if !room.take(string(b)) && len(f.Hits) > 0 {
			break
		}
		f.Hits = append(f.Hits, hit)
	}
	if end := offset + len(f.Hits); end < res.Total && len(f.Hits) > 0 {
		f.NextCursor = strconv.Itoa(end)
	}
	return f, nil
}

// fewWords bounds words of a query in number and length.
func fewWords(words []string) []string {
	var out []string
	for _, w := range words[:min(len(words), maxWords)] {
		out = append(out, fit(w, maxType))
	}
	return out
}

func hitOf(h recall.Hit, p string, v *store.Reading) Hit {
	hit := Hit{Path: fit(p, maxPath), Name: fit(memdir.Stem(p), maxName), Score: float64(int(h.Score*1000)) / 1000, Matched: []Match{}}
	if t := v.Topic(p); t != nil {
		hit.Name, hit.Description, hit.Type = fit(t.Name(), maxName), fit(t.Meta.Description, maxAbout), fit(t.Meta.Type, maxType)
	}
	for _, f := range h.Matched {
		hit.Matched = append(hit.Matched, Match{Field: f.Field.String(), Words: fewWords(f.Terms)})
	}
	if h.Snippet.Field == recall.Body || h.Snippet.Field == recall.Headings {
		hit.Snippet = strings.ToValidUTF8(strings.TrimSpace(h.Snippet.Text), "\uFFFD")
		if h.Snippet.Start > 0 {
			hit.Snippet = "… " + hit.Snippet
		}
		if h.Snippet.More {
			hit.Snippet += " …"
		}
		hit.Snippet = fit(hit.Snippet, 4*maxAbout)
	}
	return hit
}

// searchIndex gives the search index of a View. It reads only what changed
// since the last one.
func (m *Memory) searchIndex(ctx context.Context, v *store.Reading) (*recall.Index, []string, error) {
	// One search at a time reads what changed; nobody else waits for it.
	m.indexing.Lock()
	defer m.indexing.Unlock()
	docs, notes, err := documents(ctx, m.index, "", v)
	if err != nil {
		return nil, nil, err
	}
	m.index = m.index.Update(docs)
	return m.index, notes, nil
}

// documents gives what is searched of a View, their ids behind a prefix. It reads
// only what the index does not have.
func documents(ctx context.Context, x *recall.Index, prefix string, v *store.Reading) ([]recall.Doc, []string, error) {
	var docs []recall.Doc
	var notes []string
	for _, t := range v.Topics {
		d := recall.Doc{ID: prefix + t.Path, Hash: t.Version()}
		if !x.Has(d.ID, d.Hash) {
			if err := ctx.Err(); err != nil {
				return nil, nil, err
			}
			b, err := v.Load(t)
			if err != nil {
				notes = append(notes, fmt.Sprintf("%s was not searched: %v", t.Path, err))
				continue
			}
			d.Name, d.Description = t.Name(), b.File.Value("description")
			d.Body = searched(b.File.BodyText())
			d.Headings = headings(b.File)
		}
		docs = append(docs, d)
	}
	for _, l := range v.Logs {
		d := recall.Doc{ID: prefix + l.Path, Hash: fmt.Sprintf("%d %d", l.Size, l.ModTime.UnixNano())}
		if !x.Has(d.ID, d.Hash) {
			b, err := v.LoadPath(l.Path)
			if err != nil {
				notes = append(notes, fmt.Sprintf("%s was not searched: %v", l.Path, err))
				continue
			}
			d.Name, d.Body = l.Date, searched(b.File.Text.String())
		}
		docs = append(docs, d)
	}
	return docs, notes, nil
}

// maxOutlined is how large a body may be for its headings to be found by parsing
// it, in bytes: 256 KB take a few milliseconds, and real topics have less. Of a
// larger one, the lines that look like headings are taken.
const maxOutlined = 256 << 10

// searched gives what is searched of a body.
func searched(body string) string {
	body = strings.TrimSpace(body)
	if len(body) > recall.MaxBodyBytes {
		// Cloned, so that the index does not hold the whole file.
		body = strings.Clone(strings.ToValidUTF8(body[:recall.MaxBodyBytes], ""))
	}
	return body
}

// headings gives the headings of a topic, a line each.
func headings(f *memfile.File) string {
	body := f.BodyText()
	if len(body) <= maxOutlined {
		return strings.Join(memdir.Sections(f), "\n")
	}
	var b strings.Builder
	fence := ""
	for l := range strings.Lines(body) {
		l = strings.TrimSpace(l)
		if mark := l[:min(len(l), 3)]; mark == "```" || mark == "~~~" {
			switch fence {
			case "":
				fence = mark
			case mark:
				fence = ""
			}
			continue
		}
		text := strings.TrimLeft(l, "#")
		if level := len(l) - len(text); fence != "" || level < 1 || level > 6 || !strings.HasPrefix(text, " ") {
			continue
		}
		b.WriteString(strings.TrimSpace(strings.TrimRight(text, "#")) + "\n")
		if b.Len() > recall.MaxFieldBytes {
			break
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}
