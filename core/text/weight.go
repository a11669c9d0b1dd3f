package text

import "unicode/utf8"

// Weight estimates what a text costs in the result of a tool: characters once
// escaped as JSON, and quarters of a token. Four ASCII characters make about one
// token; a character of another script makes about one by itself.
func Weight(s string) (chars, quarterTokens int) {
	for _, r := range s {
		chars++
		switch {
		case r == '\n' || r == '"' || r == '\\' || r == '\t' || r == '\r':
			chars++
			quarterTokens++
		case r < ' ' || r == '<' || r == '>' || r == '&' || r == '\u2028' || r == '\u2029':
			chars += 5
			quarterTokens += 2
		case r < utf8.RuneSelf:
			quarterTokens++
		default:
			quarterTokens += 4
		}
	}
	return chars, quarterTokens
}

// WeightEncoded is Weight of what is JSON already: an escape weighs what the
// character that it stands for does.
func WeightEncoded(json []byte) (chars, quarterTokens int) {
	for i := 0; i < len(json); {
		c := json[i]
		switch {
		case c == '\\' && i+1 < len(json) && json[i+1] == 'u':
			chars += 6
			quarterTokens += 2
			i += 6
		case c == '\\':
			chars += 2
			quarterTokens++
			i += 2
		case c < utf8.RuneSelf:
			chars++
			quarterTokens++
			i++
		default:
			_, n := utf8.DecodeRune(json[i:])
			chars++
			quarterTokens += 4
			i += n
		}
	}
	return chars, quarterTokens
}
