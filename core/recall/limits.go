package recall

// Ranking. Weights of name, description and body, k1 and b: measured on LoCoMo
// conversations and on 2,982 real topics, 2026-11.
const (
	k1 = 1.2  // saturation of the term frequency
	b  = 0.75 // how far a field longer than the average is held against it

	weightName        = 4.0
	weightDescription = 3.0
	weightHeadings    = 2.0 // not measured: between description and body
	weightBody        = 1.0
)

// Factors on the score of one query word. They settle an order between
// documents that are otherwise alike, so they are small, except for
// corrections: a word that the user did not type must not outweigh one that
// they did. Judged, not fitted: each of them set to 1 (or form and ideographs
// further down) leaves the relevance table of this package's tests as it is.
const (
	otherForm    = 0.85 // a form of the word matches, the typed one does not occur
	oneSlip      = 0.7  // corrected, one edit away
	twoSlips     = 0.5  // corrected, two edits away
	inIdeographs = 0.5  // a single CJK character of a longer run in the query
)

// Corrections. Lengths in letters: measured on 2,982 real topics, 2026-11
// (hit@5 of queries with two slips 33 → 63).
const (
	slipMin       = 4 // shorter words are never corrected
	twoSlipsMin   = 8 // from here on two edits are allowed
	maxCandidates = 4 // words that one misspelt word is expanded to
)

// Bounds of memory and time.
const (
	// MaxBodyBytes is how much of a body is indexed and kept for snippets.
	MaxBodyBytes = 1 << 20
	// MaxBodyTerms is how many terms of a body are indexed, stop words not
	// counted. An ordinary topic of 2 KB has about 300.
	MaxBodyTerms = 100_000
	// MaxFieldBytes is how much of a name, a description and the headings is
	// indexed and kept.
	MaxFieldBytes = 16 << 10
	// MaxFieldTerms is how many terms of those are indexed.
	MaxFieldTerms = 4_000

	// MaxQueryBytes is how much of a query is read.
	MaxQueryBytes = 4 << 10
	// MaxQueryTerms is how many distinct terms of a query are searched; the
	// rest is reported in [Result.Ignored].
	MaxQueryTerms = 64

	// DefaultLimit is the number of hits where [Options.Limit] is 0.
	DefaultLimit = 20
	// MaxLimit is the largest number of hits of one search.
	MaxLimit = 1_000

	// DefaultSnippetBytes is the length of a snippet where
	// [Options.SnippetBytes] is 0: about three lines of a terminal.
	DefaultSnippetBytes = 240
	// MaxSnippetBytes is the longest snippet.
	MaxSnippetBytes = 4 << 10

	maxWordBytes  = 64      // a longer run without a joiner is one term: its first bytes
	maxWholeBytes = 128     // a longer identifier is found by its parts only
	maxChunkBytes = 4 << 10 // a longer run is read as several
	maxStems      = 1 << 14 // words that a Tokenizer remembers the stem of
	maxForms      = 32      // forms of one stem that are told apart
	scanBytes     = 8 << 10 // a longer field is searched for a snippet around first occurrences only
	maxOccurs     = 1_000   // matches that are considered for one snippet
)

func termCap(f Field) (bytes, terms int) {
	if f == Body {
		return MaxBodyBytes, MaxBodyTerms
	}
	return MaxFieldBytes, MaxFieldTerms
}
