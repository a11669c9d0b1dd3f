package model

import (
	"net/url"
	"strconv"
	"strings"
)

const (
	// leastKey is the shortest key that can be told from words.
	leastKey = 4
	// leastPart is the shortest beginning of a key that gives it away: servers that repeat a
	// key shortened show its first characters.
	leastPart = 8
)

// Veil replaces a key in a text that others wrote, as it is and in the forms that it has in an
// address or in JSON, by a mark; and each beginning of it of 8 characters or more, as servers
// repeat it that shorten what they were sent.
func Veil(s, key, mark string) string {
	if len(key) < leastKey || len(s) < min(len(key), leastPart) {
		return s
	}
	for _, form := range formsOf(key) {
		s = veil(s, form, mark)
	}
	return s
}

// formsOf are the spellings of a key, without those that are the same.
func formsOf(key string) []string {
	out := []string{key}
	for _, form := range []string{url.QueryEscape(key), url.PathEscape(key), inJSON(key)} {
		known := false
		for _, f := range out {
			known = known || f == form
		}
		if !known {
			out = append(out, form)
		}
	}
	return out
}

// inJSON is a key as it stands in a JSON string.
func inJSON(key string) string {
	return strings.TrimSuffix(strings.TrimPrefix(strconv.Quote(key), `"`), `"`)
}

func veil(s, form, mark string) string {
	part := form[:min(len(form), leastPart)]
	var b strings.Builder
	for {
		i := strings.Index(s, part)
		if i < 0 {
			break
		}
		n := len(part)
		for n < len(form) && i+n < len(s) && s[i+n] == form[n] {
			n++
		}
		b.WriteString(s[:i])
		b.WriteString(mark)
		s = s[i+n:]
	}
	if b.Len() == 0 {
		return s
	}
	b.WriteString(s)
	return b.String()
}
