package fixes

import "strings"

// guessEntryType guesses the type of a topic that an entry leads to, from its file
// name and words.
func guessEntryType(stem, words string) string {
	stem, words = strings.ToLower(stem), strings.ToLower(words)
	for _, t := range []string{"user", "feedback", "project", "reference"} {
		if strings.HasPrefix(stem, t) {
			return t
		}
	}
	for _, cue := range []struct{ t, words string }{
		{"feedback", "prefer never always don't do not instead avoid must 不要 总是 必须"},
		{"user", "user is|works as|role of|用户是"},
		{"reference", "http dashboard where to|located 链接"},
	} {
		for _, w := range strings.FieldsFunc(cue.words, func(r rune) bool { return r == ' ' || r == '|' }) {
			if strings.Contains(words, w) {
				return cue.t
			}
		}
	}
	return "project"
}
