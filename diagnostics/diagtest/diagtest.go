// Package diagtest reads the test cases of rules, fixes and rule pages: txtar
// archives that hold a memory directory and what is expected of it.
//
// The comment above the first file may hold these lines; other lines are prose:
//
//	now: 2026-11-30T12:00:00Z    the time of the check (this is the default)
//	mtime: a.md 2026-08-01       modification time of a file (default: an hour before now)
//	encoding: utf-8              what columns count (default utf-16)
//	crlf: a.md                   the file has CRLF line ends
//	bom: a.md                    the file starts with a byte order mark
//	raw: a.md                    the file's text is a Go string literal
//	allow: <sha256>              a fingerprint that the user allows
//	beside: service/x            another memory of the same agent
//	late                         run the late rules too
//
// Files below guide/, such as guide/CLAUDE.md, are the project's instructions,
// .mem.yaml the configuration. "want" holds the findings that are expected, one a line:
//
//	MEMORY.md:3:5-3:10 error broken-link: message
//
// "fixed/<fix>/<path>" is a file as that fix leaves it when it is made for the
// first finding that offers it; "fixed/<fix>=<arg>/<path>" takes the offer with
// that argument, in which "%2F" stands for a slash. Files that are not listed must
// stay as they are.
package diagtest

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"golang.org/x/tools/txtar"

	"mem/core/memdir"
	"mem/core/text"
	"mem/diagnostics"
)

// Now is the time of a check unless the case says otherwise.
var Now = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// Case is one memory directory with what is expected of it.
type Case struct {
	Files    fstest.MapFS
	Guide    *diagnostics.Guide
	Config   string // text of .mem.yaml
	Stamp    memdir.Stamp
	Encoding text.Encoding
	Late     bool
	Allow    []string
	Beside   string

	Want    string
	HasWant bool
	// Fixed holds what each fix is expected to leave, by its name and argument.
	Fixed []Fixed
}

// Fixed is what a fix is expected to leave.
type Fixed struct {
	Fix, Arg string
	HasArg   bool
	Files    map[string]string
}

// Parse reads a case.
func Parse(t testing.TB, src []byte) *Case {
	t.Helper()
	a := txtar.Parse(src)
	c := &Case{Files: fstest.MapFS{}, Stamp: memdir.Stamp{Origin: "a-session", Now: Now}, Encoding: text.UTF16}
	marks := map[string]map[string]string{}
	for line := range strings.Lines(string(a.Comment)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		value = strings.TrimSpace(value)
		switch key {
		case "now":
			c.Stamp.Now = parseTime(t, value)
		case "encoding":
			c.Encoding = text.Encoding(value)
		case "beside":
			c.Beside = value
		case "late":
			c.Late = true
		case "allow":
			c.Allow = append(c.Allow, value)
		case "mtime", "crlf", "bom", "raw":
			p, rest, _ := strings.Cut(value, " ")
			if marks[p] == nil {
				marks[p] = map[string]string{}
			}
			marks[p][key] = rest
		}
	}
	for _, f := range a.Files {
		data := string(f.Data)
		m := marks[strings.TrimPrefix(f.Name, "fixed/")]
		if rest, ok := strings.CutPrefix(f.Name, "fixed/"); ok {
			_, p, _ := strings.Cut(rest, "/")
			m = marks[p]
		}
		if _, ok := m["raw"]; ok {
			s, err := strconv.Unquote(strings.TrimSpace(data))
			if err != nil {
				t.Fatalf("%s is no Go string: %v", f.Name, err)
			}
			data = s
		}
		if _, ok := m["crlf"]; ok {
			data = strings.ReplaceAll(data, "\n", "\r\n")
		}
		if _, ok := m["bom"]; ok && !(strings.HasPrefix(f.Name, "fixed/remove-bom/")) {
			data = text.BOM + data
		}
		switch {
		case f.Name == "want":
			c.Want, c.HasWant = data, true
		case f.Name == diagnostics.ConfigName:
			c.Config = data
		case strings.HasPrefix(f.Name, "guide/"):
			end := &c.Guide
			for *end != nil {
				end = &(*end).Next
			}
			*end = &diagnostics.Guide{Path: path.Base(f.Name), Text: data}
		case strings.HasPrefix(f.Name, "fixed/"):
			name, p, _ := strings.Cut(strings.TrimPrefix(f.Name, "fixed/"), "/")
			c.addFixed(name, p, data)
		default:
			at := c.Stamp.Now.Add(-time.Hour)
			if s, ok := m["mtime"]; ok {
				at = parseTime(t, s)
			}
			c.Files[f.Name] = &fstest.MapFile{Data: []byte(data), Mode: 0o644, ModTime: at}
		}
	}
	return c
}

