package guard

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sort"
	"strings"
)

const (
	// chunkBytes is how much text is searched at once: the unit of the cache, and what keeps a rule whose keyword
	// occurs once in a large text from being run on all of it. gitleaks itself reads files in pieces of 100 kB.
	chunkBytes = 128 << 10
	// overlapBytes is what neighbouring chunks share. Half of it is the longest secret that is found wherever it
	// lies: a PEM file of an RSA key of 16,384 bits, the longest in use, has 12.7 KB.
	overlapBytes = 32 << 10
	// decodeDepth is how many layers of base64, hexadecimal, percent or \u encoding are looked through. Two, so that
	// a token in a Kubernetes secret in a URL is seen; gitleaks' command line has five.
	decodeDepth = 2
)

// secretsTooMany is the rule of the finding that ends a list of too many secrets.
const secretsTooMany = "too-many"

// span is a part of a text in bytes, end exclusive.
type span struct{ start, end int }

func (s span) overlaps(o span) bool { return s.start < o.end && o.start < s.end }

// overlapsAny reports whether s overlaps one of the spans, which stand in order and apart.
func overlapsAny(list []span, s span) bool {
	i := sort.Search(len(list), func(i int) bool { return list[i].end > s.start })
	return i < len(list) && list[i].overlaps(s)
}

// hit is a secret in a chunk. It says where, never what.
type hit struct {
	rule        *rule
	at          span
	fingerprint string
	redacted    string
	failed      string // not a secret: why the rule could not be run
}

// secrets searches the parts of text, at most s.maxBytes of them, and says so if that was not all.
func (s *Scanner) secrets(text []byte, parts []span) []Finding {
	var found []Finding
	left := s.maxBytes
	for _, part := range parts {
		cut := part.end-part.start > left
		if cut {
			part.end = runeStart(text, part.start+left)
		}
		left -= part.end - part.start
		hits, err := s.search(text, part)
		if err != nil {
			return append(found, incomplete(span{part.start, len(text)}, "no-rules", "not searched for secrets: "+err.Error()))
		}
		for _, h := range hits {
			if s.allow[h.fingerprint] {
				continue
			}
			if len(found) >= MaxFindings {
				return append(found, incomplete(span{h.at.start, len(text)}, secretsTooMany, fmt.Sprintf("more than %d secrets: those that follow are not listed; remove the ones above first", MaxFindings)))
			}
			found = append(found, h.finding())
		}
		if cut {
			return append(found, incomplete(span{part.end, len(text)}, "too-large", fmt.Sprintf("more than %d bytes to search: what follows was not searched for secrets; add less at a time, or split the text into smaller files", s.maxBytes)))
		}
	}
	return found
}

func incomplete(at span, rule, reason string) Finding {
	return Finding{Kind: KindIncomplete, Rule: rule, Start: at.start, End: at.end, Reason: reason}
}

func (h hit) finding() Finding {
	if h.failed != "" {
		return incomplete(h.at, h.rule.id, h.failed)
	}
	return Finding{
		Kind: KindSecret, Rule: h.rule.id, Start: h.at.start, End: h.at.end, Fingerprint: h.fingerprint, Redacted: h.redacted,
		Reason: fmt.Sprintf("%s looks like a secret (rule %s). %s Write down where the secret is kept, not the secret; if it is none, a person can allow its fingerprint %s.",
			h.redacted, h.rule.id, h.rule.description, h.fingerprint),
	}
}

// search returns the secrets that begin in the part, ordered by position, with offsets in text.
func (s *Scanner) search(text []byte, part span) ([]hit, error) {
	var all []hit
	for at := part.start; at < part.end; {
		end := min(part.end, at+chunkBytes)
		last := end == part.end
		hits, err := s.searchChunk(text[at:end])
		if err != nil {
			return nil, err
		}
		for _, h := range hits {
			// What begins in the first half of an overlap belongs to the chunk before, which sees what is ahead of
			// it; what begins in the second half to the chunk behind, which sees where it ends.
			if at > part.start && h.at.start < overlapBytes/2 && h.failed == "" || !last && h.at.start >= chunkBytes-overlapBytes/2 {
				continue
			}
			h.at.start, h.at.end = h.at.start+at, h.at.end+at
			all = append(all, h)
		}
		if last {
			break
		}
		at += chunkBytes - overlapBytes
	}
	return all, nil
}

// searchChunk is search on one chunk, through the cache.
func (s *Scanner) searchChunk(chunk []byte) ([]hit, error) {
	if len(chunk) == 0 {
		return nil, nil
	}
	key := sha256.Sum256(chunk)
	if hits, ok := s.cache.get(key); ok {
		return hits, nil
	}
	set, err := s.rules()
	if err != nil {
		return nil, err
	}
	hits, err := set.search(string(chunk))
	if err != nil {
		return nil, err
	}
	s.cache.put(key, hits)
	return hits, nil
}

// fingerprint names a secret without telling it. Line ends are LF, so that a key keeps its name in a file with CRLF.
func fingerprint(secret string) string {
	sum := sha256.Sum256([]byte(strings.ReplaceAll(secret, "\r\n", "\n")))
	return hex.EncodeToString(sum[:])
}
