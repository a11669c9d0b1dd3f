package shell

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// key is what sort compares: fields from first to last, counted from 1.
type key struct {
	first, last int
	opts        string
}

func runSort(c *call) int {
	f, names, err := c.parse("rnufbVsghMk:t:", map[string]byte{"reverse": 'r', "numeric-sort": 'n', "unique": 'u', "ignore-case": 'f', "key": 'k', "field-separator": 't', "version-sort": 'V', "stable": 's'})
	if err != nil {
		return c.fail(2, "%v", err)
	}
	for _, o := range "ghM" {
		if f.has(byte(o)) {
			return c.fail(2, "the option -%c is not known here", o)
		}
	}
	var general string
	for _, o := range "rnfbV" {
		if f.has(byte(o)) {
			general += string(o)
		}
	}
	var keys []key
	for _, v := range f.values('k') {
		k, err := parseKey(v)
		if err != nil {
			return c.fail(2, "%v", err)
		}
		if k.opts == "" {
			k.opts = general
		}
		keys = append(keys, k)
	}
	sep := f.set['t']
	if sep == `\t` {
		sep = "\t"
	}
	if f.has('t') && len(sep) != 1 {
		return c.fail(2, "-t takes one character")
	}
	list, give, status := c.held(names)
	defer give()
	byKeys := func(a, b string) int {
		for _, k := range keys {
			if n := compareBy(k.of(a, sep), k.of(b, sep), k.opts); n != 0 {
				return n
			}
		}
		if len(keys) == 0 {
			return compareBy(a, b, general)
		}
		return 0
	}
	compared := 0
	slices.SortStableFunc(list, func(a, b string) int {
		if compared++; compared&1023 == 0 && c.ctx.Err() != nil || compared < 0 {
			compared = -1 << 62 // the script ends: the order makes no difference any more
			return 0
		}
		n := byKeys(a, b)
		if n == 0 && !f.has('s') && !f.has('u') {
			n = strings.Compare(a, b) // as a last resort, as sort does
			if f.has('r') {
				n = -n
			}
		}
		return n
	})
	if f.has('u') {
		list = slices.CompactFunc(list, func(a, b string) bool { return byKeys(a, b) == 0 })
	}
	for _, line := range list {
		if c.print(line, "\n") != nil {
			return 1
		}
	}
	return status
}

func parseKey(v string) (key, error) {
	from, to, _ := strings.Cut(v, ",")
	k := key{}
	read := func(s string) (int, error) {
		digits := strings.TrimRight(s, "rnfbV")
		k.opts += s[len(digits):]
		digits, _, _ = strings.Cut(digits, ".") // characters within a field are left alone
		n, err := strconv.Atoi(digits)
		if err != nil || n < 1 || strings.Contains(s, ".") {
			return 0, fmt.Errorf("-k takes fields such as 2, 2,3 or 2nr, not %.40q", v)
		}
		return n, nil
	}
	var err error
	if k.first, err = read(from); err != nil {
		return k, err
	}
	if to != "" {
		k.last, err = read(to)
	}
	return k, err
}

func (k key) of(line, sep string) string {
	var fields []string
	if sep == "" {
		fields, sep = strings.Fields(line), " "
	} else {
		fields = strings.Split(line, sep)
	}
	if k.first > len(fields) {
		return ""
	}
	last := len(fields)
	if k.last > 0 {
		last = min(max(k.last, k.first), last)
	}
	return strings.Join(fields[k.first-1:last], sep)
}

func compareBy(a, b, opts string) (n int) {
	if strings.Contains(opts, "b") {
		a, b = strings.TrimLeft(a, " \t"), strings.TrimLeft(b, " \t")
	}
	switch {
	case strings.Contains(opts, "n"):
		n = cmp.Compare(leading(a), leading(b))
	case strings.Contains(opts, "V"):
		n = versions(a, b)
	case strings.Contains(opts, "f"):
		n = strings.Compare(strings.ToUpper(a), strings.ToUpper(b))
	default:
		n = strings.Compare(a, b)
	}
	if strings.Contains(opts, "r") {
		n = -n
	}
	return n
}

// leading is the number that a text begins with, or 0.
func leading(s string) float64 {
	s = strings.TrimLeft(s, " \t")
	end := 0
	for end < len(s) && (s[end] >= '0' && s[end] <= '9' || s[end] == '.' || end == 0 && s[end] == '-') {
		end++
	}
	for end > 0 {
		if v, err := strconv.ParseFloat(s[:end], 64); err == nil {
			return v
		}
		end--
	}
	return 0
}

// versions compares runs of digits as numbers.
func versions(a, b string) int {
	for a != "" && b != "" {
		da, db := digits(a), digits(b)
		if da > 0 && db > 0 {
			x, y := strings.TrimLeft(a[:da], "0"), strings.TrimLeft(b[:db], "0")
			if n := cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y)); n != 0 {
				return n
			}
			a, b = a[da:], b[db:]
			continue
		}
		if a[0] != b[0] {
			return cmp.Compare(a[0], b[0])
		}
		a, b = a[1:], b[1:]
	}
	return cmp.Compare(len(a), len(b))
}

func digits(s string) (n int) {
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

func runUniq(c *call) int {
	f, names, err := c.parse("cdui", map[string]byte{"count": 'c', "repeated": 'd', "unique": 'u', "ignore-case": 'i'})
	if err != nil {
		return c.fail(2, "%v", err)
	}
	if len(names) > 1 {
		return c.fail(2, "output to a file is not open to you; it takes one input")
	}
	last, n := "", 0
	flush := func() error {
		if n == 0 || f.has('d') && n < 2 || f.has('u') && n > 1 {
			return nil
		}
		if f.has('c') {
			return c.print(fmt.Sprintf("%7d %s\n", n, last))
		}
		return c.print(last, "\n")
	}
	return c.inputs(names, func(_ string, in io.Reader) error {
		err := c.lines(in, func(line []byte) error {
			s := string(line)
			if n > 0 && (s == last || f.has('i') && strings.EqualFold(s, last)) {
				n++
				return nil
			}
			err := flush()
			last, n = s, 1
			return err
		})
		if err != nil {
			return err
		}
		return flush()
	})
}
