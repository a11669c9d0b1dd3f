package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// keep are the commands that change the shell itself.
var keep = []string{":", "break", "cd", "continue", "exit", "read", "return", "set", "shift", "unset"}

func (r *runner) builtin(ctx context.Context, args []string) (status int, ok bool) {
	number := func(missing int) (int, bool) {
		if len(args) < 2 {
			return missing, true
		}
		n, err := strconv.Atoi(args[1])
		if err != nil || n < 0 {
			r.errorf("%s: %.40q is no number", args[0], args[1])
		}
		return n, err == nil && n >= 0
	}
	switch args[0] {
	case ":":
		return 0, true
	case "break", "continue":
		n, good := number(1)
		if !good || r.loops == 0 {
			return oneIf(!good), true
		}
		r.levels = max(n, 1)
		r.flow = breaks
		if args[0] == "continue" {
			r.flow = continues
		}
		return 0, true
	case "return", "exit":
		n, good := number(r.status)
		if !good {
			return 2, true
		}
		r.flow = returns
		if args[0] == "exit" {
			r.flow = exits
		}
		return n & 0xff, true
	case "cd":
		return r.changeFolder(args[1:]), true
	case "shift":
		n, good := number(1)
		if !good || n > len(r.env.params) {
			return 1, true
		}
		r.env.params = r.env.params[n:]
		return 0, true
	case "unset":
		for _, name := range args[1:] {
			if name == "-v" || name == "-f" {
				continue
			}
			delete(r.funcs, name)
			if err := r.env.Set(name, expand.Variable{}); err != nil {
				r.errorf("unset: %v", err)
				return 1, true
			}
		}
		return 0, true
	case "set":
		return r.set(args[1:]), true
	case "read":
		return r.read(ctx, args[1:]), true
	}
	return 0, false
}

func (r *runner) changeFolder(args []string) int {
	to := r.env.vars["HOME"].Str
	switch {
	case len(args) > 1:
		r.errorf("cd: one folder at a time")
		return 2
	case len(args) == 1 && args[0] == "-":
		to = r.env.vars["OLDPWD"].Str
	case len(args) == 1:
		to = args[0]
	}
	abs, err := r.resolve(to)
	if err == nil {
		info, serr := r.stat(abs)
		if err = serr; err == nil && !info.IsDir() {
			err = fmt.Errorf("%s: Not a directory", abs)
		}
	}
	if err != nil {
		r.errorf("cd: %s", words(err))
		return 1
	}
	if err := r.env.setText("OLDPWD", r.dir); err != nil {
		return 1
	}
	r.dir = abs
	return 0
}

// set knows -e, -u, -f and -o pipefail, and sets the parameters.
func (r *runner) set(args []string) int {
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a == "--" {
			r.env.params = args[i+1:]
			return 0
		}
		if len(a) < 2 || a[0] != '-' && a[0] != '+' {
			r.env.params = args[i:]
			return 0
		}
		on := a[0] == '-'
		for _, f := range a[1:] {
			switch f {
			case 'e':
				r.strict = on
			case 'u':
				r.unset = on
			case 'o':
				if i++; i < len(args) && args[i] == "pipefail" {
					r.fail = on
					continue
				}
				fallthrough
			default:
				r.errorf("set: only -e, -u and -o pipefail are known here")
				return 2
			}
		}
	}
	return 0
}

// read reads one line into variables.
func (r *runner) read(ctx context.Context, args []string) int {
	raw := false
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		if args[0] != "-r" {
			r.errorf("read: %.40s is not known here; only -r is", args[0])
			return 2
		}
		raw, args = true, args[1:]
	}
	if len(args) == 0 {
		args = []string{"REPLY"}
	}
	for _, name := range args {
		if !syntax.ValidName(name) {
			r.errorf("read: %.40q is no name of a variable", name)
			return 2
		}
	}
	line, err := r.line(ctx)
	if err != nil && !errors.Is(err, io.EOF) {
		return 1
	}
	values := expand.ReadFields(r.config(ctx), line, len(args), raw)
	for i, name := range args {
		value := ""
		if i < len(values) {
			value = values[i]
		}
		if serr := r.env.setText(name, value); serr != nil {
			r.errorf("read: %v", serr)
			return 1
		}
	}
	return oneIf(err != nil)
}

// line reads a line and not a byte beyond it: the rest is for the next command.
func (r *runner) line(ctx context.Context) (string, error) {
	in, ok := r.in.(io.ByteReader)
	if !ok {
		return "", errors.New("there is nothing to read")
	}
	var b strings.Builder
	for {
		c, err := in.ReadByte()
		if err != nil {
			return b.String(), err
		}
		if c == '\n' {
			return b.String(), ctx.Err()
		}
		if b.WriteByte(c); b.Len() > maxVariables {
			return "", r.stop(fmt.Errorf("stopped: a line of more than %d KB was read into a variable", maxVariables>>10))
		}
	}
}
