package sessions

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"mem/core/memdir"
	"mem/core/text"
	"mem/core/transcript"
	"mem/core/transcript/export"
)

// The forms of an export.
const (
	Markdown = "markdown"
	HTML     = "html"
)

// ExportFormats are all forms of an export.
var ExportFormats = []string{Markdown, HTML}

// ExportOptions says what is written of a session.
type ExportOptions struct {
	Session     string // an id, the beginning of one, or Latest
	Format      string // of ExportFormats; "" is Markdown
	Agent       string // a subagent of it instead
	Agents      bool   // its subagents too, each as a section
	Attachments bool   // what the client added to turns, too
	Progress    Progress
}

// Exported says what was written.
type Exported struct {
	Session string            `json:"session"`
	Path    string            `json:"path"`
	Origin  transcript.Origin `json:"origin"`
	Format  string            `json:"format"`
	*export.Result
	Notes []string `json:"notes,omitempty"`
}

// Export writes a whole session for people.
func (s *Sessions) Export(ctx context.Context, w io.Writer, o ExportOptions) (_ *Exported, err error) {
	defer s.clean(&err)
	return s.export(ctx, w, o, -1)
}

// export writes what stood in the first bytes of a transcript, all of it where size
// is negative.
func (s *Sessions) export(ctx context.Context, w io.Writer, o ExportOptions, size int64) (*Exported, error) {
	if o.Format == "" {
		o.Format = Markdown
	}
	if !slices.Contains(ExportFormats, o.Format) {
		return nil, fmt.Errorf("there is no format %s; there are %s", memdir.ShownName(o.Format), strings.Join(ExportFormats, ", "))
	}
	x, err := s.pick(ctx, o.Session, o.Progress)
	if err != nil {
		return nil, err
	}
	path, agent, err := agentOf(x.Session, o.Agent)
	if err != nil {
		return nil, err
	}
	t, err := s.readPart(ctx, path, size, o.Progress)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	opt := export.Options{ShowSecrets: s.o.ShowSecrets, Guard: s.m.Guard(), Attachments: o.Attachments}
	if o.Progress != nil {
		// Rows are told as the bytes of the file that they stand for.
		opt.Progress = func(done, total int) {
			o.Progress("writing the session", t.Transcript.Size*int64(done)/int64(max(total, 1)), t.Transcript.Size)
		}
	}
	if agent == "" {
		for _, a := range x.Subagents {
			sub := export.Subagent{ID: a.ID, Title: a.Description}
			if o.Agents {
				sub.Open = func(ctx context.Context) (export.Source, func() error, error) {
					y, err := s.read(ctx, a.Path, true, nil)
					if err != nil {
						return export.Source{}, nil, err
					}
					return export.Source{Src: y, Transcript: y.Transcript}, y.Close, nil
				}
			}
			opt.Subagents = append(opt.Subagents, sub)
		}
	}
	write := export.Markdown
	if o.Format == HTML {
		write = export.HTML
	}
	got, err := write(ctx, w, export.Source{Src: t, Transcript: t.Transcript}, opt)
	if err != nil {
		return nil, err
	}
	out := &Exported{Session: x.ID, Path: s.place(path, maxPath), Origin: x.Origin, Format: o.Format, Result: got}
	notes := append([]string{}, x.notes...)
	if size < 0 {
		notes = append(notes, t.grown()...)
	}
	out.Notes = s.fewNotes(notes)
	return out, nil
}

// ExportPage is a part of an export, for readers that take only so much at once.
type ExportPage struct {
	Session string `json:"session"`
	Format  string `json:"format"`
	Text    string `json:"text"`
	// NextCursor reads on: what was added to the session meanwhile is not in what it
	// gives, so that all parts make one text.
	NextCursor string   `json:"nextCursor,omitempty"`
	Notes      []string `json:"notes,omitempty"`
}

// errFull ends an export whose page is full.
var errFull = errors.New("the page is full")

// ExportPage gives the part of an export that a cursor names.
func (s *Sessions) ExportPage(ctx context.Context, o ExportOptions, cursor string) (_ *ExportPage, err error) {
	defer s.clean(&err)
	offset, size := int64(0), int64(-1)
	if cursor != "" {
		a, b, _ := strings.Cut(cursor, "-")
		var err1, err2 error
		offset, err1 = strconv.ParseInt(a, 10, 64)
		size, err2 = strconv.ParseInt(b, 10, 64)
		if err1 != nil || err2 != nil || offset < 0 || size < 0 {
			return nil, fmt.Errorf("the cursor %s is not one of an export; start again without one", memdir.ShownName(cursor))
		}
	}
	x, err := s.pick(ctx, o.Session, o.Progress)
	if err != nil {
		return nil, err
	}
	path, _, err := agentOf(x.Session, o.Agent)
	if err != nil {
		return nil, err
	}
	src, err := transcript.Open(path)
	if err != nil {
		return nil, err
	}
	now := src.Size()
	if err := src.Close(); err != nil {
		return nil, err
	}
	switch {
	case size < 0:
		size = now
	case size > now:
		return nil, fmt.Errorf("the session %s is shorter than it was; start again without a cursor", memdir.ShownName(x.ID))
	}
	w := &window{skip: offset}
	got, err := s.export(ctx, w, o, size)
	if err != nil && !errors.Is(err, errFull) {
		return nil, err
	}
	if offset > 0 && w.kept.Len() == 0 {
		return nil, fmt.Errorf("the cursor lies behind the end of the export; start again without one")
	}
	p := &ExportPage{Session: x.ID, Format: o.Format, Notes: s.fewNotes(x.notes)}
	if p.Format == "" {
		p.Format = Markdown
	}
	if got != nil && size < now {
		p.Notes = append(p.Notes, fmt.Sprintf("The session grew by %d bytes since the first part; they are not in here.", now-size))
	}
	all := w.kept.String()
	p.Text = cutText(all)
	if len(p.Text) < len(all) || err != nil {
		p.NextCursor = fmt.Sprintf("%d-%d", offset+int64(len(p.Text)), size)
	}
	return p, nil
}

// window keeps a part of what is written to it.
type window struct {
	skip int64
	kept bytes.Buffer
}

// maxKept is as many bytes as a page has at most, and one character.
const maxKept = maxPage + 4

func (w *window) Write(b []byte) (int, error) {
	n := len(b)
	if skip := min(w.skip, int64(n)); skip > 0 {
		w.skip -= skip
		b = b[skip:]
	}
	room := 4*maxKept - w.kept.Len()
	if len(b) > room {
		w.kept.Write(b[:room])
		return n, errFull
	}
	w.kept.Write(b)
	return n, nil
}

// cutText gives the beginning of a text that fits a page, to the end of a line where one
// is near.
func cutText(s string) string {
	line, room, tokens := 0, maxPage, 4*maxTokens
	for i, r := range s {
		c, q := text.Weight(string(r))
		room, tokens = room-c, tokens-q
		if room < 0 || tokens < 0 {
			if line > i/2 {
				return s[:line]
			}
			return s[:i]
		}
		if r == '\n' {
			line = i + 1
		}
	}
	return s
}
