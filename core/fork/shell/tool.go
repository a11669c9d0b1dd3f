package shell

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// commands are the tools; each gives its exit status. What they need of files they ask
// the runner for.
var commands map[string]func(*call) int

func init() { // xargs runs the others
	commands = map[string]func(*call) int{
		"[": runTest, "basename": runBasename, "cat": runCat, "cut": runCut, "date": runDate, "dirname": runDirname, "echo": runEcho,
		"egrep": runGrep, "false": func(*call) int { return 1 }, "fgrep": runGrep, "find": runFind, "grep": runGrep, "head": runHead, "ls": runLs,
		"nl": runNl, "printf": runPrintf, "pwd": runPwd, "realpath": runRealpath, "sed": runSed, "seq": runSeq, "sort": runSort, "stat": runStat,
		"tac": runTac, "tail": runTail, "test": runTest, "tr": runTr, "true": func(*call) int { return 0 }, "uniq": runUniq, "wc": runWc, "xargs": runXargs,
	}
}

// Commands lists what scripts can run.
func Commands() []string {
	list := slices.Collect(maps.Keys(commands))
	list = append(list, keep...)
	list = append(list, "[[")
	slices.Sort(list)
	return list
}

// call is one run of a tool.
type call struct {
	*runner
	ctx  context.Context
	name string
	args []string
	w    *bufio.Writer
}

// tool runs one of the commands.
func (r *runner) tool(ctx context.Context, args []string) int {
	f, ok := commands[args[0]]
	if !ok { // Check has let it through as a function that is not set yet
		r.errorf("%s: the function is not set at this point", args[0])
		return 127
	}
	c := &call{runner: r, ctx: ctx, name: args[0], args: args[1:], w: bufio.NewWriterSize(r.out, 4<<10)}
	status := f(c)
	if err := c.w.Flush(); err != nil && status == 0 {
		return 141 // as a program that writes into a closed pipe
	}
	return status
}

// fail prints what is wrong and gives the status.
func (c *call) fail(status int, format string, a ...any) int {
	if err := c.w.Flush(); err != nil { // in the order in which it came
		return status
	}
	c.errorf("%s: %s", c.name, fmt.Sprintf(format, a...))
	return status
}

// unshown says how many entries of folders were left out since the count was from.
func (c *call) unshown(from int) {
	if n := c.left - from; n > 0 {
		c.fail(0, "%d entries are not shown: hidden names, links, or not chosen for this run", n)
	}
}

// print writes output. An error says that nobody reads on, or that the script ends.
func (c *call) print(parts ...string) error {
	for _, s := range parts {
		if _, err := c.w.WriteString(s); err != nil {
			return err
		}
	}
	return c.ctx.Err()
}

// flags are the options of a call. short are letters, with ":" behind those that take
// a value; long are names with the letter that they stand for.
type flags struct {
	set map[byte]string
	all []string // values of options given more than once, such as -e, each with its letter
}

func (f flags) has(c byte) bool { _, ok := f.set[c]; return ok }

func (f flags) values(c byte) (list []string) {
	for _, v := range f.all {
		if v[0] == c {
			list = append(list, v[1:])
		}
	}
	return list
}

// parse splits the arguments into options and the rest. Options may stand behind the
// rest, as GNU tools have it.
func (c *call) parse(short string, long map[string]byte) (f flags, rest []string, err error) {
	f.set = map[byte]string{}
	takes := func(o byte) (value, known bool) {
		i := strings.IndexByte(short, o)
		return i >= 0 && i+1 < len(short) && short[i+1] == ':', i >= 0 && o != ':'
	}
	put := func(o byte, v string) { f.set[o] = v; f.all = append(f.all, string(o)+v) }
	for args := c.args; len(args) > 0; {
		a := args[0]
		args = args[1:]
		switch {
		case a == "--":
			return f, append(rest, args...), nil
		case strings.HasPrefix(a, "--"):
			name, value, given := strings.Cut(a[2:], "=")
			o, ok := long[name]
			if !ok {
				return f, nil, fmt.Errorf("the option --%.40s is not known here", name)
			}
			want, _ := takes(o)
			if want && !given {
				if len(args) == 0 {
					return f, nil, fmt.Errorf("--%s needs a value", name)
				}
				value, args = args[0], args[1:]
			}
			put(o, value)
		case len(a) > 1 && a[0] == '-':
			for i := 1; i < len(a); i++ {
				value, known := takes(a[i])
				if !known {
					return f, nil, fmt.Errorf("the option -%c is not known here", a[i])
				}
				if !value {
					put(a[i], "")
					continue
				}
				v := a[i+1:]
				if v == "" {
					if len(args) == 0 {
						return f, nil, fmt.Errorf("-%c needs a value", a[i])
					}
					v, args = args[0], args[1:]
				}
				put(a[i], v)
				break
			}
		default:
			rest = append(rest, a)
		}
	}
	return f, rest, nil
}

