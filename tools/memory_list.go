package tools

import (
	"context"
	"fmt"

	"mem/core/memdir"
	"mem/core/memory"
)

func memoryList() spec {
	return spec{
		name:        "memory_list",
		title:       "List topics",
		description: "Lists the topics of this memory with type and description, newest first, and what could not be read.",
		in: schema{
			opt("type", typeArg("Only topics of this type.")),
			opt("limit", atLeast("1", "Topics a page, at most 200.")),
			opt("cursor", str("nextCursor of an earlier result.")),
			storeArg(),
		},
		out: schema{
			req("directory", str("")),
			req("topics", list("", schema{
				req("path", str("")), req("name", str("")), opt("description", str("")), opt("type", str("")),
				req("modified", str("When the file was changed last.")), req("size", integer("Bytes.")),
				req("linked", boolean("Whether the index has an entry for it.")), opt("problems", list("", str(""))),
			}.nested(""))),
			req("total", integer("Topics on all pages.")),
			opt("nextCursor", str("")),
			opt("logs", list("Days that have a daily log, newest first.", str(""))),
			opt("nested", list("Folders that are memory directories of their own.", str(""))),
			opt("unread", list("Files that could not be read.", schema{req("path", str("")), req("message", str(""))}.nested(""))),
			opt("moreUnread", integer("Not listed above.")), opt("moreNested", integer("Not listed above.")),
			req("index", fill("")).tell(fillParts("How full it is")),
		}.with(notice()...),
		readOnly: true, idempotent: true,
		run: handle(func(ctx context.Context, m target, a struct {
			Type   string `json:"type"`
			Limit  int    `json:"limit"`
			Cursor string `json:"cursor"`
		}) (answer, error) {
			l, err := m.List(ctx, memory.ListOptions{Type: a.Type, Limit: a.Limit, Cursor: a.Cursor})
			if err != nil {
				return answer{}, err
			}
			return answer{l, listWords(l)}, nil
		}),
	}
}

func listWords(l *memory.List) string {
	lines := []string{fmt.Sprintf("%d of %d topics in %s", len(l.Topics), l.Total, memdir.Shown(l.Directory, 1000))}
	for _, t := range l.Topics {
		s := fmt.Sprintf("- %s (%s) %s", memdir.ShownName(t.Path), memdir.Shown(t.Type, 60), brief(t.Description))
		if !t.Linked {
			s += " [no entry in the index]"
		}
		for _, p := range t.Problems {
			s += " [" + brief(p) + "]"
		}
		lines = append(lines, s)
	}
	for _, p := range l.Unread {
		lines = append(lines, "Not read: "+memdir.ShownName(p.Path)+" "+memdir.Shown(p.Message, 400))
	}
	if l.MoreUnread > 0 {
		lines = append(lines, fmt.Sprintf("Not read: %d more files", l.MoreUnread))
	}
	if l.NextCursor != "" {
		lines = append(lines, "More: cursor "+l.NextCursor)
	}
	return words(append(lines, fillWords(l.Index), noticeWords(l.Notice))...)
}
