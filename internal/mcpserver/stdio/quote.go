package stdio

import (
	"unicode/utf8"

	"github.com/mark3labs/mcp-go/mcp"
)

// plainText gives the text of a result that has one text and nothing else beside its structured part, as nearly all have:
// that is written as it is, where mcp-go would encode a map and copy the outcome twice.
func plainText(r mcp.CallToolResult) (string, bool) {
	if r.Meta != nil || r.ResultType != "" || len(r.InputRequests) > 0 || r.RequestState != "" || len(r.Content) != 1 {
		return "", false
	}
	t, ok := r.Content[0].(mcp.TextContent)
	return t.Text, ok && t.Meta == nil && t.Annotations == nil && t.Type == mcp.ContentTypeText
}

const hexDigits = "0123456789abcdef"

// appendQuoted appends a string as JSON. As in encoding/json, what is no UTF-8 becomes U+FFFD, and the two line ends that
// JavaScript knows beside JSON's are escaped.
func appendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			switch {
			case r == utf8.RuneError && size == 1:
				dst = append(append(dst, s[from:i]...), "\uFFFD"...)
				from = i + 1
			case r == '\u2028' || r == '\u2029':
				dst = append(append(dst, s[from:i]...), `\u202`...)
				dst = append(dst, hexDigits[r&0xF])
				from = i + size
			}
			i += size
			continue
		}
		dst = append(dst, s[from:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&0xF])
		}
		i++
		from = i
	}
	return append(append(dst, s[from:]...), '"')
}
