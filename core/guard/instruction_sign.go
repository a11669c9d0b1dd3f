package guard

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// closing gives the mark that ends a quotation.
var closing = map[rune]string{'"': `"`, '\'': "'", '“': "”", '„': "“", '‘': "’", '「': "」", '『': "』", '«': "»"}

// shortQuote is the longest quotation, in bytes, that sets off a word of the sentence and is no example: as in
// all "previous" instructions.
const shortQuote = 15

// quote reads a quotation mark and, where it opens a quotation that ends in the same paragraph, passes over that.
func (s *sentences) quote(mark rune, size int) {
	from := s.at + size
	end := -1
	if s.opensQuote(mark, from) {
		end = s.quoteEnd(mark, from)
	}
	if end < 0 {
		if s.comment > 0 {
			s.pause(stopSoft)
		}
		s.at = from
		return
	}
	if inner := s.src[from:end]; len(inner) <= shortQuote && !bytes.ContainsAny(inner, " \t\n") {
		s.at = from
		return
	}
	start := s.at
	s.at = end + len(closing[mark])
	s.emit(start, s.at, wordOpaque)
}

// opensQuote reports whether the mark before from can open a quotation. In comments none does, and in the frontmatter
// not the one that YAML wants around a value.
func (s *sentences) opensQuote(mark rune, from int) bool {
	if s.comment > 0 || from >= s.limit {
		return false
	}
	before := s.src[:s.at]
	if s.at < s.front {
		value := bytes.TrimRight(before[max(0, len(before)-16):], " \t")
		if n := len(value); n > 0 && (value[n-1] == ':' || value[n-1] == '-' || value[n-1] == '\n') {
			return false
		}
	}
	if mark >= utf8.RuneSelf {
		return true
	}
	if prev, _ := utf8.DecodeLastRune(before); unicode.IsLetter(prev) && prev < 0x2E80 || unicode.IsDigit(prev) {
		return false
	}
	rest := s.src[from:]
	// A shell puts quotation marks around what it runs: bash -c "$(…)".
	return rest[0] > ' ' && !bytes.HasPrefix(rest, []byte("$(")) && !bytes.HasPrefix(rest, []byte("<("))
}

// quoteEnd gives the offset of the mark that ends the quotation from from on, -1 where none in the paragraph does.
func (s *sentences) quoteEnd(mark rune, from int) int {
	if s.at >= s.block {
		s.block = s.blockEnd(s.at)
	}
	if s.noQuote[mark] >= s.block {
		return -1
	}
	for at := from; at < s.block; {
		n := bytes.Index(s.src[at:s.block], []byte(closing[mark]))
		if n < 0 {
			break
		}
		at += n
		if mark != '\'' {
			return at
		}
		// An apostrophe ends a quotation only behind a word and not inside one.
		next, _ := utf8.DecodeRune(s.src[at+1:])
		if !unicode.IsLetter(next) && !unicode.IsDigit(next) && s.src[at-1] > ' ' {
			return at
		}
		at++
	}
	if s.noQuote == nil {
		s.noQuote = map[rune]int{}
	}
	s.noQuote[mark] = s.block
	return -1
}

// blockEnd gives the end of the paragraph, list item or line of the frontmatter around i.
func (s *sentences) blockEnd(i int) int {
	for i < len(s.src) {
		n := bytes.IndexByte(s.src[i:], '\n')
		if n < 0 {
			break
		}
		i += n + 1
		line := s.src[i:]
		if i <= s.front || blank(line) {
			return i
		}
		if mark, quoted := blockStart(line); mark > 0 || quoted {
			return i
		}
	}
	return len(s.src)
}

// maxTag is the longest tag that is read, in bytes.
const maxTag = 128

// angle reads "<": a comment, a mark of a prompt, an address, another tag.
func (s *sentences) angle() {
	rest := s.src[s.at:]
	if bytes.HasPrefix(rest, []byte("<!--")) && s.comment == 0 && !s.noComment {
		if n := bytes.Index(rest[4:], []byte("-->")); n >= 0 {
			s.flush()
			s.comment = s.at + 4 + n
			s.at += 4
			return
		}
		s.noComment = true
	}
	end := bytes.IndexByte(rest[:min(len(rest), maxTag)], '>')
	if end < 0 || bytes.ContainsAny(rest[1:end], "\n<") && !bytes.HasPrefix(rest, []byte("<<")) {
		s.pause(stopSoft)
		s.at++
		return
	}
	inner := rest[1:end]
	start, after := s.at, s.at+end+1
	switch {
	case s.isMark(inner, after):
		for after < len(s.src) && s.src[after] == '>' {
			after++ // <<SYS>>
		}
		s.flush()
		s.add("prompt-marker", start, after)
		s.at = after
	case bytes.Contains(inner, []byte("://")), bytes.IndexByte(inner, '@') > 0:
		s.at = after
		s.emit(start, after, wordDest)
	case len(inner) > 0 && (inner[0] == '/' || asciiKinds[inner[0]&0x7F] == kindWord && inner[0] < utf8.RuneSelf):
		s.pause(stopSoft)
		s.at = after
	default:
		s.pause(stopSoft)
		s.at++
	}
}

