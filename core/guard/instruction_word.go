package guard

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

const (
	// maxWord is the longest word of the vocabulary, in bytes.
	maxWord = 24
	// maxToken is how much of an address or a path is looked at.
	maxToken = 1024
)

// word reads a word of letters and digits, over what does not show in it or only sets it off: hidden characters,
// emphasis, apostrophes, full-width forms.
func (s *sentences) word() {
	var buf [maxWord]byte
	n, digits := 0, 0
	head := uint64(0) // the first eight letters
	ident, lowerSeen, plain := false, false, true
	end := s.at
	src := s.src[:s.limit]
	for i := s.at; i < len(src); {
		c := src[i]
		if c < utf8.RuneSelf && asciiKinds[c] == kindWord {
			low := lower(c)
			ident = ident || low != c && lowerSeen
			lowerSeen = lowerSeen || low == c && c >= 'a'
			if c <= '9' {
				digits++
			}
			if n < maxWord {
				buf[n] = low
			}
			if n < 8 {
				head |= uint64(low) << (8 * n)
			}
			n, i = n+1, i+1
			end = i
			continue
		}
		if c < utf8.RuneSelf && c != '\'' && asciiKinds[c] != kindEmphasis {
			break
		}
		size, letter, fold := s.within(i)
		if size == 0 {
			break
		}
		if letter {
			if fold == 0 {
				plain = false
			} else if n < maxWord {
				buf[n] = fold
				if n < 8 {
					head |= uint64(fold) << (8 * n)
				}
			}
			n++
			end = i + size
		} else if c == '_' {
			ident = true
		}
		i += size
	}
	if end == s.at { // a span to skip starts inside a character
		s.at++
		return
	}
	id := wordOther
	if plain && n <= maxWord {
		id = s.table.index.find(head, buf[:n])
	}
	if end < len(src) && src[end] != ' ' && s.tail(end, digits == n) {
		return
	}
	if id == wordOther && ident {
		id = wordIdent
	}
	start := s.at
	s.at = end
	s.emit(start, end, id)
	if s.table.fetch.has(id) {
		s.pipe(start)
	}
}

// within tells how a word goes on at i, where no ASCII letter or digit is: how many bytes belong to it, 0 for its end;
// whether they are a letter, and the ASCII letter that one is read as.
func (s *sentences) within(i int) (size int, letter bool, fold byte) {
	r, size := utf8.DecodeRune(s.src[i:s.limit])
	switch {
	case r == '\'' || r == '’' || r == '*' || r == '_' || r == '~' || r == '\\':
		// Only between letters: "don't", "ig**no**re".
		j := i + size
		for j < s.limit && asciiKinds[s.src[j]&0x7F] == kindEmphasis && s.src[j] < utf8.RuneSelf && j < i+4 {
			j++
		}
		if i == s.at || j >= s.limit || s.src[j] >= utf8.RuneSelf || asciiKinds[s.src[j]] != kindWord {
			return 0, false, 0
		}
		return j - i, false, 0
	case r < utf8.RuneSelf, r == utf8.RuneError:
		return 0, false, 0
	case 0xFF21 <= r && r <= 0xFF3A:
		return size, true, byte(r-0xFF21) + 'a'
	case 0xFF41 <= r && r <= 0xFF5A:
		return size, true, byte(r-0xFF41) + 'a'
	}
	if c := classOf(r); c != nil {
		if c.rule == "control" || c.rule == "line-separator" {
			return 0, false, 0
		}
		return size, false, 0
	}
	if isHan(r) || !unicode.IsLetter(r) && !unicode.IsMark(r) {
		return 0, false, 0
	}
	return size, true, 0
}

// tail reads a word that goes on as an address, a path or a number, and reports whether it did.
func (s *sentences) tail(end int, number bool) bool {
	rest := s.src[end:s.limit]
	switch {
	case len(rest) < 2:
		return false
	case rest[0] == ':' && bytes.HasPrefix(rest, []byte("://")), rest[0] == '@' && asciiKinds[rest[1]&0x7F] == kindWord:
		s.address(end)
	case rest[0] == '/' && rest[1] < utf8.RuneSelf && (asciiKinds[rest[1]] == kindWord || rest[1] == '.' || rest[1] == '~'):
		s.path(s.at, end)
	case number && rest[0] == '.' && '0' <= rest[1] && rest[1] <= '9':
		s.number(end)
	default:
		return false
	}
	return true
}

