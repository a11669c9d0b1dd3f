// Package rules owns the rules: one file each, with its test data in
// testdata/<id> and its page in docs/rules/<id>.md.
package rules

import (
	"unicode"
	"unicode/utf8"

	"mem/diagnostics"
)

// All gives every rule, in the order in which they are documented.
func All() []diagnostics.Rule {
	return []diagnostics.Rule{
		configuration(),
		indexUnreadable(),
		indexTooLong(),
		indexTooLarge(),
		indexNearLimit(),
		entryTooLong(),
		indexFrontmatter(),
		indexComment(),
		duplicateEntry(),
		brokenLink(),
		linkOutside(),
		orphanTopic(),
		unknownLink(),
		tooManyTopics(),
		storeSplit(),
		frontmatterMissing(),
		frontmatterUnclosed(),
		frontmatterSyntax(),
		frontmatterBeyondScan(),
		nameMissing(),
		nameDuplicate(),
		nameNotSlug(),
		descriptionMissing(),
		descriptionMultiline(),
		descriptionLong(),
		typeMissing(),
		typeUnknown(),
		keyDuplicate(),
		keyConflict(),
		bodyEmpty(),
		bodyStructure(),
		relativeDate(),
		topicStale(),
		referenceLong(),
		instructionOverlap(),
		conflictMarkers(),
		encoding(),
		hiddenCharacter(),
		instructionText(),
		unusedIgnore(),
		unknownIgnore(),
		secret(),
	}
}

// sentence lets a message that core has in the middle of others stand alone.
func sentence(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}
