package dream

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"mem/core/memdir"
)

// numeral matches numbers, versions and dates.
var numeral = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[0-9]+(?:[.:/-][0-9]+)*`) })

// maxNumbers bounds the numbers that are named.
const maxNumbers = 4

// numbersApart names the numbers that only one of two texts has, where both have such: a
// sign that they say different things about one matter. "" where they do not.
func numbersApart(a, b string) string {
	x, y := compact(numeral().FindAllString(a, 1000)), compact(numeral().FindAllString(b, 1000))
	only := func(of, without []string) []string {
		return slices.DeleteFunc(slices.Clone(of), func(s string) bool { _, has := slices.BinarySearch(without, s); return has })
	}
	p, q := only(x, y), only(y, x)
	if len(p) == 0 || len(q) == 0 {
		return ""
	}
	few := func(l []string) string {
		s := strings.Join(l[:min(len(l), maxNumbers)], ", ")
		if len(l) > maxNumbers {
			s += ", …"
		}
		return memdir.Shown(s, 80)
	}
	return few(p) + " and " + few(q)
}
