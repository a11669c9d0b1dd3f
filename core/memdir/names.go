package memdir

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"mem/core/memfile"
)

// LogsDir is the folder of the daily logs inside a memory directory.
const LogsDir = "logs"

// notTopics are Markdown files that belong to people and other tools; mem reads
// and writes none of them.
var notTopics = []string{"README.md", "CLAUDE.md", "AGENTS.md"}

// isNotTopic compares as file systems do: without case and, as HFS+ does, without
// the joiners that a name may hold.
func isNotTopic(base string) bool {
	return slices.ContainsFunc(notTopics, func(n string) bool { return sameFile(base, n) })
}

func sameFile(a, b string) bool {
	if strings.EqualFold(a, b) {
		return true
	}
	if strings.IndexByte(a, joiners[0]) < 0 {
		return false // nearly every name: what follows is slow, and a View asks of each file
	}
	return strings.ContainsAny(a, joiners) && strings.EqualFold(strings.Map(dropJoiners, a), b)
}

// joiners are the hidden characters that names may hold, see hiddenRune.
const joiners = "\u200c\u200d"

func dropJoiners(r rune) rune {
	if strings.ContainsRune(joiners, r) {
		return -1
	}
	return r
}

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
	if sameFile(base, memfile.IndexName) {
		return fmt.Errorf("%s: only the index at the top of the memory directory has this name; choose another", p)
	}
	if isNotTopic(base) {
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
	return CheckTopic(p)
}

// CheckTopic is what CheckTopicPath asks for besides CheckPath, of a path that passed that.
func CheckTopic(p string) error {
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
		return fmt.Errorf("%q is not a path in a memory directory: %s. Give a relative path with forward slashes that ends in .md", cutMark(p, MaxShown), why)
	}
	switch {
	case p == "":
		return bad("it is empty")
	case !utf8.ValidString(p):
		return fmt.Errorf("%q is not valid UTF-8, so no program can name it in a call. Rename the file, or give another path", cutMark(p, MaxShown))
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
	els := strings.Split(p, "/")
	if len(els)-1 > maxDepth {
		return fmt.Errorf("%q lies deeper than %d folders, where memory is not looked for. Give a path with fewer folders", cutMark(p, MaxShown), maxDepth)
	}
	for i, el := range els {
		if why := badElement(el); why != "" {
			return bad(why)
		}
		if i+1 < len(els) && memfile.IsMarkdown(el) {
			return bad(fmt.Sprintf("the folder %q has the name of a memory file", el))
		}
	}
	if els[0][0] == '~' {
		return bad(`"~" is not a home directory here`)
	}
	return nil
}

// CheckElement says why el, one element of a path, would mean something else on
// some system than it says, or hides: a hidden name, an encoded dot or slash, a
// device, a short name, a stream, and the like. What is fit for a memory's name
// passes; "" does not.
func CheckElement(el string) error {
	why := ""
	switch {
	case el == "":
		why = "it is empty"
	case !utf8.ValidString(el):
		why = "it is not valid UTF-8"
	case strings.ContainsAny(el, "/\\"):
		why = "it holds a slash or a backslash"
	default:
		why = badElement(el)
		if bare := strings.Map(dropJoiners, el); why == "" && bare != el && bare != "" {
			why = badElement(bare) // as file systems that drop them see it
		}
	}
	if why == "" {
		return nil
	}
	return errors.New(why)
}

func badElement(el string) string {
	switch {
	case el == "..":
		return `it holds ".."`
	case strings.HasPrefix(el, "."):
		return fmt.Sprintf("%q is a hidden name", el)
	case len(el) > maxName:
		return fmt.Sprintf("%q… is longer than %d bytes", strings.ToValidUTF8(el[:20], ""), maxName)
	case strings.HasSuffix(el, " ") || strings.HasSuffix(el, "."):
		return fmt.Sprintf("%q ends with a space or a dot, which Windows drops", el)
	case strings.ContainsAny(el, `<>:"|?*`):
		return fmt.Sprintf(`%q holds one of <>:"|?*, which Windows refuses`, el)
	case reserved(el):
		return fmt.Sprintf("%q is a device name on Windows", el)
	case strings.IndexByte(el, '~') > 0 && shortName().MatchString(el):
		return fmt.Sprintf("%q is how Windows shortens another name", el)
	}
	if strings.IndexByte(el, '%') >= 0 {
		low := strings.ToLower(el)
		for _, enc := range []string{"%2e", "%2f", "%5c", "%00", "%25"} {
			if strings.Contains(low, enc) {
				return fmt.Sprintf("%q holds an encoded dot, slash or NUL", el)
			}
		}
	}
	for _, r := range el {
		if hiddenRune(r) {
			return fmt.Sprintf("%q holds a hidden character", el)
		}
	}
	return ""
}

// hiddenRune names characters that do not show. The two joiners are left out:
// Persian names and emoji need them.
func hiddenRune(r rune) bool {
	if r >= ' ' && r < 0x7F {
		return false // most are, and the tables are large
	}
	if strings.ContainsRune(joiners, r) {
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// shortName is a name of the 8.3 form, which may be another file's second name.
var shortName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[^.]{1,6}~[0-9]+(\.|$)`) })

// reserved names the device names of Windows, with any extension.
func reserved(el string) bool {
	stem, _, _ := strings.Cut(strings.ToLower(el), ".")
	stem = strings.TrimRight(stem, " ")
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
	if s != "" && CheckTopicPath(s+".md") != nil {
		s += "-note" // a device of Windows, the index or a file that is no topic
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
