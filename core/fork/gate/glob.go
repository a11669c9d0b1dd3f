package gate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"time"

	"mvdan.cc/sh/v3/pattern"

	"mem/core/fork"
	"mem/core/memdir"
)

const (
	maxFound   = 500  // names that one call gives
	maxPattern = 1000 // bytes of a pattern
)

func runGlob(ctx context.Context, g *Gate, d decision) (fork.Called, error) {
	pat, from := d.in.text("pattern"), d.at
	fits, err := globs(pat)
	if err != nil {
		return fork.Called{}, err
	}
	if info, err := from.lstat(); err != nil {
		return fork.Called{}, err
	} else if !info.IsDir() {
		return fork.Called{}, fmt.Errorf("%s is a file; give the folder to look in", from)
	}
	type hit struct {
		at  place
		mod time.Time
	}
	var hits []hit
	skipped, err := g.walk(ctx, from, func(p place, info fs.FileInfo) error {
		if fits(below(from, p)) {
			hits = append(hits, hit{p, info.ModTime()})
		}
		return nil
	})
	if err != nil {
		return fork.Called{}, err
	}
	slices.SortStableFunc(hits, func(a, b hit) int { return b.mod.Compare(a.mod) })
	var b strings.Builder
	for i, h := range hits {
		name := memdir.ShownName(h.at.String())
		if i == maxFound || b.Len()+len(name) > maxGiven {
			fmt.Fprintf(&b, "(%d more; use a narrower pattern)\n", len(hits)-i)
			break
		}
		b.WriteString(name + "\n")
	}
	if len(hits) == 0 {
		fmt.Fprintf(&b, "No file below %s fits %s.\n", from, memdir.ShownName(pat))
	}
	return fork.Called{Text: b.String() + skipped.String()}, nil
}

// rooted splits a pattern that begins with a path of its own, such as
// /memory/**/*.md, into the folder and the rest.
func rooted(pat string) (folder, rest string, ok bool) {
	switch {
	case drive().MatchString(pat):
		pat = strings.ReplaceAll(pat, `\`, "/")
	case !strings.HasPrefix(pat, "/"):
		return "", pat, false
	}
	fixed := pat
	if i := strings.IndexAny(fixed, `*?[{\`); i >= 0 {
		fixed = fixed[:i]
	}
	fixed = fixed[:strings.LastIndexByte(fixed, '/')+1]
	return fixed, pat[len(fixed):], true
}

// below gives the path of p in a folder that it lies in, or that is p.
func below(from, p place) string {
	switch {
	case from.m == nil:
		return strings.TrimPrefix(p.String(), "/")
	case from.rel == ".":
		return p.rel
	case from.rel == p.rel:
		return p.rel[strings.LastIndexByte(p.rel, '/')+1:]
	}
	return p.rel[len(from.rel)+1:]
}

// globs makes a pattern of paths into a test of them.
func globs(pat string) (func(string) bool, error) {
	if pat == "" || len(pat) > maxPattern {
		return nil, fmt.Errorf("a pattern has 1 to %d bytes", maxPattern)
	}
	pat = strings.TrimPrefix(strings.TrimPrefix(pat, "./"), "/")
	expr, err := pattern.Regexp(alternatives(pat), pattern.Filenames|pattern.EntireString|pattern.ExtendedOperators)
	var re *regexp.Regexp
	if err == nil {
		re, err = regexp.Compile(expr)
	}
	if err != nil {
		return nil, fmt.Errorf("%s is no pattern of file names (%w); use *, **, ?, [abc] and {a,b}", memdir.ShownName(pat), errors.Unwrap(err))
	}
	return re.MatchString, nil
}

// alternatives writes {a,b} as @(a|b), which is what the library knows.
func alternatives(pat string) string {
	var b strings.Builder
	depth := 0
	for i := range len(pat) {
		switch c := pat[i]; {
		case c == '{' && strings.Count(pat[i:], "}") > depth && strings.Contains(pat[i:], ","):
			depth++
			b.WriteString("@(")
		case c == '}' && depth > 0:
			depth--
			b.WriteByte(')')
		case c == ',' && depth > 0:
			b.WriteByte('|')
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
