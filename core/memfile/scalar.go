package memfile

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// keyColon gives the offset of the colon that ends the key at the start of l,
// or -1. The colon must be followed by white space or the end of the line.
func keyColon(l string) int {
	if l == "" || strings.ContainsRune(" \t#-?:,[]{}&*!|>%@`", rune(l[0])) {
		return -1
	}
	from := 0
	if q := l[0]; q == '"' || q == '\'' {
		end := strings.IndexByte(l[1:], q)
		if end < 0 {
			return -1
		}
		from = end + 2
	}
	for i := from; i < len(l); i++ {
		if l[i] == ':' && (i+1 == len(l) || l[i+1] == ' ' || l[i+1] == '\t') {
			return i
		}
	}
	return -1
}

func looksLikeKey(l string) bool {
	c := keyColon(l)
	if c <= 0 {
		return false
	}
	// A sentence with a colon in it is prose, not a key.
	return len(strings.Fields(l[:c])) <= 3
}

func unquoteKey(name string) string {
	if len(name) >= 2 && (name[0] == '"' || name[0] == '\'') && name[len(name)-1] == name[0] {
		return name[1 : len(name)-1]
	}
	return name
}

// cutComment removes a trailing " # …" that stands outside quotes.
func cutComment(v string) string {
	if v == "" {
		return v
	}
	if v[0] == '#' {
		return ""
	}
	from := 0
	if q := v[0]; q == '"' || q == '\'' {
		end := closingQuote(v)
		if end < 0 {
			return v
		}
		from = end
	}
	for i := from; i < len(v); i++ {
		if v[i] == '#' && i > 0 && (v[i-1] == ' ' || v[i-1] == '\t') {
			return v[:i]
		}
	}
	return v
}

// closingQuote gives the offset after the quote that closes the one v starts
// with, or -1.
func closingQuote(v string) int {
	q := v[0]
	for i := 1; i < len(v); i++ {
		switch {
		case q == '"' && v[i] == '\\':
			i++
		case v[i] == q && q == '\'' && i+1 < len(v) && v[i+1] == q:
			i++
		case v[i] == q:
			return i + 1
		}
	}
	return -1
}

// plainScalar reports whether v is a value that every YAML parser reads as
// exactly these characters, whatever type it would give them.
func plainScalar(v string) bool {
	if v == "" {
		return true
	}
	if strings.ContainsRune("\"'|>&*!%@`[]{}#-?:,=<", rune(v[0])) {
		return false
	}
	if strings.Contains(v, ": ") || strings.Contains(v, " #") || strings.HasSuffix(v, ":") {
		return false
	}
	for _, r := range v {
		if r < ' ' || r == utf8.RuneError || r == '\u0085' || r == '\u2028' || r == '\u2029' || r == '\ufeff' || (r >= 0x7f && r < 0xa0) {
			return false
		}
	}
	return true
}

// lenientValue reads a value the way a reader does that splits at the first
// colon: quotes around the whole are taken off, everything else stays.
func lenientValue(raw string) string {
	raw = strings.TrimSpace(raw)
	if len(raw) >= 2 && (raw[0] == '"' || raw[0] == '\'') {
		if closingQuote(raw) == len(raw) {
			inner := raw[1 : len(raw)-1]
			if raw[0] == '\'' {
				return strings.ReplaceAll(inner, "''", "'")
			}
			var s string
			if json.Unmarshal([]byte(raw), &s) == nil {
				return s
			}
			return inner
		}
	}
	return raw
}

// resolved matches plain scalars that a YAML parser would not read as strings.
var resolved = regexp.MustCompile(`^(?i:true|false|yes|no|on|off|y|n|null|~|[-+]?(\.?[0-9].*|\.(inf|nan)))$`)

// Scalar gives value as a YAML scalar on one line: plain where that is safe,
// else double-quoted, so that a "#" or ": " in it is never cut.
func Scalar(value string) string {
	if value != "" && plainScalar(value) && !resolved.MatchString(value) &&
		strings.TrimSpace(value) == value && !strings.ContainsAny(value, "\"\\") {
		return value
	}
	return quoted(value)
}

// quoted writes a double-quoted scalar. JSON strings are a subset of YAML's;
// characters that editors hide are written as escapes.
func quoted(value string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return `""` // a Go string always encodes
	}
	s := strings.TrimSuffix(b.String(), "\n")
	if strings.IndexFunc(s, unicode.IsControl) < 0 && !strings.Contains(s, "\ufeff") {
		return s
	}
	b.Reset()
	for _, r := range s {
		if unicode.IsControl(r) || r == '\ufeff' {
			const hex = "0123456789abcdef"
			b.WriteString(`\u`)
			for shift := 12; shift >= 0; shift -= 4 {
				b.WriteByte(hex[r>>shift&15])
			}
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
