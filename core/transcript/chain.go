package transcript

import "slices"

// Choice says why a chain has the leaf that it has.
type Choice string

// The ways in which a leaf is chosen.
const (
	ByAsking     Choice = "asked"        // the caller named it
	ByFileOrder  Choice = "last-message" // the last message row in file order
	ByLastPrompt Choice = "last-prompt"  // the latest last-prompt record names another branch
	ByNothing    Choice = "none"         // there is no message row, or not the one that was asked for
)

// Chain is a conversation from its beginning, or from the boundary that it
// starts at, to its leaf.
type Chain struct {
	Leaf UUID
	By   Choice
	// Rows are indexes into Transcript.Rows in the order in which the client
	// would send them: messages only, system rows and attachments among them.
	// The last one is the resume point: what comes next has it as its parent.
	Rows []int
	// Boundary is the index of the row that the chain starts at because what is
	// before it was compacted, -1 without one.
	Boundary int
	// Bridged are the rows of the chain whose parent is missing, so that the row
	// before them in the file stands in. Rejoined are results and calls of
	// parallel tools that hang beside the line. Preserved are messages from
	// before the boundary that it kept.
	Bridged, Rejoined, Preserved []int
	// Lost counts messages that the boundary says it preserved but that the
	// file does not hold.
	Lost int
	// Cycle says that the chain ends where it came back to itself.
	Cycle    bool
	Coverage Coverage

	marks []uint8 // what each row is to this chain
}

// ResumePoint is the uuid that the next message has as its parent: zero for an
// empty chain.
func (c *Chain) ResumePoint(t *Transcript) UUID {
	if len(c.Rows) == 0 {
		return UUID{}
	}
	return t.Rows.At(c.Rows[len(c.Rows)-1]).UUID
}

// Coverage says what became of a file's records. Messages is the sum of OnChain,
// Compacted, Sidechain and Unreachable.
type Coverage struct {
	Records     int `json:"records"`     // lines that are records, of any type
	Messages    int `json:"messages"`    // message rows; of a repeated uuid one
	OnChain     int `json:"onChain"`     // on the chain
	Compacted   int `json:"compacted"`   // before the chain's boundary
	Sidechain   int `json:"sidechain"`   // of subagents
	Unreachable int `json:"unreachable"` // the rest
	// Why says why rows are unreachable.
	Why []Unreached `json:"why,omitempty"`
	// Pending says that the part of the file before Transcript.Base is in no
	// count.
	Pending bool `json:"pending,omitempty"`
}

// Reason says why rows are not on a chain.
type Reason string

// The reasons.
const (
	OffBranch Reason = "branch"   // on another branch of the conversation: a rewind, or after the leaf
	Detached  Reason = "detached" // below another beginning
	InCycle   Reason = "cycle"    // in a cycle or below one
)

// Unreached counts the rows that are unreachable for one reason.
type Unreached struct {
	Reason Reason   `json:"reason"`
	Count  int      `json:"count"`
	Lines  []uint32 `json:"lines,omitempty"` // the first 20
}

// Chain returns the conversation that ends in leaf; the zero leaf stands for the
// client's own choice. It is empty when there is no such row.
func (t *Transcript) Chain(leaf UUID) *Chain {
	w := t.newWalk()
	c := &Chain{Boundary: -1, By: ByNothing, Leaf: leaf}
	at, by := t.leaf(leaf)
	if at < 0 {
		c.Coverage = w.coverage()
		return c
	}
	w.build(c, at)
	if by == ByFileOrder {
		// The client follows the latest last-prompt where that leads to another
		// branch.
		if other, ok := t.otherBranch(w); ok {
			w = t.newWalk()
			*c = Chain{Boundary: -1}
			w.build(c, other)
			at, by = other, ByLastPrompt
		}
	}
	c.Leaf, c.By = t.Rows.At(int(at)).UUID, by
	c.Coverage, c.marks = w.coverage(), w.marks
	return c
}

