package gate

import (
	"bytes"
	"context"
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
	text, info, binary, err := g.world.content(d.at)
	if err != nil {
		if at, ok := g.folderAt(d.at); ok {
			return fork.Called{}, fmt.Errorf("%s is a folder; list it with Glob or ls", at)
		}
		return fork.Called{}, err
	}
	if binary {
		return fork.Called{}, fmt.Errorf("%s is no text (%d bytes), so it is not shown", d.at, info.Size())
	}
	g.remember(d.at)
	if len(text) == 0 {
		return fork.Called{Text: "(the file is empty)"}, nil
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	if len(lines[len(lines)-1]) == 0 {
		lines = lines[:len(lines)-1]
	}
	first := max(d.in.number("offset", 1), 1)
	if first > len(lines) {
		return fork.Called{}, fmt.Errorf("%s has %d lines; there is none from %d on", d.at, len(lines), first)
	}
	most := min(d.in.number("limit", maxLines), maxLines)
	if most == 0 {
		most = maxLines
	}
	var b strings.Builder
	n := first - 1
	for ; n < len(lines) && n-first+1 < most; n++ {
		line := shortened(strings.TrimRight(string(lines[n]), "\r\n"), maxLine)
		if b.Len()+len(line)+8 > maxGiven {
			break
		}
		fmt.Fprintf(&b, "%6d\t%s\n", n+1, line)
	}
	if n < len(lines) {
		fmt.Fprintf(&b, "(lines %d to %d of %d; go on with offset %d)\n", first, n, len(lines), n+1)
	}
	return fork.Called{Text: b.String()}, nil
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

// walk visits the files below a place by name, folders after the files in them. left
// is what was left out: hidden names, links and so on.
func (g *Gate) walk(ctx context.Context, from place, visit func(place, fs.FileInfo) error) (left int, err error) {
	info, err := from.lstat()
	if err != nil {
		return 0, err
	}
	if !info.IsDir() {
		return 0, visit(from, info)
	}
	w := walker{gate: g, visit: visit}
	err = w.folder(ctx, from, 0)
	if w.stopped > 0 {
		left += w.stopped
	}
	return left + w.left, err
}

const (
	maxWalked = 20000 // files of one call
	maxDepth  = 32    // folders within each other
)

type walker struct {
	gate    *Gate
	visit   func(place, fs.FileInfo) error
	files   int
	left    int
	stopped int
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
			w.stopped++
			continue
		}
		if err := w.visit(next, info); err != nil {
			return err
		}
	}
	return nil
}

// omitted says what a walk left out.
func omitted(left int) string {
	if left == 0 {
		return ""
	}
	return fmt.Sprintf("(%d entries were left out: hidden names, links, files that were not chosen for this run or cannot be read)\n", left)
}
