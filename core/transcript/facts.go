package transcript

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sync"
	"time"

	"mem/core/guard"
)

// Facts are what is told of a session without reading its conversation. Texts are
// shortened to one line, and secrets are taken out of them.
type Facts struct {
	Cwd         string    `json:"cwd,omitempty"`  // where it began
	Cwds        []string  `json:"cwds,omitempty"` // every directory that its records name, where there are several; at most 64
	Branch      string    `json:"branch,omitempty"`
	Title       string    `json:"title,omitempty"`       // as a person named it, else as the client did, else an older summary
	FirstPrompt string    `json:"firstPrompt,omitempty"` // of a person
	Start       time.Time `json:"start,omitzero"`        // of the first message
	End         time.Time `json:"end,omitzero"`          // of the last one
	Turns       int       `json:"turns"`                 // prompts of a person
	Messages    int       `json:"messages"`              // rows of user and assistant
	Compacted   int       `json:"compacted,omitempty"`   // how often the client compacted the conversation
	Lines       int       `json:"lines"`
	Version     string    `json:"version,omitempty"` // of the client, at the end
	Model       string    `json:"model,omitempty"`   // of the last answer
	Agent       string    `json:"agent,omitempty"`   // where the file is a subagent's
	Parent      string    `json:"parent,omitempty"`  // the session that the records name
	// Waiting says that the last message is one that an answer should follow: a prompt,
	// a tool call or a tool's result.
	Waiting bool `json:"waiting,omitempty"`
	// Damage counts lines that are no records, in words; "" when there are none.
	Damage string `json:"damage,omitempty"`
	// Partial says that only the beginning was looked at: counts, End and what else the
	// end of the file tells are missing or too small.
	Partial bool `json:"partial,omitempty"`
}

// tally is Facts that can be continued when the file has grown.
type tally struct {
	Facts
	TitleFrom TitleSource `json:"titleFrom,omitempty"`
	Malformed int         `json:"malformed,omitempty"`
	Truncated int         `json:"truncated,omitempty"`
	NUL       int         `json:"nul,omitempty"`
	TooLong   int         `json:"tooLong,omitempty"`
	NoRecord  int         `json:"noRecord,omitempty"`
}

// noted is what is kept of a file: its tally up to the last line end, from where a later
// look goes on, and what was to be shown with the line that had none yet.
type noted struct {
	Size  int64  `json:"size"`  // of the file as it is stored
	Mtime int64  `json:"mtime"` // in nanoseconds since 1970
	Done  int64  `json:"done"`  // offset after the last line end
	Mark  uint32 `json:"mark"`  // CRC-32C of the bytes before Done
	Tally tally  `json:"tally"`
	Shown *Facts `json:"shown,omitempty"` // where it is not the tally's
	// Agents are the session's subagents, as of the time AgentsAt of their folder.
	Agents   []Subagent   `json:"agents,omitempty"`
	AgentsAt int64        `json:"agentsAt,omitempty"`
	Head     *ArchiveHead `json:"head,omitempty"` // of a copy in the archive
}

// facts gives what is to be shown.
func (n *noted) facts() Facts {
	if n.Shown != nil {
		return *n.Shown
	}
	return n.Tally.Facts
}

const (
	// markSize is how many bytes before the end of what was read are looked at again
	// to tell a file that grew from one that was written anew.
	markSize = 512
	// maxName bounds branch, version, model and ids, in bytes: git's names end there.
	maxName = 255
	// headSize is how much of a file is read to learn where its session began. The
	// client's first message with its attachments takes a few kilobytes.
	headSize = 256 << 10
)

var castagnoli = sync.OnceValue(func() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) })

// markAt gives the checksum of what stands before an offset.
func markAt(src io.ReaderAt, offset int64) (uint32, error) {
	n := min(offset, markSize)
	b := make([]byte, n)
	if _, err := src.ReadAt(b, offset-n); err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	return crc32.Checksum(b, castagnoli()), nil
}

// lastLineEnd gives the offset after the last line end in [from, size), or from.
func lastLineEnd(src io.ReaderAt, from, size int64) (int64, error) {
	b := make([]byte, min(64<<10, max(size-from, 0)))
	for end := size; end > from; {
		n := min(int64(len(b)), end-from)
		if _, err := src.ReadAt(b[:n], end-n); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		for i := n - 1; i >= 0; i-- {
			if b[i] == '\n' {
				return end - n + i + 1, nil
			}
		}
		end -= n
	}
	return from, nil
}

