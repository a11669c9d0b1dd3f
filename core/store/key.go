package store

import (
	"path/filepath"
	"runtime"
	"strings"

	"mem/core/text"
)

// Key names the state of a memory directory: the end of its path, for people
// who look, and a hash of the whole, which makes it one.
func Key(dir string) string {
	id := dir
	if runtime.GOOS == "windows" {
		id = strings.ToLower(id)
	}
	var readable strings.Builder
	for _, r := range filepath.Base(filepath.Dir(dir)) + "-" + filepath.Base(dir) {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			readable.WriteRune(r)
		} else {
			readable.WriteByte('-')
		}
	}
	name := readable.String()
	if len(name) > 60 {
		name = name[len(name)-60:]
	}
	return strings.Trim(name, "-") + "-" + text.Hash(id)[:16]
}
