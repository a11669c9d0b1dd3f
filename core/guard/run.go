package guard

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/zricethezav/gitleaks/v8/detect/codec"
)

// search runs the rules on the text and on what is encoded in it.
func (set *ruleSet) search(text string) ([]hit, error) {
	hits, err := set.plainAndDecoded(text)
	if err != nil {
		return nil, err
	}
	if shown, at := withoutHidden(text); at != nil {
		more, err := set.plainAndDecoded(shown)
		if err != nil {
			return nil, err
		}
		for i := range more {
			if m := &more[i].at; m.start < m.end {
				*m = span{at[m.start], at[m.end-1] + 1}
			}
		}
		hits = addApart(hits, more)
	}
	return tidy(hits), nil
}

func (set *ruleSet) plainAndDecoded(text string) ([]hit, error) {
	occ, present := set.keywords.find(text)
	hits, err := set.pass(text, occ, present, nil)
	if err != nil {
		return nil, err
	}
	more, err := set.decode(text, present)
	if err != nil {
		return nil, err
	}
	return addApart(hits, more), nil
}

// addApart adds the hits that lie apart from those there are.
func addApart(hits, more []hit) []hit {
	for _, h := range more {
		if !slices.ContainsFunc(hits, func(o hit) bool { return o.at.overlaps(h.at) }) {
			hits = append(hits, h)
		}
	}
	return hits
}

// withoutHidden returns text as a person sees it, without the characters that could be strewn into a secret so that no
// rule knows it and whoever reads it still does, and where each of its bytes stands in text. at is nil if there are no
// such characters.
func withoutHidden(text string) (shown string, at []int) {
	strewn := func(r rune) bool {
		c := classOf(r)
		return c != nil && c.rule != "control" && c.rule != "line-separator"
	}
	if !strings.ContainsFunc(text, strewn) {
		return text, nil
	}
	b := make([]byte, 0, len(text))
	at = make([]int, 0, len(text))
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !strewn(r) {
			for n := range size {
				b, at = append(b, text[i+n]), append(at, i+n)
			}
		}
		i += size
	}
	return string(b), at
}

// decode runs the rules on what is encoded in the text, with the lines around it. present are the keywords in the text.
func (set *ruleSet) decode(text string, present []bool) (hits []hit, err error) {
	cores := encodedLines(text)
	if len(cores) == 0 {
		return nil, nil
	}
	var flags []byte
	for _, p := range present {
		if p {
			flags = append(flags, 1)
		} else {
			flags = append(flags, 0)
		}
	}
	b := []byte(text)
	keys := keyBlocksOf(b)
	for _, core := range cores {
		region := widen(b, []span{core}, encodedContext, keys)[0]
		part := text[region.start:region.end]
		key := keyOf(nil, part)
		key.present = maphash.Bytes(memoSeeds[0], flags)
		found, ok := set.regions.get(key)
		if !ok {
			if found, err = set.decodeRegion(part, present); err != nil {
				return nil, err
			}
			set.regions.put(key, found)
		}
		for _, h := range found {
			h.at.start, h.at.end = h.at.start+region.start, h.at.end+region.start
			if h.failed != "" || h.at.overlaps(core) { // what two regions share counts once: see addApart
				hits = append(hits, h)
			}
		}
	}
	return hits, nil
}

const (
	// encodedContext is how much of the lines around something encoded is decoded with it, in bytes: a name may stand on
	// the line before.
	encodedContext = 320
	// coreBytes is from how many bytes on lines with something encoded are decoded apart from those that follow, and
	// maxCore from how many on at every line. In between the length of a line decides, so that a line that is added
	// moves no border but its own.
	coreBytes = 1 << 10
	maxCore   = 4 << 10
)

// encodedLines returns the lines in which something may be encoded, neighbouring ones together.
func encodedLines(text string) []span {
	var out []span
	open := false
	for at := 0; at < len(text); {
		end := len(text)
		if n := strings.IndexByte(text[at:], '\n'); n >= 0 {
			end = at + n + 1
		}
		switch {
		case !mayBeEncoded(text[at:end]):
			open = false
		case open:
			out[len(out)-1].end = end
		default:
			out, open = append(out, span{at, end}), true
		}
		if n := len(out); open {
			size := out[n-1].end - out[n-1].start
			open = size < coreBytes || size < maxCore && (end-at)%4 != 0
		}
		at = end
	}
	return out
}

func (set *ruleSet) decodeRegion(text string, around []bool) (hits []hit, err error) {
	defer func() {
		if recover() != nil {
			hits = append(hits, failure(&rule{id: "decoders"}, text))
		}
	}()
	decoder := codec.NewDecoder()
	decoded, segments := text, []*codec.EncodedSegment(nil)
	for range decodeDepth {
		decoded, segments = decoder.Decode(decoded, segments)
		if len(segments) == 0 {
			break
		}
		occ, present := set.keywords.find(decoded)
		for i := range present {
			present[i] = present[i] || around[i]
		}
		more, err := set.pass(decoded, occ, present, segments)
		if err != nil {
			return nil, err
		}
		for _, h := range more {
			h.at = span{min(max(0, h.at.start), len(text)), min(max(0, h.at.end), len(text))}
			if h.at.start < h.at.end {
				hits = append(hits, h)
			}
		}
	}
	return hits, nil
}

// failure says that the rule could not look at the text. What it stumbled over is not quoted: it may be the secret.
func failure(r *rule, text string) hit {
	return hit{rule: r, at: span{0, len(text)}, failed: fmt.Sprintf("%s failed on this part, so it was not fully searched for secrets; report that with the version of mem", r.id)}
}

