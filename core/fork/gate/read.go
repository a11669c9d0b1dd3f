package gate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"

	"mem/core/fork"
)

const (
	// maxLines and maxGiven bound what one call gives, in lines and bytes.
	maxLines = 2000
	maxGiven = 64 << 10
	// maxLine is how much of a line is shown, in bytes: a line of a transcript may
	// have megabytes.
	maxLine = 8 << 10
)

func runRead(_ context.Context, g *Gate, d decision) (fork.Called, error) {
	content, err := g.world.content(d.at)
	if err != nil {
		if at, ok := g.folderAt(d.at); ok {
			return fork.Called{}, fmt.Errorf("%s is a folder; list it with Glob or ls", at)
		}
		return fork.Called{}, err
	}
	if content.binary {
		return fork.Called{}, fmt.Errorf("%s is no text (%d bytes), so it is not shown", d.at, content.size)
	}
	g.remember(d.at, content.hash)
	text := content.bytes
	if len(text) == 0 {
		return fork.Called{Text: "(the file is empty)"}, nil
	}
	lines := linesOf(text)
	total := lines.count()
	first := max(d.in.number("offset", 1), 1)
	if first > total {
		return fork.Called{}, fmt.Errorf("%s has %d lines; there is none from %d on", d.at, total, first)
	}
	most := min(d.in.number("limit", maxLines), maxLines)
	if most == 0 {
		most = maxLines
	}
	var b strings.Builder
	n := first - 1
	for ; n < total && n-first+1 < most; n++ {
		line := shortened(string(lines.line(n)), maxLine)
		if b.Len()+len(line)+8 > maxGiven {
			break
		}
		fmt.Fprintf(&b, "%6d\t%s\n", n+1, line)
	}
	if n < total {
		fmt.Fprintf(&b, "(lines %d to %d of %d; go on with offset %d)\n", first, n, total, n+1)
	}
	return fork.Called{Text: b.String()}, nil
}

// lines are where the lines of a text begin: four bytes for each.
type lines struct {
	text   []byte
	starts []uint32
}

func linesOf(text []byte) lines {
	l := lines{text: text}
	for at := 0; at < len(text); {
		l.starts = append(l.starts, uint32(at))
		n := bytes.IndexByte(text[at:], '\n')
		if n < 0 {
			break
		}
		at += n + 1
	}
	return l
}

func (l lines) count() int { return len(l.starts) }

// line gives a line without its end.
func (l lines) line(i int) []byte {
	end := len(l.text)
	if i+1 < len(l.starts) {
		end = int(l.starts[i+1])
	}
	line := bytes.TrimSuffix(l.text[l.starts[i]:end], []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r"))
}

// shortened cuts a line, with word of what is missing.
func shortened(line string, most int) string {
	if len(line) <= most {
		return line
	}
	n := most
	for n > 0 && !utf8.RuneStart(line[n]) {
		n--
	}
	return fmt.Sprintf("%s… (%d more bytes in this line)", line[:n], len(line)-n)
}

func (g *Gate) folderAt(p place) (place, bool) {
	info, err := p.lstat()
	return p, err == nil && info.IsDir()
}

// omitted is what a walk left out.
type omitted struct {
	left int  // hidden names, links and so on
	full bool // it stopped before the end
}

func (o omitted) String() string {
	text := ""
	if o.left > 0 {
		text = fmt.Sprintf("(%d entries were left out: hidden names, links, files that were not chosen for this run, have more than 8 MB or cannot be read)\n", o.left)
	}
	if o.full {
		text += fmt.Sprintf("(stopped after %d files; give a path further down)\n", maxWalked)
	}
	return text
}

const (
	maxWalked = 20000 // files of one call
	maxDepth  = 32    // folders within each other
)

var errFull = errors.New("too many files")

// walk visits the files below a place by name.
func (g *Gate) walk(ctx context.Context, from place, visit func(place, fs.FileInfo) error) (omitted, error) {
	info, err := from.lstat()
	if err != nil {
		return omitted{}, err
	}
	if !info.IsDir() {
		return omitted{}, visit(from, info)
	}
	w := walker{gate: g, visit: visit}
	if err = w.folder(ctx, from, 0); errors.Is(err, errFull) {
		w.full, err = true, nil
	}
	return w.omitted, err
}

type walker struct {
	omitted
	gate  *Gate
	visit func(place, fs.FileInfo) error
	files int
}

func (w *walker) folder(ctx context.Context, at place, depth int) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if depth > maxDepth {
		w.left++
		return nil
	}
	list, left, err := at.list(w.gate.world)
	w.left += left
	if err != nil {
		if depth == 0 {
			return err
		}
		w.left++ // it vanished, or may not be read
		return nil
	}
	for _, info := range list {
		next := at.join(info.Name())
		if at.m == nil {
			next = place{w.gate.world.mount(info.Name()), "."}
		}
		if info.IsDir() {
			if err := w.folder(ctx, next, depth+1); err != nil {
				return err
			}
			continue
		}
		if w.files++; w.files > maxWalked {
			return errFull
		}
		if err := w.visit(next, info); err != nil {
			return err
		}
	}
	return nil
}
