package rules

import "strings"

// Between the words of a list of them stands nothing else than this.
var listMarks = strings.NewReplacer("、", "", "，", "", ",", "", "/", "", "和", "", "或", "", "与", "", "及", "", " and ", "", " or ", "", " ", "")

// What says of the words before or behind it that they are words: "今天、昨天这样的字眼",
// "words such as today".
var (
	wordsBehind = []string{"这样的", "那样的", "之类", "这类", "这种", "一类", "等词", "等字", "等相对", "等时间", "字样", "字眼", "这个词", "这些词"}
	wordsBefore = []string{"诸如", "例如", "比如", "such as", "words like", "the word", "the words", "phrases like", "e.g.", "for example"}
)

// maxSpoken is how much of what stands beside a list of words is looked at, in bytes.
const maxSpoken = 24

// withoutSpokenOf takes out of found, from number n on, the phrases that are spoken of
// and not used: nobody has to know the day of a rule that forbids the word.
func withoutSpokenOf(src string, found []dated, n int) []dated {
	kept := found[:n]
	for n < len(found) {
		end := n + 1
		for end < len(found) && listMarks.Replace(src[found[end-1].span.End:found[end].span.Start]) == "" {
			end++
		}
		from, to := found[n].span.Start, found[end-1].span.End
		if !spokenOf(src[max(0, from-maxSpoken):from], src[to:min(len(src), to+maxSpoken)]) {
			kept = append(kept, found[n:end]...)
		}
		n = end
	}
	return kept
}

func spokenOf(before, after string) bool {
	before, after = strings.ToLower(strings.TrimRight(before, " ,:：，*_")), strings.TrimLeft(after, " *_")
	for _, w := range wordsBehind {
		if strings.HasPrefix(after, w) {
			return true
		}
	}
	for _, w := range wordsBefore {
		if rest, ok := strings.CutSuffix(before, w); ok && (w[0] >= 0x80 || rest == "" || !isAlnum(rest[len(rest)-1])) {
			return true
		}
	}
	return false
}
