package transcript

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
)

// oracle reads a transcript the slow way, with encoding/json and maps of
// strings, and shares no code with the reader. It is what the reader is compared
// with.
type oracle struct {
	lines    int
	types    map[string]int
	problems map[string][]int // kind → line numbers
	rows     []*oracleRow     // in file order, of a repeated uuid the last
	byID     map[string]*oracleRow
	subagent bool
	last     *oracleRow
	leaf     string // of the latest last-prompt
}

type oracleRow struct {
	line                    int
	kind                    Kind
	uuid, parentID, logical string
	source, message         string
	side, summary, result   bool
	anchor, head, tail      string
	preserved, all          []string
	parent                  *oracleRow
	bridged                 bool
	marker                  bool
	order                   int
}

func readOracle(data []byte, max int) *oracle {
	o := &oracle{types: map[string]int{}, problems: map[string][]int{}, byID: map[string]*oracleRow{}}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	lines := bytes.SplitAfter(data, []byte("\n"))
	if len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1]
	}
	firstUse := map[string]bool{}
	var all []*oracleRow
	lastUUID := ""
	for i, l := range lines {
		o.lines++
		n := i + 1
		text, ended := bytes.CutSuffix(l, []byte("\n"))
		problem := func(kind string) { o.problems[kind] = append(o.problems[kind], n) }
		trimmed := bytes.Trim(text, " \t\r")
		var rec map[string]any
		switch {
		case len(trimmed) == 0:
			continue
		case len(text) > max:
			problem("long")
			continue
		case bytes.Contains(trimmed, []byte{0}):
			problem("nul")
			continue
		case !json.Valid(trimmed) && ended:
			problem("malformed")
			continue
		case !json.Valid(trimmed):
			problem("truncated")
			continue
		case json.Unmarshal(trimmed, &rec) != nil || rec == nil:
			problem("foreign")
			continue
		}
		typ, _ := rec["type"].(string)
		if typ == "" {
			problem("foreign")
			continue
		}
		// What begins as a record that is no conversation is none, whatever it says later.
		if begins := regexp.MustCompile(`^\{"type":"([^"\\]*)"`).FindSubmatch(trimmed); begins != nil && slices.ContainsFunc(noise, func(n []byte) bool { return bytes.Equal(n, begins[1]) }) {
			o.types[string(begins[1])]++
			continue
		}
		o.types[typ]++
		r := oracleRecord(rec)
		r.line = n
		if r.kind == NoKind {
			if s, _ := rec["leafUuid"].(string); typ == "last-prompt" && s != "" {
				o.leaf = s
			}
			continue
		}
		if r.marker {
			r.uuid = "marker " + string(rune(n))
		}
		if firstUse[r.uuid] {
			problem("duplicate")
		}
		all = append(all, r)
		firstUse[r.uuid] = true
	}
	// The last of each uuid.
	keep := map[string]*oracleRow{}
	for _, r := range all {
		keep[r.uuid] = r
	}
	o.subagent = len(all) > 0
	for _, r := range all {
		if r.kind.IsMessage() && !r.side {
			o.subagent = false
		}
	}
	used := map[string]bool{}
	for _, r := range all {
		if !used[r.uuid] && r.kind.IsMessage() && !r.marker && o.main(r) {
			lastUUID = r.uuid
		}
		used[r.uuid] = true
		if keep[r.uuid] == r {
			o.rows = append(o.rows, r)
		}
	}
	o.byID = keep
	o.last = keep[lastUUID]
	o.link()
	return o
}

func oracleRecord(rec map[string]any) *oracleRow {
	str := func(m map[string]any, k string) string { s, _ := m[k].(string); return s }
	flag := func(k string) bool { b, _ := rec[k].(bool); return b }
	list := func(m map[string]any, k string) []string {
		items, _ := m[k].([]any)
		var out []string
		for _, it := range items {
			s, _ := it.(string)
			out = append(out, s)
		}
		return out
	}
	r := &oracleRow{
		uuid: str(rec, "uuid"), parentID: str(rec, "parentUuid"), logical: str(rec, "logicalParentUuid"),
		source: str(rec, "sourceToolAssistantUUID"), side: flag("isSidechain"),
	}
	typ, sub := str(rec, "type"), str(rec, "subtype")
	collapse := strings.HasPrefix(typ, "context_collapse") || strings.HasPrefix(sub, "context_collapse") ||
		strings.HasPrefix(typ, "context-collapse") || strings.HasPrefix(sub, "context-collapse")
	switch {
	case r.uuid == "":
		if _, ok := rec["content"].(string); collapse && ok {
			r.kind, r.marker = Collapse, true
		}
	case typ == "user":
		r.kind = User
		r.summary = flag("isCompactSummary")
	case typ == "assistant":
		r.kind = Assistant
	case typ == "attachment":
		r.kind = Attachment
	case typ == "system" && sub == "compact_boundary":
		r.kind = Boundary
	case typ == "system" && !collapse:
		r.kind = System
	case typ == "progress":
		r.kind = Progress
	case collapse:
		r.kind = Collapse
	default:
		r.kind = Other
	}
	message, _ := rec["message"].(map[string]any)
	if r.kind == Assistant {
		r.message = str(message, "id")
	}
	blocks, _ := message["content"].([]any)
	for _, b := range blocks {
		if m, ok := b.(map[string]any); ok && str(m, "type") == "tool_result" {
			r.result = true
		}
	}
	if r.kind.IsBoundary() {
		if r.logical == "" {
			r.logical = str(rec, "leafUuid")
		}
		meta, _ := rec["compactMetadata"].(map[string]any)
		segment, _ := meta["preservedSegment"].(map[string]any)
		messages, _ := meta["preservedMessages"].(map[string]any)
		r.head, r.tail = str(segment, "headUuid"), str(segment, "tailUuid")
		if r.anchor = str(messages, "anchorUuid"); r.anchor == "" {
			r.anchor = str(segment, "anchorUuid")
		}
		r.preserved, r.all = list(messages, "uuids"), list(messages, "allUuids")
	}
	return r
}

