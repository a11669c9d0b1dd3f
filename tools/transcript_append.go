package tools

import (
	"context"
	"fmt"

	"github.com/mark3labs/mcp-go/server"

	"mem/core/memdir"
	"mem/core/sessions"
	"mem/core/transcript"
)

func transcriptAppend() spec {
	return spec{
		name:  "transcript_append",
		title: "Record a session",
		description: "Records messages of your conversation where your client keeps no transcript, so that it can be found, searched and taken up later. " +
			"Without session a new one begins; go on with the id in the result. Secrets are taken out.",
		in: schema{
			req("entries", list("In order.", schema{
				req("role", choice("summary: what a compaction kept of everything before.", "user", "assistant", "summary")),
				opt("text", str("")), opt("content", list("Content blocks of the Messages API, in place of text.", `{"type":"object"}`)),
				opt("model", str("")), opt("timestamp", str("RFC 3339; now unless told.")),
			}.nested(""))),
			opt("session", str("Id that an earlier result gave.")),
			opt("title", str("What the session is called.")),
		},
		out: schema{
			req("session", str("For the next call.")), req("path", str("")), req("uuids", list("Of the rows that were written.", str(""))),
			req("size", integer("Bytes of the file.")), req("created", boolean("")),
			opt("redacted", list("Rules of the secrets that were taken out.", str(""))), opt("notes", list("", str(""))),
		},
		run: handle(func(ctx context.Context, m target, a struct {
			Entries []transcript.Entry `json:"entries"`
			Session string             `json:"session"`
			Title   string             `json:"title"`
		}) (answer, error) {
			r, err := m.sessions().Append(ctx, sessions.AppendOptions{Session: a.Session, Title: a.Title, Entries: a.Entries, Client: clientOf(ctx)})
			if err != nil {
				return answer{}, err
			}
			lines := []string{fmt.Sprintf("Recorded %d rows in the session %s.", len(r.UUIDs), r.Session)}
			for _, rule := range r.Redacted {
				lines = append(lines, "Taken out: "+brief(rule))
			}
			for _, n := range r.Notes {
				lines = append(lines, "Note: "+n)
			}
			return answer{r, words(lines...)}, nil
		}),
	}
}

// clientOf names the program that makes a call, "" where it does not say.
func clientOf(ctx context.Context) string {
	s, ok := server.ClientSessionFromContext(ctx).(server.SessionWithClientInfo)
	if !ok {
		return ""
	}
	info := s.GetClientInfo()
	if info.Version == "" {
		return memdir.Shown(info.Name, 100)
	}
	return memdir.Shown(info.Name+" "+info.Version, 100)
}
