package shell

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

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

var sedForm = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(?:(\d+|\$|/(?:[^/\\]|\\.)*/)(?:,\s*(\d+|\$|/(?:[^/\\]|\\.)*/))?)?\s*([pdq])\s*`)
})

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
		m := sedForm().FindStringSubmatch(text)
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
		return a.re.MatchString(line[:min(len(line), maxMatched)])
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
