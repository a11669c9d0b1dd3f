package transcript

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"
)

// partSize is how much of a file one worker takes at a time, so that all of them
// end at about the same time wherever the conversation lies.
const partSize = 16 << 20

// Read makes one pass over the first size bytes of src: over those from
// o.From on. A file that grows meanwhile is read up to size; one that shrinks
// gives what was there, with Shrunk set. What is wrong with lines is no error but
// in Problems.
//
// It returns an error when ctx is done or reading fails, and ErrNoRecords
// together with the transcript when the file has content and not one record.
func Read(ctx context.Context, src io.ReaderAt, size int64, o Options) (*Transcript, error) {
	if size < 0 || o.From < 0 {
		return nil, fmt.Errorf("reading a transcript: size %d from %d is no range", size, o.From)
	}
	o = o.withDefaults()
	g := newGrid(src, size, o)
	g.joined = newAssembly(o.From)
	err := g.scan(ctx, 0, len(g.parts))
	shrunk := errors.Is(err, errShort)
	if err != nil && !shrunk {
		return nil, err
	}
	t := g.joined.finish()
	t.Shrunk = shrunk
	return t, g.joined.verdict()
}

func (o Options) withDefaults() Options {
	if o.MaxRecord <= 0 {
		o.MaxRecord = DefaultMaxRecord
	}
	o.MaxRecord = min(o.MaxRecord, maxMaxRecord)
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.part <= 0 {
		o.part = partSize
	}
	if o.window <= 0 {
		o.window = windowSize
	}
	return o
}

// grid is a range of a file, divided into parts of partSize.
type grid struct {
	src   io.ReaderAt
	size  int64
	o     Options
	parts []*part // nil where they have not been read, or are joined already
	done  int64   // bytes, for Progress

	// joined takes the parts as soon as all before them are there, so that their
	// rows lie in memory once; nil where they are joined later.
	joined *assembly
	free   [][]Row // of parts that are joined
}

func newGrid(src io.ReaderAt, size int64, o Options) *grid {
	total := max(0, size-o.From)
	return &grid{src: src, size: size, o: o, parts: make([]*part, (total+o.part-1)/o.part)}
}

// scan reads the parts from lo to hi, with several workers where there are
// several. Where one fails the others end. It returns errShort when the file
// became shorter.
func (g *grid) scan(ctx context.Context, lo, hi int) error {
	total := g.size - g.o.From
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)

	var mu sync.Mutex
	next, short := lo, false
	claim := func() int {
		mu.Lock()
		defer mu.Unlock()
		next++
		return next - 1
	}
	moved := func(n int64) {
		if g.o.Progress == nil || n <= 0 {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		g.done += n
		g.o.Progress(g.done, total)
	}
	work := func() {
		s := &lineScanner{
			src: g.src, size: g.size, max: g.o.MaxRecord, strict: g.o.Strict, moved: moved,
			walker: newWalker(), window: make([]byte, min(g.o.window, max(total, 16))),
		}
		for {
			i := claim()
			if i >= hi {
				return
			}
			from := g.o.From + int64(i)*g.o.part
			mu.Lock()
			s.rows = g.takeRows()
			mu.Unlock()
			p, err := s.scan(ctx, from, min(from+g.o.part, g.size), i == 0)
			if err != nil && !errors.Is(err, errShort) {
				cancel(err)
				return
			}
			mu.Lock()
			short = short || err != nil
			g.parts[i] = p
			g.join()
			mu.Unlock()
		}
	}
	var wg sync.WaitGroup
	for range min(g.o.Workers, hi-lo) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if short {
		return errShort
	}
	return nil
}

// join joins what is there in order, if that is to be done at once.
func (g *grid) join() {
	if g.joined == nil {
		return
	}
	for n := g.joined.parts; n < len(g.parts) && g.parts[n] != nil; n = g.joined.parts {
		p := g.parts[n]
		g.joined.join(p)
		g.free = append(g.free, p.rows[:0])
		g.parts[n] = nil
	}
}

// takeRows gives memory for the rows of a part.
func (g *grid) takeRows() []Row {
	if n := len(g.free); n > 0 {
		rows := g.free[n-1]
		g.free = g.free[:n-1]
		return rows
	}
	return nil
}

// assembly joins parts in the order of the file.
type assembly struct {
	t       *Transcript
	sum     facts
	parts   int // joined
	content bool
}

func newAssembly(base int64) *assembly {
	return &assembly{t: &Transcript{Types: map[string]int{}, Base: base, Size: base}}
}

// assemble joins parts that stay as they are.
func assemble(parts []*part, base int64) *assembly {
	a := newAssembly(base)
	for _, p := range parts {
		a.join(p)
	}
	return a
}

// finish makes the tree of what was joined.
func (a *assembly) finish() *Transcript {
	a.t.unite()
	a.t.link()
	a.t.conclude(&a.sum)
	return a.t
}

