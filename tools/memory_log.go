package tools

import (
	"context"

	"mem/core/memdir"
)

func memoryLog() spec {
	return spec{
		name:        "memory_log",
		title:       "Note in the daily log",
		description: "Appends a note to today's daily log. Logs only grow; a later consolidation turns them into topics. For what should be found again, use memory_write.",
		in: schema{
			req("text", str("What to note, in Markdown.")),
			opt("name", str("A few words as its heading.")),
			opt("type", typeArg("What kind of memory it may become.")),
			opt("description", str("One line that tells when it matters.")),
			storeArg(),
		},
		out: schema{req("path", str("The log.")), req("entry", str("What was appended."))}.with(changed()...),
		run: handle(func(ctx context.Context, m target, a struct {
			Text        string `json:"text"`
			Name        string `json:"name"`
			Type        string `json:"type"`
			Description string `json:"description"`
		}) (answer, error) {
			l, err := m.Log(ctx, memdir.LogNote{Name: a.Name, Type: a.Type, Description: a.Description, Body: a.Text})
			if err != nil {
				return answer{}, err
			}
			return answer{l, words("Logged in "+l.Path+".", l.Entry, changeWords(l.Change))}, nil
		}),
	}
}
