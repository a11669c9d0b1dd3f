package fork

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mem/core/memdir"
)

// Bounds of what is told of a turn, in characters.
const (
	maxSaidLine  = 200
	maxCallLine  = 160
	maxInputLine = 300
	// maxReport bounds the agent's last words, in bytes.
	maxReport = 32 << 10
	// maxSearched is how much of a text is searched for secrets before it is shortened, in
	// bytes: shortened first, half a secret would stay unseen.
	maxSearched = 16 << 10
)

// callLine gives a call on one line for people: the tool and what it is about.
func (r *run) callLine(name string, input json.RawMessage) string {
	return strings.TrimRight(memdir.Shown(name, maxToolName)+" "+r.line(aboutCall(input), maxCallLine), " ")
}

// aboutCall gives the argument of a call that tells most, as coding agents name them.
func aboutCall(input json.RawMessage) string {
	var args map[string]json.RawMessage
	if json.Unmarshal(input, &args) != nil {
		return ""
	}
	for _, key := range []string{"file_path", "path", "pattern", "command"} {
		var s string
		if json.Unmarshal(args[key], &s) == nil && s != "" {
			return s
		}
	}
	return ""
}

// report tells of a turn.
func (r *run) report(said string, calls []*call) {
	if r.task.Progress == nil {
		return
	}
	p := Progress{Turn: r.out.Turns, Text: r.line(said, maxSaidLine), Touched: sorted(r.touched), Usage: r.out.Usage, ToolCalls: r.out.ToolCalls}
	for _, c := range calls {
		line := c.line
		switch {
		case c.called.Refused != "":
			line += " (refused)"
		case c.wrong != "":
			line += " (not made)"
		case c.called.Failed:
			line += " (failed)"
		}
		p.Calls = append(p.Calls, line)
	}
	r.task.Progress(p)
}

// line gives a text on one line, without secrets and cut to a number of characters.
func (r *run) line(s string, most int) string {
	if len(s) > maxSearched {
		s = s[:maxSearched]
	}
	return memdir.Shown(r.redacted(s), most)
}

// lastWords gives the report that is kept of a run.
func (r *run) lastWords(s string) string {
	if len(s) <= maxReport {
		return r.redacted(s)
	}
	return r.redacted(strings.ToValidUTF8(s[:maxReport], "")) + fmt.Sprintf("\n[%d more bytes are left out]", len(s)-maxReport)
}

func (r *run) redacted(s string) string {
	b, _ := r.scan.Redact([]byte(s))
	return string(b)
}

func sorted(set map[string]bool) []string {
	return slices.Sorted(maps.Keys(set))
}
