package memdir

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxShown is how much of a name, in characters, is put among words of ours.
const MaxShown = 200

// Shown puts something that a directory holds, such as a description, on one line
// among words of ours: runs of spaces as one, characters that do not show escaped
// as Go escapes them, cut to a number of characters.
func Shown(s string, most int) string {
	if len(s) <= most && plainWords(s) {
		return s
	}
	var b strings.Builder
	n, space := 0, false
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		piece := s[i : i+size]
		i += size
		switch {
		case r == ' ' || r == '\n' || r == '\r' || r == '\t' || unicode.Is(unicode.Zs, r):
			space = n > 0
			continue
		case r == utf8.RuneError && size == 1:
			piece = `\x` + strconv.FormatUint(uint64(piece[0]), 16)
		case hiddenRune(r):
			piece = strings.Trim(strconv.QuoteRuneToASCII(r), "'")
		}
		if space {
			piece, space = " "+piece, false
		}
		if n += utf8.RuneCountInString(piece); n > most {
			return cutRunes(b.String(), most-1) + "…"
		}
		b.WriteString(piece)
	}
	return b.String()
}

// plainWords reports whether s is printable ASCII with single spaces inside, as
// nearly all is that is shown.
func plainWords(s string) bool {
	space := true
	for i := range len(s) {
		c := s[i]
		if c < ' ' || c > '~' || c == ' ' && space {
			return false
		}
		space = c == ' '
	}
	return !space || s == ""
}

// ShownName gives a file's name, or another short one, for words of ours: as it
// is where it could be taken for nothing else, quoted where it holds spaces,
// characters that do not show, or marks of Markdown.
func ShownName(s string) string {
	plain := len(s) <= MaxShown && s != ""
	for _, r := range s {
		if !(unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || strings.ContainsRune("/._-+@~:", r)) {
			plain = false
			break
		}
	}
	if plain {
		return s
	}
	return strconv.Quote(cutMark(s, MaxShown))
}

// cutMark cuts s to a number of characters, with a mark.
func cutMark(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return cutRunes(s, most-1) + "…"
}

func cutRunes(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