func (o *oracle) main(r *oracleRow) bool { return o.subagent || !r.side }

func (o *oracle) link() {
	for i, r := range o.rows {
		r.order = i
		if r.parentID == "" {
			continue
		}
		if p := o.byID[r.parentID]; p != nil && (o.main(p) || !o.main(r)) {
			r.parent = p
			continue
		}
		o.problems["dangling"] = append(o.problems["dangling"], r.line)
		if r.kind.IsBoundary() {
			continue
		}
		for j := i - 1; j >= 0; j-- {
			if q := o.rows[j]; q.kind.IsMessage() && !q.marker && o.main(q) == o.main(r) {
				r.parent, r.bridged = q, true
				break
			}
		}
	}
	// Cycles: a row from which going up comes back to it, named by the first row.
	counted := map[*oracleRow]bool{}
	for _, r := range o.rows {
		seen := map[*oracleRow]bool{}
		at := r
		for at != nil && !seen[at] && !counted[at] {
			seen[at] = true
			at = at.parent
		}
		if at != nil && seen[at] {
			first := at
			for x := at.parent; x != at; x = x.parent {
				if x.order < first.order {
					first = x
				}
			}
			o.problems["cycle"] = append(o.problems["cycle"], first.line)
		}
		for x := range seen {
			counted[x] = true
		}
	}
}

// up is the way from leaf to where it begins, from there on, and the row at
// which a compaction ends it.
func (o *oracle) up(leaf *oracleRow) (line []*oracleRow, cut *oracleRow) {
	seen := map[*oracleRow]bool{}
	summary := false
	for at := leaf; at != nil && !seen[at]; {
		seen[at] = true
		if at.kind.IsMessage() {
			line = append(line, at)
		}
		summary = summary || at.summary
		if at.kind.IsBoundary() || summary && at.bridged {
			cut = at
			break
		}
		next := at.parent
		// A marker without a uuid counts by its place.
		for _, m := range o.rows[:at.order] {
			if m.marker && (next == nil || m.order > next.order) && (next == nil || !next.marker || m.order > next.order) {
				next = m
			}
		}
		at = next
	}
	slices.Reverse(line)
	return line, cut
}

func insertAfter(rows []*oracleRow, anchor *oracleRow, more []*oracleRow) []*oracleRow {
	at := min(1, len(rows))
	for i, r := range rows {
		if r == anchor {
			at = i + 1
		}
	}
	return slices.Insert(slices.Clone(rows), at, more...)
}

// kept is what a boundary preserves.
func (o *oracle) kept(b *oracleRow, depth int) []*oracleRow {
	names := b.preserved
	if len(names) == 0 {
		names = b.all
	}
	var out []*oracleRow
	for _, n := range names {
		if r := o.byID[n]; r != nil && r.kind.IsMessage() && n != "" {
			out = append(out, r)
		}
	}
	if len(names) > 0 || b.tail == "" {
		return out
	}
	head, tail := o.byID[b.head], o.byID[b.tail]
	if head == nil || tail == nil || depth > 100 {
		return nil
	}
	line, cut := o.up(tail)
	if cut != nil && cut.kind.IsBoundary() && !slices.Contains(line, head) && cut != b {
		line = insertAfter(line, o.byID[cut.anchor], o.kept(cut, depth+1))
	}
	if i := slices.Index(line, head); i >= 0 {
		return line[i:]
	}
	return nil
}

