package report

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"unicode"

	"mem/diagnostics"
)

// The escapes of GitHub's workflow commands: a message ends at its line, a property
// at a comma or colon too.
var (
	commandMessage  = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	commandProperty = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// GitHub prints a Report as workflow commands, which become annotations of a pull
// request. GitHub shows paths that are relative to the checkout.
func GitHub(w io.Writer, r *Report) error {
	var b strings.Builder
	for _, f := range r.Findings {
		at := []any{"file", fileOf(f.Path), "line", f.Line, "endLine", f.EndLine}
		if f.Line == f.EndLine { // columns are of one line only
			at = append(at, "col", f.Column, "endColumn", f.EndColumn)
		}
		command(&b, commandOf(f.Severity), f.Message, append(at, "title", "mem: "+f.Rule)...)
	}
	for _, u := range r.Unread {
		command(&b, "warning", u.Path+" was not checked: "+u.Message, "file", fileOf(u.Path), "title", "mem: not checked")
	}
	for _, f := range r.Failures {
		command(&b, "warning", fmt.Sprintf("the rule %s did not check %s: %s", f.Rule, f.Path, f.Message), "file", fileOf(f.Path), "title", "mem: not checked")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func commandOf(s diagnostics.Severity) string {
	switch s {
	case diagnostics.Error:
		return "error"
	case diagnostics.Warning:
		return "warning"
	}
	return "notice"
}

// command writes one command; properties are names and values in turn.
func command(b *strings.Builder, name, message string, properties ...any) {
	b.WriteString("::" + name)
	for i := 0; i < len(properties); i += 2 {
		sep := ","
		if i == 0 {
			sep = " "
		}
		fmt.Fprintf(b, "%s%s=%s", sep, properties[i], commandProperty.Replace(fmt.Sprint(properties[i+1])))
	}
	b.WriteString("::" + commandMessage.Replace(oneLine(message)) + "\n")
}

// fileOf gives a path as GitHub knows it. One with control characters, for which
// there is no escape, names no file there any more, but commands no terminal.
func fileOf(p string) string {
	if strings.ContainsFunc(p, unicode.IsControl) {
		p = visiblePath(p)
	}
	return filepath.ToSlash(p)
}
