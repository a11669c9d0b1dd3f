package index

import (
	"bytes"
	"strings"
	"time"
	"unicode/utf8"

	"mem/core/rawjson"
)

// extracted is one entry of a record: text that is searched and shown.
type extracted struct {
	role Role
	text string
}

// head is what all entries of one record share.
type head struct {
	uuid      string
	time      int64 // milliseconds since 1970; 0 without a time
	sidechain bool
}

// extract returns the entries of one line, redacted. It is used to index and to
// show, so that what is shown is exactly what was found.
func extract(line []byte, redact func(string) string) (h head, entries []extracted, malformed bool) {
	var r record
	wanted, malformed := r.read(line)
	if !wanted {
		return h, nil, malformed
	}
	h.sidechain = r.sidechain
	h.uuid = rawjson.Text(r.uuid)
	h.time = millis(rawjson.Text(r.timestamp))
	if string(r.kind) == `"summary"` {
		h.uuid = rawjson.Text(r.leaf) // the end of what the summary is about
		if text := strings.TrimSpace(rawjson.Text(r.summary)); text != "" {
			entries = append(entries, extracted{Summary, bounded(text, redact)})
		}
		return h, entries, false
	}
	if r.meta || r.apiError || r.message == nil {
		return h, nil, false
	}
	var content []byte
	rawjson.Members(r.message, 0, func(key, value []byte) bool {
		if string(key) == "content" {
			content = value
		}
		return true
	})
	e := extractor{redact: redact}
	e.content(content, string(r.kind) == `"assistant"`)
	role := Answer
	switch {
	case r.compact:
		role = Summary
	case string(r.kind) == `"user"` && r.sidechain:
		role = Task
	case string(r.kind) == `"user"`:
		role = Prompt
	}
	if text := strings.TrimSpace(e.said.String()); text != "" {
		entries = append(entries, extracted{role, bounded(text, redact)})
	}
	if text := strings.TrimSpace(e.calls.String()); text != "" {
		entries = append(entries, extracted{ToolCall, cutEnd(text, MaxEntryBytes)})
	}
	if text := strings.TrimSpace(e.results.String()); text != "" {
		entries = append(entries, extracted{ToolResult, cutEnd(text, MaxEntryBytes)})
	}
	return h, entries, false
}

// An extractor redacts before it shortens: half a secret is not seen to be one.
type extractor struct {
	said, calls, results strings.Builder
	redact               func(string) string
}

// seen is how much of a longer text is searched for secrets on each side of a
// cut; no secret is longer than a small part of it.
const seen = 16 << 10

// bounded redacts text and shortens it to what is indexed of an entry.
func bounded(text string, redact func(string) string) string {
	return cutEnd(redact(cutEnd(text, MaxEntryBytes+seen)), MaxEntryBytes)
}

// block is a part of the content of a message, as pieces of its JSON. Images and
// thinking can be large: nothing is decoded but what is wanted.
type block struct {
	kind, text, name, input, content []byte
	failed                           bool
}

func blockOf(raw []byte) (b block) {
	rawjson.Members(raw, 0, func(key, value []byte) bool {
		switch string(key) {
		case "type":
			b.kind = value
		case "text":
			b.text = value
		case "name":
			b.name = value
		case "input":
			b.input = value
		case "content":
			b.content = value
		case "is_error":
			b.failed = value[0] == 't'
		}
		return true
	})
	return b
}

func (e *extractor) content(raw []byte, assistant bool) {
	if len(raw) > 0 && raw[0] == '"' {
		e.say(unquoteStart(raw, MaxEntryBytes+seen), assistant)
		return
	}
	rawjson.Elements(raw, 0, func(raw []byte) bool {
		switch b := blockOf(raw); string(b.kind) {
		case `"text"`:
			e.say(unquoteStart(b.text, MaxEntryBytes+seen), assistant)
		case `"tool_use"`, `"server_tool_use"`, `"mcp_tool_use"`:
			e.call(rawjson.Text(b.name), b.input)
		case `"tool_result"`, `"mcp_tool_result"`:
			e.result(b.content, b.failed)
		}
		return true
	})
}

// say takes text of a person or the model. What the client puts into prompts
// between tags is told apart: reminders are nobody's words, the output of a
// command that the user ran is a result.
func (e *extractor) say(text string, assistant bool) {
	if assistant || !strings.Contains(text, "<") {
		add(&e.said, text)
		return
	}
	text = without(text, "<system-reminder>", "</system-reminder>")
	trimmed := strings.TrimSpace(text)
	switch {
	case strings.HasPrefix(trimmed, "<local-command-caveat>"):
	case strings.HasPrefix(trimmed, "<local-command-std"), strings.HasPrefix(trimmed, "<bash-std"):
		add(&e.results, e.ends(inside(trimmed), resultHead, resultTail))
	case strings.HasPrefix(trimmed, "<command-"), strings.HasPrefix(trimmed, "<bash-input>"):
		name, _ := between(trimmed, "<command-name>", "</command-name>")
		args, _ := between(trimmed, "<command-args>", "</command-args>")
		typed, _ := between(trimmed, "<bash-input>", "</bash-input>")
		add(&e.said, strings.TrimSpace(name+" "+args+typed))
	default:
		add(&e.said, text)
	}
}

