package transcript

import (
	"fmt"
	"strings"
)

// Kind is what a row is in the conversation's tree.
type Kind uint8

// The kinds of rows.
const (
	NoKind     Kind = iota
	User            // a prompt or the results of tools
	Assistant       // one content block of an answer
	System          // a notice of the client
	Attachment      // context that the client adds to a turn
	Boundary        // a compaction: everything before it is dropped
	Collapse        // the same, as a marker in the style of context_collapse_snapshot
	Progress        // what a tool reported while it ran; links rows, is not sent
	Other           // an unknown type with a uuid; links rows, is not sent
)

var kindNames = [...]string{"none", "user", "assistant", "system", "attachment", "boundary", "collapse", "progress", "other"}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("Kind(%d)", uint8(k))
}

// IsMessage reports whether rows of this kind can stand on a chain.
func (k Kind) IsMessage() bool { return k >= User && k <= Collapse }

// IsBoundary reports whether rows of this kind drop what is before them.
func (k Kind) IsBoundary() bool { return k == Boundary || k == Collapse }

// Flags say more about a row.
type Flags uint16

// The flags of rows.
const (
	FlagSidechain      Flags = 1 << iota // of a subagent
	FlagMeta                             // written by the client, not shown to the person
	FlagCompactSummary                   // what a compaction kept in words
	FlagTranscriptOnly                   // shown in the transcript only
	FlagPrompt                           // a person's own words
	FlagToolUse                          // holds a tool call
	FlagToolResult                       // holds the result of a tool
	FlagThinking                         // holds thinking
	FlagAPIError                         // an error of the API in place of an answer
	FlagBridged                          // its parent is not there: the row before it in the file stands in
	FlagDuplicate                        // its uuid occurred before; this is the last one
)

// Has reports whether all of these flags are set.
func (f Flags) Has(g Flags) bool { return f&g == g }

// Row is a record that takes part in the tree: 64 bytes, and 20 more
// in the structures that find and link it.
type Row struct {
	Offset int64 // of its line, in bytes from the start of the file
	UUID   UUID
	Parent UUID // as the record says; none for a beginning
	// Ref names, of an assistant row, the API message that it is a block of (its message.id), and
	// of any other the tool call that it answers; 0 for none.
	Ref   uint64
	Len   uint32 // of its line in bytes, without line end and surrounding white space
	Line  uint32 // of the file, from 1
	Time  uint32 // seconds since 1970; 0 when unknown
	Kind  Kind
	Flags Flags
}

// maxProblemLines is how many lines are named for each kind of problem.
const maxProblemLines = 20

// Problem counts one kind of problem.
type Problem struct {
	Count int      `json:"count"`
	Lines []uint32 `json:"lines,omitempty"` // the first 20
}

func (p *Problem) add(line uint32) {
	p.Count++
	if len(p.Lines) < maxProblemLines {
		p.Lines = append(p.Lines, line)
	}
}

// Problems are what is wrong with a file. None of them stops reading.
type Problems struct {
	Malformed Problem `json:"malformed"` // no JSON: torn, or not one record a line
	Truncated Problem `json:"truncated"` // a last line that is cut, as of a writer that is busy or died
	NUL       Problem `json:"nul"`       // lines with NUL bytes, as a crash of the system leaves them
	TooLong   Problem `json:"tooLong"`   // longer than Options.MaxRecord
	Foreign   Problem `json:"foreign"`   // JSON that is no record: no object, or one without a type
	Duplicate Problem `json:"duplicate"` // a uuid that occurred before; the last one counts
	Dangling  Problem `json:"dangling"`  // a parent that is not in the conversation
	Cycle     Problem `json:"cycle"`     // rows that are their own ancestors, counted once a cycle
}

// each visits the kinds with their names in words.
func (p *Problems) each(visit func(name string, p *Problem)) {
	visit("malformed", &p.Malformed)
	visit("truncated", &p.Truncated)
	visit("with NUL bytes", &p.NUL)
	visit("too long", &p.TooLong)
	visit("no record", &p.Foreign)
	visit("with a repeated uuid", &p.Duplicate)
	visit("with a missing parent", &p.Dangling)
	visit("in a cycle", &p.Cycle)
}

// Total is how many problems there are.
func (p Problems) Total() int {
	n := 0
	p.each(func(_ string, q *Problem) { n += q.Count })
	return n
}

// String says in words what is wrong, with the first lines of each kind; "" when
// nothing is.
func (p Problems) String() string {
	var out []string
	p.each(func(name string, q *Problem) {
		if q.Count == 0 {
			return
		}
		var lines []string
		for _, l := range q.Lines[:min(3, len(q.Lines))] {
			lines = append(lines, fmt.Sprint(l))
		}
		more := ""
		if q.Count > len(lines) {
			more = ", …"
		}
		noun := "lines"
		if q.Count == 1 {
			noun = "line"
		}
		out = append(out, fmt.Sprintf("%d %s %s (%s%s)", q.Count, noun, name, strings.Join(lines, ", "), more))
	})
	return strings.Join(out, "; ")
}