// address reads an address that is known to go on at i.
func (s *sentences) address(i int) {
	start, n := s.at, i
	for n < s.limit && n < start+maxToken && s.src[n] > ' ' && s.src[n] < 0x7F && bytes.IndexByte([]byte(`)>"]|`+"`"), s.src[n]) < 0 {
		n++
	}
	for n > i+1 && bytes.IndexByte([]byte(".,;:!?*_'"), s.src[n-1]) >= 0 {
		n--
	}
	s.at = n
	s.emit(start, n, wordDest)
}

// number reads a number with dots; four parts are an IP address.
func (s *sentences) number(i int) {
	start, dots := s.at, 0
	for ; i+1 < s.limit; i++ {
		c := s.src[i]
		if c == '.' && '0' <= s.src[i+1] && s.src[i+1] <= '9' {
			dots++
		} else if c < '0' || '9' < c {
			break
		}
	}
	if i+1 == s.limit && '0' <= s.src[i] && s.src[i] <= '9' {
		i++
	}
	word := wordOther
	if dots == 3 {
		word = wordDest
	}
	s.at = i
	s.emit(start, i, word)
}

// secretFiles are names of files that hold secrets, by what the path of one ends with or has as a folder.
var (
	secretFiles   = []string{".env", ".env.local", ".env.production", ".netrc", ".pgpass", ".git-credentials", ".aws/credentials", "id_rsa", "id_ed25519", "id_ecdsa", "/etc/passwd", "/etc/shadow", ".ssh"}
	secretFolders = []string{".ssh/id_", ".gnupg/"}
	secretStarts  = []string{".env", ".ssh", ".aws/", ".netrc", ".pgpass", ".git-credentials", ".gnupg/"}
)

// secretName reports whether a name that starts with a dot may be one of those.
func (s *sentences) secretName(i int) bool {
	for _, name := range secretStarts {
		if bytes.HasPrefix(s.src[i:s.limit], []byte(name)) {
			return true
		}
	}
	return false
}

// path reads a path as one word. It is known to reach to from: what stands before may be no byte of a path.
func (s *sentences) path(start, from int) {
	n := from
	for n < s.limit && n < start+maxToken && isPathByte(s.src[n]) {
		n++
	}
	for n > from+1 && s.src[n-1] == '.' {
		n--
	}
	p := bytes.TrimRight(s.src[start:n], "*_/")
	word := wordOther
	for _, name := range secretFiles {
		if bytes.HasSuffix(p, []byte(name)) {
			word = wordSecret
		}
	}
	for _, name := range secretFolders {
		if bytes.Contains(p, []byte(name)) && !bytes.HasSuffix(p, []byte(".pub")) {
			word = wordSecret
		}
	}
	s.at = n
	s.emit(start, n, word)
}

func isPathByte(c byte) bool {
	return asciiKinds[c&0x7F] == kindWord && c < utf8.RuneSelf || bytes.IndexByte([]byte("._-~/+@*"), c) >= 0
}

// han reads a word of the vocabulary at a Chinese character, or the character alone. What does not show may stand in it.
func (s *sentences) han(first rune, size int) {
	start, end, word := s.at, s.at+size, wordOther
	var words []hanWord
	if first >= 1<<16 || s.table.hanFirst[first/64]&(1<<(first%64)) != 0 {
		words = s.table.han[first]
	}
	for _, w := range words {
		if n := s.hasRunes(start+size, w.rest); n >= 0 {
			end, word = n, w.id
			break
		}
	}
	s.at = end
	s.emit(start, end, word)
}

// hasRunes gives the end of word at i, -1 where it does not stand there.
func (s *sentences) hasRunes(i int, word []rune) int {
	for _, want := range word {
		for {
			r, size := utf8.DecodeRune(s.src[min(i, s.limit):s.limit])
			i += size
			if r == want {
				break
			}
			if r != '*' && r != '_' && r != '~' && classOf(r) == nil || size == 0 || i-s.at > maxToken {
				return -1
			}
		}
	}
	return i
}