// leaf finds the row to start from, -1 for none.
func (t *Transcript) leaf(asked UUID) (int, Choice) {
	if asked.IsZero() {
		if t.last == noParent {
			return -1, ByNothing
		}
		return t.last, ByFileOrder
	}
	if i, ok := t.Row(asked); ok {
		return i, ByAsking
	}
	return -1, ByNothing
}

// otherBranch returns the row that the latest last-prompt names if it is known
// and neither an ancestor of the chain that w walked nor part of it.
func (t *Transcript) otherBranch(w *walk) (int, bool) {
	i, ok := t.Row(t.LastPrompt)
	if !ok || !t.inMain(t.Rows.At(i)) {
		return 0, false
	}
	// Rows that only link have no place on a chain; what they hang on has.
	for steps := 0; !t.Rows.At(i).Kind.IsMessage() && t.links[i] != noParent && steps < t.Rows.Len(); steps++ {
		i = int(t.links[i])
	}
	if m := w.marks[i]; m == onChain || m == compacted || !t.Rows.At(i).Kind.IsMessage() {
		return 0, false
	}
	return i, true
}

// The marks of rows while a chain is built.
const (
	unmarked uint8 = iota
	onChain
	compacted
	passed // links the chain, is not on it
	// The rest is what unreachable rows turn out to be.
	offBranch
	detached
	inCycle
	visiting
)

// walk builds one chain.
type walk struct {
	t     *Transcript
	marks []uint8
	side  bool             // the chain is of a sidechain
	cut   int              // the row at which a compaction starts the chain, -1 without one
	calls map[uint64]int32 // rows of tool calls by the short form of their uuid, when needed
}

func (t *Transcript) newWalk() *walk {
	return &walk{t: t, marks: make([]uint8, t.Rows.Len()), cut: -1}
}

// build fills c with the chain that ends in the row at leaf, and marks what the
// chain's boundary dropped.
func (w *walk) build(c *Chain, leaf int) {
	w.side = !w.t.inMain(w.t.Rows.At(leaf))
	line := w.line(leaf, onChain)
	c.Rows, c.Boundary, c.Cycle = line.rows, line.boundary, line.cycle
	if w.cut = line.start; w.cut >= 0 {
		w.preserve(c)
		w.drop(w.cut)
	}
	w.rejoin(c)
	for _, i := range c.Rows {
		if w.t.Rows.At(i).Flags.Has(FlagBridged) && i != line.start {
			c.Bridged = append(c.Bridged, i)
		}
	}
}

// line is one way from a leaf up to a beginning or a boundary.
type line struct {
	rows     []int // messages, from the start to the leaf; none of a line that was compacted
	start    int   // the row at which a compaction ended the way, -1 without one
	boundary int   // the same if it is a boundary
	cycle    bool
}

// line walks up from leaf and marks what it passes.
func (w *walk) line(leaf int, mark uint8) line {
	t := w.t
	l := line{start: -1, boundary: -1}
	if mark == onChain {
		// A conversation without a compaction has nearly every row on its chain: growing step by
		// step would hold a large one several times.
		l.rows = make([]int, 0, leaf+1)
	}
	summary := false // a compaction's summary was passed
	steps := 0
	for at := int32(leaf); at != noParent; {
		r := t.Rows.At(int(at))
		switch m := w.marks[at]; {
		case m == unmarked && r.Kind.IsMessage():
			w.marks[at] = mark
			if mark == onChain {
				l.rows = append(l.rows, int(at))
			}
		case m == unmarked:
			w.marks[at] = passed
		case mark == compacted && (m == onChain || m == passed) && steps < t.Rows.Len():
			steps++ // what was preserved lies on the way to what was not
		default:
			l.cycle = m == mark || m == passed
			at = noParent
			continue
		}
		summary = summary || r.Flags.Has(FlagCompactSummary)
		switch {
		case r.Kind.IsBoundary():
			l.start, l.boundary = int(at), int(at)
			at = noParent
		case summary && r.Flags.Has(FlagBridged):
			// The boundary before this summary is lost. What a bridge would lead
			// to is what the summary stands for.
			l.start, at = int(at), noParent
		default:
			next := t.links[at]
			if m := t.markerBetween(next, at); m >= 0 {
				next = m
			}
			at = next
		}
	}
	if cap(l.rows) > 2*len(l.rows) {
		l.rows = slices.Clone(l.rows)
	}
	slices.Reverse(l.rows)
	return l
}

