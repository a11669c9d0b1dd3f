package shell

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

func runCat(c *call) int {
	f, names, err := c.parse("nbsu", map[string]byte{"number": 'n', "number-nonblank": 'b', "squeeze-blank": 's'})
	if err != nil {
		return c.fail(2, "%v", err)
	}
	n, blank := 0, false
	return c.inputs(names, func(_ string, in io.Reader) error {
		if len(f.set) == 0 {
			_, err := io.Copy(c.w, in)
			return err
		}
		return c.lines(in, func(line []byte) error {
			empty := len(line) == 0
			if f.has('s') && empty && blank {
				return nil
			}
			blank = empty
			if f.has('n') && !f.has('b') || f.has('b') && !empty {
				n++
				return c.print(fmt.Sprintf("%6d\t%s\n", n, line))
			}
			return c.print(string(line), "\n")
		})
	})
}

func runHead(c *call) int { return c.ends(false) }
func runTail(c *call) int { return c.ends(true) }

// ends is head and tail.
func (c *call) ends(tail bool) int {
	c.counts("-n", "nc")
	f, names, err := c.parse("n:c:qv", map[string]byte{"lines": 'n', "bytes": 'c', "quiet": 'q', "verbose": 'v'})
	if err != nil {
		return c.fail(2, "%v", err)
	}
	bytewise := f.has('c')
	spec := "10"
	if v, ok := f.set['n']; ok {
		spec = v
	}
	if bytewise {
		spec = f.set['c']
	}
	from := strings.HasPrefix(spec, "+") && tail // tail -n +5: from line 5 on
	but := strings.HasPrefix(spec, "-") && !tail // head -n -5: all but the last 5
	n, err := strconv.Atoi(strings.TrimLeft(spec, "+-"))
	if err != nil || n < 0 || n > 1<<30 {
		return c.fail(2, "%.40q is no number", spec)
	}
	first := true
	return c.inputs(names, func(name string, in io.Reader) error {
		if len(names) > 1 && !f.has('q') || f.has('v') {
			sep := "\n"
			if first {
				sep = ""
			}
			first = false
			if err := c.print(sep, "==> ", name, " <==\n"); err != nil {
				return err
			}
		}
		switch {
		case bytewise && !tail && !but:
			_, err := io.Copy(c.w, io.LimitReader(in, int64(n)))
			return err
		case bytewise:
			return c.lastBytes(in, n, from, but)
		}
		return c.someLines(in, n, tail, from, but)
	})
}

func (c *call) lastBytes(in io.Reader, n int, from, but bool) error {
	all, size, err := c.all(in, maxHeld)
	defer func() { _ = c.hold(-size) }()
	if err != nil {
		return err
	}
	switch {
	case from:
		all = all[min(max(n-1, 0), len(all)):]
	case but:
		all = all[:max(len(all)-n, 0)]
	default:
		all = all[max(len(all)-n, 0):]
	}
	return c.print(string(all))
}

func (c *call) someLines(in io.Reader, n int, tail, from, but bool) error {
	at := 0
	var ring []string // the last n lines
	kept := 0
	defer func() { _ = c.hold(-kept) }()
	err := c.lines(in, func(line []byte) error {
		at++
		switch {
		case from && at >= n, !tail && !but && at <= n:
			err := c.print(string(line), "\n")
			if err == nil && !tail && at == n {
				err = errStop
			}
			return err
		case from:
			return nil
		case !tail && !but:
			return errStop
		}
		ring = append(ring, string(line))
		kept += len(line) + 16
		if err := c.hold(len(line) + 16); err != nil {
			return err
		}
		if len(ring) <= n {
			return nil
		}
		gone := ring[0]
		ring = ring[1:]
		kept -= len(gone) + 16
		if err := c.hold(-len(gone) - 16); err != nil {
			return err
		}
		if but {
			return c.print(gone, "\n")
		}
		return nil
	})
	if err == errStop {
		return nil
	}
	if tail && err == nil {
		for _, line := range ring {
			if err := c.print(line, "\n"); err != nil {
				return err
			}
		}
	}
	return err
}

// errStop ends one input, errEnough all of them.
var errStop = fmt.Errorf("stop")

func runTac(c *call) int {
	_, names, err := c.parse("", nil)
	if err != nil {
		return c.fail(2, "%v", err)
	}
	list, give, status := c.held(names)
	defer give()
	for i := len(list) - 1; i >= 0; i-- {
		if c.print(list[i], "\n") != nil {
			return 1
		}
	}
	return status
}

func runNl(c *call) int {
	f, names, err := c.parse("b:w:s:", nil)
	if err != nil {
		return c.fail(2, "%v", err)
	}
	width, err := f.number('w', 6)
	if err != nil || width > 99 {
		return c.fail(2, "-w takes a width up to 99")
	}
	sep := "\t"
	if v, ok := f.set['s']; ok {
		sep = v
	}
	if b := f.set['b']; b != "" && b != "a" && b != "t" {
		return c.fail(2, "-b takes a or t")
	}
	n := 0
	return c.inputs(names, func(_ string, in io.Reader) error {
		return c.lines(in, func(line []byte) error {
			if len(line) == 0 && f.set['b'] != "a" {
				return c.print(strings.Repeat(" ", width+len(sep)), "\n")
			}
			n++
			return c.print(fmt.Sprintf("%*d", width, n), sep, string(line), "\n")
		})
	})
}

func runWc(c *call) int {
	f, names, err := c.parse("lwcm", map[string]byte{"lines": 'l', "words": 'w', "bytes": 'c', "chars": 'm'})
	if err != nil {
		return c.fail(2, "%v", err)
	}
	which := "lwmc"
	show := func(n map[byte]int, name string) error {
		var cols []string
		for i := range len(which) {
			if k := which[i]; f.has(k) || len(f.set) == 0 && k != 'm' {
				cols = append(cols, fmt.Sprint(n[k]))
			}
		}
		if name != "-" {
			cols = append(cols, name)
		}
		return c.print(strings.Join(cols, " "), "\n")
	}
	total := map[byte]int{}
	status := c.inputs(names, func(name string, in io.Reader) error {
		n := map[byte]int{}
		buf, word := make([]byte, 32<<10), false
		for {
			k, err := in.Read(buf)
			n['c'] += k
			n['l'] += bytes.Count(buf[:k], []byte("\n"))
			for _, b := range buf[:k] {
				if utf8.RuneStart(b) {
					n['m']++
				}
				space := b == ' ' || b >= '\t' && b <= '\r'
				if !space && !word {
					n['w']++
				}
				word = !space
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				return err
			}
			if c.ctx.Err() != nil {
				return c.ctx.Err()
			}
		}
		for k, v := range n {
			total[k] += v
		}
		return show(n, name)
	})
	if len(names) > 1 {
		if show(total, "total") != nil {
			return 1
		}
	}
	return status
}
