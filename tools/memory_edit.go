package tools

import (
	"context"
	"errors"
	"fmt"

	"mem/core/memdir"
	"mem/core/memory"
)

func memoryEdit() spec {
	return spec{
		name:  "memory_edit",
		title: "Edit a topic",
		description: "Changes one part of a topic or of the index (MEMORY.md), in one of three ways: old and new (old must occur exactly once), " +
			"key and value (a frontmatter key), or section and content (what stands below a heading). Everything else stays byte for byte.",
		in: schema{
			req("topic", str("Path or name; MEMORY.md for the index.")),
			opt("old", str("Text to replace, as it stands in the file.")),
			opt("new", str("What to put in its place; empty removes it.")),
			opt("key", str("Frontmatter key to set, such as description.")),
			opt("value", str("Its value.")),
			opt("section", str("Heading whose text is replaced.")),
			opt("content", str("The new text below the heading.")),
			opt("expected_hash", str("Hash of the text that you read. Then what others changed since is merged, and the same part is a conflict.")),
			storeArg(),
		},
		out: schema{
			req("path", str("")), req("hash", str("Of the file now.")),
			opt("merged", boolean("With what somebody else wrote meanwhile.")),
			opt("diff", str("What changed.")),
		}.with(append(newState(), changed()...)...),
		destructive: true,
		run: handle(func(ctx context.Context, m target, a struct {
			Topic        string  `json:"topic"`
			Old          *string `json:"old"`
			New          *string `json:"new"`
			Key          *string `json:"key"`
			Value        *string `json:"value"`
			Section      *string `json:"section"`
			Content      *string `json:"content"`
			ExpectedHash string  `json:"expected_hash"`
		}) (answer, error) {
			of, err := editOf(a.Old, a.New, a.Key, a.Value, a.Section, a.Content)
			if err != nil {
				return answer{}, err
			}
			look := m.reading(ctx)
			defer look.end()
			e, err := m.Edit(ctx, memory.Edit{Topic: a.Topic, EditOf: of, ExpectedHash: a.ExpectedHash, Planned: look.planned()})
			if err != nil {
				return answer{}, err
			}
			state := m.newState(look, &e.Change)
			return answer{struct {
				*memory.Edited
				wrong
			}{e, state}, words(fmt.Sprintf("%s has the hash %s.", e.Path, e.Hash), e.Diff, changeWords(e.Change), state.words())}, nil
		}),
	}
}

// editOf takes exactly one of the three forms.
func editOf(old, new, key, value, section, content *string) (memdir.EditOf, error) {
	var e memdir.EditOf
	if given(old, new)+given(key, value)+given(section, content) != 1 {
		return e, errors.New("give one of three: old and new, key and value, or section and content")
	}
	for _, pair := range []struct {
		a, b         *string
		first, other string
		into         func(a, b string)
	}{
		{old, new, "old", "new", func(a, b string) { e.Old, e.New = a, b }},
		{key, value, "key", "value", func(a, b string) { e.Key, e.Value = a, b }},
		{section, content, "section", "content", func(a, b string) { e.Section, e.Content = a, b }},
	} {
		switch {
		case pair.a == nil && pair.b == nil:
		case pair.a == nil || *pair.a == "":
			return e, fmt.Errorf("%s needs %s with it", pair.other, pair.first)
		case pair.b == nil:
			return e, fmt.Errorf("%s needs %s with it", pair.first, pair.other)
		default:
			pair.into(*pair.a, *pair.b)
		}
	}
	return e, nil
}

// given counts a form that at least a part of was given of.
func given(a, b *string) int {
	if a == nil && b == nil {
		return 0
	}
	return 1
}
