package memdir

import (
	"fmt"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"mem/core/memfile"
)

// LogsDir is the folder of the daily logs inside a memory directory.
const LogsDir = "logs"

// notTopics are Markdown files that belong to people and other tools; mem reads
// and writes none of them. Compared without case, as file systems do.
var notTopics = map[string]bool{"readme.md": true, "claude.md": true, "agents.md": true}

// maxName bounds one path element in bytes, as common file systems do.
const maxName = 255

// CheckPath says why p cannot be written in a memory directory, or nil. It
// admits topics, MEMORY.md and daily logs, as slash-separated relative paths.
func CheckPath(p string) error {
	if err := checkShape(p); err != nil {
		return err
	}
	if p == memfile.IndexName {
		return nil
	}
	base := path.Base(p)
	if strings.EqualFold(base, memfile.IndexName) {
		return fmt.Errorf("%s: only the index at the top of the memory directory has this name; choose another", p)
	}
	if notTopics[strings.ToLower(base)] {
		return fmt.Errorf("%s: README.md, CLAUDE.md and AGENTS.md are not memory and are never written; choose another name", p)
	}
	if first, _, sub := strings.Cut(p, "/"); sub && strings.EqualFold(first, LogsDir) {
		if _, ok := logDate(p); !ok {
			return fmt.Errorf("%s: below logs/ there are only daily logs, logs/YYYY/MM/YYYY-MM-DD.md; choose another folder", p)
		}
	}
	return nil
}

// CheckTopicPath is CheckPath for topics alone.
func CheckTopicPath(p string) error {
	if err := CheckPath(p); err != nil {
		return err
	}
	if p == memfile.IndexName {
		return fmt.Errorf("%s is the index, not a topic; choose another name", p)
	}
	if first, _, sub := strings.Cut(p, "/"); sub && strings.EqualFold(first, LogsDir) {
		return fmt.Errorf("%s: daily logs are appended to, not written as topics; use memory_log", p)
	}
	return nil
}

func checkShape(p string) error {
	bad := func(why string) error {
		return fmt.Errorf("%q is not a path in a memory directory: %s. Give a relative path with forward slashes that ends in .md", p, why)
	}
	switch {
	case p == "":
		return bad("it is empty")
	case !utf8.ValidString(p):
		return bad("it is not valid UTF-8")
	case strings.ContainsRune(p, '\\'):
		return bad("it holds a backslash")
	case path.IsAbs(p):
		return bad("it is absolute")
	case path.Clean(p) != p:
		return bad(`it holds "..", "." or empty elements`)
	case !strings.EqualFold(path.Ext(p), ".md"):
		return bad("memory files are Markdown")
	case len(p) > 1024:
		return bad("it is longer than 1,024 bytes")
	}
	for _, el := range strings.Split(p, "/") {
		if why := badElement(el); why != "" {
			return bad(why)
		}
	}
	return nil
}

func badElement(el string) string {
	switch {
	case el == "..":
		return `it holds ".."`
	case strings.HasPrefix(el, "."):
		return fmt.Sprintf("%q is a hidden name", el)
	case len(el) > maxName:
		return fmt.Sprintf("%q… is longer than %d bytes", el[:20], maxName)
	case strings.HasSuffix(el, " ") || strings.HasSuffix(el, "."):
		return fmt.Sprintf("%q ends with a space or a dot, which Windows drops", el)
	case strings.ContainsAny(el, `<>:"|?*`):
		return fmt.Sprintf(`%q holds one of <>:"|?*, which Windows refuses`, el)
	case reserved(el):
		return fmt.Sprintf("%q is a device name on Windows", el)
	}
	low := strings.ToLower(el)
	for _, enc := range []string{"%2e", "%2f", "%5c", "%00"} {
		if strings.Contains(low, enc) {
			return fmt.Sprintf("%q holds an encoded dot, slash or NUL", el)
		}
	}
	for _, r := range el {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u200b' || r == '\ufeff' {
			return fmt.Sprintf("%q holds a hidden character", el)
		}
	}
	return ""
}

// reserved names the device names of Windows, with any extension.
func reserved(el string) bool {
	stem, _, _ := strings.Cut(strings.ToLower(el), ".")
	switch stem {
	case "con", "prn", "aux", "nul", "conin$", "conout$":
		return true
	}
	if rest, ok := strings.CutPrefix(stem, "com"); ok || strings.HasPrefix(stem, "lpt") {
		if !ok {
			rest = strings.TrimPrefix(stem, "lpt")
		}
		return len([]rune(rest)) == 1 && strings.ContainsAny(rest, "0123456789¹²³")
	}
	return false
}

// Slug gives the file name stem for a memory's name: lower case, letters and
// digits of every script kept, all else folded to single dashes.
func Slug(name string) string {
	var b strings.Builder
	dash := false
	for _, r := range strings.ToLower(name) {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			if dash && b.Len() > 0 {
				b.WriteByte('-')
			}
			dash = false
			b.WriteRune(r)
		case r == '_':
			if b.Len() > 0 {
				b.WriteByte('_')
			}
			dash = false
		default:
			dash = true
		}
		if b.Len() > 80 {
			break
		}
	}
	s := strings.Trim(b.String(), "-_")
	if reserved(s) {
		s += "-memory"
	}
	return s
}

// Fold makes names comparable the way people write them: without case, with
// "-", "_" and spaces the same.
func Fold(name string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == ' ' {
			return '-'
		}
		return unicode.ToLower(r)
	}, strings.TrimSpace(name))
}
