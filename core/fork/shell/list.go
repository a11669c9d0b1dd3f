package shell

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

func runLs(c *call) int {
	f, names, err := c.parse("laARtrS1hdFpsin", map[string]byte{"all": 'a', "almost-all": 'A', "recursive": 'R', "reverse": 'r', "human-readable": 'h', "directory": 'd'})
	if err != nil {
		return c.fail(2, "%v", err)
	}
	if len(names) == 0 {
		names = []string{"."}
	}
	l := lister{c: c, f: f}
	if f.has('a') || f.has('A') {
		defer c.unshown(c.left)
	}
	status := 0
	var files []fs.FileInfo
	var folders []string
	for _, name := range names {
		info, err := c.stat(name)
		switch {
		case err != nil:
			status = c.fail(2, "%s", words(err))
		case info.IsDir() && !f.has('d'):
			folders = append(folders, name)
		default:
			files = append(files, renamed{info, name})
		}
	}
	if l.entries(files) != nil {
		return 1
	}
	for i, name := range folders {
		head := len(names) > 1 || f.has('R')
		if head && (i > 0 || len(files) > 0) {
			if c.print("\n") != nil {
				return 1
			}
		}
		if s := l.folder(name, head, 0); s != 0 {
			status = s
		}
	}
	return status
}

// renamed is a file under the name that was given.
type renamed struct {
	fs.FileInfo
	name string
}

func (r renamed) Name() string { return r.name }

type lister struct {
	c *call
	f flags
}

func (l *lister) folder(name string, head bool, depth int) int {
	list, err := l.c.readDir(name)
	if err != nil {
		return l.c.fail(2, "%s", words(err))
	}
	if head && l.c.print(name, ":\n") != nil {
		return 1
	}
	if l.f.has('l') && l.c.print(fmt.Sprintf("total %d\n", len(list))) != nil {
		return 1
	}
	if l.entries(list) != nil {
		return 1
	}
	if !l.f.has('R') || depth > 32 {
		return 0
	}
	for _, e := range list {
		if !e.IsDir() {
			continue
		}
		if l.c.print("\n") != nil {
			return 1
		}
		if s := l.folder(join(name, e.Name()), true, depth+1); s != 0 {
			return s
		}
	}
	return 0
}

func (l *lister) entries(list []fs.FileInfo) error {
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b fs.FileInfo) int {
		n := 0
		switch {
		case l.f.has('t'):
			n = b.ModTime().Compare(a.ModTime())
		case l.f.has('S'):
			n = int(min(max(b.Size()-a.Size(), -1), 1))
		}
		if n == 0 {
			n = strings.Compare(a.Name(), b.Name())
		}
		if l.f.has('r') {
			n = -n
		}
		return n
	})
	for _, e := range list {
		name := e.Name()
		if e.IsDir() && (l.f.has('F') || l.f.has('p')) {
			name += "/"
		}
		if l.f.has('l') || l.f.has('n') {
			size := strconv.FormatInt(e.Size(), 10)
			if l.f.has('h') {
				size = human(e.Size())
			}
			name = fmt.Sprintf("%s 1 agent agent %8s %s %s", e.Mode(), size, e.ModTime().UTC().Format("2006-01-02 15:04"), name)
		}
		if err := l.c.print(name, "\n"); err != nil {
			return err
		}
	}
	return nil
}

func human(n int64) string {
	f, unit := float64(n), ""
	for _, u := range []string{"K", "M", "G"} {
		if f < 1024 {
			break
		}
		f, unit = f/1024, u
	}
	if unit == "" || f >= 10 {
		return fmt.Sprintf("%.0f%s", f, unit)
	}
	return fmt.Sprintf("%.1f%s", f, unit)
}

func runStat(c *call) int {
	f, names, err := c.parse("c:L", map[string]byte{"format": 'c', "printf": 'p'})
	if err != nil || f.has('p') {
		return c.fail(2, "it knows -c FORMAT with %%n %%s %%F %%y %%Y %%a %%A")
	}
	if len(names) == 0 {
		return c.fail(2, "a file is missing")
	}
	format := "  File: %n\n  Size: %s\t%F\nAccess: (%a/%A)\nModify: %y"
	if f.has('c') {
		format = f.set['c']
	}
	status := 0
	for _, name := range names {
		info, err := c.stat(name)
		if err != nil {
			status = c.fail(1, "%s", words(err))
			continue
		}
		kind := "regular file"
		if info.IsDir() {
			kind = "directory"
		}
		text, unknown := fill(format, map[byte]string{
			'n': name, 's': strconv.FormatInt(info.Size(), 10), 'F': kind, 'y': info.ModTime().UTC().Format("2006-01-02 15:04:05.000000000 +0000"),
			'Y': strconv.FormatInt(info.ModTime().Unix(), 10), 'a': strconv.FormatInt(int64(info.Mode().Perm()), 8), 'A': info.Mode().String(), '%': "%",
		})
		if unknown != "" {
			return c.fail(2, "%s is not known here; %%n %%s %%F %%y %%Y %%a %%A are", unknown)
		}
		if c.print(text, "\n") != nil {
			return 1
		}
	}
	return status
}

