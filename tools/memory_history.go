package tools

import (
	"context"
	"fmt"
	"time"

	"mem/core/memory"
)

func memoryHistory() spec {
	return spec{
		name:        "memory_history",
		title:       "What changed",
		description: "Lists the changes that mem made to this memory, newest first, with their ids; or shows one with its diff. Losses that another program caused are in it.",
		in: schema{
			opt("topic", str("Only changes of this topic, by path or name.")),
			opt("change", str("Only this change, with its diff.")),
			opt("limit", atLeast("1", "Changes a page: 20 unless told, at most 100.")),
			opt("cursor", str("nextCursor of an earlier result.")),
			storeArg(),
		},
		out: schema{
			req("changes", list("Newest first.", schema{
				req("id", str("For memory_undo.")), req("time", str("")),
				req("op", str("write, edit, delete, move, log, undo, merge, the kind of a job, vanished (by another program) or displaced (a text of another program, kept).")),
				req("title", str("")), opt("origin", str("Session it came from.")), opt("actor", str("Program that made it.")),
				opt("undoes", str("")), opt("undoneBy", str("")), opt("aborted", boolean("It was not made.")),
				req("files", list("", schema{
					req("path", str("")), req("kind", str("")), opt("beforeHash", str("")), opt("afterHash", str("")),
				}.nested(""))),
				opt("diff", str("")), opt("moreFiles", integer("Changed as well, not listed.")),
			}.nested(""))),
			opt("nextCursor", str("")),
			opt("openLosses", list("Ids of losses on this page that nobody put back.", str(""))),
		}.with(notice()...),
		readOnly: true, idempotent: true,
		run: handle(func(ctx context.Context, m target, a struct {
			Topic  string `json:"topic"`
			Change string `json:"change"`
			Limit  int    `json:"limit"`
			Cursor string `json:"cursor"`
		}) (answer, error) {
			h, err := m.History(ctx, memory.HistoryOptions{Topic: a.Topic, Change: a.Change, Limit: a.Limit, Cursor: a.Cursor})
			if err != nil {
				return answer{}, err
			}
			return answer{h, historyWords(h)}, nil
		}),
	}
}

func historyWords(h *memory.History) string {
	lines := []string{fmt.Sprintf("Changes shown: %d", len(h.Changes))}
	for _, e := range h.Changes {
		s := fmt.Sprintf("- %s %s %s", e.ID, e.Time.Format(time.RFC3339), brief(e.Title))
		if e.UndoneBy != "" {
			s += " (undone by " + e.UndoneBy + ")"
		}
		if e.Aborted {
			s += " (not made)"
		}
		lines = append(lines, s, e.Diff)
	}
	if h.NextCursor != "" {
		lines = append(lines, "More: cursor "+h.NextCursor)
	}
	return words(append(lines, noticeWords(h.Notice))...)
}
