package shell

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// items splits the input of xargs.
func (c *call) items(f flags) (list []string, give func(), ok bool) {
	text, size, err := c.all(c.in, maxArguments)
	give = func() { _ = c.hold(-size) }
	if err != nil {
		c.fail(1, "%v", err)
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
			if f.has('f') {
				return c.fieldsOf(line, delim, list, f.has('s'))
			}
			for at, n := 0, 1; at < len(line); n++ {
				size := 1
				if !f.has('b') {
					_, size = utf8.DecodeRune(line[at:])
				}
				if inside(list, n) {
					if _, err := c.w.Write(line[at : at+size]); err != nil {
						return err
					}
				}
				at += size
			}
			return c.print("\n")
		})
	})
}

// fieldsOf prints the fields of a line that a list names.
func (c *call) fieldsOf(line []byte, delim string, list []span, only bool) error {
	if !bytes.Contains(line, []byte(delim)) {
		if only {
			return nil
		}
		return c.print(string(line), "\n")
	}
	sep := ""
	for n, more := 1, true; more; n++ {
		var field []byte
		if field, line, more = bytes.Cut(line, []byte(delim)); inside(list, n) {
			if err := c.print(sep, string(field)); err != nil {
				return err
			}
			sep = delim
		}
	}
	return c.print("\n")
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
			if len(out) > 1<<17 {
				return nil, errors.New("a set has at most 131,072 characters")
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
