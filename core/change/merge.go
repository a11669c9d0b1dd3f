package change

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"mem/core/memfile"
)

// Conflict is one part of a file that two writers changed differently.
type Conflict struct {
	Path   string `json:"path"`
	Part   string `json:"part"`
	Base   string `json:"base"`   // the part both started from
	Ours   string `json:"ours"`   // what this change makes of it; "" when it removes it
	Theirs string `json:"theirs"` // what the file has; "" when it is gone
}

// Merge joins two changes of one file that started from the same base: ours and
// theirs. Parts are frontmatter keys, sections of the body, entries of the
// index keyed on what they link, and lines of the index's text. A part that one
// side changed is taken from it; a part that both changed differently is a
// conflict. Two insertions at one place are both kept, ours first. The stamps
// that the client writes never conflict.
func Merge(path, base, ours, theirs string) (merged string, conflicts []Conflict) {
	switch {
	case ours == theirs || base == ours:
		return theirs, nil
	case base == theirs:
		return ours, nil
	}
	head, tail := 0, 0
	if path == memfile.IndexName {
		head, tail = commonLines(base, ours, theirs)
	}
	inner := func(s string) []unit { return split(path, s[head:len(s)-tail]) }
	b := inner(base)
	o, t := align(b, inner(ours)), align(b, inner(theirs))
	m := merger{path: path, base: byID(identify(b))}
	merged, conflicts = m.merge(identify(b), o, t)
	if len(conflicts) > 0 {
		return "", conflicts
	}
	return base[:head] + merged + base[len(base)-tail:], nil
}

// margin is how many equal lines around the changed ones stay part of a merge,
// as the neighbours that insertions are placed by.
const margin = 2

// commonLines gives the bytes at the start and at the end of an index that are
// the same whole lines in all three versions, so that a merge costs what
// changed and not what is there.
func commonLines(base, ours, theirs string) (head, tail int) {
	n := min(len(base), len(ours), len(theirs))
	for head < n && base[head] == ours[head] && base[head] == theirs[head] {
		head++
	}
	for k := 0; k <= margin && head > 0; k++ {
		head = strings.LastIndexByte(base[:head-1], '\n') + 1
	}
	for tail < n-head {
		at := tail + 1
		if c := base[len(base)-at]; c != ours[len(ours)-at] || c != theirs[len(theirs)-at] {
			break
		}
		tail++
	}
	for k := 0; k <= margin && tail > 0; k++ {
		i := strings.IndexByte(base[len(base)-tail:], '\n')
		if i < 0 {
			return head, 0
		}
		tail -= i + 1
	}
	return head, tail
}

// identified is a unit with the identity it shares with other versions.
type identified struct {
	unit
	id string
}

func identify(us []unit) []identified {
	out := make([]identified, len(us))
	for i, u := range us {
		out[i] = identified{u, fmt.Sprintf("b%d", i)}
	}
	return out
}

func byID(us []identified) map[string]identified {
	m := make(map[string]identified, len(us))
	for _, u := range us {
		m[u.id] = u
	}
	return m
}

// align gives the units of a version the identities of the base units that they
// are: by longest common subsequence, then keyed ones by key where they moved,
// then a text line put in the place of a removed one counts as that line
// changed. New units are identified by their key, or by a number.
func align(base, version []unit) []identified {
	match := make([]int, len(version)) // index in base, -1
	for i := range match {
		match[i] = -1
	}
	taken := make([]bool, len(base))
	for _, p := range commonUnits(base, version) {
		match[p[1]], taken[p[0]] = p[0], true
	}
	keys := map[string]int{}
	for i, u := range base {
		if u.kind != plain && !taken[i] {
			keys[u.key] = i
		}
	}
	for i, u := range version {
		if match[i] >= 0 || u.kind == plain {
			continue
		}
		if j, ok := keys[u.key]; ok && !taken[j] {
			match[i], taken[j] = j, true
		}
	}
	pairReplacedLines(base, version, match, taken)
	out := make([]identified, len(version))
	for i, u := range version {
		switch {
		case match[i] >= 0:
			out[i] = identified{u, fmt.Sprintf("b%d", match[i])}
		case u.kind == plain:
			out[i] = identified{u, fmt.Sprintf("n%d", i)}
		default:
			out[i] = identified{u, "k" + u.key}
		}
	}
	return out
}

// pairReplacedLines matches removed text lines with text lines that stand in
// the same gap between kept units, in order.
func pairReplacedLines(base, version []unit, match []int, taken []bool) {
	removed := map[int][]int{} // kept base unit before the gap -> removed lines
	last := -1
	for i, u := range base {
		if taken[i] {
			last = i
		} else if u.kind == plain {
			removed[last] = append(removed[last], i)
		}
	}
	last = -1
	for i, u := range version {
		switch {
		case match[i] >= 0:
			last = match[i]
		case u.kind == plain && len(removed[last]) > 0:
			j := removed[last][0]
			removed[last] = removed[last][1:]
			match[i], taken[j] = j, true
		}
	}
}

// commonUnits gives pairs of indexes of units that are the same in both, in
// order. It compares one line a unit with a line diff.
func commonUnits(a, b []unit) [][2]int {
	sigA, lines := signature(a)
	sigB, _ := signature(b)
	edits := udiff.Lines(sigA, sigB)
	var pairs [][2]int
	ai, bi := 0, 0
	advance := func(to int) {
		for ai < len(a) && lines[ai] < to {
			pairs = append(pairs, [2]int{ai, bi})
			ai++
			bi++
		}
	}
	for _, e := range edits {
		advance(e.Start)
		for ai < len(a) && lines[ai] < e.End {
			ai++
		}
		bi += strings.Count(e.New, "\n")
	}
	advance(len(sigA))
	return slices.DeleteFunc(pairs, func(p [2]int) bool {
		return p[1] >= len(b) || a[p[0]].kind != b[p[1]].kind || a[p[0]].key != b[p[1]].key
	})
}