// chain gives the chain that ends in leaf and the set of what its boundary
// dropped.
func (o *oracle) chain(leaf *oracleRow) (rows []*oracleRow, dropped map[*oracleRow]bool) {
	rows, cut := o.up(leaf)
	extra := map[*oracleRow]bool{}
	dropped = map[*oracleRow]bool{}
	if cut != nil && cut.kind.IsBoundary() {
		var fresh []*oracleRow
		for _, k := range o.kept(cut, 0) {
			if !slices.Contains(rows, k) && !slices.Contains(fresh, k) {
				fresh = append(fresh, k)
			}
		}
		rows = insertAfter(rows, o.byID[cut.anchor], fresh)
		for _, n := range cut.all {
			if r := o.byID[n]; r != nil {
				extra[r] = true
			}
		}
	}
	on := map[*oracleRow]bool{}
	for _, r := range rows {
		on[r] = true
	}
	for c, n := cut, 0; c != nil && n <= len(o.rows); n++ {
		var before *oracleRow
		if c.kind.IsBoundary() {
			before = o.byID[c.logical]
			if p := o.byID[c.parentID]; before == nil && c.parentID != "" && p != nil && o.main(p) {
				before = p
			}
		}
		for j := c.order - 1; j >= 0 && before == nil; j-- {
			if q := o.rows[j]; q.kind.IsMessage() && o.main(q) {
				before = q
			}
		}
		if before == nil {
			break
		}
		var line []*oracleRow
		line, c = o.up(before)
		stop := false
		for _, r := range slices.Backward(line) {
			if dropped[r] {
				stop = true
				break
			}
			if !on[r] {
				dropped[r] = true
			}
		}
		if stop {
			break
		}
	}
	return o.rejoin(rows, on, dropped, extra, cut, o.main(leaf)), dropped
}

func (o *oracle) rejoin(rows []*oracleRow, on, dropped, extra map[*oracleRow]bool, cut *oracleRow, main bool) []*oracleRow {
	allowed := func(r *oracleRow) bool {
		if o.main(r) != main || on[r] || dropped[r] && !extra[r] {
			return false
		}
		return cut == nil || r.order >= cut.order || extra[r]
	}
	defer o.dropGroups(on, dropped, main)
	anchors := map[string]*oracleRow{}
	for _, r := range rows {
		if r.kind == Assistant && r.message != "" {
			anchors[r.message] = r
		}
	}
	var out []*oracleRow
	for _, r := range rows {
		out = append(out, r)
		if r.kind != Assistant || r.message == "" || anchors[r.message] != r {
			continue
		}
		group := map[string]bool{}
		var calls, results []*oracleRow
		for _, q := range o.rows {
			if q.kind != Assistant || q.message != r.message || o.main(q) != main {
				continue
			}
			group[q.uuid] = true
			if allowed(q) {
				calls = append(calls, q)
			}
		}
		for _, q := range o.rows {
			if q.kind == User && q.result && allowed(q) && group[o.call(q)] {
				results = append(results, q)
			}
		}
		for _, q := range append(slices.Clone(calls), results...) {
			on[q] = true
			delete(dropped, q)
			out = append(out, q)
		}
	}
	return out
}

// dropGroups adds to what was dropped the parallel calls and results beside it.
func (o *oracle) dropGroups(on, dropped map[*oracleRow]bool, main bool) {
	ids := map[string]bool{}
	for r := range dropped {
		if r.kind == Assistant && r.message != "" {
			ids[r.message] = true
		}
	}
	for _, q := range o.rows {
		if q.kind == Assistant && ids[q.message] && !on[q] && o.main(q) == main {
			dropped[q] = true
		}
	}
	for _, q := range o.rows {
		if q.kind != User || !q.result || on[q] || o.main(q) != main {
			continue
		}
		if p := o.byID[o.call(q)]; p != nil && p.kind == Assistant && p.message != "" && dropped[p] && o.main(p) == main {
			dropped[q] = true
		}
	}
}

func (o *oracle) call(r *oracleRow) string {
	if r.source != "" {
		return r.source
	}
	seen := map[*oracleRow]bool{}
	p := r.parent
	for p != nil && !p.kind.IsMessage() && !seen[p] {
		seen[p] = true
		p = p.parent
	}
	if p == nil {
		return ""
	}
	return p.uuid
}

// choose is the client's choice of a chain.
func (o *oracle) choose() ([]*oracleRow, Choice) {
	if o.last == nil {
		return nil, ByNothing
	}
	rows, dropped := o.chain(o.last)
	other := o.byID[o.leaf]
	if o.leaf == "" || other == nil || !o.main(other) {
		return rows, ByFileOrder
	}
	for n := 0; !other.kind.IsMessage() && other.parent != nil && n < len(o.rows); n++ {
		other = other.parent
	}
	if slices.Contains(rows, other) || dropped[other] || !other.kind.IsMessage() {
		return rows, ByFileOrder
	}
	rows, _ = o.chain(other)
	return rows, ByLastPrompt
}
