package shell

import (
	"errors"
	"fmt"
	"io"
	"path"
	"regexp"
	"strings"

	"mvdan.cc/sh/v3/pattern"
)

type grep struct {
	c             *call
	f             flags
	re            *regexp.Regexp
	before, after int
	most          int
	names         bool
	include       []*regexp.Regexp
	exclude       []*regexp.Regexp
	excludeDir    []*regexp.Regexp
	found         bool
	failed        bool
	long          bool // a long line was not searched whole, and that was said
	shown         bool // something was printed, so that groups are told apart
}

var grepLong = map[string]byte{
	"ignore-case": 'i', "line-number": 'n', "recursive": 'r', "extended-regexp": 'E', "fixed-strings": 'F', "files-with-matches": 'l',
	"files-without-match": 'L', "count": 'c', "only-matching": 'o', "invert-match": 'v', "word-regexp": 'w', "line-regexp": 'x',
	"no-filename": 'h', "with-filename": 'H', "quiet": 'q', "silent": 'q', "no-messages": 's', "regexp": 'e', "max-count": 'm',
	"after-context": 'A', "before-context": 'B', "context": 'C', "include": '1', "exclude": '2', "exclude-dir": '3', "perl-regexp": 'P',
	"color": '4', "colour": '4', "text": 'a',
}

func runGrep(c *call) int {
	c.counts("-C", "emABC")
	f, rest, err := c.parse("inrREFGPlLcovwxhHqsaIe:m:A:B:C:1:2:3:4", grepLong)
	if err != nil {
		return c.fail(2, "%v", err)
	}
	g := &grep{c: c, f: f}
	exprs := f.values('e')
	if len(exprs) == 0 {
		if len(rest) == 0 {
			return c.fail(2, "a pattern is missing")
		}
		exprs, rest = rest[:1], rest[1:]
	}
	if err := g.prepare(exprs); err != nil {
		return c.fail(2, "%v", err)
	}
	deep := f.has('r') || f.has('R')
	g.names = (deep || len(rest) > 1 || f.has('H')) && !f.has('h')
	defer c.unshown(c.left)
	switch {
	case deep && len(rest) == 0:
		g.tree("")
	case deep:
		for _, p := range rest {
			if g.tree(p) != nil {
				break
			}
		}
	default:
		if c.inputs(rest, g.input) != 0 {
			g.failed = true
		}
	}
	switch {
	case g.found && (f.has('q') || !g.failed):
		return 0
	case g.failed:
		return 2
	}
	return 1
}

func (g *grep) prepare(exprs []string) (err error) {
	extended := g.f.has('E') || g.f.has('P') || g.c.name == "egrep"
	fixed := g.f.has('F') || g.c.name == "fgrep"
	var list []string
	for _, e := range exprs {
		for one := range strings.SplitSeq(e, "\n") {
			switch {
			case fixed:
				one = regexp.QuoteMeta(one)
			case extended:
				one = wordEdges(one)
			default:
				one = basic(one)
			}
			list = append(list, "(?:"+one+")")
		}
	}
	expr := strings.Join(list, "|")
	if g.f.has('w') {
		expr = `\b(?:` + expr + `)\b`
	}
	if g.f.has('x') {
		expr = `^(?:` + expr + `)$`
	}
	if g.f.has('i') {
		expr = "(?i)" + expr
	}
	if len(expr) > 4096 {
		return errors.New("the pattern is longer than 4,096 bytes")
	}
	if g.re, err = regexp.Compile(expr); err != nil {
		return fmt.Errorf("the pattern is no regular expression that is known here (RE2, without look-around and back-references): %w", err)
	}
	around, err := g.f.number('C', 0)
	if err == nil {
		g.before, err = g.f.number('B', around)
	}
	if err == nil {
		g.after, err = g.f.number('A', around)
	}
	if err == nil {
		g.most, err = g.f.number('m', 0)
	}
	for o, to := range map[byte]*[]*regexp.Regexp{'1': &g.include, '2': &g.exclude, '3': &g.excludeDir} {
		for _, p := range g.f.values(o) {
			re, perr := nameRegexp(p, false)
			if perr != nil && err == nil {
				err = perr
			}
			*to = append(*to, re)
		}
	}
	return err
}

// nameRegexp makes a pattern of names, as -name has it, into an expression.
func nameRegexp(pat string, fold bool) (*regexp.Regexp, error) {
	if len(pat) > 1000 {
		return nil, errors.New("a pattern of names has at most 1,000 bytes")
	}
	mode := pattern.EntireString
	if fold {
		mode |= pattern.NoGlobCase
	}
	expr, err := pattern.Regexp(pat, mode)
	if err != nil {
		return nil, fmt.Errorf("%.40q is no pattern of names: %w", pat, err)
	}
	return regexp.Compile(expr)
}

func wordEdges(e string) string {
	return strings.NewReplacer(`\<`, `\b`, `\>`, `\b`, `\\`, `\\`).Replace(e)
}

