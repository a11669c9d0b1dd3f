package rules

import (
	"fmt"
	"path/filepath"
	"strings"

	"mem/core/agentmem"
	"mem/core/change"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/text"
	"mem/diagnostics"
	"mem/diagnostics/fixes"
)

// reviewed gives how a memory stands to its snapshot, for rules about the memory's side;
// nil where nothing is shared or the snapshot is not used. What cannot be looked at, the
// rule snapshot-invalid reports for all of them.
func reviewed(p *diagnostics.Pass) *agentmem.Review {
	if p.Team == nil || p.Team.InSnapshot {
		return nil
	}
	r, err := p.Team.Review(p.Context)
	if err != nil {
		return nil
	}
	return r
}

// maxNamed is how many parts or problems a message names.
const maxNamed = 5

// placed gives where in this memory something is said of a file of it: the first line of
// a part's text, else of the file, else of the index for one that is not here.
func placed(p *diagnostics.Pass, path, part string) diagnostics.Finding {
	f := diagnostics.Finding{Path: path}
	d, err := p.Snapshot.Doc(path)
	if err != nil {
		f.Path = memfile.IndexName
		if d, err = p.Snapshot.Doc(f.Path); err != nil {
			return f
		}
		part = ""
	}
	f.Text, f.Span = d.File.Text, d.FirstLine()
	if line, ok := partLine(d.File.Text, part); ok {
		f.Span = line
	}
	return f
}

// partLine finds a part of a text, given with newlines only, and gives its first line
// that says something.
func partLine(t *text.Text, part string) (text.Span, bool) {
	part = strings.Trim(part, "\n")
	if part == "" {
		return text.Span{}, false
	}
	src := t.String()
	at := strings.Index(src, text.WithEOL(part, text.EOL(src)))
	if at < 0 {
		return text.Span{}, false
	}
	return t.Line(t.LineAt(at)), true
}

// inTeams is the place of a part in the snapshot, for whoever wants to look there.
func inTeams(p *diagnostics.Pass, f *agentmem.Reviewed, part, message string) []diagnostics.Related {
	if f.TheirPath == "" {
		return nil
	}
	s := p.Team.Shared
	at := filepath.Join(s.Snapshot, filepath.FromSlash(f.TheirPath))
	if rel, err := filepath.Rel(s.Store, at); err == nil {
		at = filepath.ToSlash(rel)
	}
	t := text.New(f.TheirText)
	line := t.Line(0)
	if l, ok := partLine(t, part); ok {
		line = l
	}
	return []diagnostics.Related{{Path: at, Span: line, Text: t, Message: message}}
}

// published says of what time the snapshot is, and whose.
func published(r *agentmem.Review) string {
	switch at, by := r.Status.UpdatedAt, r.Status.Author; {
	case at == "":
		return ""
	case by == "":
		return " The snapshot is of " + at + "."
	default:
		return " The snapshot is of " + at + ", by " + by + "."
	}
}

// inWords lists parts by their names.
func inWords(parts []change.Part) string {
	var names []string
	for _, p := range parts {
		if len(names) == maxNamed {
			names = append(names, fmt.Sprintf("%d more", len(parts)-maxNamed))
			break
		}
		names = append(names, memdir.Shown(p.Name, memdir.MaxShown))
	}
	return strings.Join(names, ", ")
}

func difference(path, part string) diagnostics.Offer {
	return diagnostics.Offer{Fix: fixes.OpenDifference, Title: "Open the difference: base, mine and theirs", Arg: diagnostics.PartArg(path, part)}
}

// ownNews gives what the team changed in a file itself. In the index, entries of topics
// that wait come with these.
func ownNews(r *agentmem.Review, f *agentmem.Reviewed) []change.Part {
	return without(r, f, f.News(), func(x *agentmem.Reviewed) bool { return x.Team != "" || x.Skipped })
}

func without(r *agentmem.Review, f *agentmem.Reviewed, parts []change.Part, follows func(*agentmem.Reviewed) bool) []change.Part {
	if f.Path != memfile.IndexName {
		return parts
	}
	var out []change.Part
	for _, p := range parts {
		if x := r.File(p.Target); p.Target == "" || x == nil || !follows(x) {
			out = append(out, p)
		}
	}
	return out
}