func (c *Case) addFixed(name, p, data string) {
	for i := range c.Fixed {
		if f := &c.Fixed[i]; f.Name() == name {
			f.Files[p] = data
			return
		}
	}
	fix, arg, has := strings.Cut(name, "=")
	c.Fixed = append(c.Fixed, Fixed{fix, strings.ReplaceAll(arg, "%2F", "/"), has, map[string]string{p: data}})
}

// Name is how the case names the fix: what stands between "fixed/" and the path.
func (f Fixed) Name() string {
	if f.HasArg {
		return f.Fix + "=" + strings.ReplaceAll(f.Arg, "/", "%2F")
	}
	return f.Fix
}

func parseTime(t testing.TB, s string) time.Time {
	t.Helper()
	for _, layout := range []string{time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(layout, s); err == nil {
			return at
		}
	}
	t.Fatalf("%q is no time", s)
	return time.Time{}
}

// Engine gives the engine with what the case allows.
func (c *Case) Engine(rules []diagnostics.Rule, fixes []diagnostics.Fix) *diagnostics.Engine {
	return &diagnostics.Engine{Rules: rules, Fixes: fixes, Allowed: func(fp string) bool {
		for _, a := range c.Allow {
			if a == fp {
				return true
			}
		}
		return false
	}}
}

// Snapshot reads the case's memory.
func (c *Case) Snapshot(t testing.TB, e *diagnostics.Engine, files fs.FS) *diagnostics.Snapshot {
	t.Helper()
	v, err := memdir.Read(context.Background(), files, nil, memdir.Limits{IndexMayFail: true})
	if err != nil {
		t.Fatal(err)
	}
	config := diagnostics.DefaultConfig()
	if c.Config != "" {
		config = diagnostics.ParseConfig(diagnostics.ConfigName, c.Config, e.Rules, config)
	}
	s := diagnostics.NewSnapshot(v, config, c.Guide, c.Stamp, nil)
	s.Beside = c.Beside
	return s
}

// Check runs the engine over the case's memory; what breaks down fails the test.
func (c *Case) Check(t testing.TB, e *diagnostics.Engine) (*diagnostics.Snapshot, []diagnostics.Finding) {
	t.Helper()
	s := c.Snapshot(t, e, c.Files)
	r, err := e.Check(context.Background(), s, diagnostics.Scope{Late: c.Late})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Failures {
		t.Error(f.Error())
	}
	return s, r.Findings
}

// Print writes findings as "want" has them.
func (c *Case) Print(found []diagnostics.Finding) string {
	var b strings.Builder
	for _, f := range found {
		place := func(tx *text.Text, s text.Span) string {
			from, to := tx.Position(s.Start, c.Encoding), tx.Position(s.End, c.Encoding)
			return fmt.Sprintf("%d:%d-%d:%d", from.Line+1, from.Character+1, to.Line+1, to.Character+1)
		}
		more := ""
		if f.Unnecessary {
			more = " (unnecessary)"
		}
		fmt.Fprintf(&b, "%s:%s %s %s: %s%s\n", f.Path, place(f.Text, f.Span), f.Severity, f.Rule, f.Message, more)
		for _, r := range f.Related {
			tx := r.Text
			if tx == nil {
				tx = f.Text
			}
			fmt.Fprintf(&b, "    %s:%s %s\n", r.Path, place(tx, r.Span), r.Message)
		}
		for _, o := range f.Offers {
			arg := ""
			if o.Arg != "" {
				arg = "=" + o.Arg
			}
			fmt.Fprintf(&b, "    fix %s%s: %s\n", o.Fix, arg, o.Title)
		}
	}
	return b.String()
}

// Fix makes the fix for the first finding that offers it, and gives the files that
// the change leaves, created ones included.
func (c *Case) Fix(t testing.TB, e *diagnostics.Engine, s *diagnostics.Snapshot, found []diagnostics.Finding, want Fixed) map[string]string {
	t.Helper()
	for _, f := range found {
		for _, o := range f.Offers {
			if o.Fix != want.Fix || want.HasArg && o.Arg != want.Arg {
				continue
			}
			ch, err := e.Make(context.Background(), s, f, o)
			if err != nil {
				t.Fatalf("%s: %v", want.Name(), err)
			}
			after, err := ch.Apply(c.Texts())
			if err != nil {
				t.Fatalf("%s: %v", want.Name(), err)
			}
			return after
		}
	}
	t.Fatalf("no finding offers the fix %s", want.Name())
	return nil
}

// Texts gives the files of the case by their paths.
func (c *Case) Texts() map[string]string {
	all := map[string]string{}
	for p, f := range c.Files {
		all[p] = string(f.Data)
	}
	return all
}
