package lspserver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	prettytext "github.com/jedib0t/go-pretty/v6/text"
	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"mem/core/agentmem"
	"mem/core/change"
	"mem/core/memdir"
	"mem/core/project"
	"mem/internal/term"
)

// reviewScheme is that of the documents that the server makes up: nothing of them lies on
// disk.
const reviewScheme = "mem-review"

// Limits of such a document.
const (
	reviewColumn = 44        // characters of each of the three columns
	reviewPart   = 8_000     // bytes of a part on one side
	maxReview    = 200 << 10 // bytes
)

// openReview shows base, mine and theirs side by side: of a part, of a file, or of all
// that is not the same on both sides.
func (s *server) openReview(ctx context.Context, x *side, path, part string) (any, error) {
	d := madeUp{title: path, path: path, part: part}
	if path == "" {
		d.title = "review"
	}
	var err error
	if d.text, err = reviewText(ctx, x, path, part); err != nil {
		return nil, err
	}
	return s.show(ctx, x, d)
}

// madeUp is a document that is shown and is no file of a memory.
type madeUp struct{ title, dir, path, part, text string }

// show shows a document: as one that the client asks the server for, where it can and the
// text can be made again, else as a temporary file.
func (s *server) show(ctx context.Context, x *side, d madeUp) (any, error) {
	at := uri.URI("")
	if s.features.content && s.features.showsDocuments && d.title != "publish" {
		at = s.reviewURI(x, d)
	} else {
		name, err := s.temporary(x.Agent+"-"+strings.NewReplacer("/", "-", `\`, "-", ":", "-").Replace(d.title)+".review.txt", d.text)
		if err != nil {
			return nil, err
		}
		at = uri.File(name)
	}
	out := map[string]string{"uri": string(at)}
	if !s.features.showsDocuments {
		path, _ := pathOf(string(at))
		s.message(protocol.MessageTypeInfo, "Base, mine and theirs stand in "+path)
		return out, nil
	}
	r, err := s.client.ShowDocument(ctx, &protocol.ShowDocumentParams{URI: at, TakeFocus: ptr(true)})
	if err == nil && (r == nil || !r.Success) {
		err = errors.New("it says that it did not")
	}
	if err != nil {
		return nil, fmt.Errorf("the editor does not show %s: %w", at, err)
	}
	return out, nil
}

// maxReviews is how many made-up documents are known: an editor shows a few at a time.
const maxReviews = 100

// reviewURI names a document that is made up. A number in it tells which one is meant,
// since clients write the rest of a URI in ways of their own.
func (s *server) reviewURI(x *side, d madeUp) uri.URI {
	s.mu.Lock()
	defer s.mu.Unlock()
	d.dir, d.text = x.d.path, ""
	for i, known := range s.reviews {
		if known.dir == d.dir && known.path == d.path && known.part == d.part {
			return known.uri(i, x.Agent)
		}
	}
	if len(s.reviews) == maxReviews {
		s.reviews = nil
	}
	s.reviews = append(s.reviews, d)
	return d.uri(len(s.reviews)-1, x.Agent)
}

func (d madeUp) uri(n int, agent string) uri.URI {
	u := url.URL{Scheme: reviewScheme, Path: fmt.Sprintf("/%d/%s/%s.review.txt", n, agent, d.title)}
	return uri.URI(u.String())
}

// reviewOf finds the document that a URI names.
func (s *server) reviewOf(u uri.URI) (madeUp, bool) {
	parsed, err := url.Parse(string(u))
	if err != nil || parsed.Scheme != reviewScheme {
		return madeUp{}, false
	}
	number, _, _ := strings.Cut(strings.TrimLeft(parsed.Path, "/"), "/")
	n, err := strconv.Atoi(number)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil || n < 0 || n >= len(s.reviews) {
		return madeUp{}, false
	}
	return s.reviews[n], true
}

// temporary writes a file of ours that goes with the server.
func (s *server) temporary(name, content string) (string, error) {
	if s.o.Env.StateDir == "" {
		return "", errors.New("there is no state directory to put the difference into: set XDG_STATE_HOME or HOME")
	}
	all := filepath.Join(s.o.Env.StateDir, "review")
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := os.Lstat(s.tempDir); s.tempDir == "" || errors.Is(err, fs.ErrNotExist) {
		// Another server takes the folder of one that showed nothing for a day for what a
		// killed one left.
		forget(all)
		if err := os.MkdirAll(all, 0o700); err != nil {
			return "", fmt.Errorf("making %s: %w", all, project.Reason(err))
		}
		dir, err := os.MkdirTemp(all, "lsp-")
		if err != nil {
			return "", fmt.Errorf("making a folder in %s: %w", all, project.Reason(err))
		}
		s.tempDir = dir
	}
	file := filepath.Join(s.tempDir, name)
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		return "", fmt.Errorf("writing %s: %w", file, project.Reason(err))
	}
	return file, nil
}

// forget removes what servers left that were killed.
func forget(all string) {
	list, _ := os.ReadDir(all)
	for _, d := range list {
		info, err := d.Info()
		if err == nil && strings.HasPrefix(d.Name(), "lsp-") && time.Since(info.ModTime()) > 24*time.Hour {
			_ = os.RemoveAll(filepath.Join(all, d.Name())) // the next one tries again
		}
	}
}

// removeTemporary removes what was shown as files.
func (s *server) removeTemporary() {
	s.mu.Lock()
	dir := s.tempDir
	s.tempDir = ""
	s.mu.Unlock()
	if dir == "" {
		return
	}
	if err := os.RemoveAll(dir); err != nil {
		s.logf("removing %s: %v", dir, err)
	}
}

// reviewText lays out what differs.
func reviewText(ctx context.Context, x *side, path, part string) (string, error) {
	r, err := x.review(ctx)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: base, mine and theirs\n\nmine    %s\ntheirs  %s\n", x.Agent, shown(x.Store), shown(x.Snapshot))
	switch {
	case r.Status.Base == "git" && len(r.Status.BaseCommit) >= 8:
		fmt.Fprintf(&b, "base    the commit %s\n", r.Status.BaseCommit[:8])
	case r.Status.Base == "none":
		b.WriteString("base    not known: never synced here\n")
	default:
		b.WriteString("base    what both sides last agreed on\n")
	}
	if path == "" {
		b.WriteString("\n" + strings.Join(statusLines(r), "\n") + "\n")
	}
	n := 0
	for i := range r.Files {
		f := &r.Files[i]
		if path != "" && f.Path != path && f.MinePath != path && f.TheirPath != path || f.Private {
			continue
		}
		n++
		if b.Len() > maxReview {
			fmt.Fprintf(&b, "\nWhat follows is not shown here: look at single files.\n")
			break
		}
		writeFile(&b, f, part)
	}
	if n == 0 {
		b.WriteString("\nBoth sides are the same.\n")
	}
	return b.String(), nil
}

func writeFile(b *strings.Builder, f *agentmem.Reviewed, part string) {
	fmt.Fprintf(b, "\n%s\n", f.Words())
	parts := f.Changed
	if len(parts) == 0 { // one side does not have the file, or its name alone differs
		parts = []change.Part{{Name: "the whole file", Base: f.BaseText, Ours: f.MineText, Theirs: f.TheirText, Conflict: len(f.Conflicts) > 0}}
	}
	for _, p := range parts {
		if part != "" && p.Name != part && len(f.Changed) > 0 {
			continue
		}
		if b.Len() > maxReview {
			b.WriteString("\nWhat follows is not shown here: look at single parts.\n")
			return
		}
		what := "changed here"
		switch {
		case p.Conflict:
			what = "changed by both"
		case p.Ours == p.Base:
			what = "changed by the team"
		}
		fmt.Fprintf(b, "\n%s: %s\n", memdir.Shown(p.Name, memdir.MaxShown), what)
		b.WriteString(columns(p))
	}
}

// columns sets three texts side by side.
func columns(p change.Part) string {
	w := table.NewWriter()
	w.SetStyle(table.StyleLight)
	var configs []table.ColumnConfig
	for i := range 3 {
		configs = append(configs, table.ColumnConfig{Number: i + 1, WidthMin: reviewColumn, WidthMax: reviewColumn, WidthMaxEnforcer: wrapLines})
	}
	w.SetColumnConfigs(configs)
	w.Style().Format.Header = prettytext.FormatDefault
	w.AppendHeader(table.Row{"base", "mine", "theirs"})
	w.AppendRow(table.Row{cell(p.Base), cell(p.Ours), cell(p.Theirs)})
	return w.Render() + "\n"
}

// wrapLines breaks lines that are wider than a column, below where they are indented.
func wrapLines(s string, width int) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		if prettytext.StringWidth(l) <= width {
			continue
		}
		rest := strings.TrimLeft(l, " ")
		indent := strings.Repeat(" ", min(len(l)-len(rest), width/2))
		lines[i] = indent + strings.ReplaceAll(prettytext.WrapSoft(rest, width-len(indent)), "\n", "\n"+indent)
	}
	return strings.Join(lines, "\n")
}

func cell(s string) string {
	if strings.TrimSpace(s) == "" {
		return "(nothing)"
	}
	if len(s) > reviewPart {
		s = strings.ToValidUTF8(s[:reviewPart], "") + fmt.Sprintf("\n(%d more bytes)", len(s)-reviewPart)
	}
	return term.Visible(strings.ReplaceAll(strings.Trim(s, "\n"), "\t", "    "))
}
