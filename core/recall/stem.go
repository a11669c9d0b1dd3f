package recall

import (
	"slices"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
)

// stemOf returns the Snowball English stem of a folded word. Words with
// anything but a–z are their own stem: the rules know no other alphabet, and a
// version or a hash has no forms.
func stemOf(word string) string {
	if len(word) < 3 || len(word) > maxWordBytes {
		return word
	}
	for i := range len(word) {
		if word[i] < 'a' || word[i] > 'z' {
			return word
		}
	}
	env := snowballstem.NewEnv(word)
	english.Stem(env)
	return env.Current()
}

func isStopWord(word string) bool {
	_, found := slices.BinarySearch(stopWords[:], word)
	return found
}

// stopWords are English words of grammar, sorted. Left in on purpose are those
// that carry meaning in notes about software: off, up, down, over, under, out,
// must, may, last, first, new. What stands before "'t" is here too, since the
// scanner drops the contraction.
var stopWords = [...]string{
	"a", "about", "after", "again", "all", "also", "am", "an", "and", "any",
	"are", "aren", "as", "at", "be", "because", "been", "before", "being",
	"between", "both", "but", "by", "can", "could", "couldn", "did", "didn",
	"do", "does", "doesn", "doing", "don", "during", "each", "few", "for",
	"from", "further", "had", "hadn", "has", "hasn", "have", "haven", "having",
	"he", "her", "here", "hers", "herself", "him", "himself", "his", "how", "i",
	"if", "in", "into", "is", "isn", "it", "its", "itself", "just", "let",
	"me", "more", "most", "my", "myself", "no", "nor", "not", "of", "on",
	"once", "only", "or", "other", "our", "ours", "ourselves", "own", "same",
	"she", "should", "shouldn", "so", "some", "such", "than", "that", "the",
	"their", "theirs", "them", "themselves", "then", "there", "these", "they",
	"this", "those", "through", "to", "too", "until", "very", "was", "wasn",
	"we", "were", "weren", "what", "when", "where", "which", "while", "who",
	"whom", "why", "will", "with", "would", "wouldn", "you", "your", "yours",
	"yourself", "yourselves",
}
