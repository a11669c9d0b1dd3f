package tools

import (
	"context"

	"mem/core/memdir"
	"mem/core/memory"
)

func memoryMove() spec {
	return spec{
		name:        "memory_move",
		title:       "Rename a topic",
		description: "Gives a topic another path. Links to it in the index and in other topics follow, and so do its own relative links.",
		in: schema{
			req("topic", str("Path or name.")),
			req("to", str("The new path, such as testing/no-mocks.md; it must be free.")),
			storeArg(),
		},
		out: schema{req("path", str("The new path.")), req("from", str("The old path."))}.with(append(newState(), changed()...)...),
		run: handle(func(ctx context.Context, m target, a struct {
			Topic string `json:"topic"`
			To    string `json:"to"`
		}) (answer, error) {
			look := m.reading(ctx)
			defer look.end()
			r, err := m.Move(ctx, a.Topic, a.To)
			if err != nil {
				return answer{}, err
			}
			state := m.newState(look, &r.Change)
			return answer{struct {
				*memory.Moved
				wrong
			}{r, state}, words(memdir.ShownName(r.From)+" is now "+memdir.ShownName(r.Path)+".", changeWords(r.Change), state.words())}, nil
		}),
	}
}