// basic makes a basic regular expression, as grep and sed read them, into one of
// RE2: there, operators are what is escaped here, and the other way round.
func basic(e string) string {
	var b strings.Builder
	for i := 0; i < len(e); i++ {
		switch ch := e[i]; {
		case ch == '\\' && i+1 < len(e):
			i++
			switch e[i] {
			case '|', '(', ')', '{', '}', '+', '?':
				b.WriteByte(e[i])
			case '<', '>':
				b.WriteString(`\b`)
			default:
				b.WriteString(e[i-1 : i+1])
			}
		case strings.IndexByte("|(){}+?", ch) >= 0:
			b.WriteString(`\` + string(ch))
		case ch == '*' && (i == 0 || i == 1 && e[0] == '^'):
			b.WriteString(`\*`)
		case ch == '[': // a class is taken as it is
			end := i + 1
			if end < len(e) && e[end] == '^' {
				end++
			}
			if end < len(e) && e[end] == ']' {
				end++
			}
			for end < len(e) && e[end] != ']' {
				if e[end] == '[' && end+1 < len(e) && e[end+1] == ':' {
					if k := strings.Index(e[end:], ":]"); k >= 0 {
						end += k + 1
					}
				}
				end++
			}
			b.WriteString(strings.ReplaceAll(e[i:min(end+1, len(e))], `\`, `\\`))
			i = end
		default:
			b.WriteByte(ch)
		}
	}
	return b.String()
}

// tree searches a folder and what is in it.
func (g *grep) tree(p string) error {
	at := p
	if p == "" { // the current folder, and names without it
		at = "."
	}
	info, err := g.c.stat(at)
	if err != nil {
		g.failed = true
		if !g.f.has('s') {
			g.c.fail(2, "%s", words(err))
		}
		return g.c.ctx.Err()
	}
	if !info.IsDir() {
		g.c.inputs([]string{p}, g.input)
		return g.c.ctx.Err()
	}
	list, err := g.c.readDir(at)
	if err != nil {
		g.failed = true
		return g.c.ctx.Err()
	}
	for _, e := range list {
		if e.IsDir() && anyFits(g.excludeDir, e.Name()) ||
			!e.IsDir() && (len(g.include) > 0 && !anyFits(g.include, e.Name()) || anyFits(g.exclude, e.Name())) {
			continue
		}
		if err := g.tree(join(p, e.Name())); err != nil {
			return err
		}
		if g.found && g.f.has('q') {
			return errEnough
		}
	}
	return g.c.ctx.Err()
}

func anyFits(list []*regexp.Regexp, name string) bool {
	for _, re := range list {
		if re.MatchString(path.Base(name)) {
			return true
		}
	}
	return false
}

// input searches one file.
func (g *grep) input(name string, in io.Reader) error {
	if name == "-" {
		name = "(standard input)"
	}
	n, at, last := 0, 0, 0
	owed := 0          // lines of context behind a match
	var early []string // lines that may be context
	kept := 0
	defer func() { _ = g.c.hold(-kept) }()
	keep := func(n int) error { kept += n; return g.c.hold(n) }
	plain := !g.f.has('l') && !g.f.has('L') && !g.f.has('c') && !g.f.has('q')
	err := g.c.lines(in, func(line []byte) error {
		at++
		looked := line
		if len(line) > maxMatched {
			if looked = line[:maxMatched]; !g.long {
				g.long = true
				g.c.fail(0, "of long lines the first %d KB are searched", maxMatched>>10)
			}
		}
		hit := g.re.Match(looked) != g.f.has('v')
		if hit {
			n++
			g.found = g.found || !g.f.has('L')
			if g.f.has('q') {
				return errEnough
			}
			if g.f.has('l') || g.f.has('L') {
				return errStop
			}
		}
		if !plain {
			return g.full(n)
		}
		switch {
		case hit && g.f.has('o'):
			for _, m := range g.re.FindAll(looked, -1) {
				if err := g.line(name, at, ":", string(m)); err != nil {
					return err
				}
			}
		case hit:
			if g.before+g.after > 0 && g.shown && at-len(early) > last+1 {
				if err := g.c.print("--\n"); err != nil {
					return err
				}
			}
			for i, e := range early {
				if err := g.line(name, at-len(early)+i, "-", e); err != nil {
					return err
				}
			}
			early, owed, last = nil, g.after, at
			if err := keep(-kept); err != nil {
				return err
			}
			if err := g.line(name, at, ":", string(line)); err != nil {
				return err
			}
		case owed > 0:
			owed--
			last = at
			return g.line(name, at, "-", string(line))
		case g.before > 0:
			early = append(early, string(line))
			grown := len(line) + 16
			if len(early) > g.before {
				grown -= len(early[0]) + 16
				early = early[1:]
			}
			if err := keep(grown); err != nil {
				return err
			}
		}
		return g.full(n)
	})
	if err != nil && err != errStop {
		return err
	}
	switch {
	case g.f.has('l') && n > 0:
		return g.c.print(name, "\n")
	case g.f.has('L') && n == 0:
		g.found = true
		return g.c.print(name, "\n")
	case g.f.has('c') && g.names:
		return g.c.print(name, ":", fmt.Sprint(n), "\n")
	case g.f.has('c'):
		return g.c.print(fmt.Sprint(n), "\n")
	}
	return nil
}

func (g *grep) full(n int) error {
	if g.most > 0 && n >= g.most {
		return errStop
	}
	return nil
}

func (g *grep) line(name string, at int, mark, text string) error {
	g.shown = true
	prefix := ""
	if g.names {
		prefix = name + mark
	}
	if g.f.has('n') {
		prefix += fmt.Sprint(at) + mark
	}
	return g.c.print(prefix, text, "\n")
}