// verdict is ErrNoRecords where there is content and no record.
func (a *assembly) verdict() error {
	if a.content && len(a.t.Types) == 0 {
		return ErrNoRecords
	}
	return nil
}

// facts are what the parts tell of the session.
type facts struct {
	customTitle, aiTitle   string
	mainPrompt, sidePrompt string
	agent                  string
	hasMain                bool
	compactions            compactions
}

func (a *assembly) join(p *part) {
	t, sum := a.t, &a.sum
	base := uint32(t.Lines)
	a.parts++
	a.content = a.content || p.hasContentLine
	t.Rows.add(p.rows, base)
	for name, n := range p.types {
		if _, ok := t.Types[name]; !ok && len(t.Types) >= maxTypes {
			name = OtherTypes
		}
		t.Types[name] += *n
	}
	t.Problems.join(&p.problems, base)
	for _, c := range p.compactions.all {
		sum.compactions.add(c)
	}
	for _, s := range p.summaries {
		s.Line += base
		t.Summaries = addSummary(t.Summaries, s)
	}
	for _, h := range p.history {
		h.line += base
		t.history = append(t.history, h)
	}
	for _, c := range p.cwds {
		t.Cwds = addCwd(t.Cwds, c)
	}
	later(&t.Session, string(p.session))
	later(&t.Branch, string(p.branch))
	later(&t.Version, string(p.version))
	later(&t.Model, string(p.model))
	later(&sum.agent, string(p.agent))
	later(&sum.customTitle, p.customTitle)
	later(&sum.aiTitle, p.aiTitle)
	earlier(&sum.mainPrompt, p.mainPrompt)
	earlier(&sum.sidePrompt, p.sidePrompt)
	if !p.lastPrompt.IsZero() {
		t.LastPrompt = p.lastPrompt
	}
	sum.hasMain = sum.hasMain || p.hasMain
	t.Subagent = !sum.hasMain && t.Rows.Len() > 0
	t.Lines += p.lines
	t.Size = max(t.Size, p.end)
}

func later(to *string, s string) {
	if s != "" {
		*to = s
	}
}

func earlier(to *string, s string) {
	if *to == "" {
		*to = s
	}
}

func (p *Problems) join(q *Problems, base uint32) {
	var to []*Problem
	p.each(func(_ string, x *Problem) { to = append(to, x) })
	i := 0
	q.each(func(_ string, x *Problem) {
		for _, l := range x.Lines[:min(len(x.Lines), maxProblemLines-len(to[i].Lines))] {
			to[i].Lines = append(to[i].Lines, l+base)
		}
		to[i].Count += x.Count
		i++
	})
}

// conclude fills in what needs the whole.
func (t *Transcript) conclude(sum *facts) {
	t.Compactions = sum.compactions.all
	t.said = make(map[UUID]int32, len(t.Compactions))
	for i := range t.Compactions {
		t.said[t.Compactions[i].UUID] = int32(i)
	}
	if len(t.Summaries) > maxSummaries {
		t.Summaries = t.Summaries[len(t.Summaries)-maxSummaries:]
	}
	t.FirstPrompt = sum.mainPrompt
	if t.Subagent {
		t.FirstPrompt, t.Agent = sum.sidePrompt, sum.agent
	}
	var first, last uint32
	for i := range t.Rows.Len() {
		r := t.Rows.At(i)
		if r.Kind == Collapse && r.isMarker() {
			t.markers = append(t.markers, int32(i))
		}
		if !t.inMain(r) || !r.Kind.IsMessage() {
			continue
		}
		if r.Flags.Has(FlagPrompt) {
			t.Turns++
		}
		if r.Time != 0 {
			if first == 0 || r.Time < first {
				first = r.Time
			}
			last = max(last, r.Time)
		}
	}
	t.Start, t.End = when(first), when(last)
	switch {
	case sum.customTitle != "":
		t.Title, t.TitleFrom = sum.customTitle, TitleCustom
	case sum.aiTitle != "":
		t.Title, t.TitleFrom = sum.aiTitle, TitleAI
	default:
		if t.Title = t.summaryTitle(); t.Title != "" {
			t.TitleFrom = TitleSummary
		}
	}
}

// summaryTitle is the newest summary row for a leaf of this file, else the
// newest one: older clients wrote those of other sessions' leaves as well.
func (t *Transcript) summaryTitle() string {
	for i := len(t.Summaries) - 1; i >= 0; i-- {
		if _, ok := t.Row(t.Summaries[i].Leaf); ok {
			return t.Summaries[i].Text
		}
	}
	if n := len(t.Summaries); n > 0 {
		return t.Summaries[n-1].Text
	}
	return ""
}

func when(seconds uint32) time.Time {
	if seconds == 0 {
		return time.Time{}
	}
	return time.Unix(int64(seconds), 0).UTC()
}

// inMain reports whether a row belongs to the conversation of this file: not to
// a subagent, unless the file is a subagent's own.
func (t *Transcript) inMain(r *Row) bool {
	return t.Subagent || !r.Flags.Has(FlagSidechain)
}
