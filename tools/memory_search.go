package tools

import (
	"context"
	"fmt"
	"strings"

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
			storeArg(),
		},
		out: schema{
			req("query", str("")),
			req("hits", list("Best first.", schema{
				req("path", str("")), req("name", str("")), opt("description", str("")), opt("type", str("")),
				req("score", number("Comparable within one result.")),
				req("matched", list("Fields that hold words of the query.", schema{req("field", str("")), req("words", list("", str("")))}.nested(""))),
				opt("snippet", str("Where the words stand in the text.")),
			}.nested(""))),
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
		}) (answer, error) {
			f, err := m.Search(ctx, memory.SearchOptions{Query: a.Query, Type: a.Type, Logs: a.Logs, Limit: a.Limit, Cursor: a.Cursor})
			if err != nil {
				return answer{}, err
			}
			return answer{f, foundWords(f)}, nil
		}),
	}
}

func foundWords(f *memory.Found) string {
	lines := []string{fmt.Sprintf("%d of %d hits for %q", len(f.Hits), f.Total, f.Query), f.Reason}
	for _, h := range f.Hits {
		var fields []string
		for _, m := range h.Matched {
			fields = append(fields, m.Field+": "+strings.Join(m.Words, " "))
		}
		lines = append(lines, fmt.Sprintf("- %s (%s) %s [%s]", memdir.ShownName(h.Path), memdir.Shown(h.Type, 60), brief(h.Description), strings.Join(fields, "; ")))
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
