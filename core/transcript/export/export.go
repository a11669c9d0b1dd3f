// Package export writes a whole conversation for people: as Markdown, or as one
// HTML file that needs nothing else. It streams: memory holds one answer with its
// tool calls at a time.
package export

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"mem/core/guard"
	"mem/core/transcript"
	"mem/core/transcript/deliver"
	"mem/core/transcript/shown"
)

// DefaultMaxText is how long one text may be to be written whole, as shown.Cost
// counts: about as many characters. Tool results of 12 MB occur in the wild, and
// no browser shows a page of them.
const DefaultMaxText = 256 << 10

// Source is a conversation to write.
type Source struct {
	Src        io.ReaderAt
	Transcript *transcript.Transcript
	// Chain is what to write; nil stands for the client's own choice. What was
	// compacted before it is written too.
	Chain *transcript.Chain
}

// Subagent is a conversation that a session started.
type Subagent struct {
	ID, Title string
	// Open opens it to be written as a section; close is called afterwards. With
	// a nil Open it is named only.
	Open func(context.Context) (s Source, close func() error, err error)
}

// Options say what to write. The zero value writes everything that is said, with
// thinking folded, and without secrets.
type Options struct {
	// ShowSecrets leaves secrets in.
	ShowSecrets bool
	// Guard finds them; nil stands for one that allows none.
	Guard *guard.Scanner
	// OnlyChain leaves out what was compacted before the chain.
	OnlyChain bool
	// Attachments includes what the client added to turns, and its notices.
	Attachments bool
	// MaxText is how long one text may be; 0 means DefaultMaxText. A longer one is
	// shortened in its middle.
	MaxText   int
	Subagents []Subagent
	// Progress is told how many rows are done of how many, now and then.
	Progress func(done, total int)
}

// Result says what was written.
type Result struct {
	Turns       int                 `json:"turns"`
	Rows        int                 `json:"rows"` // of the chain, and of what was compacted
	Compactions int                 `json:"compactions"`
	Secrets     int                 `json:"secrets"` // different ones that are not shown
	Shortened   int                 `json:"shortened"`
	Characters  int                 `json:"characters"` // gone by shortening
	Unreadable  int                 `json:"unreadable"`
	Attachments int                 `json:"attachments"` // left out, with notices
	Subagents   int                 `json:"subagents"`
	Coverage    transcript.Coverage `json:"coverage"`
	Problems    string              `json:"problems,omitempty"`
	// Failed are subagents that could not be opened, in words.
	Failed []string `json:"failed,omitempty"`
}

// Markdown writes a conversation as Markdown. What was said stands in fences.
func Markdown(ctx context.Context, w io.Writer, s Source, o Options) (*Result, error) {
	return write(ctx, w, s, o, func(w *bufio.Writer) form { return &markdown{w: w} })
}

// HTML writes a conversation as one page that loads nothing, runs no script and
// follows the reader's choice of light or dark.
func HTML(ctx context.Context, w io.Writer, s Source, o Options) (*Result, error) {
	return write(ctx, w, s, o, func(w *bufio.Writer) form { return &page{w: w} })
}

// form is how a conversation is written. A failure to write shows at the end.
type form interface {
	begin(head)
	turn(number int, at time.Time)
	item(*item)
	gap(words string) // between parts of a conversation
	subagent(n int, id, title string)
	end(*Result)
}

// head is what stands at the top.
type head struct {
	title string
	facts [][2]string
	turns []prompt // the first of them
	more  int      // turns that are not listed
	// agents are the titles of the subagents.
	agents []string
}

// prompt is a turn in the table of contents.
type prompt struct {
	number int
	text   string
}

const (
	maxPrompts   = 400
	maxSubagents = 1000
	reportEvery  = 500
)

// job writes one conversation.
type job struct {
	ctx   context.Context
	w     *bufio.Writer
	form  form
	o     Options
	red   *shown.Redactor
	model [2]string // the last one, as the record has it and as it is shown
	res   *Result
	done  int
	total int
}

func write(ctx context.Context, w io.Writer, s Source, o Options, as func(*bufio.Writer) form) (*Result, error) {
	if s.Transcript == nil || s.Src == nil {
		return nil, errors.New("there is no conversation to export")
	}
	if o.MaxText <= 0 {
		o.MaxText = DefaultMaxText
	}
	scan := o.Guard
	if scan == nil {
		g, err := guard.New(guard.Options{})
		if err != nil {
			return nil, err
		}
		scan = g
	}
	if o.ShowSecrets {
		scan = nil
	}
	b := bufio.NewWriterSize(w, 64<<10)
	j := &job{ctx: ctx, w: b, form: as(b), o: o, red: shown.NewRedactor(scan), res: &Result{}}
	if err := j.run(s); err != nil {
		return nil, err
	}
	if err := b.Flush(); err != nil {
		return nil, fmt.Errorf("writing the export: %w", err)
	}
	return j.res, nil
}

