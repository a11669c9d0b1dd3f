package transcript

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// part collects what one range of lines holds. Lines count from 1 within it.
type part struct {
	walker *walker
	max    int64
	strict bool

	lines    int
	start    int64 // offset of the first line that begins here
	length   int64 // bytes of the range
	end      int64 // offset after the last line
	types    map[string]*int
	rows     []Row
	problems Problems

	compactions compactions
	summaries   []Summary
	history     []span

	lastPrompt              UUID
	customTitle, aiTitle    string
	mainPrompt, sidePrompt  string // the first ones
	cwds                    []string
	lastCwd                 []byte
	session, agent, branch  []byte
	version, model          []byte
	hasMain, hasContentLine bool
}

func newPart(w *walker, max int64, strict bool) *part {
	return &part{walker: w, max: max, strict: strict, types: map[string]*int{}}
}

// line takes a line without its line end.
func (p *part) line(line []byte, offset int64) {
	p.lines++
	p.content(line, offset, true)
}

// lastLine takes a line that the end of the file cuts or ends.
func (p *part) lastLine(line []byte, offset int64) {
	p.lines++
	p.content(line, offset, false)
}

func (p *part) content(line []byte, offset int64, ended bool) {
	trimmed := trimSpace(line)
	if len(trimmed) == 0 {
		return
	}
	p.hasContentLine = true
	n := uint32(p.lines)
	if int64(len(line)) > p.max {
		p.problems.TooLong.add(n)
		return
	}
	if bytes.IndexByte(trimmed, 0) >= 0 {
		p.problems.NUL.add(n)
		return
	}
	if !p.strict {
		if t := noiseType(trimmed); t != nil {
			p.noise(t, trimmed[len(trimmed)-1] == '}', n, ended)
			return
		}
	}
	switch p.walker.walk(trimmed) {
	case isRecord:
		if t := noiseType(trimmed); t != nil {
			// Two writers' rows can run into one that says its type twice. It is what it
			// begins with, however much of it is looked at.
			p.count(t)
			return
		}
		p.record(trimmed, span{offset + int64(leading(line)), uint32(len(trimmed)), n})
	case isForeign:
		p.problems.Foreign.add(n)
	default:
		p.malformed(n, ended)
	}
}

// leading counts the white space that a line begins with.
func leading(line []byte) int {
	n := 0
	for n < len(line) && (line[n] == ' ' || line[n] == '\t' || line[n] == '\r') {
		n++
	}
	return n
}

// longLine counts a line that was too long to keep.
func (p *part) longLine(l *longLine, offset, max int64, ended bool) {
	p.lines++
	p.hasContentLine = true
	n := uint32(p.lines)
	switch {
	case l.size > max:
		p.problems.TooLong.add(n)
	case l.nul:
		p.problems.NUL.add(n)
	default:
		p.noise(l.typ, l.last == '}', n, ended)
	}
}

// noise counts a record that is known to be no conversation by its ends.
func (p *part) noise(typ []byte, closed bool, line uint32, ended bool) {
	if closed {
		p.count(typ)
	} else {
		p.malformed(line, ended)
	}
}

func (p *part) malformed(line uint32, ended bool) {
	if ended {
		p.problems.Malformed.add(line)
	} else {
		p.problems.Truncated.add(line)
	}
}

func (p *part) count(typ []byte) {
	if n := p.types[string(typ)]; n != nil {
		*n++
		return
	}
	if len(typ) > maxTypeName || len(p.types) >= maxTypes {
		typ = []byte(OtherTypes)
		if n := p.types[OtherTypes]; n != nil {
			*n++
			return
		}
	}
	n := 1
	p.types[string(typ)] = &n
}

