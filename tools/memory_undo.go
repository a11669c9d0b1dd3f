package tools

import (
	"context"
)

func memoryUndo() spec {
	return spec{
		name:  "memory_undo",
		title: "Take a change back",
		description: "Takes one change back by its id, deletions too. What came later stays; where it touched the same part, it is a conflict and nothing changes. " +
			"Undoing an undo makes the change again; undoing a loss puts back what vanished.",
		in:          schema{req("change", str("Id from memory_history or from the result of a write.")), storeArg()},
		out:         changed(),
		destructive: true,
		run: handle(func(ctx context.Context, m target, a struct {
			Change string `json:"change"`
		}) (answer, error) {
			c, err := m.Undo(ctx, a.Change)
			if err != nil {
				return answer{}, err
			}
			return answer{c, changeWords(*c)}, nil
		}),
	}
}
