package rules

import (
	"slices"
	"strings"
	"time"

	"mem/core/text"
)

var units = map[string]unit{"day": day, "days": day, "week": week, "weeks": week, "month": month, "months": month, "year": year, "years": year}

var weekdays = map[string]time.Weekday{"monday": time.Monday, "tuesday": time.Tuesday, "wednesday": time.Wednesday, "thursday": time.Thursday,
	"friday": time.Friday, "saturday": time.Saturday, "sunday": time.Sunday}

var numbers = map[string]int{"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
	"ten": 10, "eleven": 11, "twelve": 12}

var dayParts = []string{"morning", "afternoon", "evening", "night"}

// Words before a phrase that make it mean something else: "the last week of May",
// "every last Friday", "about a year ago".
var (
	notBeforeLast = []string{"the", "our", "my", "your", "their", "his", "her", "its", "a", "every", "each", "very", "these", "those", "same"}
	notBeforeAgo  = []string{"about", "around", "over", "roughly", "some", "than", "nearly", "almost", "approximately", "or", "to", "under"}
	// A date may follow these as it is; any other word wants "on" or "in" before it.
	beforeDate = []string{"by", "on", "in", "at", "since", "until", "till", "before", "after", "from", "of", "for", "to", "through", "than", "as",
		"is", "was", "are", "were", "be", "been", "and", "or", "but", "between", "with", "versus", "vs", "about", "around", "dated", "date", "the", "starting",
		"ending", "beginning", "during", "via", "per", "not", "effective"}
	// A sentence with one of these speaks of how long things take, not of a day.
	durations = []string{"every", "each", "any ", "always", "expire", "within", "per ", "after", "if ", "when", "timeout", "ttl", "retention", "retain",
		"usually", "typically", "average", "done in", "built in", "finished in", "completed in", "took", "takes", "delete", "lapse", "rotate",
		"refresh", "times in", "once in", "twice in", "up to", "at most", "at least"}
	// And "in two weeks" is a day only where one of these says that it is to come:
	// "we built it in two weeks".
	toCome = []string{" will ", "'ll ", "’ll ", "due ", "going to ", " is in ", " are in ", "starts ", "start in", "begins ", "ends ", "release in", "releases ",
		"launch in", "launches ", "ship in", "ships ", "meet ", "meeting in", "back in", "deadline", "planned ", "scheduled ", "revisit", "review in", "again in", "remind"}
	// What stands on a screen or in a query counts from whenever somebody looks.
	moving = []string{"compare", " filter", "button", "macro", " shows ", " show ", " displays ", " lists ", "dashboard "}
	// And what belongs to a day is that day's only where it was so once: "today's
	// session found", but "today's orders are listed first".
	once = []string{" was ", " were ", " had ", " did ", " fixed", " merged", " decided", " moved", " changed", " added", " removed", " deployed", " released",
		" failed", " started", " shipped", " switched", " agreed", " asked", " caused", " crashed", " finished", " found ", "broke", "session", "meeting", "review", "outage", "incident", "call "}
)

// englishAt gives the phrase that begins, or ends with "ago", at i.
func englishAt(src string, i int) (dated, bool) {
	word, end := wordAt(src, i)
	d := dated{span: text.Span{Start: i, End: end}}
	ok := false
	switch word {
	case "today":
		before, _ := wordBefore(src, i)
		ok = before != "usa" && before != "ago"
	case "tonight":
		d.part, ok = "night", true
	case "tomorrow":
		d.n, ok = 1, true
		d.otherDay(src, "after")
	case "yesterday":
		d.n, ok = -1, true
		d.otherDay(src, "before")
	case "this":
		ok = d.thisLastNext(src, 0)
	case "last":
		ok = d.thisLastNext(src, -1)
	case "next":
		ok = d.thisLastNext(src, 1)
	case "in":
		ok = d.inSome(src)
	case "ago":
		ok = d.ago(src)
	}
	if !ok || !apart(src, d.span) || word != "in" && word != "ago" && movesAlong(src, d.span) {
		return dated{}, false
	}
	if (word == "tomorrow" || word == "yesterday") && (d.n == 1 || d.n == -1) {
		if part, end := nextWord(src, d.span.End); slices.Contains(dayParts, part) {
			d.part, d.span.End = part, end
		}
	}
	if word != "in" {
		d.setLead(src)
	}
	return d, true
}