// record takes the record that the walker holds.
func (p *part) record(line []byte, at span) {
	r := &p.walker.rec
	typ := r.typ.bytes()
	p.count(typ)
	kind := r.kind()
	p.cwd(r.cwd)
	if kind == NoKind {
		p.outside(string(typ), line, at)
		return
	}
	row := Row{
		Offset: at.offset, Len: at.len, Line: at.line, Kind: kind, Flags: r.flags(kind),
		UUID: parseUUID(r.uuid.bytes()), Parent: parseUUID(r.parent.bytes()),
		Time: seconds(r.timestamp.bytes()),
	}
	if kind == Collapse && row.UUID.IsZero() {
		row.UUID = markerID(at.offset)
	}
	switch {
	case kind == Assistant && r.messageID.set:
		row.Ref = hashID(r.messageID.bytes())
	case kind != Assistant && r.source.set:
		row.Ref = parseUUID(r.source.bytes()).key()
	}
	if kind.IsBoundary() {
		p.compaction(row.UUID, r)
	}
	if len(p.rows) == cap(p.rows) {
		p.grow(at.offset)
	}
	p.rows = append(p.rows, row)
	if kind.IsMessage() {
		p.facts(r, &row)
	}
}

// maxGrowth is how many times what is needed is reserved for the rows of a part to come. What
// of it is not used is never touched.
const maxGrowth = 64

// grow makes room for as many rows as the range will have, judged by the part of it before
// offset: growing step by step would leave several times as much behind.
func (p *part) grow(offset int64) {
	n := len(p.rows)
	more := max(n, 256)
	if done := offset - p.start; n > 0 && done > 0 {
		more = int(min(max(float64(n)*float64(p.length)/float64(done)*1.05-float64(n), float64(n)/4+16), maxGrowth*float64(more)))
	}
	rows := make([]Row, n, n+more)
	copy(rows, p.rows)
	p.rows = rows
}

// facts keeps what is told of the session as a whole.
func (p *part) facts(r *record, row *Row) {
	keep := func(to *[]byte, s str) {
		if s.set && len(s.raw) > 0 && !bytes.Equal(*to, s.raw) {
			*to = append((*to)[:0], s.bytes()...)
		}
	}
	side := row.Flags.Has(FlagSidechain)
	p.hasMain = p.hasMain || !side
	keep(&p.session, r.session)
	keep(&p.branch, r.branch)
	keep(&p.version, r.version)
	keep(&p.agent, r.agent)
	if row.Kind == Assistant && !bytes.HasPrefix(r.model.bytes(), []byte("<")) {
		keep(&p.model, r.model)
	}
	if row.Flags.Has(FlagPrompt) {
		first := &p.mainPrompt
		if side {
			first = &p.sidePrompt
		}
		if *first == "" {
			*first = shorten(string(r.text.bytes()))
		}
	}
}

func (p *part) cwd(s str) {
	if !s.set || len(s.raw) == 0 || bytes.Equal(p.lastCwd, s.raw) {
		return
	}
	p.lastCwd = append(p.lastCwd[:0], s.raw...)
	p.cwds = addCwd(p.cwds, string(s.bytes()))
}

func addCwd(cwds []string, cwd string) []string {
	if len(cwds) >= maxCwds || len(cwd) > 1<<14 {
		return cwds
	}
	for _, c := range cwds {
		if c == cwd {
			return cwds
		}
	}
	return append(cwds, cwd)
}

// compaction keeps what a boundary says of what it preserves.
func (p *part) compaction(u UUID, r *record) {
	c := Compaction{UUID: u, Logical: parseUUID(r.logical.bytes())}
	if c.Logical.IsZero() {
		c.Logical = parseUUID(r.leaf.bytes())
	}
	if len(r.compact) > 0 {
		var m struct {
			Trigger   string
			PreTokens float64
			Post      float64 `json:"postTokens"`
			Segment   struct {
				Head   UUID `json:"headUuid"`
				Anchor UUID `json:"anchorUuid"`
				Tail   UUID `json:"tailUuid"`
			} `json:"preservedSegment"`
			Messages struct {
				Anchor UUID   `json:"anchorUuid"`
				UUIDs  []UUID `json:"uuids"`
				All    []UUID `json:"allUuids"`
			} `json:"preservedMessages"`
		}
		// What has another type than it should is left out; the rest counts.
		_ = json.Unmarshal(r.compact, &m)
		c.Trigger, c.PreTokens, c.PostTokens = m.Trigger, int(m.PreTokens), int(m.Post)
		c.Head, c.Tail, c.Anchor = m.Segment.Head, m.Segment.Tail, m.Messages.Anchor
		if c.Anchor.IsZero() {
			c.Anchor = m.Segment.Anchor
		}
		c.Preserved, c.AllPreserved = m.Messages.UUIDs, m.Messages.All
	}
	p.compactions.add(c)
}