// promptTags are tags that divide prompts, without dashes and underscores. A lone "system" is also what people write for
// the name of a system, so it counts only where a sentence starts, and where it is closed.
var promptTags = map[string]bool{
	"system": true, "systemprompt": true, "systemreminder": true, "systemmessage": true, "systeminstruction": true, "systeminstructions": true,
	"assistant": true, "toolcall": true, "toolcalls": true, "tooluse": true, "toolresult": true, "toolresponse": true,
	"functioncall": true, "functioncalls": true, "functionresult": true, "functionresults": true,
}

// isMark reports whether the tag with the text inner, which ends before after, is a mark of a prompt.
func (s *sentences) isMark(inner []byte, after int) bool {
	name, _, _ := strings.Cut(strings.TrimSpace(visible(inner)), " ")
	name = strings.ToLower(name)
	if tok, ok := strings.CutPrefix(name, "|"); ok { // <|im_start|>
		tok, ok = strings.CutSuffix(tok, "|")
		return ok && tok != "" && strings.Trim(tok, "abcdefghijklmnopqrstuvwxyz0123456789_-") == ""
	}
	if name == "<sys" || name == "</sys" {
		return true
	}
	bare, closes := strings.CutPrefix(name, "/")
	bare = strings.NewReplacer("_", "", "-", "", ":", "").Replace(strings.TrimSuffix(bare, "/"))
	if !promptTags[bare] {
		return false
	}
	// packages.<system>.default, out/<system>/bin: a placeholder
	if after < len(s.src) && bytes.IndexByte([]byte("./-_"), s.src[after]) >= 0 {
		return false
	}
	return closes || bare != "system" || len(s.toks) == 0 || s.stop > stopNone
}

// visible leaves out what does not show.
func visible(b []byte) string {
	return strings.Map(func(r rune) rune {
		if classOf(r) != nil {
			return -1
		}
		return r
	}, string(b))
}

// bracket reads "[", which may open the mark of a prompt, or "]", which may lead to the destination of a link.
func (s *sentences) bracket(c byte) {
	rest := s.src[s.at:]
	if c == '[' {
		for _, mark := range []string{"[INST]", "[/INST]"} {
			if bytes.HasPrefix(rest, []byte(mark)) && !bytes.HasPrefix(rest[len(mark):], []byte("(")) {
				s.flush()
				s.add("prompt-marker", s.at, s.at+len(mark))
				s.at += len(mark)
				return
			}
		}
	}
	s.pause(stopSoft)
	s.at++
	if c != ']' || s.peek(0) != '(' {
		return
	}
	end := bytes.IndexAny(rest[2:min(len(rest), maxToken)], " \n)[]")
	if end < 0 {
		return
	}
	start := s.at + 1
	s.at += 1 + end
	if bytes.Contains(s.src[start:s.at], []byte("://")) {
		s.emit(start, s.at, wordDest)
	}
}

// maxPipe is how far behind the command that fetches something the shell may stand, in bytes.
const maxPipe = 512

// pipe looks from a command that fetches or decodes something on for the shell that gets it, and back for one that
// runs it: curl … | sh, sh -c "$(curl …)", sh <(curl …).
func (s *sentences) pipe(start int) {
	if s.negated(len(s.toks)) {
		return
	}
	line := s.src[start:min(s.limit, start+maxPipe)]
	if n := bytes.IndexByte(line, '\n'); n >= 0 {
		line = line[:n]
	}
	from := max(0, start-24)
	head := s.src[from:start]
	if bytes.HasSuffix(head, []byte("$(")) || bytes.HasSuffix(head, []byte("<(")) {
		head = bytes.TrimRight(head, "($<\"' -c\t")
		if w := lastWord(head); s.isShell(w) {
			end := bytes.IndexByte(line, ')') + 1
			if end == 0 {
				end = len(line)
			}
			s.add("pipe-to-shell", from+len(head)-len(w), start+end)
		}
		return
	}
	// What another command on the line was followed by is not looked at again.
	at := min(max(s.noShell-start, 0), len(line))
	s.noShell = start + len(line)
	for fetched := at > 0; ; {
		n := bytes.IndexByte(line[at:], '|')
		if n < 0 {
			return
		}
		part := line[at : at+n]
		fetched = fetched || bytes.Contains(part, []byte(" -d")) || hasDomain(part)
		at += n + 1
		next := bytes.TrimLeft(line[at:], " \t\\*`|")
		next = bytes.TrimPrefix(next, []byte("sudo "))
		word := next[:len(next)-len(bytes.TrimLeft(next, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-/"))]
		if s.isShell(word[bytes.LastIndexByte(word, '/')+1:]) && fetched {
			s.add("pipe-to-shell", start, start+len(line)-len(next)+len(word))
			return
		}
	}
}

// hasDomain reports whether a part of a command holds a name with a dot between letters, as a URL does.
func hasDomain(part []byte) bool {
	letter := func(i int) bool { return i >= 0 && i < len(part) && 'a' <= lower(part[i]) && lower(part[i]) <= 'z' }
	for i, c := range part {
		if c == '.' && letter(i-1) && letter(i+1) {
			return true
		}
	}
	return bytes.Contains(part, []byte("://"))
}

func (s *sentences) isShell(word []byte) bool {
	id, ok := s.table.ids[strings.ToLower(string(word))]
	return ok && s.table.shell.has(id)
}

func lastWord(b []byte) []byte {
	return b[len(bytes.TrimRight(b, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")):]
}
