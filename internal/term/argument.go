package term

import (
	"runtime"
	"strings"
	"unicode"
)

// Argument gives a path as one argument of a command line.
func Argument(p string) string {
	plain := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(`/\:._-+@%,`, r)
	}
	if !strings.ContainsFunc(p, func(r rune) bool { return !plain(r) }) && (runtime.GOOS == "windows" || !strings.Contains(p, `\`)) {
		return p
	}
	p = Clean(p)
	if runtime.GOOS == "windows" {
		return `"` + p + `"`
	}
	return "'" + strings.ReplaceAll(p, "'", `'\''`) + "'"
}
