package export

import (
	"bytes"
	"encoding/json"
	"strings"

	"mem/core/transcript/shown"
)

// arguments writes those of a call for reading: one below the other, with texts
// of several lines as they are.
func arguments(raw json.RawMessage) string {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return readable(raw)
	}
	var b strings.Builder
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return readable(raw)
		}
		name, _ := key.(string)
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return readable(raw)
		}
		b.WriteString(shown.Line(name, 200) + ":")
		text := readable(value)
		if strings.ContainsAny(text, "\n\r") {
			b.WriteByte('\n')
		} else {
			b.WriteByte(' ')
		}
		b.WriteString(strings.TrimSuffix(text, "\n") + "\n")
	}
	return b.String()
}

// readable gives a string as its text and anything else as JSON.
func readable(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

// argument is the argument that says most about a call, on one line.
func argument(raw json.RawMessage) string {
	var in map[string]json.RawMessage
	if len(raw) > 1<<20 || json.Unmarshal(raw, &in) != nil {
		return ""
	}
	for _, key := range []string{"command", "file_path", "path", "pattern", "query", "url", "description", "prompt", "name"} {
		var s string
		if json.Unmarshal(in[key], &s) == nil && s != "" {
			return shown.FirstLine(s, 100)
		}
	}
	return ""
}