// number reads the value of an option.
func (f flags) number(o byte, missing int) (int, error) {
	v, ok := f.set[o]
	if !ok {
		return missing, nil
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 || n > 1<<30 {
		return 0, fmt.Errorf("-%c takes a number, not %.40q", o, v)
	}
	return n, nil
}

// counts writes -20 as an option with a value, as head, tail and grep are often
// called. An argument of that form behind an option in takes is that one's value.
func (c *call) counts(option, takes string) {
	for i, a := range c.args {
		if a == "--" {
			return
		}
		if len(a) < 2 || a[0] != '-' || strings.Trim(a[1:], "0123456789") != "" {
			continue
		}
		if i > 0 && len(c.args[i-1]) == 2 && c.args[i-1][0] == '-' && strings.Contains(takes, c.args[i-1][1:]) {
			continue
		}
		c.args = slices.Concat(c.args[:i], []string{option + a[1:]}, c.args[i+1:])
		return
	}
}

// inputs opens each file in turn, or the input where there is none. What cannot be
// read is said, and the status is 1.
func (c *call) inputs(names []string, use func(name string, in io.Reader) error) (status int) {
	if len(names) == 0 {
		names = []string{"-"}
	}
	for _, name := range names {
		in := c.in
		if name != "-" {
			text, err := c.readFile(name)
			if err != nil {
				status = c.fail(1, "%s", words(err))
				if c.ctx.Err() != nil {
					return status
				}
				continue
			}
			in = bytes.NewReader(text)
		}
		if err := use(name, in); err != nil {
			if errors.Is(err, errEnough) {
				return status
			}
			if c.ctx.Err() == nil && !errors.Is(err, io.ErrClosedPipe) {
				c.fail(1, "%s", words(err))
			}
			return 1
		}
	}
	return status
}

// errEnough ends an input before its end.
var errEnough = errors.New("enough")

// maxLine bounds one line, in bytes: the largest file that is read.
const maxLine = 8<<20 + 1

// lines gives each line without its end. The slice holds until the next one.
func (c *call) lines(in io.Reader, use func(line []byte) error) error {
	br := bufio.NewReaderSize(in, 32<<10)
	var long []byte
	kept := 0 // bytes of a long line
	defer func() { _ = c.hold(-kept) }()
	for n := 0; ; n++ {
		if n&63 == 0 && c.ctx.Err() != nil {
			return c.ctx.Err()
		}
		part, err := br.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			kept += len(part)
			if err := c.hold(len(part)); err != nil {
				return err
			}
			if long = append(long, part...); len(long) > maxLine {
				return errors.New("a line is too long")
			}
			continue
		}
		line := part
		if len(long) > 0 {
			line = append(long, part...)
			long = nil
			_ = c.hold(-kept)
			kept = 0
		}
		if len(line) > 0 {
			if uerr := use(bytes.TrimSuffix(line, []byte("\n"))); uerr != nil {
				return uerr
			}
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

// all reads an input whole. size is what it holds.
func (c *call) all(in io.Reader, most int) (text []byte, size int, err error) {
	buf := make([]byte, 64<<10)
	for {
		n, err := in.Read(buf)
		if size += 2 * n; n > 0 {
			if err := c.hold(2 * n); err != nil {
				return nil, size, err
			}
			text = append(text, buf[:n]...)
		}
		switch {
		case errors.Is(err, io.EOF):
			return text, size, nil
		case err != nil:
			return nil, size, err
		case len(text) > most:
			return nil, size, fmt.Errorf("the input has more than %d KB", most>>10)
		case c.ctx.Err() != nil:
			return nil, size, c.ctx.Err()
		}
	}
}

// maxMatched is how much of a line is matched, in bytes: an expression cannot be
// stopped, and takes up to 4 µs a byte.
const maxMatched = 256 << 10

// held gives all lines of all inputs. give gives their memory back.
func (c *call) held(names []string) (list []string, give func(), status int) {
	size := 0
	status = c.inputs(names, func(_ string, in io.Reader) error {
		return c.lines(in, func(line []byte) error {
			n := len(line) + 16
			size += n
			if err := c.hold(n); err != nil {
				return err
			}
			list = append(list, string(line))
			return nil
		})
	})
	return list, func() { _ = c.hold(-size) }, status
}
