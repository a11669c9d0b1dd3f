package memfile

import (
	"html"
	"net/url"
	"path"
	"strings"
)

// plainDest takes backslash escapes and entities out of a destination, as Markdown
// does before anything else looks at it.
func plainDest(s string) string {
	if !strings.ContainsAny(s, `\&`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if n := entityLen(s[i:]); n > 0 {
			b.WriteString(html.UnescapeString(s[i : i+n]))
			i += n
			continue
		}
		if s[i] == '\\' && i+1 < len(s) && s[i+1] != '\\' && punctuation(s[i+1]) {
			i++
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String()
}

// maxEntity is longer than the longest name of a character in HTML.
const maxEntity = 40

// entityLen gives the length of the entity that s starts with, such as "&amp;" or
// "&#46;", 0 where there is none. Without its ";" Markdown takes it for text.
func entityLen(s string) int {
	if len(s) < len("&lt;") || s[0] != '&' {
		return 0
	}
	for i := 1; i < min(len(s), maxEntity); i++ {
		switch c := s[i]; {
		case c == ';':
			if html.UnescapeString(s[:i+1]) == s[:i+1] {
				return 0
			}
			// "&notit;" starts with a character that has a name, and is none.
			if s[1] != '#' && strings.HasSuffix(html.UnescapeString(s[:i+1]), ";") && s[:i+1] != "&semi;" {
				return 0
			}
			return i + 1
		case '0' <= c && c <= '9', 'a' <= c|0x20 && c|0x20 <= 'z', c == '#' && i == 1:
		default:
			return 0
		}
	}
	return 0
}

// SplitDest cuts a destination, as written, where its path ends: before the anchor,
// or before the query behind the name of a Markdown file. "what?.md" is a name.
func SplitDest(raw string) (p, rest string) {
	end := len(raw)
	for i := 0; i < len(raw); i++ {
		if raw[i] == '&' {
			if n := entityLen(raw[i:]); n > 0 {
				if plain := html.UnescapeString(raw[i : i+n]); strings.HasPrefix(plain, "#") {
					end = i
					break
				}
				i += n - 1
				continue
			}
		}
		if raw[i] == '#' {
			end = i
			break
		}
	}
	if q := strings.IndexByte(raw[:end], '?'); q >= 0 && IsMarkdown(plainDest(raw[:q])) {
		end = q
	}
	return raw[:end], raw[end:]
}

// decode takes backslash escapes, entities and percent escapes out of a destination.
func decode(dest string) string {
	dest = plainDest(dest)
	if !strings.Contains(dest, "%") {
		return dest
	}
	if d, err := url.PathUnescape(dest); err == nil {
		return d
	}
	return dest
}

// hasScheme reports whether a destination starts as a URL does, or a path with a
// drive letter: a letter; letters, digits, "+", "." and "-"; a colon.
func hasScheme(p string) bool {
	for i := range len(p) {
		switch c := p[i]; {
		case 'a' <= c|0x20 && c|0x20 <= 'z':
		case i == 0:
			return false
		case '0' <= c && c <= '9', c == '+', c == '.', c == '-':
		default:
			return c == ':'
		}
	}
	return false
}

// destPath gives the file path a destination means, see Link.Path. The anchor is
// cut before escapes are decoded: "%23" is a "#" in a name.
func destPath(raw string) string {
	p, _ := SplitDest(raw)
	p = strings.ReplaceAll(decode(p), `\`, "/")
	if p == "" || p[0] == '/' || p[0] == '~' || hasScheme(p) {
		return ""
	}
	return path.Clean(p)
}

// EncodeDest writes a path, and an anchor that may follow it, as a link
// destination that every Markdown reader takes whole: in angle brackets where it
// holds white space or parentheses.
func EncodeDest(dest string) string {
	p, _, _ := strings.Cut(dest, "#")
	return EncodeTarget(p, dest[len(p):])
}

// EncodeTarget is EncodeDest for a path in which "#" is a character like any other;
// anchor is put behind it as it is, with its own "#".
func EncodeTarget(p, anchor string) string { return angled(EncodePath(p) + anchor) }

// EncodePath writes what a reader of a path would decode or take for an anchor as
// percent escapes. A path with white space or parentheses still has to stand in
// angle brackets.
func EncodePath(p string) string {
	if !strings.ContainsAny(p, "%\\#<>\n\r&?") {
		return p
	}
	cut, _ := SplitDest(p)
	if decode(p) != p || cut != p || strings.ContainsAny(p, "#<>\n\r") { // one escape makes every "%" one
		p = strings.NewReplacer("%", "%25", "#", "%23").Replace(p)
	}
	if entities(p) {
		p = strings.ReplaceAll(p, "&", "%26")
	}
	if cut, _ := SplitDest(p); cut != p {
		p = strings.ReplaceAll(p, "?", "%3F")
	}
	return strings.NewReplacer("<", "%3C", ">", "%3E", "\n", "%0A", "\r", "%0D").Replace(p)
}

// entities reports whether a destination has an entity in it.
func entities(s string) bool {
	for i := range len(s) {
		if s[i] == '&' && entityLen(s[i:]) > 0 {
			return true
		}
	}
	return false
}

func angled(dest string) string {
	if strings.ContainsAny(dest, " \t()") {
		return "<" + dest + ">"
	}
	return dest
}