// signature gives one line for each unit, and where each line starts.
func signature(us []unit) (sig string, starts []int) {
	lines := strings.NewReplacer("\n", " ", "\r", " ")
	var b strings.Builder
	for _, u := range us {
		starts = append(starts, b.Len())
		b.WriteByte('a' + byte(u.kind))
		b.WriteString(lines.Replace(u.key))
		b.WriteByte('\n')
	}
	return b.String(), starts
}

type merger struct {
	path      string
	base      map[string]identified
	conflicts []Conflict

	choose func(Part) Decision // asked by Resolve; nil merges by the rules alone
	open   []Conflict          // what nobody decided
}

func (m *merger) merge(base, ours, theirs []identified) (string, []Conflict) {
	renameNew(ours, theirs)
	o, t := byID(ours), byID(theirs)
	// Where only one side moved units, its order holds; the disk's otherwise.
	skeleton, other := theirs, ours
	if moved(base, ours) && !moved(base, theirs) {
		skeleton, other = ours, theirs
	}
	var out []identified
	for _, u := range order(skeleton, other) {
		ou, inO := o[u.id]
		tu, inT := t[u.id]
		bu, inB := m.base[u.id]
		r, keep := m.decide(bu, inB, ou, inO, tu, inT)
		if keep {
			out = append(out, r)
		}
	}
	if len(m.conflicts) > 0 {
		return "", m.conflicts
	}
	return join(out, tight(ours, theirs)), nil
}

// renameNew keeps new text lines of the two sides apart; new keyed units with
// one key stay one unit.
func renameNew(ours, theirs []identified) {
	for _, side := range []struct {
		us   []identified
		mark string
	}{{ours, "o"}, {theirs, "t"}} {
		for i := range side.us {
			if strings.HasPrefix(side.us[i].id, "n") {
				side.us[i].id = side.mark + side.us[i].id
			}
		}
	}
}

// moved reports whether the units that a version shares with the base stand in
// another order.
func moved(base, version []identified) bool {
	pos := make(map[string]int, len(base))
	for i, u := range base {
		pos[u.id] = i
	}
	last := -1
	for _, u := range version {
		p, ok := pos[u.id]
		if !ok {
			continue
		}
		if p < last {
			return true
		}
		last = p
	}
	return false
}

// order gives the skeleton with what only other has put behind the unit that
// it follows there.
func order(skeleton, other []identified) []identified {
	in := byID(skeleton)
	follow := map[string][]identified{} // id it follows, "" at the start
	prev := ""
	for _, u := range other {
		if _, ok := in[u.id]; ok {
			prev = u.id
			continue
		}
		follow[prev] = append(follow[prev], u)
	}
	out := slices.Clone(follow[""])
	for _, u := range skeleton {
		out = append(out, u)
		out = append(out, follow[u.id]...)
	}
	return out
}

// decide merges one unit. What is absent on a side counts as its content.
func (m *merger) decide(b identified, inB bool, o identified, inO bool, t identified, inT bool) (identified, bool) {
	if m.choose != nil && (inO != inT || o.text != t.text) {
		if u, keep, ok := m.decided(b, inB, o, inO, t, inT); ok {
			return u, keep
		}
	}
	u, keep, conflict := m.byRule(b, inB, o, inO, t, inT)
	if conflict {
		c := Conflict{Path: m.path, Base: b.text, Ours: o.text, Theirs: t.text}
		for _, u := range []identified{b, o, t} {
			if u.part != "" {
				c.Part = u.part
				break
			}
		}
		m.conflicts = append(m.conflicts, c)
	}
	return u, keep
}

// byRule merges one unit; conflict says that the rules do not decide.
func (m *merger) byRule(b identified, inB bool, o identified, inO bool, t identified, inT bool) (u identified, keep, conflict bool) {
	same := func(x identified, inX bool, y identified, inY bool) bool {
		return inX == inY && (!inX || x.text == y.text)
	}
	trimmedSame := func(x identified, inX bool, y identified, inY bool) bool {
		return inX && inY && trimEnd(x.text) == trimEnd(y.text)
	}
	switch {
	case same(o, inO, t, inT) || same(o, inO, b, inB):
		return t, inT, false
	case same(t, inT, b, inB):
		return o, inO, false
	case trimmedSame(o, inO, t, inT) || trimmedSame(o, inO, b, inB):
		t.text = trimEnd(t.text) + longerEnd(o.text, t.text)
		return t, inT, false
	case trimmedSame(t, inT, b, inB):
		if !inO {
			return o, false, false
		}
		o.text = trimEnd(o.text) + longerEnd(o.text, t.text)
		return o, inO, false
	case inO && inT && o.kind == stamp:
		if strings.HasSuffix(o.key, "modified") && o.text > t.text {
			return o, true, false
		}
		return t, true, false
	}
	return t, inT, true
}

func trimEnd(s string) string { return strings.TrimRight(s, "\r\n") }

// longerEnd gives the longer run of newlines that ends a or b.
func longerEnd(a, b string) string {
	ea, eb := a[len(trimEnd(a)):], b[len(trimEnd(b)):]
	if len(ea) > len(eb) {
		return ea
	}
	return eb
}