// fill puts values in the place of %x.
func fill(format string, values map[byte]string) (text, unknown string) {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			b.WriteByte(format[i])
			continue
		}
		if i++; i == len(format) {
			return "", "a % at the end"
		}
		v, ok := values[format[i]]
		if !ok {
			return "", "%" + format[i:i+1]
		}
		b.WriteString(v)
	}
	return b.String(), ""
}

func runDate(c *call) int {
	f, rest, err := c.parse("ur:Rd:s:I", map[string]byte{"utc": 'u', "reference": 'r', "date": 'd', "set": 's', "iso-8601": 'I'})
	if err != nil {
		return c.fail(2, "%v", err)
	}
	if f.has('d') || f.has('s') {
		return c.fail(2, "-d and -s are not known here; it gives the present time, or that of a file with -r")
	}
	t := c.now()
	if f.has('u') {
		t = t.UTC()
	}
	if f.has('r') {
		info, err := c.stat(f.set['r'])
		if err != nil {
			return c.fail(1, "%s", words(err))
		}
		t = info.ModTime().In(t.Location())
	}
	format := "+%a %b %e %H:%M:%S %Z %Y"
	switch {
	case f.has('I'):
		format = "+%F"
	case f.has('R'):
		format = "+%a, %d %b %Y %H:%M:%S %z"
	}
	if len(rest) > 1 || len(rest) == 1 && !strings.HasPrefix(rest[0], "+") {
		return c.fail(2, "it takes a format such as +%%Y-%%m-%%d")
	}
	if len(rest) == 1 {
		format = rest[0]
	}
	text, unknown := fill(format[1:], dateParts(t))
	if unknown != "" {
		return c.fail(2, "%s is not known here", unknown)
	}
	return oneIf(c.print(text, "\n") != nil)
}

func dateParts(t time.Time) map[byte]string {
	year, week := t.ISOWeek()
	day := int(t.Weekday())
	iso := day
	if iso == 0 {
		iso = 7
	}
	return map[byte]string{
		'Y': t.Format("2006"), 'm': t.Format("01"), 'd': t.Format("02"), 'H': t.Format("15"), 'M': t.Format("04"), 'S': t.Format("05"),
		'F': t.Format("2006-01-02"), 'T': t.Format("15:04:05"), 'R': t.Format("15:04"), 'D': t.Format("01/02/06"), 'y': t.Format("06"),
		'a': t.Format("Mon"), 'A': t.Format("Monday"), 'b': t.Format("Jan"), 'B': t.Format("January"), 'h': t.Format("Jan"), 'e': t.Format("_2"),
		'j': t.Format("002"), 'Z': t.Format("MST"), 'z': t.Format("-0700"), 's': strconv.FormatInt(t.Unix(), 10), 'N': t.Format("000000000"),
		'I': t.Format("03"), 'p': t.Format("PM"), 'c': t.Format("Mon Jan _2 15:04:05 2006"), 'x': t.Format("01/02/06"), 'X': t.Format("15:04:05"),
		'u': strconv.Itoa(iso), 'w': strconv.Itoa(day), 'G': strconv.Itoa(year), 'V': fmt.Sprintf("%02d", week), 'n': "\n", 't': "\t", '%': "%",
	}
}

// runXargs runs a tool with the words of its input as arguments.
func runXargs(c *call) int {
	opts, args := []string{}, c.args
	for len(args) > 0 && strings.HasPrefix(args[0], "-") { // options end where the command begins
		opts = append(opts, args[0])
		one := args[0]
		args = args[1:]
		if (one == "-n" || one == "-I" || one == "-d") && len(args) > 0 {
			opts, args = append(opts, args[0]), args[1:]
		}
	}
	all := c.args
	c.args = opts
	f, _, err := c.parse("0rn:I:d:", map[string]byte{"null": '0', "no-run-if-empty": 'r'})
	c.args = all
	if err != nil {
		return c.fail(2, "%v", err)
	}
	if len(args) == 0 {
		args = []string{"echo"}
	}
	if _, ok := commands[args[0]]; !ok || args[0] == "xargs" {
		return c.fail(126, "%.40s cannot be run; it runs %s", path.Base(args[0]), strings.Join(Commands(), " "))
	}
	items, give, ok := c.items(f)
	defer give()
	if !ok {
		return 1
	}
	each, err := f.number('n', 5000)
	if err != nil || each == 0 {
		return c.fail(2, "-n takes a number above 0")
	}
	mark := f.set['I']
	if mark != "" {
		each = 1
	}
	if len(items) == 0 && (f.has('r') || mark != "") {
		return 0
	}
	status := 0
	in := c.in
	c.in = strings.NewReader("")
	defer func() { c.in = in }()
	for first := true; first || len(items) > 0; first = false {
		n := min(each, len(items))
		run := slices.Concat(args, items[:n])
		if mark != "" {
			run = slices.Clone(args)
			size := 0
			for i := range run[1:] {
				if size += len(run[i+1]) + strings.Count(run[i+1], mark)*len(items[0]); size > maxArguments {
					return c.fail(1, "the arguments are too long")
				}
				run[i+1] = strings.ReplaceAll(run[i+1], mark, items[0])
			}
		}
		items = items[n:]
		if c.called() != nil || c.w.Flush() != nil {
			return 1
		}
		if s := c.tool(c.ctx, run); s != 0 {
			status = 123
		}
		if c.ctx.Err() != nil {
			return 1
		}
	}
	return status
}