// pass runs the rules once; occ are the keywords in text, present those that count as there. With segments, text is decoded, and only what touches a segment counts; positions are
// those of the original.
func (set *ruleSet) pass(text string, occ []occurrence, present []bool, segments []*codec.EncodedSegment) ([]hit, error) {
	var hits []hit
	for _, r := range set.rules {
		isPresent := func(k int) bool { return present[k] }
		if len(r.keywords) > 0 && !slices.ContainsFunc(r.keywords, isPresent) ||
			slices.ContainsFunc(r.needs, func(k int) bool { return !present[k] }) {
			continue
		}
		found, err := set.run(r, text, occ)
		if err != nil {
			return nil, err
		}
		for _, h := range found {
			if segments != nil && h.failed == "" {
				touched := codec.SegmentsWithDecodedOverlap(segments, h.at.start, h.at.end)
				if len(touched) == 0 {
					continue
				}
				at := codec.AdjustMatchIndex(touched, []int{h.at.start, h.at.end})
				h.at = span{at[0], at[1]}
			}
			hits = append(hits, h)
		}
	}
	return hits, nil
}

// run runs one rule. A rule that panics is reported as one, and the others go on.
func (set *ruleSet) run(r *rule, text string, occ []occurrence) (hits []hit, err error) {
	defer func() {
		if recover() != nil {
			hits = append(hits, failure(r, text))
		}
	}()
	c, err := r.compile()
	if err != nil {
		return nil, err
	}
	for _, w := range c.scope.windows(text, occ, set.keywords.words, r.keywords) {
		for _, in := range set.matchesIn(r, c.re, text[w.start:w.end]) {
			m := make([]int, len(in))
			for i := range in {
				if m[i] = int(in[i]); in[i] >= 0 {
					m[i] += w.start
				}
			}
			at, match := secretOf(text, m, r.group)
			if at.end == match.end {
				at.end = wordEnd(text, at.end)
			}
			secret := text[at.start:at.end]
			if r.entropy != 0 && entropy(secret) <= r.entropy {
				continue
			}
			line := lineAround(text, match)
			cand := candidate{secret, text[match.start:match.end], text[line.start:line.end], span{match.start - line.start, match.end - line.start}}
			global, err := set.allow()
			if err != nil {
				return nil, err
			}
			if allowed(global, cand) || allowed(c.allow, cand) {
				continue
			}
			hits = append(hits, hit{rule: r, at: at, fingerprint: fingerprint(secret), redacted: redacted(r.pattern, secret)})
		}
	}
	return hits, nil
}

// lineReach is how much of a line is looked at for an exception, to either side of a match, in bytes.
const lineReach = 512

// lineAround returns the line or lines of the match, as far as lineReach goes.
func lineAround(text string, match span) span {
	from, to := max(0, match.start-lineReach), min(len(text), match.end+lineReach)
	from += strings.LastIndexByte(text[from:match.start], '\n') + 1
	if n := strings.IndexByte(text[match.end:to], '\n'); n >= 0 {
		to = match.end + n
	}
	return span{from, to}
}

// secretOf returns the part of a match that is the secret, and the match, both without line ends around them.
func secretOf(text string, m []int, group int) (secret, match span) {
	trim := func(s span) span {
		for s.start < s.end && text[s.start] == '\n' {
			s.start++
		}
		for s.start < s.end && (text[s.end-1] == '\n' || text[s.end-1] == '\r') {
			s.end--
		}
		return s
	}
	match = trim(span{m[0], m[1]})
	if group > 0 && 2*group+1 < len(m) && m[2*group] >= 0 {
		return trim(span{m[2*group], m[2*group+1]}), match
	}
	for i := 2; i+1 < len(m); i += 2 {
		if m[i] >= 0 && m[i] < m[i+1] {
			return trim(span{m[i], m[i+1]}), match
		}
	}
	return match, match
}

// wordEnd follows a secret that does not end at i: some rules know its first part only, and what is left of it after
// they have been obeyed is still a secret, or the beginning of another one.
func wordEnd(text string, i int) int {
	word := func(c byte) bool {
		return '0' <= c && c <= '9' || 'a' <= lower(c) && lower(c) <= 'z' || c == '_'
	}
	if i == 0 || i >= len(text) || !word(text[i-1]) || !word(text[i]) {
		return i
	}
	for i < len(text) && (word(text[i]) || strings.IndexByte("+/=", text[i]) >= 0) {
		i++
	}
	return i
}

// tidy orders hits, keeps one where several rules found the same bytes (the first in the order of the rules file), and
// drops the generic rule where a specific one says the same.
func tidy(hits []hit) []hit {
	slices.SortStableFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(a.at.start, b.at.start), -cmp.Compare(a.at.end, b.at.end))
	})
	var out []hit
	for i, h := range hits {
		if h.failed != "" {
			out = append(out, h)
			continue
		}
		if i > 0 && h.at == hits[i-1].at && !generic(hits[i-1]) && hits[i-1].failed == "" {
			continue
		}
		if generic(h) && overlapsSpecific(hits, i) {
			continue
		}
		out = append(out, h)
	}
	return slices.Clip(out)
}

func generic(h hit) bool { return strings.Contains(h.rule.id, "generic") }

// overlapsSpecific looks at the neighbours of hits[i] only: hits are ordered and secrets do not nest deeply.
func overlapsSpecific(hits []hit, i int) bool {
	for j := max(0, i-8); j < min(len(hits), i+8); j++ {
		if !generic(hits[j]) && hits[j].failed == "" && hits[j].at.overlaps(hits[i].at) {
			return true
		}
	}
	return false
}
