package deliver

import (
	"fmt"
	"slices"
	"strings"

	"mem/core/transcript"
	"mem/core/transcript/shown"
)

// reserve is kept for what is known last, in quarters of a token: the cursor,
// what is left out and where, and notes.
const reserve = 2200

func (j *job) deliver() (*Delivery, error) {
	d, _, err := j.page()
	return d, err
}

// page makes the delivery, and tells what is on it.
func (j *job) page() (*Delivery, page, error) {
	var p page
	d, err := j.facts()
	if err != nil {
		return nil, p, err
	}
	base := weigh(d)
	if j.o.Format == Brief {
		base += shown.Cost(briefHead(d))
	}
	for range 3 {
		// Secrets that were found on the way are removed everywhere, from the start.
		known := j.red.Known()
		if p, err = j.choose(j.limit - base - reserve); err != nil {
			return nil, p, err
		}
		if j.red.Known() == known {
			break
		}
	}
	j.scrub(&p)
	for {
		out, err := j.assemble(d, &p)
		if err != nil {
			return nil, p, err
		}
		out.Tokens = j.o.BudgetTokens
		cost := weigh(out)
		out.Tokens = (cost + 3) / 4
		if cost <= j.limit {
			return out, p, nil
		}
		if !p.shrink(j) {
			return nil, p, fmt.Errorf("a budget of %d tokens is too small for what is to be said of this session", j.o.BudgetTokens)
		}
	}
}

// shrink takes something off a page that turned out too large.
func (p *page) shrink(j *job) bool {
	switch {
	case len(p.taken) > 1:
		p.taken = p.taken[1:]
		p.from = p.taken[0].unit
	case len(p.taken) == 1 && p.taken[0].left.Answers == 0:
		p.taken[0] = j.stub(p.taken[0].unit)
	default:
		for i := range p.pinned {
			if p.pinned[i].left.Answers == 0 {
				p.pinned[i] = j.stub(p.pinned[i].unit)
				return true
			}
		}
		return false
	}
	return true
}

// facts is a delivery without its messages.
func (j *job) facts() (*Delivery, error) {
	t := j.t
	most := func(n int) int { return max(60, n*min(j.limit, 4*DefaultBudget)/(4*DefaultBudget)) }
	fact := func(s string, n int) string {
		most := most(n)
		s, _ = j.red.Shorten(shown.Line(s, 2*most), 1<<20)
		return fit(s, most)
	}
	d := &Delivery{
		Session: fact(t.Session, 200), Title: fact(t.Title, 600), FirstPrompt: fact(t.FirstPrompt, 800), Branch: fact(t.Branch, 300),
		Model: fact(t.Model, 200), Version: fact(t.Version, 100), Start: t.Start, End: t.End, Turns: t.Turns,
		Format: j.o.Format, Messages: []APIMessage{}, Coverage: j.c.Coverage, Problems: fit(t.Problems.String(), most(800)),
	}
	if n := len(t.Cwds); n > 0 {
		d.Cwd = fact(t.Cwds[n-1], 800)
	}
	d.Coverage.Why = slices.Clone(d.Coverage.Why)
	for i := range d.Coverage.Why {
		w := &d.Coverage.Why[i]
		w.Lines = w.Lines[:min(len(w.Lines), most(10*20)/20)]
	}
	n := len(j.c.Rows)
	if n == 0 {
		j.note("There is no message to resume from.")
		return d, nil
	}
	d.ResumePoint = j.c.ResumePoint(t).String()
	for m, err := range transcript.Load(j.ctx, j.src, t, j.c.Rows[n-1:]) {
		if j.ctx.Err() != nil {
			return nil, j.ctx.Err()
		}
		if err == nil && m.UUID != "" && len(m.UUID) <= 200 {
			d.ResumePoint = m.UUID // as the record says
		}
	}
	return d, nil
}

// fit cuts a line to what costs at most n.
func fit(s string, n int) string {
	for shown.Cost(s) > n {
		r := []rune(s)
		s = strings.TrimSuffix(string(r[:len(r)*3/4]), "…") + "…"
	}
	return s
}

// scrub removes what was found after a piece was made.
func (j *job) scrub(p *page) {
	for _, list := range [][]rendered{p.pinned, p.taken} {
		for i := range list {
			r := &list[i]
			scrubPieces(j.red, r.pieces)
			r.pieces = slices.DeleteFunc(r.pieces, func(q piece) bool {
				drop := q.kind == thinking && q.block.Thinking != "" && j.red.Again(q.block.Thinking) != q.block.Thinking
				if drop {
					r.left.Thinking++
				}
				return drop
			})
		}
	}
}

func scrubPieces(red *shown.Redactor, pieces []piece) {
	for i := range pieces {
		p := &pieces[i]
		p.text, p.name = red.Again(p.text), red.Again(p.name)
		p.secret = p.secret || red.Again(p.id) != p.id
		if p.input != nil {
			p.input = red.AgainJSON(p.input)
		}
		scrubPieces(red, p.parts)
	}
}

