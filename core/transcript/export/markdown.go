package export

import (
	"bufio"
	"html"
	"strconv"
	"time"

	"mem/core/transcript/shown"
)

// markdown writes the conversation with what was said in fences, so that no
// viewer takes any of it for more than text.
type markdown struct {
	w    *bufio.Writer
	last string // who spoke last
}

func (m *markdown) put(parts ...string) {
	for _, p := range parts {
		_, _ = m.w.WriteString(p) // the error shows at Flush
	}
}

func (m *markdown) begin(h head) {
	m.put("# ", shown.Code(h.title, 200), "\n\n")
	for _, f := range h.facts {
		m.put("- ", f[0], ": ", shown.Code(f[1], 400), "\n")
	}
	for i, a := range h.agents {
		m.put("- Subagent ", strconv.Itoa(i+1), ": ", shown.Code(a, 120), "\n")
	}
	m.put("\n")
}

func (m *markdown) turn(n int, at time.Time) {
	m.put("## Turn ", shown.Number(n), clock(" · ", at), "\n\n")
	m.last = ""
}

func (m *markdown) gap(words string) {
	m.put("---\n\n", shown.Line(words, 400), "\n\n---\n\n")
	m.last = ""
}

func (m *markdown) subagent(n int, id, title string) {
	m.put("# Subagent ", strconv.Itoa(n), "\n\n- id: ", shown.Code(id, 100), "\n")
	if title != "" {
		m.put("- title: ", shown.Code(title, 200), "\n")
	}
	m.put("\n")
	m.last = ""
}

func (m *markdown) item(it *item) {
	if who := speaker(it.kind); who != m.last {
		m.put("**", who, "**", hour(it.at), "\n\n")
		m.last = who
	}
	switch it.kind {
	case unread:
		m.put("The record of line ", shown.Number(it.line), " cannot be read.\n\n")
	case thinking:
		m.fold("Thinking", it)
	case attachment, notice:
		m.fold(it.name, it)
	case tool, orphan:
		m.put("<details>\n<summary>", summaryOf(it), "</summary>\n\n")
		if it.input != "" {
			m.put(shown.Fence(it.input), "\n")
		}
		for i := range it.results {
			m.said(&it.results[i])
		}
		m.put("</details>\n\n")
	default:
		m.said(it)
	}
}

func (m *markdown) fold(name string, it *item) {
	m.put("<details>\n<summary>", html.EscapeString(name), "</summary>\n\n")
	m.said(it)
	m.put("</details>\n\n")
}

func (m *markdown) said(it *item) {
	switch {
	case it.image != nil:
		m.put("(an image, ", it.image.media, ", ", shown.Count(len(it.image.data)/4*3, "byte", "bytes"), ")\n\n")
	case it.text != "":
		m.put(shown.Fence(it.text), "\n")
	}
}

func (m *markdown) end(r *Result) {
	m.put("---\n\n## About this export\n\n")
	for _, s := range closing(r) {
		m.put("- ", shown.Line(s, 2000), "\n")
	}
}

func speaker(k kind) string {
	switch k {
	case user:
		return "User"
	case client:
		return "Client, as user"
	case assistant, thinking, tool:
		return "Assistant"
	case orphan:
		return "Result without its call"
	case attachment:
		return "Attached by the client"
	case notice:
		return "Notice of the client"
	case summary:
		return "Summary of what was compacted"
	case failure:
		return "Failure of the API"
	}
	return "Unreadable"
}

// summaryOf is the line that stands for a folded call, escaped for HTML.
func summaryOf(it *item) string {
	s := html.EscapeString(it.name)
	if it.kind == orphan {
		s = "Result"
	}
	if it.about != "" {
		s += " <code>" + html.EscapeString(it.about) + "</code>"
	}
	switch {
	case it.kind == tool && !it.answered:
		return s + " → no result"
	case it.failed:
		s += " → error,"
	default:
		s += " →"
	}
	if it.size == 0 && len(it.results) > 0 {
		return s + " " + shown.Count(len(it.results), "part", "parts")
	}
	return s + " " + shown.Count(it.size, "character", "characters")
}

func clock(before string, t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return before + t.UTC().Format("2006-01-02 15:04") + " UTC"
}

// hour is a time within a turn, whose heading has the day.
func hour(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(" 15:04")
}
