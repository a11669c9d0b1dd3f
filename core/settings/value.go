package settings

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// value is a setting as it was written.
type value struct {
	text   string
	quoted bool // written as a string, so no boolean and no number
	list   []string
	isList bool
	pairs  [][2]string // name and text, in the order of the file
	isMap  bool
}

func (v value) String() string {
	if v.isList {
		return "[" + strings.Join(v.list, ", ") + "]"
	}
	if v.isMap {
		var all []string
		for _, p := range v.pairs {
			all = append(all, p[0]+": "+p[1])
		}
		return "{" + strings.Join(all, ", ") + "}"
	}
	return v.text
}

// assign parses v as the key's type, checks it and stores it in c with where
// it came from. On an error c is as it was.
func (k Key) assign(c *Config, v value, source string) error {
	if err := k.store(c, v); err != nil {
		return &ConfigError{Source: source, Key: k.Path, Reason: err.Error(), Fix: k.fix()}
	}
	if c.sources == nil {
		c.sources = map[string]string{}
	}
	c.sources[k.Path] = source
	return nil
}

func (k Key) store(c *Config, v value) error {
	if v.isList != (k.Type == TypeHashes) || v.isMap != (k.Type == TypeFolders) {
		return k.wrong(v)
	}
	switch k.Type {
	case TypeBool:
		if v.quoted || (v.text != "true" && v.text != "false") {
			return k.wrong(v)
		}
		*k.field(c).(*bool) = v.text == "true"
		return nil
	case TypeChoice:
		if !slices.Contains(k.Allowed, v.text) {
			return k.wrong(v)
		}
		*k.field(c).(*string) = v.text
		return nil
	case TypeText:
		if strings.ContainsFunc(v.text, unicode.IsControl) {
			return k.wrong(v)
		}
		*k.field(c).(*string) = v.text
		return nil
	case TypeFolders:
		folders, err := foldersOf(v.pairs)
		if err != nil {
			return err
		}
		*k.field(c).(*map[string]string) = folders
		return nil
	case TypeHashes:
		hashes, err := parseHashes(v.list)
		if err != nil {
			return err
		}
		*k.field(c).(*[]string) = hashes
		return nil
	case TypeNumber:
		x, err := strconv.ParseFloat(v.text, 64)
		if err != nil || v.quoted || math.IsNaN(x) || math.IsInf(x, 0) {
			return k.wrong(v)
		}
		if x < float64(k.Min) {
			return fmt.Errorf("is %s, below %d", v.text, k.Min)
		}
		*k.field(c).(*float64) = x
		return nil
	}
	return k.storeInteger(c, v)
}

// storeInteger stores what is a whole number inside: counts, sizes and
// durations.
func (k Key) storeInteger(c *Config, v value) error {
	var n int64
	var err error
	switch k.Type {
	case TypeSize:
		n, err = parseSize(v.text)
	case TypeDuration:
		var d time.Duration
		d, err = parseDuration(v.text)
		n = int64(d)
	default:
		n, err = strconv.ParseInt(v.text, 10, 64)
		if v.quoted {
			err = errors.New("a string")
		}
	}
	if err != nil {
		return k.wrong(v)
	}
	if n < k.Min {
		return fmt.Errorf("is %s, below %s", v.text, k.show(k.Min))
	}
	if k.Max > 0 && n > k.Max {
		return fmt.Errorf("is %s, above %s", v.text, k.show(k.Max))
	}
	switch f := k.field(c).(type) {
	case *time.Duration:
		*f = time.Duration(n)
	case *int64:
		*f = n
	case *int:
		if n > math.MaxInt32 {
			return fmt.Errorf("is %s, above %d", v.text, math.MaxInt32)
		}
		*f = int(n)
	}
	return nil
}

func (k Key) wrong(v value) error { return fmt.Errorf("is %q, not %s", v, k.expected()) }

// expected describes the values of the key.
func (k Key) expected() string {
	switch k.Type {
	case TypeBool:
		return "true or false"
	case TypeInt:
		return "a whole number"
	case TypeNumber:
		return "a number"
	case TypeSize:
		return "a size such as 25000 or 8MiB"
	case TypeDuration:
		return "a duration such as 10s, 24h or 90d"
	case TypeChoice:
		return "one of " + strings.Join(k.Allowed, ", ")
	case TypeText:
		return "a text of one line"
	case TypeFolders:
		return "names with folders, absolute or from ~/, such as {handbook: ~/work/handbook}"
	}
	return "a list of SHA-256 in hex"
}

func (k Key) fix() string {
	return fmt.Sprintf("write %s, or remove it to get the default, %s", k.expected(), k.Default)
}

// show writes a number of the key's kind as one would in the file.
func (k Key) show(n int64) string {
	switch k.Type {
	case TypeSize:
		return formatSize(n)
	case TypeDuration:
		return formatDuration(time.Duration(n))
	}
	return strconv.FormatInt(n, 10)
}

// sizeUnits, largest first: binary and decimal ones are told apart.
var sizeUnits = []struct {
	name  string
	bytes int64
}{
	{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
	{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"kB", 1e3}, {"B", 1},
}

// parseSize reads a whole number of bytes, with a unit or without.
func parseSize(s string) (int64, error) {
	unit := int64(1)
	for _, u := range sizeUnits {
		if rest, ok := strings.CutSuffix(s, u.name); ok {
			s, unit = strings.TrimRight(rest, " "), u.bytes
			break
		}
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0, err
	}
	if n > math.MaxInt64/unit || n < math.MinInt64/unit {
		return 0, strconv.ErrRange
	}
	return n * unit, nil
}

func formatSize(n int64) string {
	for _, u := range sizeUnits[:4] {
		if n > 0 && n%u.bytes == 0 {
			return strconv.FormatInt(n/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10)
}

const day = 24 * time.Hour

// parseDuration reads what time.ParseDuration reads, and whole days ("90d").
func parseDuration(s string) (time.Duration, error) {
	days, ok := strings.CutSuffix(s, "d")
	if !ok {
		return time.ParseDuration(s)
	}
	n, err := strconv.ParseInt(days, 10, 64)
	if err != nil {
		return 0, err
	}
	if n > math.MaxInt64/int64(day) || n < math.MinInt64/int64(day) {
		return 0, strconv.ErrRange
	}
	return time.Duration(n) * day, nil
}

func formatDuration(d time.Duration) string {
	if d > 0 && d%day == 0 {
		return strconv.FormatInt(int64(d/day), 10) + "d"
	}
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// parseHashes checks that each item is a SHA-256 in hex, and returns them in
// lower case.
func parseHashes(items []string) ([]string, error) {
	hashes := make([]string, 0, len(items))
	for _, item := range items {
		h := strings.ToLower(item)
		if raw, err := hex.DecodeString(h); err != nil || len(raw) != 32 {
			return nil, fmt.Errorf("holds %q, which is not a SHA-256 in hex (64 digits)", item)
		}
		hashes = append(hashes, h)
	}
	return hashes, nil
}
