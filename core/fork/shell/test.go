package shell

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// testClause is [[ ]].
func (r *runner) testClause(ctx context.Context, cm *syntax.TestClause) {
	yes, err := r.test(ctx, cm.X)
	if err != nil {
		r.errorf("[[: %s", words(err))
		r.status = 2
		return
	}
	r.status = oneIf(!yes)
}

func (r *runner) test(ctx context.Context, x syntax.TestExpr) (bool, error) {
	switch x := x.(type) {
	case *syntax.Word:
		s, err := r.word(ctx, x)
		return s != "", err
	case *syntax.ParenTest:
		return r.test(ctx, x.X)
	case *syntax.UnaryTest:
		if x.Op == syntax.TsNot {
			yes, err := r.test(ctx, x.X)
			return !yes, err
		}
		w, ok := x.X.(*syntax.Word)
		if !ok {
			return false, errors.New("an operand is missing")
		}
		s, err := r.word(ctx, w)
		if err != nil {
			return false, err
		}
		return r.unary(x.Op.String(), s)
	case *syntax.BinaryTest:
		return r.binaryTest(ctx, x)
	}
	return false, errors.New("this test is not known here")
}

func (r *runner) binaryTest(ctx context.Context, x *syntax.BinaryTest) (bool, error) {
	if x.Op == syntax.AndTest || x.Op == syntax.OrTest {
		left, err := r.test(ctx, x.X)
		if err != nil || left != (x.Op == syntax.AndTest) {
			return left, err
		}
		return r.test(ctx, x.Y)
	}
	lw, ok1 := x.X.(*syntax.Word)
	rw, ok2 := x.Y.(*syntax.Word)
	if !ok1 || !ok2 {
		return false, errors.New("an operand is missing")
	}
	left, err := r.word(ctx, lw)
	if err != nil {
		return false, err
	}
	switch x.Op {
	case syntax.TsMatch, syntax.TsMatchShort, syntax.TsNoMatch:
		pat, err := r.pattern(ctx, rw)
		if err != nil {
			return false, err
		}
		yes, err := r.fits(pat, left)
		return yes != (x.Op == syntax.TsNoMatch), err
	case syntax.TsReMatch:
		expr, err := r.word(ctx, rw)
		if err != nil {
			return false, err
		}
		re, err := r.regexp(expr, left)
		if err != nil {
			return false, err
		}
		m := re.FindStringSubmatch(left)
		return m != nil, r.env.Set("BASH_REMATCH", expand.Variable{Set: true, Kind: expand.Indexed, List: m})
	}
	right, err := r.word(ctx, rw)
	if err != nil {
		return false, err
	}
	return r.compare(left, x.Op.String(), right)
}

// unary answers a test of one operand.
func (r *runner) unary(op, s string) (bool, error) {
	is := func(f func(fs.FileInfo) bool) (bool, error) {
		info, err := r.stat(s)
		return err == nil && f(info), nil
	}
	switch op {
	case "-n":
		return s != "", nil
	case "-z":
		return s == "", nil
	case "-e", "-r", "-a":
		return is(func(fs.FileInfo) bool { return true })
	case "-f":
		return is(func(i fs.FileInfo) bool { return i.Mode().IsRegular() })
	case "-d", "-x":
		return is(fs.FileInfo.IsDir)
	case "-s":
		return is(func(i fs.FileInfo) bool { return i.Size() > 0 })
	case "-v":
		return r.env.Get(s).IsSet(), nil
	case "-w", "-h", "-L", "-p", "-S", "-b", "-c", "-u", "-g", "-k", "-t":
		return false, nil // nothing here is writable for the shell, and links are not followed
	}
	return false, fmt.Errorf("the test %.20s is not known here", op)
}