// markerBetween returns the last marker without a uuid that stands in the file
// between a row and its parent, -1 for none. Such a marker is a boundary by its
// place only.
func (t *Transcript) markerBetween(parent, row int32) int32 {
	if len(t.markers) == 0 {
		return -1
	}
	i, _ := slices.BinarySearch(t.markers, row)
	if i == 0 || t.markers[i-1] <= parent {
		return -1
	}
	return t.markers[i-1]
}

// drop marks what a compaction at start dropped: the line that led there, as far
// back as the file goes.
func (w *walk) drop(start int) {
	t := w.t
	seen := map[int]bool{}
	for start >= 0 && !seen[start] {
		seen[start] = true
		before := t.logicalParent(start)
		if before < 0 {
			return
		}
		start = w.line(before, compacted).start
	}
}

// inWalk reports whether a row belongs to the same conversation as the chain.
func (w *walk) inWalk(r *Row) bool { return w.t.inMain(r) != w.side }

// logicalParent is the row that a boundary follows: the one that it names, else
// the message before it in the file. -1 for none.
func (t *Transcript) logicalParent(start int) int {
	r := t.Rows.At(start)
	if r.Kind.IsBoundary() {
		if c, ok := t.compaction(r.UUID); ok {
			if i, ok := t.Row(c.Logical); ok {
				return i
			}
		}
		if i, ok := t.Row(r.Parent); ok && t.inMain(t.Rows.At(i)) {
			return i
		}
	}
	for i := start - 1; i >= 0; i-- {
		if q := t.Rows.At(i); q.Kind.IsMessage() && t.inMain(q) {
			return i
		}
	}
	return -1
}

// compaction returns what the boundary u says.
func (t *Transcript) compaction(u UUID) (*Compaction, bool) {
	i, ok := t.said[u]
	if !ok {
		return nil, false
	}
	return &t.Compactions[i], true
}

// coverage counts the marks.
func (w *walk) coverage() Coverage {
	t := w.t
	var v Coverage
	for _, n := range t.Types {
		v.Records += n
	}
	v.Pending = t.Base > 0
	reasons := map[uint8]*Unreached{
		offBranch: {Reason: OffBranch}, detached: {Reason: Detached}, inCycle: {Reason: InCycle},
	}
	for i := range t.Rows.Len() {
		r := t.Rows.At(i)
		if !r.Kind.IsMessage() {
			continue
		}
		v.Messages++
		switch {
		case w.marks[i] == onChain:
			v.OnChain++
		case w.marks[i] == compacted:
			v.Compacted++
		case !t.inMain(r):
			v.Sidechain++
		default:
			v.Unreachable++
			u := reasons[w.reason(int32(i))]
			u.Count++
			if len(u.Lines) < maxProblemLines {
				u.Lines = append(u.Lines, r.Line)
			}
		}
	}
	for _, m := range []uint8{offBranch, detached, inCycle} {
		if reasons[m].Count > 0 {
			v.Why = append(v.Why, *reasons[m])
		}
	}
	return v
}

// reason finds why a row is unreachable: where the way up from it leads. It
// marks what it passes, so that each row is passed once.
func (w *walk) reason(i int32) uint8 {
	at, found := i, detached
	for at != noParent && w.marks[at] == unmarked {
		w.marks[at] = visiting
		at = w.t.links[at]
	}
	if at != noParent {
		switch m := w.marks[at]; m {
		case onChain, compacted, passed:
			found = offBranch
		case visiting:
			found = inCycle
		default:
			found = m
		}
	}
	for at = i; at != noParent && w.marks[at] == visiting; at = w.t.links[at] {
		w.marks[at] = found
	}
	return found
}