// movesAlong reports whether a phrase counts from whenever it is read: what a screen
// shows, or, said of something that belongs to a day ("fetch last night's dump"),
// where nothing in the sentence says that it was, or will be, once.
func movesAlong(src string, s text.Span) bool {
	sentence := sentenceAround(src, s)
	begins := strings.HasPrefix(strings.TrimLeft(sentence, "#>-+ \t"), strings.ToLower(src[s.Start:s.End]))
	return holdsAny(sentence, moving) || possessive(src[s.End:]) && !begins && !holdsAny(sentence, once) && !holdsAny(sentence, toCome)
}

// sentenceAround gives what stands around a phrase up to the ends of its sentence, or
// most of it, in lower case.
func sentenceAround(src string, s text.Span) string {
	const near = 160 // bytes to either side
	before := src[max(0, s.Start-near):s.Start]
	if k := strings.LastIndexAny(before, ".!?;\n"); k >= 0 {
		before = before[k+1:]
	}
	behind := src[s.End:min(len(src), s.End+near)]
	if k := strings.IndexAny(behind, ".!?;\n"); k >= 0 {
		behind = behind[:k]
	}
	return strings.ToLower(before + src[s.Start:s.End] + behind)
}

func holdsAny(sentence string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(sentence, w) })
}

// otherDay takes "the day before" or "the day after" into the phrase.
func (d *dated) otherDay(src, side string) {
	w, at := wordBefore(src, d.span.Start)
	if w != side {
		return
	}
	if w, at = wordBefore(src, at); w != "day" {
		return
	}
	d.n *= 2
	d.span.Start = at
	if w, at = wordBefore(src, at); w == "the" {
		d.span.Start = at
	}
}

func (d *dated) thisLastNext(src string, n int) bool {
	w, end := nextWord(src, d.span.End)
	d.n, d.span.End = n, end
	wd, isDay := weekdays[w]
	switch {
	case isDay:
		d.onDay, d.weekday, d.unit, d.loose = true, wd, week, n != 0
	case w == "week" || w == "month" || w == "year":
		d.unit = units[w]
	case n == 0 && slices.Contains(dayParts[:3], w), n == -1 && w == "night":
		d.part = w
	default:
		return false
	}
	if after, _ := nextWord(src, end); after == "of" || after == "in" && isDay {
		return false
	}
	before, at := wordBefore(src, d.span.Start)
	if n != 0 && slices.Contains(notBeforeLast, before) {
		return false
	}
	if w == "week" { // "next week Tuesday", "Tuesday next week"
		if wd, ok := weekdays[before]; ok {
			d.onDay, d.weekday, d.span.Start = true, wd, at
		} else if after, end := nextWord(src, end); weekdays[after] != 0 || after == "sunday" {
			d.onDay, d.weekday, d.span.End = true, weekdays[after], end
		}
	}
	return true
}

// inSome reads "in two weeks".
func (d *dated) inSome(src string) bool {
	n, end := numberAfter(src, d.span.End)
	w, end := nextWord(src, end)
	u, known := units[w]
	if n == 0 || !known {
		return false
	}
	d.n, d.unit, d.span.End = n, u, end
	for _, mark := range []string{"' time", "’ time", "'s time", "’s time"} {
		if strings.HasPrefix(src[end:], mark) {
			d.span.End += len(mark)
		}
	}
	if after, _ := nextWord(src, d.span.End); after == "of" || after == "or" {
		return false
	}
	sentence := sentenceAround(src, d.span)
	if holdsAny(sentence, durations) || !holdsAny(sentence, toCome) {
		return false
	}
	if d.lead = "in "; u == day {
		d.lead = "on "
	}
	return true
}

// ago reads "two weeks ago", from its end.
func (d *dated) ago(src string) bool {
	w, at := wordBefore(src, d.span.Start)
	u, known := units[w]
	if !known {
		return false
	}
	n, at := numberBefore(src, at)
	if n == 0 {
		return false
	}
	d.n, d.unit, d.span.Start = -n, u, at
	if after, end := nextWord(src, d.span.End); after == "today" && u <= week { // to the day
		if u == week {
			d.n, d.unit = 7*d.n, day
		}
		d.span.End = end
	}
	before, _ := wordBefore(src, at)
	return !slices.Contains(notBeforeAgo, before)
}

