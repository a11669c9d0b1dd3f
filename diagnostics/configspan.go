package diagnostics

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"mem/core/memdir"
	"mem/core/text"
)

// yamlMarks finds the bytes that the YAML parser's lines and columns mean. Its
// columns count characters, and its lines end at more than those of core/text do.
type yamlMarks struct {
	text  *text.Text
	first int   // after a byte order mark, which the parser must not see
	lines []int // offsets of the parser's lines
}

func newYAMLMarks(src string) *yamlMarks {
	m := &yamlMarks{text: text.New(src)}
	if m.text.HasBOM() {
		m.first = len(text.BOM)
	}
	m.lines = []int{m.first}
	for i := m.first; i < len(src); i++ {
		switch {
		case src[i] == '\n', src[i] == '\r' && !strings.HasPrefix(src[i+1:], "\n"):
			m.lines = append(m.lines, i+1)
		case src[i] == 0xC2 && strings.HasPrefix(src[i:], "\u0085"):
			m.lines = append(m.lines, i+2)
		case src[i] == 0xE2 && (strings.HasPrefix(src[i:], "\u2028") || strings.HasPrefix(src[i:], "\u2029")):
			m.lines = append(m.lines, i+3)
		}
	}
	return m
}

// yaml gives what the parser reads.
func (m *yamlMarks) yaml() string { return m.text.String()[m.first:] }

// offset gives the byte at a line and column, which count from 1.
func (m *yamlMarks) offset(line, column int) int {
	if line < 1 {
		return m.first
	}
	if line > len(m.lines) {
		return m.text.Len()
	}
	src := m.text.String()
	at := m.lines[line-1]
	for ; column > 1 && at < len(src); column-- {
		_, n := utf8.DecodeRuneInString(src[at:])
		at += n
	}
	return at
}

// line gives the text of one of the parser's lines.
func (m *yamlMarks) line(n int) text.Span { return m.rest(m.offset(n, 1)) }

// rest gives what a line holds from an offset on, without a comment behind it.
func (m *yamlMarks) rest(start int) text.Span {
	src := m.text.String()
	end := start
	for end < len(src) && src[end] != '\n' && src[end] != '\r' {
		if src[end] == '#' && end > start && (src[end-1] == ' ' || src[end-1] == '\t') {
			break
		}
		end++
	}
	return text.Span{Start: start, End: start + len(strings.TrimRight(src[start:end], " \t"))}
}

// of gives the span of a node, that of its key where the node has no text.
func (m *yamlMarks) of(n, key *yaml.Node) text.Span {
	start := m.offset(n.Line, n.Column)
	s := text.Span{Start: start, End: max(m.end(n), start)}
	switch {
	case s.Len() > 0:
		return s
	case n != key:
		return m.of(key, key)
	}
	return m.rest(start)
}

// end gives the offset behind a node.
func (m *yamlMarks) end(n *yaml.Node) int {
	src := m.text.String()
	at := m.offset(n.Line, n.Column)
	switch {
	case n.Kind == yaml.AliasNode:
		return min(at+1+len(n.Value), len(src))
	case n.Kind != yaml.ScalarNode:
		for _, c := range n.Content[max(len(n.Content)-2, 0):] {
			at = max(at, m.end(c))
		}
		if n.Style&yaml.FlowStyle != 0 {
			if i := strings.IndexAny(src[at:], "]}"); i >= 0 {
				return at + i + 1
			}
		}
		return at
	case n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 && at < len(src) && (src[at] == '"' || src[at] == '\''):
		return endOfQuotes(src, at)
	case n.Anchor == "" && n.Style&yaml.TaggedStyle == 0 && strings.HasPrefix(src[at:], n.Value):
		return at + len(n.Value)
	}
	return m.rest(at).End // of its first line
}

// endOfQuotes gives the offset behind the quoted text that starts at an offset.
func endOfQuotes(src string, at int) int {
	quote := src[at]
	for i := at + 1; i < len(src); i++ {
		switch {
		case src[i] == '\\' && quote == '"':
			i++
		case src[i] != quote:
		case quote == '\'' && strings.HasPrefix(src[i+1:], "'"):
			i++
		default:
			return i + 1
		}
	}
	return len(src)
}

// fault gives the place and the reason of a parser's error.
func (m *yamlMarks) fault(err error) (text.Span, string) {
	src := m.text.String()
	for i, r := range src { // the parser gives no place for these
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == '\uFFFE' || r == '\uFFFF' {
			return text.Span{Start: i, End: i + utf8.RuneLen(r)}, fmt.Sprintf("it holds the character %U", r)
		}
	}
	start, why := m.first, err.Error()
	var le *yaml.LoadError
	if errors.As(err, &le) {
		why = le.Message
		start = m.offset(le.Mark.Line, le.Mark.Column)
		// What never ends is best looked for where it starts.
		if le.ContextMark.Line > 0 && strings.TrimSpace(src[start:]) == "" {
			start = m.offset(le.ContextMark.Line, le.ContextMark.Column)
		}
	}
	s := m.rest(start)
	if s.Len() == 0 {
		s = m.text.Line(m.text.LineAt(start))
	}
	return s, memdir.Shown(why, 100)
}

// invalidUTF8 gives the offset of the first byte that is no UTF-8, -1 without one.
func invalidUTF8(s string) int {
	if utf8.ValidString(s) {
		return -1
	}
	for i, r := range s {
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(s[i:]); n == 1 {
				return i
			}
		}
	}
	return -1
}
