package shell

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// items splits the input of xargs.
func (c *call) items(f flags) (list []string, give func(), ok bool) {
	size := 0
	give = func() { _ = c.hold(-size) }
	text, err := io.ReadAll(io.LimitReader(c.in, maxArguments+1))
	if err != nil || len(text) > maxArguments {
		c.fail(1, "more than %d KB of arguments", maxArguments>>10)
		return nil, give, false
	}
	size = len(text) * 2
	if c.hold(size) != nil {
		return nil, give, false
	}
	sep := ""
	switch {
	case f.has('0'):
		sep = "\x00"
	case f.has('d'):
		sep = strings.ReplaceAll(f.set['d'], `\n`, "\n")
	case f.has('I'):
		sep = "\n"
	}
	if sep != "" {
		for s := range strings.SplitSeq(strings.TrimSuffix(string(text), sep), sep) {
			if s != "" {
				list = append(list, s)
			}
		}
		return list, give, true
	}
	var b strings.Builder
	quote, in := byte(0), false
	for i := 0; i < len(text); i++ {
		switch ch := text[i]; {
		case quote != 0 && ch == quote:
			quote = 0
		case quote != 0:
			b.WriteByte(ch)
		case ch == '"' || ch == '\'':
			quote, in = ch, true
		case ch == '\\' && i+1 < len(text):
			i++
			b.WriteByte(text[i])
			in = true
		case ch == ' ' || ch == '\n' || ch == '\t':
			if in {
				list = append(list, b.String())
				b.Reset()
				in = false
			}
		default:
			b.WriteByte(ch)
			in = true
		}
	}
	if quote != 0 {
		c.fail(1, "a quote is not closed in the input; use -0 or -d '\\n'")
		return nil, give, false
	}
	if in {
		list = append(list, b.String())
	}
	return list, give, true
}

// span is a range such as 2-4, 2- or -4, counted from 1; last 0 is open.
type span struct{ first, last int }

func spans(list string) ([]span, error) {
	var out []span
	for s := range strings.SplitSeq(list, ",") {
		from, to, dash := strings.Cut(s, "-")
		sp, err1, err2 := span{first: 1}, error(nil), error(nil)
		if from != "" {
			sp.first, err1 = strconv.Atoi(from)
			sp.last = sp.first
		}
		if dash {
			sp.last = 0
			if to != "" {
				sp.last, err2 = strconv.Atoi(to)
			}
		}
		if err1 != nil || err2 != nil || s == "" || s == "-" || sp.first < 1 {
			return nil, fmt.Errorf("%.40q is no list such as 1,3-5", list)
		}
		out = append(out, sp)
	}
	return out, nil
}

func inside(list []span, n int) bool {
	for _, s := range list {
		if n >= s.first && (s.last == 0 || n <= s.last) {
			return true
		}
	}
	return false
}

func runCut(c *call) int {
	f, names, err := c.parse("d:f:c:b:s", map[string]byte{"delimiter": 'd', "fields": 'f', "characters": 'c', "bytes": 'b', "only-delimited": 's', "output-delimiter": 'o'})
	if err == nil && f.has('o') {
		err = errors.New("the option --output-delimiter is not known here")
	}
	if err != nil {
		return c.fail(2, "%v", err)
	}
	what := f.set['f'] + f.set['c'] + f.set['b']
	list, err := spans(what)
	if err != nil {
		return c.fail(2, "%v", err)
	}
	delim := "\t"
	if f.has('d') {
		delim = f.set['d']
	}
	if utf8.RuneCountInString(delim) != 1 {
		return c.fail(2, "-d takes one character")
	}
	return c.inputs(names, func(_ string, in io.Reader) error {
		return c.lines(in, func(line []byte) error {
			var kept []string
			switch {
			case f.has('f'):
				fields := strings.Split(string(line), delim)
				if len(fields) == 1 {
					if f.has('s') {
						return nil
					}
					return c.print(string(line), "\n")
				}
				for i, s := range fields {
					if inside(list, i+1) {
						kept = append(kept, s)
					}
				}
				return c.print(strings.Join(kept, delim), "\n")
			case f.has('b'):
				for i := range line {
					if inside(list, i+1) {
						kept = append(kept, string(line[i:i+1]))
					}
				}
			default:
				for i, ch := range []rune(string(line)) {
					if inside(list, i+1) {
						kept = append(kept, string(ch))
					}
				}
			}
			return c.print(strings.Join(kept, ""), "\n")
		})
	})
}

