package term

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible shows control characters, but for those that lay a text out, those that
// turn its direction around, and those that take no room and join nothing, such as a
// byte order mark.
func Visible(s string) string {
	hidden := func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) ||
			r == '\ufeff' || r == '\u200b' || r >= '\u2060' && r <= '\u2064'
	}
	if utf8.ValidString(s) && !strings.ContainsFunc(s, hidden) {
		return s
	}
	s = strings.ReplaceAll(s, "\r\n", "\n")
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && s[i] != "\uFFFD"[0]:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case hidden(r):
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Clean puts data into one line without control characters.
func Clean(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == ' ' }), " ")
}
