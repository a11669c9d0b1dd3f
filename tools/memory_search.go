package tools

import (
	"context"
	"fmt"
	"strings"

	"mem/core/agentmem"
	"mem/core/memdir"
	"mem/core/memory"
)

func memorySearch() spec {
	return spec{
		name:  "memory_search",
		title: "Search memory",
		description: "Ranks topics by words: their forms, identifiers by parts, Chinese, Japanese and Korean, and words with a slip. " +
			"Each hit says which field matched.",
		in: schema{
			req("query", str("A few words.")),
			opt("type", typeArg("Only topics of this type.")),
			opt("logs", boolean("Daily logs too.")),
			opt("limit", atLeast("1", "Hits a page: 10 unless told, at most 50.")),
			opt("cursor", str("nextCursor of an earlier result.")),
			opt("stores", choice("All stores at once, those of agents and the folders that are only read, too: each hit names its store.", "all")),
			storeArg(),
		},
		out: schema{
			req("query", str("")),
			req("hits", list("Best first.", schema{
				opt("store", str("Where it is, of a search in all stores.")), req("path", str("")), req("name", str("")), opt("description", str("")), opt("type", str("")),
				req("score", number("Comparable within one result.")),
				req("matched", list("Fields that hold words of the query.", schema{req("field", str("")), req("words", list("", str("")))}.nested(""))),
				opt("snippet", str("Where the words stand in the text.")),
			}.nested(""))),
			opt("stores", list("Those that were searched.", str(""))),
			req("total", integer("")), opt("nextCursor", str("")),
			opt("corrected", list("Words that no memory holds, and what was searched instead.", str(""))),
			opt("unknown", list("Words that no memory holds.", str(""))),
			opt("ignored", list("Words that are too common to search.", str(""))),
			opt("reason", str("Why nothing was found.")),
		}.with(notice()...),
		readOnly: true, idempotent: true, eager: true,
		run: handle(func(ctx context.Context, m target, a struct {
			Query  string `json:"query"`
			Type   string `json:"type"`
			Logs   bool   `json:"logs"`
			Limit  int    `json:"limit"`
			Cursor string `json:"cursor"`
			Stores string `json:"stores"`
		}) (answer, error) {
			o := memory.SearchOptions{Query: a.Query, Type: a.Type, Logs: a.Logs, Limit: a.Limit, Cursor: a.Cursor}
			search := m.Search
			if a.Stores != "" {
				search = m.searchAll
			}
			f, err := search(ctx, o)
			if err != nil {
				return answer{}, err
			}
			return answer{f, foundWords(f)}, nil
		}),
	}
}

// searchAll searches every store of the project, of its user, and of the
// configuration. One that cannot be opened is told.
func (t target) searchAll(ctx context.Context, o memory.SearchOptions) (*memory.Found, error) {
	all := []*memory.Memory{}
	var notes []string
	names, err := agentmem.Names(ctx, t.Memory)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		m, err := t.open(ctx, name)
		if err != nil {
			notes = append(notes, fmt.Sprintf("The store %s was not searched: %v", name, err))
			continue
		}
		all = append(all, m)
		if len(all) > memory.MaxShelf {
			break // Search tells
		}
	}
	f, err := t.checks.shelf.Search(ctx, all, o)
	if err == nil {
		f.Note(notes...)
	}
	return f, err
}

func foundWords(f *memory.Found) string {
	lines := []string{fmt.Sprintf("%d of %d hits for %q", len(f.Hits), f.Total, f.Query), f.Reason}
	for _, h := range f.Hits {
		var fields []string
		for _, m := range h.Matched {
			fields = append(fields, m.Field+": "+strings.Join(m.Words, " "))
		}
		at := memdir.ShownName(h.Path)
		if h.Store != "" {
			at = h.Store + ": " + at
		}
		lines = append(lines, fmt.Sprintf("- %s (%s) %s [%s]", at, memdir.Shown(h.Type, 60), brief(h.Description), strings.Join(fields, "; ")))
		if h.Snippet != "" {
			lines = append(lines, "  "+memdir.Shown(h.Snippet, 2000))
		}
	}
	for _, c := range f.Corrected {
		lines = append(lines, "Searched instead: "+brief(c))
	}
	if len(f.Unknown) > 0 && f.Reason == "" {
		lines = append(lines, "In no memory: "+strings.Join(f.Unknown, ", "))
	}
	if f.NextCursor != "" {
		lines = append(lines, "More: cursor "+f.NextCursor)
	}
	return words(append(lines, noticeWords(f.Notice))...)
}