// note reads what is new in a file since before, or all of it: before may be nil.
func note(ctx context.Context, src io.ReaderAt, size int64, before *noted, progress func(done, total int64)) (*noted, error) {
	n := &noted{}
	if before != nil {
		n.Agents, n.AgentsAt = before.Agents, before.AgentsAt
	}
	if before != nil && before.Done > 0 && before.Done <= size {
		if mark, err := markAt(src, before.Done); err == nil && mark == before.Mark {
			n.Done, n.Tally = before.Done, before.Tally.clone()
		}
	}
	done, err := lastLineEnd(src, n.Done, size)
	if err != nil {
		return nil, err
	}
	if err := n.Tally.read(ctx, src, n.Done, done, progress); err != nil {
		return nil, err
	}
	n.Done = done
	if n.Mark, err = markAt(src, done); err != nil {
		return nil, err
	}
	if done < size {
		rest := n.Tally.clone()
		if err := rest.read(ctx, src, done, size, nil); err != nil {
			return nil, err
		}
		n.Shown = &rest.Facts
	}
	return n, nil
}

// noteHead reads the beginning of a file.
func noteHead(ctx context.Context, src io.ReaderAt, size int64) (*noted, error) {
	if size <= headSize {
		return note(ctx, src, size, nil, nil)
	}
	n := &noted{}
	for part := int64(headSize); ; part *= 8 {
		part = min(part, size)
		n.Tally = tally{}
		if err := n.Tally.read(ctx, src, 0, part, nil); err != nil {
			return nil, err
		}
		if n.Tally.Cwd != "" || part == size {
			n.Tally.Partial = part < size
			if n.Tally.Partial { // its last line was cut by us
				n.Tally.Damage, n.Tally.Waiting = "", false
			}
			return n, nil
		}
	}
}

func (t tally) clone() tally {
	t.Cwds = append([]string(nil), t.Cwds...)
	return t
}

// read adds what the bytes in [from, to) tell.
func (t *tally) read(ctx context.Context, src io.ReaderAt, from, to int64, progress func(done, total int64)) error {
	if from >= to {
		return nil
	}
	tr, err := Read(ctx, src, to, Options{From: from, Workers: 1, Progress: progress})
	if err != nil && !errors.Is(err, ErrNoRecords) {
		return err
	}
	t.add(tr)
	return nil
}

// add adds what a part of the file tells. What the tree tells is left out, since a
// part has no whole one.
func (t *tally) add(tr *Transcript) {
	for _, c := range tr.Cwds {
		if t.Cwd == "" {
			t.Cwd = c
		}
		if len(t.Cwds) < maxCwds {
			t.Cwds = addCwd(t.Cwds, c)
		}
	}
	for _, x := range []struct {
		to *string
		s  string
	}{{&t.Branch, tr.Branch}, {&t.Version, tr.Version}, {&t.Model, tr.Model}, {&t.Agent, tr.Agent}, {&t.Parent, tr.Session}} {
		if len(x.s) <= maxName { // a longer one is none
			later(x.to, x.s)
		}
	}
	if tr.Title != "" && tr.TitleFrom >= t.TitleFrom {
		t.Title, t.TitleFrom = clean(tr.Title), tr.TitleFrom
	}
	if t.FirstPrompt == "" {
		t.FirstPrompt = clean(tr.FirstPrompt)
	}
	if t.Start.IsZero() || !tr.Start.IsZero() && tr.Start.Before(t.Start) {
		t.Start = tr.Start
	}
	if tr.End.After(t.End) {
		t.End = tr.End
	}
	t.Turns += tr.Turns
	t.Compacted += len(tr.Compactions)
	t.Lines += tr.Lines
	for i := range tr.Rows.Len() {
		r := tr.Rows.At(i)
		if r.Kind != User && r.Kind != Assistant || !tr.inMain(r) {
			continue
		}
		t.Messages++
		t.Waiting = r.Kind == User && !r.Flags.Has(FlagMeta) || r.Flags.Has(FlagToolUse)
	}
	t.Malformed += tr.Problems.Malformed.Count
	t.Truncated += tr.Problems.Truncated.Count
	t.NUL += tr.Problems.NUL.Count
	t.TooLong += tr.Problems.TooLong.Count
	t.NoRecord += tr.Problems.Foreign.Count
	t.Damage = t.damage()
}

func (t *tally) damage() string {
	p := Problems{Malformed: Problem{Count: t.Malformed}, Truncated: Problem{Count: t.Truncated},
		NUL: Problem{Count: t.NUL}, TooLong: Problem{Count: t.TooLong}, Foreign: Problem{Count: t.NoRecord}}
	words := ""
	p.each(func(name string, q *Problem) {
		if q.Count == 0 {
			return
		}
		if words != "" {
			words += ", "
		}
		noun := "lines"
		if q.Count == 1 {
			noun = "line"
		}
		words += fmt.Sprintf("%d %s %s", q.Count, noun, name)
	})
	return words
}

// cleaner takes secrets out of titles and prompts, which are listed, kept in the
// cache, and put before models.
var cleaner = sync.OnceValue(func() *guard.Scanner {
	s, err := guard.New(guard.Options{})
	if err != nil {
		panic(err) // only an exception that is no hash could do that
	}
	return s
})

func clean(s string) string {
	if s == "" {
		return ""
	}
	out, _ := cleaner().Redact([]byte(s))
	return string(out)
}
