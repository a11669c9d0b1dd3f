package language

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"mem/core/memdir"
)

// escaped puts words of a memory into Markdown of ours, on one line and cut to a
// number of characters, so that they are shown as they are: no mark, link, image
// or tag in them takes effect, and no address becomes a link.
func escaped(s string, most int) string {
	var b strings.Builder
	for _, r := range memdir.Shown(strings.ToValidUTF8(s, "\uFFFD"), most) {
		if strings.ContainsRune("\\`*_[]<>&#|~!@:$", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return strings.ReplaceAll(b.String(), "www.", `www\.`)
}

// code puts a name of a memory into Markdown as a code span.
func code(name string) string {
	name = memdir.Shown(strings.ToValidUTF8(name, "\uFFFD"), memdir.MaxShown)
	if name == "" {
		return `""`
	}
	ticks := strings.Repeat("`", longestRun(name, '`')+1)
	if name[0] == '`' || name[len(name)-1] == '`' {
		name = " " + name + " "
	}
	return ticks + name + ticks
}

func codes(names []string) string {
	var all []string
	for _, n := range names {
		all = append(all, code(n))
	}
	return strings.Join(all, ", ")
}

const (
	previewLines = 12
	previewWidth = 200 // characters of a line
)

// preview gives the first lines of a text in a fence that nothing in it closes.
func preview(body string) string {
	var lines []string
	more := 0
	for l := range strings.Lines(body) {
		l = strings.TrimRight(l, " \t\r\n")
		switch {
		case l == "" && len(lines) == 0:
		case len(lines) < previewLines:
			lines = append(lines, visible(l))
		case l != "":
			more++
		}
	}
	for n := len(lines); n > 0 && lines[n-1] == ""; n-- {
		lines = lines[:n-1]
	}
	if len(lines) == 0 {
		return ""
	}
	shown := strings.Join(lines, "\n")
	fence := strings.Repeat("`", max(longestRun(shown, '`')+1, 3))
	shown = fence + "markdown\n" + shown + "\n" + fence
	if more > 0 {
		shown += fmt.Sprintf("\n\n%s more", count(more, "line"))
	}
	return shown
}

// visible gives a line without what an editor cannot show or what would turn the
// text around it, cut to its width.
func visible(l string) string {
	n := 0
	for i := range l {
		if n++; n > previewWidth {
			l = l[:i] + "…"
			break
		}
	}
	return strings.Map(func(r rune) rune {
		if r != '\t' && r != '\u200c' && r != '\u200d' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(l, "\uFFFD"))
}

func longestRun(s string, c byte) int {
	longest, n := 0, 0
	for i := range len(s) {
		if s[i] != c {
			n = 0
			continue
		}
		n++
		longest = max(longest, n)
	}
	return longest
}

// count gives a number with the word for what it counts.
func count(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return thousands(n) + " " + one + "s"
}

// thousands writes a number with commas.
func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func size(bytes int64) string {
	switch {
	case bytes < 1<<10:
		return count(int(bytes), "byte")
	case bytes < 1<<20:
		return fmt.Sprintf("%.1f KB", float64(bytes)/(1<<10))
	}
	return fmt.Sprintf("%.1f MB", float64(bytes)/(1<<20))
}

func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }
