package tools

import (
	"context"

	"mem/core/memdir"
	"mem/core/sessions"
)

func transcriptExport() spec {
	return spec{
		name:  "transcript_export",
		title: "Export a session",
		description: "Gives a whole session as text for people, page by page, without secrets: Markdown, or one HTML file. " +
			"Write it to a file where one is wanted; to go on with a session use transcript_resume.",
		in: schema{
			sessionArg(),
			opt("format", choice("markdown unless told.", sessions.ExportFormats...)),
			opt("agent", str("A subagent's conversation, by its id.")),
			opt("cursor", str("nextCursor of an earlier result.")),
		},
		out: schema{
			req("session", str("")), req("format", str("")), req("text", str("The pages together make the document.")),
			opt("nextCursor", str("")), opt("notes", list("", str(""))),
		},
		readOnly: true, idempotent: true,
		run: handle(func(ctx context.Context, m target, a struct {
			Session string `json:"session"`
			Format  string `json:"format"`
			Agent   string `json:"agent"`
			Cursor  string `json:"cursor"`
		}) (answer, error) {
			p, err := m.sessions().ExportPage(ctx, sessions.ExportOptions{Session: a.Session, Format: a.Format, Agent: a.Agent, Progress: progress(ctx)}, a.Cursor)
			if err != nil {
				return answer{}, err
			}
			p.Notes = append(p.Notes, dataNote)
			lines := []string{"Session " + memdir.ShownName(p.Session) + " as " + p.Format + ":", p.Text}
			for _, n := range p.Notes {
				lines = append(lines, "Note: "+n)
			}
			if p.NextCursor != "" {
				lines = append(lines, "More: cursor "+p.NextCursor)
			}
			return answer{p, words(lines...)}, nil
		}),
	}
}