// setLead puts "on" or "in" before a date where the word before the phrase wants it.
func (d *dated) setLead(src string) {
	before, _ := wordBefore(src, d.span.Start)
	if before == "" || slices.Contains(beforeDate, before) || possessive(src[d.span.End:]) {
		return
	}
	if d.lead = "in "; d.unit == day || d.onDay {
		d.lead = "on "
	}
}

func possessive(rest string) bool {
	return strings.HasPrefix(rest, "'") || strings.HasPrefix(rest, "’")
}

// apart reports whether a phrase stands for itself, and is no part of a name, a path
// or a placeholder: day-to-day, today.md, {today}, [[yesterday]], next-week.
func apart(src string, s text.Span) bool {
	if s.Start > 0 {
		if strings.IndexByte(`_-/\@#${<%=&~`, src[s.Start-1]) >= 0 || s.Start > 1 && src[s.Start-1] == '.' && isAlnum(src[s.Start-2]) ||
			s.Start > 1 && src[s.Start-2:s.Start] == "[[" {
			return false
		}
	}
	if s.End == len(src) {
		return true
	}
	c := src[s.End]
	if s.End+1 < len(src) && isAlnum(src[s.End+1]) && strings.IndexByte("-./", c) >= 0 {
		return false
	}
	return !isAlnum(c) && strings.IndexByte(`_({}>%=\@&~`, c) < 0
}

// maxWordLength is the longest word that phrases are made of, with room to see that a
// longer one is none of them.
const maxWordLength = 12

// wordAt gives the word of letters at i in lower case, and its end.
func wordAt(src string, i int) (string, int) {
	end := i
	for end < len(src) && end < i+maxWordLength && isLetter(src[end]) {
		end++
	}
	if end < len(src) && isLetter(src[end]) {
		return "", end
	}
	return strings.ToLower(src[i:end]), end
}

// nextWord gives the word behind white space at i, and its end.
func nextWord(src string, i int) (string, int) {
	at := overSpace(src, i)
	if at == i {
		return "", i
	}
	return wordAt(src, at)
}

// overSpace passes over spaces and one line end.
func overSpace(src string, i int) int {
	lines := 0
	for i < len(src) && (src[i] == ' ' || src[i] == '\t' || src[i] == '\r' || src[i] == '\n' && lines == 0) {
		if src[i] == '\n' {
			lines++
		}
		i++
	}
	return i
}

// wordBefore gives the word before white space before i, and its start.
func wordBefore(src string, i int) (string, int) {
	at := backOverSpace(src, i)
	start := at
	for start > 0 && start > at-maxWordLength && isLetter(src[start-1]) {
		start--
	}
	if at == i || start == at {
		return "", i
	}
	return strings.ToLower(src[start:at]), start
}

func backOverSpace(src string, i int) int {
	lines := 0
	for i > 0 && (src[i-1] == ' ' || src[i-1] == '\t' || src[i-1] == '\r' || src[i-1] == '\n' && lines == 0) {
		if src[i-1] == '\n' {
			lines++
		}
		i--
	}
	return i
}

// numberAfter gives the number behind white space at i, 0 where none is, and its end.
func numberAfter(src string, i int) (int, int) {
	at := overSpace(src, i)
	if n := digits(src[at:min(len(src), at+4)]); n > 0 && n < 4 {
		return parse(src[at : at+n]), at + n
	}
	w, end := nextWord(src, i)
	return numbers[w], end
}

// numberBefore gives the number before white space before i, 0 where none is, and its
// start.
func numberBefore(src string, i int) (int, int) {
	at := backOverSpace(src, i)
	start := at
	for start > 0 && start > at-4 && '0' <= src[start-1] && src[start-1] <= '9' {
		start--
	}
	if n := at - start; at < i && n > 0 {
		if n > 3 || start > 0 && (isLetter(src[start-1]) || strings.IndexByte("-.,~/+", src[start-1]) >= 0) {
			return 0, i
		}
		return parse(src[start:at]), start
	}
	w, start := wordBefore(src, i)
	return numbers[w], start
}

func parse(digits string) int {
	n := 0
	for i := range len(digits) {
		n = 10*n + int(digits[i]-'0')
	}
	return n
}
