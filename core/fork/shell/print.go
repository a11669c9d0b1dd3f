package shell

import (
	"path"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
)

func runEcho(c *call) int {
	end, escapes := "\n", false
	args := c.args
	for len(args) > 0 && (args[0] == "-n" || args[0] == "-e" || args[0] == "-E" || args[0] == "-ne" || args[0] == "-en") {
		if strings.Contains(args[0], "n") {
			end = ""
		}
		escapes = strings.Contains(args[0], "e")
		args = args[1:]
	}
	text := strings.Join(args, " ")
	if escapes {
		var err error
		if text, _, err = expand.Format(&expand.Config{}, text, nil); err != nil {
			return c.fail(1, "%v", err)
		}
	}
	return oneIf(c.print(text, end) != nil)
}

func runPrintf(c *call) int {
	args := c.args
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		return c.fail(2, "it needs a format")
	}
	if strings.HasPrefix(args[0], "-") {
		return c.fail(2, "the option %.40s is not known here", args[0])
	}
	format, args := args[0], args[1:]
	// Every width is given out in full.
	digits := 0
	for _, b := range []byte(format) {
		if digits++; b < '0' || b > '9' {
			digits = 0
		}
		if digits > 3 {
			return c.fail(1, "numbers in the format have at most 3 digits here")
		}
	}
	for {
		text, n, err := expand.Format(&expand.Config{}, format, args)
		if err != nil {
			return c.fail(1, "%v", err)
		}
		if c.print(text) != nil {
			return 1
		}
		if args = args[n:]; n == 0 || len(args) == 0 {
			return 0
		}
	}
}

func runPwd(c *call) int { return oneIf(c.print(c.dir, "\n") != nil) }

func runRealpath(c *call) int {
	_, names, err := c.parse("em", nil)
	if err != nil {
		return c.fail(2, "%v", err)
	}
	for _, name := range names {
		abs, err := c.resolve(name)
		if err != nil {
			return c.fail(1, "%s", words(err))
		}
		if c.print(abs, "\n") != nil {
			return 1
		}
	}
	return 0
}

func runBasename(c *call) int {
	f, names, err := c.parse("as:", map[string]byte{"multiple": 'a', "suffix": 's'})
	if err != nil || len(names) == 0 {
		return c.fail(2, "it takes a name and, if you like, a suffix; -a for several names; -s SUFFIX")
	}
	suffix := f.set['s']
	if !f.has('a') && !f.has('s') {
		if len(names) > 2 {
			return c.fail(2, "several names need -a")
		}
		if len(names) == 2 {
			suffix, names = names[1], names[:1]
		}
	}
	for _, n := range names {
		base := path.Base(n)
		if base != suffix {
			base = strings.TrimSuffix(base, suffix)
		}
		if c.print(base, "\n") != nil {
			return 1
		}
	}
	return 0
}

func runDirname(c *call) int {
	_, names, err := c.parse("", nil)
	if err != nil || len(names) == 0 {
		return c.fail(2, "it takes names and no options")
	}
	for _, n := range names {
		if c.print(path.Dir(strings.TrimRight(n, "/")), "\n") != nil {
			return 1
		}
	}
	return 0
}

func runSeq(c *call) int {
	n := []int{1, 1, 1}
	args := c.args
	if len(args) == 0 || len(args) > 3 {
		return c.fail(2, "it takes [FIRST [STEP]] LAST")
	}
	for i, a := range args {
		v, err := strconv.Atoi(a)
		if err != nil || v > 1<<40 || v < -1<<40 {
			return c.fail(2, "%.40q is no whole number", a)
		}
		switch {
		case len(args) == 1 || i == len(args)-1:
			n[2] = v
		case i == 0:
			n[0] = v
		default:
			n[1] = v
		}
	}
	if n[1] == 0 {
		return c.fail(2, "the step is 0")
	}
	for i := n[0]; n[1] > 0 && i <= n[2] || n[1] < 0 && i >= n[2]; i += n[1] {
		if c.print(strconv.Itoa(i), "\n") != nil {
			return 1
		}
	}
	return 0
}
