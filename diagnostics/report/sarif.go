package report

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"mem/diagnostics"
)

// Tool is what the SARIF format says of the program and its rules.
type Tool struct {
	Version string
	Rules   []diagnostics.Rule
	// Page gives the page of a rule in Markdown, "" where there is none.
	Page func(rule string) string
}

// SARIF prints a Report as a log of SARIF 2.1.0.
func SARIF(w io.Writer, r *Report, tool Tool) error {
	run := sarifRun{ColumnKind: "utf16CodeUnits", Results: []sarifResult{}, Tool: sarifTool{Driver: sarifDriver{
		Name: "mem-lsp", SemanticVersion: semantic(tool.Version), Version: tool.Version, Rules: []sarifRule{}}}}
	index := map[string]int{}
	for i, rule := range tool.Rules {
		index[rule.ID] = i
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, ruleOf(rule, tool.Page))
	}
	seen := map[string]int{}
	for _, f := range r.Findings {
		x := sarifResult{RuleID: f.Rule, Level: levelOf(f.Severity), Message: sarifText{message(f.Message)},
			Locations: []sarifLocation{locationOf(f.Path, f.Line, f.Column, f.EndLine, f.EndColumn)},
			Prints:    map[string]string{"memFinding/v1": f.print(seen)}}
		if i, ok := index[f.Rule]; ok {
			x.RuleIndex = &i
		}
		for i, rel := range f.Related {
			l := locationOf(rel.Path, rel.Line, rel.Column, rel.EndLine, rel.EndColumn)
			l.ID, l.Message = &i, &sarifText{message(rel.Message)}
			x.Related = append(x.Related, l)
		}
		run.Results = append(run.Results, x)
	}
	inv := sarifInvocation{Successful: r.Complete()}
	for _, u := range r.Unread {
		inv.Notifications = append(inv.Notifications, notification(u.Path, "not checked: "+u.Message, ""))
	}
	for _, f := range r.Failures {
		inv.Notifications = append(inv.Notifications, notification(f.Path, fmt.Sprintf("not checked by %s: %s", f.Rule, f.Message), f.Rule))
	}
	run.Invocations = []sarifInvocation{inv}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(sarifLog{"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json", "2.1.0", []sarifRun{run}})
}

func ruleOf(r diagnostics.Rule, page func(string) string) sarifRule {
	x := sarifRule{ID: r.ID, Short: sarifText{r.Summary}, Default: sarifDefault{Level: levelOf(r.Severity)}, Help: sarifHelp{Text: r.Summary}}
	if page != nil {
		if md := page(r.ID); md != "" {
			x.Help.Markdown = md
		}
	}
	if r.Safety {
		x.Properties = &sarifProperties{Tags: []string{"security"}}
	}
	return x
}

func levelOf(s diagnostics.Severity) string {
	switch s {
	case diagnostics.Error:
		return "error"
	case diagnostics.Warning:
		return "warning"
	case diagnostics.Off:
		return "none"
	}
	return "note"
}

func notification(path, text, rule string) sarifNotification {
	n := sarifNotification{Level: "warning", Message: sarifText{message(text)}}
	if path != "" {
		n.Locations = []sarifLocation{{Physical: sarifPhysical{Artifact: sarifArtifact{uriOf(path)}}}}
	}
	if rule != "" {
		n.Rule = &sarifReference{rule}
	}
	return n
}

func locationOf(path string, line, column, endLine, endColumn int) sarifLocation {
	return sarifLocation{Physical: sarifPhysical{Artifact: sarifArtifact{uriOf(path)}, Region: &sarifRegion{line, column, endLine, endColumn}}}
}

// uriOf gives a path as a URI: relative where the path is, else of the scheme file.
func uriOf(path string) string {
	slash := filepath.ToSlash(path)
	if !filepath.IsAbs(path) {
		// A first segment with a colon would be taken for a scheme; url sees to it.
		return (&url.URL{Path: slash}).String()
	}
	if !strings.HasPrefix(slash, "/") {
		slash = "/" + slash // a drive
	}
	return (&url.URL{Scheme: "file", Path: slash}).String()
}

// What a message must not hold by chance: a link, and a placeholder.
var (
	sarifLink        = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[([^\[\]]*)\]\(`) })
	sarifPlaceholder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\{(\d+)\}`) })
)

// message gives a text as a message of SARIF, in which names of files and other
// data make no links.
func message(s string) string {
	s = sarifLink().ReplaceAllString(s, `\[$1\](`)
	return sarifPlaceholder().ReplaceAllString(s, `{{$1}}`)
}

// semantic gives a version without its v, "" where it is no semantic one.
func semantic(v string) string {
	if v = strings.TrimPrefix(v, "v"); regexp.MustCompile(`^\d+\.\d+\.\d+`).MatchString(v) {
		return v
	}
	return ""
}

// print names a finding so that it is known again when lines have come or gone
// above it: by rule, file and the text of its line, counted where that is the same.
func (f Finding) print(seen map[string]int) string {
	line := ""
	if f.text != nil {
		line = strings.TrimSpace(f.text.Slice(f.text.Line(f.Line - 1)))
	}
	key := strings.Join([]string{f.Rule, f.inMemory, line}, "\x00")
	n := seen[f.Path+"\x00"+key]
	seen[f.Path+"\x00"+key]++
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d", key, n))
	return hex.EncodeToString(sum[:16])
}
