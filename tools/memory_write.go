package tools

import (
	"context"
	"fmt"

	"mem/core/memdir"
	"mem/core/memory"
)

func memoryWrite() spec {
	return spec{
		name:  "memory_write",
		title: "Remember",
		description: "Writes one memory as a topic with its entry in the index, both or neither. " +
			"Search first: if a topic covers it, edit or replace that one. Replacing needs expected_hash from memory_read. " +
			"Types: user (who the user is), feedback (how they want you to work; say why), project (goals and decisions; absolute dates), reference (where things are). " +
			"No secrets; nothing that the code already says.",
		in: schema{
			req("name", str("Short name in kebab-case, such as no-mock-database.")),
			req("description", str("One line that tells when this memory matters.")),
			req("type", typeArg("What kind of memory it is.")),
			req("body", str("Markdown. For feedback and project: the fact, then **Why:** and **How to apply:**.")),
			opt("summary", str("Text of the index entry; the description unless given.")),
			opt("path", str("File in the memory directory, such as testing/no-mocks.md; made from the name unless given.")),
			opt("expected_hash", str("Hash of the text that you replace.")),
			storeArg(),
		},
		out: schema{
			req("path", str("Where it was written.")), opt("hash", str("Of the topic now.")),
			req("created", boolean("Whether the topic is new.")),
			req("logged", boolean("Whether it went to the daily log instead of a topic.")),
			opt("entry", str("Its line in the index.")),
			opt("merged", boolean("With what somebody else wrote meanwhile.")),
		}.with(append(newState(), changed()...)...),
		eager: true,
		run: handle(func(ctx context.Context, m target, a struct {
			Name         string `json:"name"`
			Description  string `json:"description"`
			Type         string `json:"type"`
			Body         string `json:"body"`
			Summary      string `json:"summary"`
			Path         string `json:"path"`
			ExpectedHash string `json:"expected_hash"`
		}) (answer, error) {
			look := m.ahead(ctx)
			defer look.end()
			w, err := m.Write(ctx, memory.Write{ExpectedHash: a.ExpectedHash, Planned: look.planned(), Memory: memdir.Memory{
				Name: a.Name, Description: a.Description, Type: a.Type, Body: a.Body, Summary: a.Summary, Path: a.Path}})
			if err != nil {
				return answer{}, err
			}
			state := m.newState(look, &w.Change)
			return answer{struct {
				*memory.Written
				wrong
			}{w, state}, words(writtenWords(w), state.words())}, nil
		}),
	}
}

func writtenWords(w *memory.Written) string {
	verb := "Updated"
	switch {
	case w.Logged:
		return words("Logged in "+w.Path+" (daily-log mode).", changeWords(w.Change))
	case w.Created:
		verb = "Created"
	case w.ID == "":
		verb = "Unchanged:"
	}
	return words(fmt.Sprintf("%s %s (hash %s).", verb, w.Path, w.Hash), "Entry: "+memdir.Shown(w.Entry, 1000), changeWords(w.Change))
}
