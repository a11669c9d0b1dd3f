package tools

import (
	"context"
)

func memoryDelete() spec {
	return spec{
		name:        "memory_delete",
		title:       "Forget a topic",
		description: "Deletes a topic, by path or name, with its entries in the index; or an entry whose topic does not exist. memory_undo brings it back.",
		in: schema{
			req("topic", str("Path or name.")),
			opt("expected_hash", str("Delete only if the text still has this hash.")),
			storeArg(),
		},
		out:         changed(),
		destructive: true,
		run: handle(func(ctx context.Context, m target, a struct {
			Topic        string `json:"topic"`
			ExpectedHash string `json:"expected_hash"`
		}) (answer, error) {
			c, err := m.Delete(ctx, a.Topic, a.ExpectedHash)
			if err != nil {
				return answer{}, err
			}
			return answer{c, changeWords(*c)}, nil
		}),
	}
}