// assemble makes the delivery of a page.
func (j *job) assemble(facts *Delivery, p *page) (*Delivery, error) {
	out := *facts
	d := &out
	d.Title, d.FirstPrompt, d.Cwd = j.red.Again(d.Title), j.red.Again(d.FirstPrompt), j.red.Again(d.Cwd)
	d.Secrets = j.red.Known()
	d.Notes = slices.Clone(j.notes)

	words, err := j.older(d, p)
	if err != nil {
		return nil, err
	}
	list := slices.Concat(p.pinned, p.taken)
	slices.SortStableFunc(list, func(a, b rendered) int { return a.unit - b.unit })
	for i := range list {
		d.LeftOut.add(list[i].left)
	}
	a := newAssembler(&d.LeftOut)
	var b strings.Builder
	told, who := words == "", ""
	tell := func() {
		if !told {
			a.text("user", "["+words+"]")
			b.WriteString(words + "\n\n")
			told, who = true, ""
		}
	}
	for i := range list {
		r := &list[i]
		if r.unit >= p.from {
			tell()
		}
		if j.o.Format == Brief {
			b.WriteString(briefUnit(r.pieces, &j.units[r.unit], &who, &d.LeftOut))
		} else {
			a.unit(r.pieces)
		}
	}
	tell()
	if j.o.Format == Messages {
		d.Messages = a.finish()
	}
	if w := d.LeftOut.words(); w != "" {
		d.Notes = append(d.Notes, w)
	}
	if d.Secrets > 0 {
		d.Notes = append(d.Notes, shown.Count(d.Secrets, "secret is", "secrets are")+" not shown.")
	}
	if j.o.Format == Brief {
		d.Text = briefHead(d) + b.String()
		if len(d.Notes) > 0 {
			d.Text += "---\n\n"
			for _, n := range d.Notes {
				d.Text += "- " + n + "\n"
			}
		}
	}
	return d, nil
}

// older tells what is older than a page, in fields, with a cursor, and in words.
func (j *job) older(d *Delivery, p *page) (string, error) {
	l := &d.LeftOut
	position := 0
	for n := range j.units[:p.from] {
		u := &j.units[n]
		if u.pinned {
			continue
		}
		position = int(u.to)
		for _, i := range j.c.Rows[u.from:u.to] {
			r := j.t.Rows.At(i)
			l.Rows++
			if r.Flags.Has(transcript.FlagPrompt) {
				l.Turns++
			}
			if l.FirstLine == 0 || int(r.Line) < l.FirstLine {
				l.FirstLine = int(r.Line)
			}
			l.LastLine = max(l.LastLine, int(r.Line))
		}
	}
	if l.Rows == 0 {
		return "", nil
	}
	d.NextCursor = cursor{
		Session: hashSession(j.t), Leaf: j.c.Leaf, Position: position, Rows: hashRows(j.t, j.c.Rows[:position]),
	}.String()
	words := fmt.Sprintf("Left out here: %s with %s, lines %d to %d of the transcript; the cursor leads to them.",
		shown.Count(l.Turns, "turn", "turns"), shown.Count(l.Rows, "record", "records"), l.FirstLine, l.LastLine)
	if p.from >= len(j.units) || j.units[p.from].starts {
		return words, nil
	}
	l.Partial = true
	prompt, err := j.promptOf(p.from)
	if err == nil && prompt != "" {
		words += " What follows is part of a turn that began with the prompt " + shown.Code(prompt, 200) + "."
	}
	return words, err
}

// promptOf is the prompt of the turn that a unit belongs to, shortened.
func (j *job) promptOf(n int) (string, error) {
	for n--; n >= 0 && !j.units[n].starts; n-- {
	}
	if n < 0 {
		return "", nil
	}
	u := &j.units[n]
	for m, err := range transcript.Load(j.ctx, j.src, j.t, j.c.Rows[u.from:u.to]) {
		if j.ctx.Err() != nil {
			return "", j.ctx.Err()
		}
		if err == nil && m.Flags.Has(transcript.FlagPrompt) {
			s, _ := j.red.Shorten(m.Text(), 4000)
			return j.red.Again(shown.Line(s, 200)), nil
		}
	}
	return "", nil
}

// words says what is missing of what is on the page.
func (l *LeftOut) words() string {
	var parts []string
	for _, p := range []struct {
		n         int
		one, more string
	}{
		{l.Shortened, "text was shortened", "texts were shortened"},
		{l.Results, "tool result is left out", "tool results are left out"},
		{l.Thinking, "block of thinking is left out", "blocks of thinking are left out"},
		{l.Attachments, "attachment is left out", "attachments are left out"},
		{l.Notices, "notice of the client is left out", "notices of the client are left out"},
		{l.Images, "image or document is left out", "images or documents are left out"},
		{l.Answers, "answer is too large and left out", "answers are too large and left out"},
		{l.Failures, "failure of the API is left out", "failures of the API are left out"},
		{l.Unpaired, "tool call or result has no counterpart", "tool calls or results have no counterpart"},
		{l.Unreadable, "record cannot be read", "records cannot be read"},
	} {
		if p.n == 0 {
			continue
		}
		s := shown.Count(p.n, p.one, p.more)
		if p.one == "text was shortened" {
			s += " by " + shown.Count(l.Characters, "character", "characters")
		}
		parts = append(parts, s)
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, "; ") + "."
}
