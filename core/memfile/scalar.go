package memfile

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
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

// isSimpleKey reports whether every YAML parser reads a key as these characters.
func isSimpleKey(name string) bool {
	for i, r := range name {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || r != '.' && r != '-' && !unicode.In(r, unicode.M, unicode.N)) {
			return false
		}
	}
	return name != ""
}

// checkKeyName says why a new key of that name cannot be written, or nil.
func checkKeyName(name string) error {
	switch {
	case name == MetadataKey || strings.HasPrefix(name, MetadataKey+"."):
		return fmt.Errorf("%q cannot be set itself: set the key below it by its own name", name)
	case !isSimpleKey(name) || resolved(name):
		return fmt.Errorf("%q cannot be the name of a frontmatter key: use letters, digits, \"_\" and \"-\"", name)
	}
	return nil
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
		if (r < ' ' || r >= 0x7f) && (unsafeInYAML(r) || r == utf8.RuneError) {
			return false
		}
	}
	return true
}

// unsafeInYAML names the characters that a YAML parser refuses, takes for a line
// break or drops, unless they are written as escapes.
func unsafeInYAML(r rune) bool {
	switch r {
	case '\u2028', '\u2029', '\ufeff', '\ufffe', '\uffff':
		return true
	}
	return unicode.IsControl(r)
}

// isNull reports whether a YAML parser reads the plain scalar v as no value.
func isNull(v string) bool {
	switch v {
	case "~", "null", "Null", "NULL":
		return true
	}
	return false
}

// lenientValue reads a value the way a reader does that splits at the first
// colon: quotes around the whole are taken off, everything else stays.
func lenientValue(raw string) string {
	raw = strings.Trim(raw, " \t\r\n")
	if isNull(raw) {
		return ""
	}
	if len(raw) < 2 || (raw[0] != '"' && raw[0] != '\'') || closingQuote(raw) != len(raw) {
		return raw
	}
	inner := raw[1 : len(raw)-1]
	if raw[0] == '\'' {
		return strings.ReplaceAll(inner, "''", "'")
	}
	var s string
	if json.Unmarshal([]byte(raw), &s) == nil {
		return s
	}
	// YAML knows more escapes than JSON.
	var n yaml.Node
	if !strings.Contains(raw, "\n") && parseYAML(raw, &n) == nil && len(n.Content) == 1 && n.Content[0].Kind == yaml.ScalarNode {
		return n.Content[0].Value
	}
	return inner
}

var (
	// resolvedWord and resolvedNumber match plain scalars that some YAML parser
	// (1.1 or 1.2) does not read as strings.
	resolvedWord = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?i:true|false|yes|no|on|off|y|n|null|~|[-+]?\.(inf|nan))$`)
	})
	resolvedNumber = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[-+]?(\.?[0-9][0-9_.,]*([eE][-+]?[0-9]+)?|0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|[0-9][0-9_]*(:[0-9]+)+(\.[0-9]*)?)$`)
	})
	resolvedDate = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt \t].*)?$`) })
	// clientTime is how the client writes its modified stamp: not in quotes.
	clientTime = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?Z$`)
	})
)

func resolved(v string) bool {
	return resolvedWord().MatchString(v) || resolvedNumber().MatchString(v) || resolvedDate().MatchString(v)
}

// Scalar gives value as a YAML scalar on one line: plain where that is safe,
// else double-quoted, so that a "#" or ": " in it is never cut.
func Scalar(value string) string {
	if value != "" && plainScalar(value) && !resolved(value) &&
		strings.TrimSpace(value) == value && !strings.ContainsAny(value, "\"\\") {
		return value
	}
	return quoted(value)
}

// scalarFor is Scalar but for the client's time stamp, which stays in the shape
// that the client gives it.
func scalarFor(key, value string) string {
	if key == "modified" && clientTime().MatchString(value) {
		return value
	}
	return Scalar(value)
}

// quoted writes a double-quoted scalar. JSON strings are a subset of YAML's;
// what a YAML parser would refuse or fold is written as escapes.
func quoted(value string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return `""` // a Go string always encodes
	}
	s := strings.TrimSuffix(b.String(), "\n")
	if strings.IndexFunc(s, unsafeInYAML) < 0 {
		return s
	}
	b.Reset()
	for _, r := range s {
		if unsafeInYAML(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}