// compare answers a test of two operands that are texts, numbers or files.
func (r *runner) compare(a, op, b string) (bool, error) {
	switch op {
	case "=", "==":
		return a == b, nil
	case "!=":
		return a != b, nil
	case "<":
		return a < b, nil
	case ">":
		return a > b, nil
	case "-nt", "-ot":
		if op == "-ot" {
			a, b = b, a
		}
		x, xerr := r.stat(a)
		y, yerr := r.stat(b)
		return xerr == nil && (yerr != nil || x.ModTime().After(y.ModTime())), nil
	case "-ef":
		x, xerr := r.resolve(a)
		y, yerr := r.resolve(b)
		return xerr == nil && yerr == nil && x == y, nil
	}
	x, xerr := strconv.ParseInt(strings.TrimSpace(a), 10, 64)
	y, yerr := strconv.ParseInt(strings.TrimSpace(b), 10, 64)
	if xerr != nil || yerr != nil {
		return false, fmt.Errorf("%.40q %.20s %.40q: whole numbers are compared", a, op, b)
	}
	switch op {
	case "-eq":
		return x == y, nil
	case "-ne":
		return x != y, nil
	case "-lt":
		return x < y, nil
	case "-le":
		return x <= y, nil
	case "-gt":
		return x > y, nil
	case "-ge":
		return x >= y, nil
	}
	return false, fmt.Errorf("the test %.20s is not known here", op)
}

// runTest is test and [.
func runTest(c *call) int {
	args := c.args
	if c.name == "[" {
		if len(args) == 0 || args[len(args)-1] != "]" {
			return c.fail(2, "the closing ] is missing")
		}
		args = args[:len(args)-1]
	}
	p := testParser{r: c.runner, rest: args}
	yes := p.or(0)
	if p.err == nil && len(p.rest) > 0 {
		p.err = fmt.Errorf("%.40q is not expected", p.rest[0])
	}
	if p.err != nil {
		return c.fail(2, "%v", p.err)
	}
	return oneIf(!yes)
}

// testParser reads the operands of test: -o, then -a, then !, then what is compared.
type testParser struct {
	r    *runner
	rest []string
	err  error
}

func (p *testParser) next(s string) bool {
	if len(p.rest) > 0 && p.rest[0] == s {
		p.rest = p.rest[1:]
		return true
	}
	return false
}

func (p *testParser) or(depth int) bool {
	yes := p.and(depth)
	for p.err == nil && p.next("-o") {
		yes = p.and(depth) || yes
	}
	return yes
}

func (p *testParser) and(depth int) bool {
	yes := p.one(depth)
	for p.err == nil && p.next("-a") {
		yes = p.one(depth) && yes
	}
	return yes
}

var compares = map[string]bool{
	"=": true, "==": true, "!=": true, "<": true, ">": true, "-nt": true, "-ot": true, "-ef": true,
	"-eq": true, "-ne": true, "-lt": true, "-le": true, "-gt": true, "-ge": true,
}

func (p *testParser) one(depth int) (yes bool) {
	if depth > maxNesting {
		p.err = errors.New("too deep")
		return false
	}
	switch {
	case len(p.rest) == 0:
		return false
	case len(p.rest) >= 3 && compares[p.rest[1]]:
		yes, p.err = p.r.compare(p.rest[0], p.rest[1], p.rest[2])
		p.rest = p.rest[3:]
		return yes
	case len(p.rest) == 1:
		yes = p.rest[0] != ""
		p.rest = nil
		return yes
	case p.next("!"):
		return !p.one(depth + 1)
	case p.next("("):
		yes = p.or(depth + 1)
		if p.err == nil && !p.next(")") {
			p.err = errors.New("a closing ) is missing")
		}
		return yes
	case len(p.rest[0]) == 2 && p.rest[0][0] == '-':
		yes, p.err = p.r.unary(p.rest[0], p.rest[1])
		p.rest = p.rest[2:]
		return yes
	}
	yes = p.rest[0] != ""
	p.rest = p.rest[1:]
	return yes
}
