package shell

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"time"
)

// condition is a part of find's expression.
type condition func(name string, info fs.FileInfo) bool

type find struct {
	c        *call
	rest     []string
	max, min int
	end      string
	depth    int // of brackets
	status   int
}

func runFind(c *call) int {
	f := &find{c: c, max: 64, end: "\n"}
	args := c.args
	var from []string
	for len(args) > 0 && !strings.HasPrefix(args[0], "-") && args[0] != "!" && args[0] != "(" {
		from, args = append(from, args[0]), args[1:]
	}
	if len(from) == 0 {
		from = []string{"."}
	}
	f.rest = args
	fits := func(string, fs.FileInfo) bool { return true }
	if len(args) > 0 {
		cond, err := f.or()
		if err == nil && len(f.rest) > 0 {
			err = fmt.Errorf("%.40q is not expected", f.rest[0])
		}
		if err != nil {
			return c.fail(2, "%v", err)
		}
		fits = cond
	}
	defer c.unshown(c.left)
	for _, p := range from {
		info, err := c.stat(p)
		if err != nil {
			f.status = c.fail(1, "%s", words(err))
			continue
		}
		if f.visit(p, info, 0, fits) != nil {
			return 1
		}
	}
	return f.status
}

func (f *find) visit(p string, info fs.FileInfo, depth int, fits condition) error {
	if depth >= f.min && fits(p, info) {
		if err := f.c.print(p, f.end); err != nil {
			return err
		}
	}
	if !info.IsDir() || depth >= f.max {
		return f.c.ctx.Err()
	}
	list, err := f.c.readDir(p)
	if err != nil {
		f.status = f.c.fail(1, "%s", words(err))
		return f.c.ctx.Err()
	}
	for _, e := range list {
		if err := f.visit(join(p, e.Name()), e, depth+1, fits); err != nil {
			return err
		}
	}
	return nil
}

func (f *find) next() (string, bool) {
	if len(f.rest) == 0 {
		return "", false
	}
	s := f.rest[0]
	f.rest = f.rest[1:]
	return s, true
}

func (f *find) is(words ...string) bool {
	for _, w := range words {
		if len(f.rest) > 0 && f.rest[0] == w {
			f.rest = f.rest[1:]
			return true
		}
	}
	return false
}

func (f *find) or() (condition, error) {
	left, err := f.and()
	for err == nil && f.is("-o", "-or") {
		var right condition
		if right, err = f.and(); err == nil {
			l := left
			left = func(n string, i fs.FileInfo) bool { return l(n, i) || right(n, i) }
		}
	}
	return left, err
}

func (f *find) and() (condition, error) {
	left, err := f.one()
	for err == nil && len(f.rest) > 0 && f.rest[0] != ")" && f.rest[0] != "-o" && f.rest[0] != "-or" {
		f.is("-a", "-and")
		var right condition
		if right, err = f.one(); err == nil {
			l := left
			left = func(n string, i fs.FileInfo) bool { return l(n, i) && right(n, i) }
		}
	}
	return left, err
}

func (f *find) one() (condition, error) {
	if f.depth++; f.depth > maxNesting {
		return nil, errors.New("too deep")
	}
	defer func() { f.depth-- }()
	switch {
	case f.is("!", "-not"):
		c, err := f.one()
		if err != nil {
			return nil, err
		}
		return func(n string, i fs.FileInfo) bool { return !c(n, i) }, nil
	case f.is("("):
		c, err := f.or()
		if err == nil && !f.is(")") {
			err = errors.New("a closing ) is missing")
		}
		return c, err
	}
	op, ok := f.next()
	if !ok {
		return nil, errors.New("an expression is missing")
	}
	always := func(string, fs.FileInfo) bool { return true }
	switch op {
	case "-print":
		return always, nil
	case "-print0":
		f.end = "\x00"
		return always, nil
	case "-empty":
		return func(n string, i fs.FileInfo) bool {
			if !i.IsDir() {
				return i.Size() == 0
			}
			list, err := f.c.readDir(n)
			return err == nil && len(list) == 0
		}, nil
	case "-exec", "-execdir", "-ok", "-okdir", "-delete", "-fprint", "-fprintf", "-fls":
		return nil, fmt.Errorf("%s is not open to you: find only lists. Use a pipe to xargs", op)
	}
	value, ok := f.next()
	if !ok {
		return nil, fmt.Errorf("the option %.40s is not known here, or needs a value", op)
	}
	return f.valued(op, value)
}

func (f *find) valued(op, value string) (condition, error) {
	switch op {
	case "-name", "-iname", "-path", "-ipath", "-wholename":
		re, err := nameRegexp(value, strings.HasPrefix(op, "-i"))
		if err != nil {
			return nil, err
		}
		whole := strings.HasSuffix(op, "path") || op == "-wholename"
		return func(n string, _ fs.FileInfo) bool {
			if !whole {
				n = path.Base(n)
			}
			return re.MatchString(n)
		}, nil
	case "-type":
		return func(_ string, i fs.FileInfo) bool { return value == "f" && !i.IsDir() || value == "d" && i.IsDir() }, nil
	case "-newer":
		info, err := f.c.stat(value)
		if err != nil {
			return nil, errors.New(words(err))
		}
		return func(_ string, i fs.FileInfo) bool { return i.ModTime().After(info.ModTime()) }, nil
	case "-maxdepth", "-mindepth":
		n, err := strconv.Atoi(value)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("%s takes a number, not %.40q", op, value)
		}
		if op == "-maxdepth" {
			f.max = min(n, f.max)
		} else {
			f.min = n
		}
		return func(string, fs.FileInfo) bool { return true }, nil
	case "-mtime", "-mmin", "-size":
		return f.amount(op, value)
	}
	return nil, fmt.Errorf("the option %.40s is not known here", op)
}

// amount reads +n, -n and n.
func (f *find) amount(op, value string) (condition, error) {
	digits, unit := strings.TrimLeft(value, "+-"), int64(512)
	if op == "-size" && digits != "" {
		units := map[byte]int64{'c': 1, 'w': 2, 'b': 512, 'k': 1 << 10, 'M': 1 << 20, 'G': 1 << 30}
		if u, ok := units[digits[len(digits)-1]]; ok {
			unit, digits = u, digits[:len(digits)-1]
		}
	}
	n, err := strconv.ParseInt(digits, 10, 40)
	if err != nil {
		return nil, fmt.Errorf("%s takes a number, not %.40q", op, value)
	}
	compare := func(have int64) bool {
		switch value[0] {
		case '+':
			return have > n
		case '-':
			return have < n
		}
		return have == n
	}
	now := f.c.now()
	return func(_ string, i fs.FileInfo) bool {
		switch op {
		case "-size":
			return compare((i.Size() + unit - 1) / unit)
		case "-mmin":
			return compare(int64(now.Sub(i.ModTime()) / time.Minute))
		}
		return compare(int64(now.Sub(i.ModTime()) / (24 * time.Hour)))
	}, nil
}
