package tools

import (
	"context"
	"fmt"
	"strings"

	"mem/core/memdir"
	"mem/core/sessions"
)

func transcriptSearch() spec {
	return spec{
		name:  "transcript_search",
		title: "Search sessions",
		description: "Ranks what was said in the sessions of this project by words: prompts, answers, tool calls, errors, summaries. " +
			"A hit's session and uuid are what transcript_resume takes as session and at. A first search over much answers while it still reads, and says so.",
		in: schema{
			req("query", str("A few words.")),
			opt("session", str("Only in this one.")),
			opt("roles", list("Only these.", choice("", sessions.Roles...))),
			opt("since", str("A date or a time.")), opt("until", str("A date or a time.")),
			allArg(),
			opt("limit", atLeast("1", "Hits a page: 10 unless told, at most 50.")),
			opt("cursor", str("nextCursor of an earlier result of the same search.")),
		},
		out: schema{
			req("query", str("")),
			req("hits", list("Best first.", schema{
				req("session", str("")), opt("title", str("")), opt("agent", str("Where a subagent said it.")), opt("uuid", str("")), req("role", str("")), opt("time", str("")), opt("cwd", str("")),
				req("score", number("")), req("matched", list("", str(""))), req("snippet", str("")),
			}.nested(""))),
			req("total", integer("On all pages, with copies.")), opt("nextCursor", str("")),
			req("indexing", boolean("Transcripts are still being read: search again for more.")), req("indexedBytes", integer("")), req("pendingBytes", integer("Not searched yet.")),
			opt("corrected", list("Words that nobody said, and what was searched instead.", str(""))),
			opt("unknown", list("Words that nobody said.", str(""))), opt("ignored", list("Too common to search.", str(""))),
			opt("reason", str("Why nothing was found.")),
		}.with(skippedList()...),
		readOnly: true, idempotent: true,
		run: handle(func(ctx context.Context, m target, a struct {
			Query   string   `json:"query"`
			Session string   `json:"session"`
			Roles   []string `json:"roles"`
			Since   string   `json:"since"`
			Until   string   `json:"until"`
			All     bool     `json:"all"`
			Limit   int      `json:"limit"`
			Cursor  string   `json:"cursor"`
		}) (answer, error) {
			f, err := m.sessions().Search(ctx, sessions.SearchOptions{Query: a.Query, Session: a.Session, Roles: a.Roles, Since: a.Since, Until: a.Until,
				All: a.All, Limit: a.Limit, Cursor: a.Cursor, Progress: progress(ctx)})
			if err != nil {
				return answer{}, err
			}
			if len(f.Hits) > 0 {
				f.Notes = append(f.Notes, dataNote)
			}
			return answer{f, saidWords(f)}, nil
		}),
	}
}

func saidWords(f *sessions.Found) string {
	lines := []string{fmt.Sprintf("%d of %d hits for %q", len(f.Hits), f.Total, f.Query), f.Reason}
	for _, h := range f.Hits {
		line := fmt.Sprintf("- session %s, %s, %s", memdir.ShownName(h.Session), h.Role, h.Time)
		if h.Agent != "" {
			line += ", agent " + memdir.ShownName(h.Agent)
		}
		lines = append(lines, line+", uuid "+memdir.ShownName(h.UUID)+": "+brief(h.Title), "  "+memdir.Shown(h.Snippet, 2000))
	}
	for _, c := range f.Corrected {
		lines = append(lines, "Searched instead: "+brief(c))
	}
	if len(f.Unknown) > 0 && f.Reason == "" {
		lines = append(lines, "Said by nobody: "+memdir.Shown(strings.Join(f.Unknown, ", "), 400))
	}
	if f.NextCursor != "" {
		lines = append(lines, "More: cursor "+f.NextCursor)
	}
	return words(append(lines, skippedWords(f.Skipped, f.MoreSkipped, f.Notes))...)
}