// call writes the name of a tool and the strings of its arguments in their
// order. Their keys are the same in each call and would find everything.
func (e *extractor) call(name string, input []byte) {
	var b strings.Builder
	b.WriteString(name)
	b.WriteByte(':')
	strs(nil, input, 0, func(key, s []byte) bool {
		if b.Len() >= callBytes {
			return false
		}
		// With its key, by which many a secret is known.
		named := string(key) + ": "
		text := e.redact(named + unquoteStart(s, seen))
		b.WriteByte(' ')
		b.WriteString(cutEnd(strings.TrimPrefix(text, named), argumentBytes))
		return true
	})
	add(&e.calls, cutEnd(b.String(), callBytes))
}

func (e *extractor) result(content []byte, failed bool) {
	text := unquoteEnds(content)
	rawjson.Elements(content, 0, func(raw []byte) bool {
		if b := blockOf(raw); string(b.kind) == `"text"` {
			text += unquoteEnds(b.text) + "\n"
		}
		return true
	})
	if failed {
		add(&e.results, e.ends(text, failedEnds, failedEnds))
	} else {
		add(&e.results, e.ends(text, resultHead, resultTail))
	}
}

func add(b *strings.Builder, text string) {
	if text = strings.TrimSpace(text); text == "" || b.Len() >= MaxEntryBytes {
		return
	}
	if b.Len() > 0 {
		b.WriteByte('\n')
	}
	b.WriteString(text)
}

// strs calls f with every string value in raw, with its quotes, and the key that
// it is under, without, until it returns false.
func strs(key, raw []byte, depth int, f func(key, value []byte) bool) bool {
	if len(raw) == 0 || depth > 64 {
		return true
	}
	more := true
	switch raw[0] {
	case '"':
		return f(key, raw)
	case '{':
		rawjson.Members(raw, 0, func(key, value []byte) bool {
			more = strs(key, value, depth+1, f)
			return more
		})
	case '[':
		rawjson.Elements(raw, 0, func(value []byte) bool {
			more = strs(key, value, depth+1, f)
			return more
		})
	}
	return more
}

// escapeBytes is the longest way to write one byte of text in JSON.
const escapeBytes = 6

// unquoteStart decodes at least the first limit bytes of a JSON string.
func unquoteStart(raw []byte, limit int) string {
	most := escapeBytes * limit
	if len(raw) <= most {
		return rawjson.Text(raw)
	}
	// A cut may fall into an escape, of a pair of surrogates at worst.
	for end := most; end > most-2*escapeBytes-1 && end > 1; end-- {
		if s := rawjson.Text(append(bytes.Clone(raw[:end]), '"')); s != "" {
			return strings.TrimRight(s, string(utf8.RuneError))
		}
	}
	return ""
}

// unquoteEnds decodes a JSON string, of a long one the beginning and the end:
// some tool results have megabytes, of which a few hundred bytes are wanted.
func unquoteEnds(raw []byte) string {
	most := escapeBytes * seen
	if len(raw) < 2 || raw[0] != '"' || len(raw) <= 3*most {
		return rawjson.Text(raw)
	}
	tail := raw[len(raw)-most:]
	// Decoding begins behind a space, which is no part of an escape.
	i := bytes.IndexByte(tail, ' ')
	if i < 0 {
		return rawjson.Text(raw)
	}
	return unquoteStart(raw, seen) + gap + rawjson.Text(append([]byte{'"'}, tail[i+1:]...))
}

// ends redacts text and shortens it to its beginning and its end.
func (e *extractor) ends(text string, first, last int) string {
	text = strings.TrimSpace(text)
	if len(text) <= 2*seen {
		text = e.redact(text)
		if len(text) <= first+last {
			return text
		}
		return cutEnd(text, first) + gap + cutStart(text, last)
	}
	return cutEnd(e.redact(cutEnd(text, seen)), first) + gap + cutStart(e.redact(cutStart(text, seen)), last)
}

const gap = "\n…\n"

// cutStart is cutEnd from the other side.
func cutStart(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	text = text[len(text)-limit:]
	for len(text) > 0 && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	if i := strings.IndexAny(text, " \t\n"); i >= 0 && i < 48 {
		text = text[i+1:]
	}
	return text
}

// cutEnd shortens text to at most limit bytes, at a word boundary where there is
// one near: half a word would be indexed as another word.
func cutEnd(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	if i := strings.LastIndexAny(text[:limit], " \t\n"); i > limit-48 && i > 0 {
		limit = i
	}
	return text[:limit]
}

// without removes what stands between open and end, both included.
func without(text, open, end string) string {
	for {
		i := strings.Index(text, open)
		if i < 0 {
			return text
		}
		j := strings.Index(text[i:], end)
		if j < 0 {
			return text[:i]
		}
		text = text[:i] + text[i+j+len(end):]
	}
}

func between(text, open, end string) (string, bool) {
	_, rest, ok := strings.Cut(text, open)
	if !ok {
		return "", false
	}
	in, _, ok := strings.Cut(rest, end)
	return strings.TrimSpace(in), ok
}

// inside returns the text of the element that text begins with, and what follows
// it, without tags.
func inside(text string) string {
	for _, tag := range []string{"local-command-stdout", "local-command-stderr", "bash-stdout", "bash-stderr"} {
		text = strings.ReplaceAll(text, "<"+tag+">", "")
		text = strings.ReplaceAll(text, "</"+tag+">", "\n")
	}
	return text
}

// millis reads a time; 0 where there is none.
func millis(s string) int64 {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return 0
	}
	return max(0, t.UnixMilli())
}
