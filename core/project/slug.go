package project

import (
	"strconv"
	"strings"
	"unicode/utf16"
)

// MaxSlug is the longest slug, in characters, that the client uses as it is;
// a longer one is cut there and told apart by a hash (client
// 2.1.332).
const MaxSlug = 200

// Slug returns the name of the folder below `projects/` that belongs to path:
// every UTF-16 unit outside [A-Za-z0-9] becomes "-", so an astral character
// gives two; case is kept and nothing is normalised. Different paths can have
// the same slug, and a slug cannot be turned back into its path.
func Slug(path string) string {
	var b strings.Builder
	b.Grow(len(path))
	var hash int32
	for _, u := range utf16.Encode([]rune(path)) {
		hash = hash*31 + int32(u)
		if isAlphanumeric(u) {
			b.WriteByte(byte(u))
		} else {
			b.WriteByte('-')
		}
	}
	slug := b.String()
	if len(slug) <= MaxSlug {
		return slug
	}
	abs := int64(hash) // 64 bits: the absolute value of the least int32 must fit
	if abs < 0 {
		abs = -abs
	}
	return slug[:MaxSlug] + "-" + strconv.FormatInt(abs, 36)
}

func isAlphanumeric(u uint16) bool {
	return 'a' <= u && u <= 'z' || 'A' <= u && u <= 'Z' || '0' <= u && u <= '9'
}
