// Package guard finds what must not be stored or shown: secrets and hidden characters.
//
// It looks at bytes and reports spans; it neither refuses nor changes anything on its own. What a finding means for a
// write, an export or a diagnostic is the caller's decision. A finding never carries the secret that it is about: not
// in its fields, not in its text, not in an error.
//
// Secrets are found with the rules, the exceptions and the decoders of the gitleaks library. Its detect package is the
// reference that the tests compare with, and is not linked: importing it costs every start of the process 2 ms and
// 3.4 MB for git, archives and report templates, and its detector compiles all 222 rules (27 ms, 23 MB) where a text
// needs a handful. Here a rule is compiled when a text first contains one of its keywords, and it is run only around
// them (see scope.go).
package guard

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Kind says what sort of thing a finding is.
type Kind string

const (
	// KindSecret is a credential: whoever reads the text can use it.
	KindSecret Kind = "secret"
	// KindHidden is a character that a model reads and a person does not see.
	KindHidden Kind = "hidden"
	// KindBidi is a control that makes text display in another order than it is stored.
	KindBidi Kind = "bidi"
	// KindIncomplete marks a part that was not looked at, or findings that were not listed. The text must be treated
	// as if a secret had been found there.
	KindIncomplete Kind = "incomplete"
)

// Finding is one thing found in a text.
type Finding struct {
	Kind Kind
	// Rule is the gitleaks rule, the class of the character, or the limit that was met.
	Rule string
	// Start and End are byte offsets in the scanned text, End exclusive.
	Start, End int
	// Line is where Start is, counted from 1.
	Line int
	// Reason says what it is, where, why it matters and what to do.
	Reason string
	// Fingerprint is the SHA-256 of the secret in hexadecimal (line ends as LF), the name under which a person can
	// allow it. Empty for everything that is not a secret.
	Fingerprint string
	// Redacted stands for the secret where one has to be shown: what every secret of the rule begins with, if
	// anything, and a mark.
	Redacted string
}

// String returns the reason.
func (f Finding) String() string { return f.Reason }

// Limits of one call. They bound time and memory, whatever the text is.
const (
	// DefaultMaxBytes is how much text one call searches for secrets. A memory takes 0.02 ms per KB, prose with three
	// keywords in every line 0.3 ms, the worst that we could build ("key=", over and over) 1.5 ms, so that the longest
	// call takes 3 s. No memory is as large: of an index, clients load 25 KB.
	DefaultMaxBytes = 2 << 20
	// MaxFindings is how many findings of each sort (secrets; characters) one call lists.
	MaxFindings = 1000
)

// Options configures a Scanner. The zero value is ready to use.
type Options struct {
	// Allow holds fingerprints of secrets that a person has allowed: 64 hexadecimal digits each.
	Allow []string
	// MaxBytes replaces DefaultMaxBytes if it is above 0.
	MaxBytes int
}

// Scanner finds secrets and hidden characters. It is safe for concurrent use and starts no goroutine; nothing is read
// from disk, environment or network. The rules are loaded at the first secret scan.
type Scanner struct {
	allow    map[string]bool
	maxBytes int
	rules    func() (*ruleSet, error)
	cache    *cache
}

// New returns a Scanner. It fails only if an entry of opts.Allow is no fingerprint.
func New(opts Options) (*Scanner, error) {
	s := &Scanner{
		allow:    make(map[string]bool, len(opts.Allow)),
		maxBytes: opts.MaxBytes,
		rules:    sync.OnceValues(loadRules),
		cache:    newCache(cacheEntries),
	}
	for i, fp := range opts.Allow {
		fp = strings.ToLower(strings.TrimSpace(fp))
		if raw, err := hex.DecodeString(fp); err != nil || len(raw) != 32 {
			// The entry is not quoted: somebody may have put the secret itself there.
			return nil, fmt.Errorf("allowed secret %d is not a fingerprint: give the 64 hexadecimal digits that the refusal named", i+1)
		}
		s.allow[fp] = true
	}
	if s.maxBytes <= 0 {
		s.maxBytes = DefaultMaxBytes
	}
	return s, nil
}

// Scan returns everything found in text, ordered by position.
func (s *Scanner) Scan(text []byte) []Finding {
	whole := []span{{0, len(text)}}
	found := slices.Concat(s.secrets(text, whole), scanHidden(text, whole))
	return finish(text, found)
}

// Secrets returns what Scan says of secrets, and of the parts that were not searched for them.
func (s *Scanner) Secrets(text []byte) []Finding {
	return finish(text, s.secrets(text, []span{{0, len(text)}}))
}

// Added returns what after contains and before does not: secrets that before does not contain anywhere, and hidden
// characters on lines that before does not have. Only changed lines and their surroundings are searched, so the cost
// is that of the change and one comparison of the two texts. Offsets and lines are those of after.
func (s *Scanner) Added(before, after []byte) []Finding {
	if len(bytes.TrimSpace(before)) == 0 {
		return s.Scan(after)
	}
	changed := changedLines(before, after)
	if len(changed) == 0 {
		return nil
	}
	known := newContained(before)
	var found []Finding
	for _, f := range s.secrets(after, widen(after, changed, contextBytes, keyBlocksOf(after))) {
		if f.Kind == KindSecret && (!overlapsAny(changed, span{f.Start, f.End}) || known.has(after[f.Start:f.End])) {
			continue
		}
		found = append(found, f)
	}
	found = append(found, scanHidden(after, changed)...)
	return finish(after, found)
}

// finish orders findings and fills in what depends on the line.
func finish(text []byte, found []Finding) []Finding {
	slices.SortStableFunc(found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End), cmp.Compare(a.Rule, b.Rule))
	})
	line, at := 1, 0
	for i := range found {
		f := &found[i]
		line += bytes.Count(text[at:f.Start], []byte{'\n'})
		at = f.Start
		f.Line = line
		f.Reason = fmt.Sprintf("line %d: %s", line, f.Reason)
	}
	return found
}