var classes = map[string]string{
	"lower": "a-z", "upper": "A-Z", "alpha": "a-zA-Z", "digit": "0-9", "alnum": "a-zA-Z0-9", "space": " \t\n\v\f\r", "blank": " \t",
	"punct": "!-/:-@[-`{-~",
}

// set gives the characters of a set of tr.
func set(s string) ([]rune, error) {
	for name, chars := range classes {
		s = strings.ReplaceAll(s, "[:"+name+":]", chars)
	}
	s = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\r`, "\r", `\0`, "\x00", `\\`, "\\").Replace(s)
	in := []rune(s)
	var out []rune
	for i := 0; i < len(in); i++ {
		if i+2 < len(in) && in[i+1] == '-' {
			if in[i+2] < in[i] || in[i+2]-in[i] > 0xffff {
				return nil, fmt.Errorf("%c-%c is no range", in[i], in[i+2])
			}
			for ch := in[i]; ch <= in[i+2]; ch++ {
				out = append(out, ch)
			}
			i += 2
			continue
		}
		out = append(out, in[i])
	}
	return out, nil
}

func runTr(c *call) int {
	f, sets, err := c.parse("dscC", map[string]byte{"delete": 'd', "squeeze-repeats": 's', "complement": 'c'})
	if err != nil {
		return c.fail(2, "%v", err)
	}
	if len(sets) == 0 || len(sets) > 2 || len(sets) == 1 && !f.has('d') && !f.has('s') {
		return c.fail(2, "it takes two sets, or one with -d or -s")
	}
	from, err := set(sets[0])
	var to []rune
	if err == nil && len(sets) == 2 {
		to, err = set(sets[1])
	}
	if err != nil || len(sets) == 2 && len(to) == 0 {
		return c.fail(2, "the sets cannot be read: %v", err)
	}
	at := map[rune]int{}
	for i, ch := range from {
		if _, ok := at[ch]; !ok {
			at[ch] = i
		}
	}
	other := f.has('c') || f.has('C')
	squeezed := at
	if len(to) > 0 {
		squeezed = map[rune]int{}
		for i, ch := range to {
			squeezed[ch] = i
		}
	}
	last := rune(-1)
	return c.inputs(nil, func(_ string, in io.Reader) error {
		return c.chars(in, func(ch rune) error {
			i, member := at[ch]
			if other {
				i, member = len(to)-1, !member
			}
			if member && f.has('d') {
				return nil
			}
			if member && len(to) > 0 {
				ch = to[min(i, len(to)-1)]
			}
			_, squeeze := squeezed[ch]
			if other && len(to) == 0 {
				squeeze = !squeeze
			}
			if f.has('s') && squeeze && ch == last {
				return nil
			}
			last = ch
			_, err := c.w.WriteRune(ch)
			return err
		})
	})
}

// chars gives each character of an input.
func (c *call) chars(in io.Reader, use func(rune) error) error {
	var buf [32 << 10]byte
	have := 0
	for {
		n, err := in.Read(buf[have:])
		have += n
		at := 0
		for at < have && (utf8.FullRune(buf[at:have]) || err != nil) {
			ch, size := utf8.DecodeRune(buf[at:have])
			at += size
			if uerr := use(ch); uerr != nil {
				return uerr
			}
		}
		have = copy(buf[:], buf[at:have])
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case c.ctx.Err() != nil:
			return c.ctx.Err()
		}
	}
}

// sedCommand is one command: what it is for, and what it does.
type sedCommand struct {
	from, to sedAddress
	ranged   bool
	what     byte // p, d or q
	active   bool
}

type sedAddress struct {
	line int
	last bool
	re   *regexp.Regexp
}

var sedForm = regexp.MustCompile(`^\s*(?:(\d+|\$|/(?:[^/\\]|\\.)*/)(?:,\s*(\d+|\$|/(?:[^/\\]|\\.)*/))?)?\s*([pdq])\s*`)

// runSed only prints: addresses with p, d and q.
func runSed(c *call) int {
	f, rest, err := c.parse("nErse:i:", map[string]byte{"quiet": 'n', "silent": 'n', "regexp-extended": 'E', "expression": 'e', "in-place": 'i'})
	if err != nil {
		return c.fail(2, "%v", err)
	}
	if f.has('i') {
		return c.fail(2, "-i writes files, which is not open to you; use Edit")
	}
	scripts := f.values('e')
	if len(scripts) == 0 {
		if len(rest) == 0 {
			return c.fail(2, "a script such as -n '2,5p' is missing")
		}
		scripts, rest = rest[:1], rest[1:]
	}
	commands, err := sedScript(strings.Join(scripts, ";"), f.has('E') || f.has('r'))
	if err != nil {
		return c.fail(2, "%v", err)
	}
	at := 0
	return c.inputs(rest, func(_ string, in io.Reader) error {
		// One line is kept back, so that $ is known.
		var held string
		any := false
		do := func(last bool) error {
			at++
			return c.sed(commands, held, at, last, !f.has('n'))
		}
		err := c.lines(in, func(line []byte) error {
			if any {
				if err := do(false); err != nil {
					return err
				}
			}
			held, any = string(line), true
			return nil
		})
		if err == nil && any {
			err = do(true)
		}
		return err
	})
}

func sedScript(text string, extended bool) ([]*sedCommand, error) {
	var list []*sedCommand
	address := func(s string) (a sedAddress, err error) {
		switch {
		case s == "$":
			a.last = true
		case s != "" && s[0] == '/':
			expr := strings.ReplaceAll(s[1:len(s)-1], `\/`, "/")
			if !extended {
				expr = basic(expr)
			}
			a.re, err = regexp.Compile(expr)
		case s != "":
			a.line, err = strconv.Atoi(s)
		}
		return a, err
	}
	for text = strings.Trim(text, "; \n\t"); text != ""; text = strings.TrimLeft(text, "; \n\t}") {
		m := sedForm.FindStringSubmatch(text)
		if m == nil || len(list) == 50 {
			return nil, fmt.Errorf("%.60q is not known here: sed only prints, with addresses and p, d or q, such as -n '2,5p' or -n '/re/p'", text)
		}
		cmd := &sedCommand{ranged: m[2] != "", what: m[3][0]}
		var err1, err2 error
		cmd.from, err1 = address(m[1])
		cmd.to, err2 = address(m[2])
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		list = append(list, cmd)
		text = text[len(m[0]):]
	}
	return list, nil
}

func (a sedAddress) fits(line string, at int, last bool) bool {
	switch {
	case a.last:
		return last
	case a.re != nil:
		return a.re.MatchString(line)
	case a.line > 0:
		return at == a.line
	}
	return true
}

func (s *sedCommand) fits(line string, at int, last bool) bool {
	if !s.ranged {
		return s.from.fits(line, at, last)
	}
	if s.active {
		if s.to.line > 0 && at >= s.to.line || s.to.line == 0 && s.to.fits(line, at, last) {
			s.active = false
		}
		return s.to.line == 0 || at <= s.to.line
	}
	if !s.from.fits(line, at, last) {
		return false
	}
	s.active = s.to.line == 0 || s.to.line > at
	return true
}

func (c *call) sed(list []*sedCommand, line string, at int, last, auto bool) error {
	quit := false
	for _, s := range list {
		if !s.fits(line, at, last) {
			continue
		}
		switch s.what {
		case 'd':
			return nil
		case 'p':
			if err := c.print(line, "\n"); err != nil {
				return err
			}
		case 'q':
			quit = true
		}
		if quit {
			break
		}
	}
	if auto {
		if err := c.print(line, "\n"); err != nil {
			return err
		}
	}
	if quit {
		return errEnough
	}
	return nil
}
