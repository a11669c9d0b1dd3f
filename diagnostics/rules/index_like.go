package rules

import (
	"strings"

	"mem/diagnostics"
)

// listsTopics reports whether a topic is an index of its own: most lines of its body
// are items that link something. What is asked of a memory is not asked of a list.
func listsTopics(d *diagnostics.Doc) bool {
	items, others := 0, 0
	for line := range strings.Lines(d.File.BodyText()) {
		switch line = strings.TrimSpace(line); {
		case line == "", line[0] == '#':
		case strings.IndexByte("-*+|", line[0]) >= 0 && strings.Contains(line, "]("):
			items++
		default:
			others++
		}
	}
	return items > 1 && items > others
}