// compactions are those of a file, the newest maxCompactions at least, of which
// the newest keep what they preserve.
type compactions struct {
	all       []Compaction
	preserved int // uuids in all
	forgotten int // the first ones, that lost theirs
}

// add appends c and forgets the oldest where there is more than any session has.
func (s *compactions) add(c Compaction) {
	if len(s.all) >= 2*maxCompactions {
		for _, old := range s.all[:maxCompactions] {
			s.preserved -= len(old.Preserved) + len(old.AllPreserved)
		}
		s.all = s.all[:copy(s.all, s.all[maxCompactions:])]
		s.forgotten = max(0, s.forgotten-maxCompactions)
	}
	s.all = append(s.all, c)
	s.preserved += len(c.Preserved) + len(c.AllPreserved)
	for ; s.preserved > maxPreserved && s.forgotten < len(s.all); s.forgotten++ {
		old := &s.all[s.forgotten]
		s.preserved -= len(old.Preserved) + len(old.AllPreserved)
		old.Preserved, old.AllPreserved = nil, nil
	}
}

// outside takes a record that is not in the tree.
func (p *part) outside(typ string, line []byte, at span) {
	r := &p.walker.rec
	switch typ {
	case "last-prompt":
		if r.leaf.set && len(r.leaf.raw) > 0 {
			p.lastPrompt = parseUUID(r.leaf.bytes())
		}
	case "custom-title":
		var t struct{ CustomTitle string }
		if json.Unmarshal(line, &t) == nil && t.CustomTitle != "" {
			p.customTitle = shorten(t.CustomTitle)
		}
	case "ai-title":
		var t struct{ AITitle string }
		if json.Unmarshal(line, &t) == nil && t.AITitle != "" {
			p.aiTitle = shorten(t.AITitle)
		}
	case "summary":
		var t struct{ Summary string }
		if json.Unmarshal(line, &t) == nil && t.Summary != "" {
			p.summaries = addSummary(p.summaries, Summary{Leaf: parseUUID(r.leaf.bytes()), Text: shorten(t.Summary), Line: at.line})
		}
	case "file-history-snapshot", "file-history-delta":
		p.history = append(p.history, at)
	}
}

func addSummary(all []Summary, s Summary) []Summary {
	if len(all) >= 2*maxSummaries {
		all = all[:copy(all, all[maxSummaries:])]
	}
	return append(all, s)
}

// shorten bounds a text to one line of at most maxText bytes.
func shorten(s string) string {
	if len(s) > 4*maxText {
		s = s[:4*maxText]
	}
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\ufffd")), " ")
	if len(s) <= maxText {
		return s
	}
	cut := maxText
	for !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// hashID shortens a message.id; 0 is none. Two of a file's ids coincide once
// in a few billion files.
func hashID(id []byte) uint64 {
	if len(id) == 0 {
		return 0
	}
	h := uint64(14695981039346656037)
	for _, c := range id {
		h = (h ^ uint64(c)) * 1099511628211
	}
	// FNV alone leaves the low bits of similar ids similar.
	h ^= h >> 32
	h *= 0x9e3779b97f4a7c15
	h ^= h >> 29
	if h == 0 {
		h = 1
	}
	return h
}

// markerID gives a marker without a uuid one, from where it stands.
func markerID(offset int64) UUID {
	b, _ := json.Marshal([]any{"marker", offset})
	return parseUUID(b)
}