func (j *job) run(s Source) error {
	s, err := whole(j.ctx, s)
	if err != nil {
		return err
	}
	defer s.Transcript.HoldHeap()()
	parts := segments(s, j.o.OnlyChain)
	for _, rows := range parts {
		j.res.Rows += len(rows)
	}
	j.total = 2 * j.res.Rows
	j.res.Compactions = max(0, len(parts)-1)
	j.res.Coverage, j.res.Problems = s.Chain.Coverage, s.Transcript.Problems.String()

	// The first pass finds the secrets, so that one that is known from the end is
	// not shown at the beginning.
	dirty, prompts, more, err := j.look(s, parts)
	if err != nil {
		return err
	}
	j.form.begin(j.head(s, prompts, more))
	if err := j.conversation(s, parts, dirty, &j.res.Turns); err != nil {
		return err
	}
	if err := j.subagents(); err != nil {
		return err
	}
	j.res.Secrets = j.red.Known()
	j.form.end(j.res)
	return nil
}

// whole makes sure that nothing of the file is pending.
func whole(ctx context.Context, s Source) (Source, error) {
	if s.Transcript.Base > 0 {
		var leaf transcript.UUID
		if s.Chain != nil {
			leaf = s.Chain.Leaf
		}
		t, err := s.Transcript.Complete(ctx)
		if err != nil {
			return s, err
		}
		s.Transcript, s.Chain = t, t.Chain(leaf)
	}
	if s.Chain == nil {
		s.Chain = s.Transcript.Chain(transcript.UUID{})
	}
	return s, nil
}

func (j *job) step() {
	j.done++
	if j.o.Progress != nil && (j.done%reportEvery == 0 || j.done == j.total) {
		j.o.Progress(j.done, j.total)
	}
}

// look reads everything once: for secrets, and for the table of contents. dirty
// are the rows that hold a secret.
func (j *job) look(s Source, parts [][]int) (dirty map[int]bool, prompts []prompt, more int, err error) {
	dirty = map[int]bool{}
	number := 0
	loader := transcript.NewLoader(s.Src, s.Transcript)
	for _, rows := range parts {
		for m, err := range loader.Load(j.ctx, rows) {
			if j.ctx.Err() != nil {
				return nil, nil, 0, j.ctx.Err()
			}
			j.step()
			if err != nil {
				continue
			}
			if j.red.Finds(texts(&m)) {
				dirty[m.Row] = true
			}
			if m.Flags.Has(transcript.FlagPrompt) {
				number++
				if len(prompts) < maxPrompts {
					prompts = append(prompts, prompt{number, shown.Line(j.red.Text(firstPart(m.Text())), 100)})
				} else {
					more++
				}
			}
		}
	}
	return dirty, prompts, more, nil
}

// firstPart is as much of a text as can matter for its first words.
func firstPart(s string) string {
	s, _ = shown.NewRedactor(nil).Shorten(s, 4000)
	return s
}

// conversation writes the parts of one.
func (j *job) conversation(s Source, parts [][]int, dirty map[int]bool, turns *int) error {
	loader := transcript.NewLoader(s.Src, s.Transcript)
	for n, rows := range parts {
		before := *turns
		if n > 0 {
			j.form.gap("The conversation was compacted here. What comes next is what the assistant still knew, and what followed.")
		}
		last := before
		for x := range deliver.Exchanges(s.Transcript, rows) {
			items, err := j.exchange(s, loader, rows[x.From:x.To], dirty)
			if err != nil {
				return err
			}
			if number := before + x.Turn; number > last {
				last = number
				at := time.Time{}
				if len(items) > 0 {
					at = items[0].at
				}
				j.form.turn(number, at)
			}
			for i := range items {
				j.form.item(&items[i])
			}
		}
		*turns = last
	}
	return nil
}

func (j *job) subagents() error {
	for n, a := range j.o.Subagents {
		if n == maxSubagents {
			j.res.Failed = append(j.res.Failed, shown.Count(len(j.o.Subagents)-n, "more subagent is", "more subagents are")+" left out")
			break
		}
		j.form.subagent(n+1, j.red.Text(shown.Line(a.ID, 100)), j.red.Text(shown.Line(a.Title, 200)))
		if a.Open == nil {
			continue
		}
		if err := j.one(a); err != nil {
			if j.ctx.Err() != nil {
				return j.ctx.Err()
			}
			words := fmt.Sprintf("The conversation of the subagent %s cannot be read: %s", shown.Code(j.red.Text(a.ID), 100), shown.Code(j.red.Text(err.Error()), 300))
			j.res.Failed = append(j.res.Failed, words)
			j.form.gap(words)
			continue
		}
		j.res.Subagents++
	}
	return nil
}

func (j *job) one(a Subagent) (err error) {
	s, closeIt, err := a.Open(j.ctx)
	if err != nil {
		return err
	}
	if closeIt != nil {
		defer func() { err = errors.Join(err, closeIt()) }()
	}
	if s.Transcript == nil || s.Src == nil {
		return errors.New("there is nothing in it")
	}
	if s, err = whole(j.ctx, s); err != nil {
		return err
	}
	defer s.Transcript.HoldHeap()()
	parts := segments(s, j.o.OnlyChain)
	for _, rows := range parts {
		j.total += 2 * len(rows)
	}
	dirty, _, _, err := j.look(s, parts)
	if err != nil {
		return err
	}
	turns := 0
	return j.conversation(s, parts, dirty, &turns)
}
