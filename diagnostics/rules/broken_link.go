package rules

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"mem/core/memdir"
	"mem/core/memfile"
	"mem/diagnostics"
	"mem/diagnostics/fixes"
)

func brokenLink() diagnostics.Rule {
	return diagnostics.Rule{
		ID:       "broken-link",
		Severity: diagnostics.Error,
		Summary:  "A link leads to a file that does not exist.",
		Fixes:    []string{fixes.RetargetLink, fixes.CreateTopic, fixes.RemoveLink, fixes.RemoveEntry},
		Evidence: []diagnostics.Evidence{
			{Claim: "13 % of the links in 4,039 memory files of public repositories lead nowhere, nearly all of them in partial copies", Source: "corpus", Checked: "2026-11-30"},
		},
		Memory: func(p *diagnostics.Pass) {
			x := newTargets(p)
			for _, from := range p.Paths() {
				if p.Context.Err() != nil {
					return
				}
				if isLog(from) {
					continue // a record of what was: logs only grow, and topics go
				}
				var d *diagnostics.Doc
				look := func(l memfile.Link) (goOn bool) {
					target := diagnostics.Target(from, l)
					if target == "" || leavesBy(target) || x.exists(target) {
						return true
					}
					if d == nil {
						var err error
						if d, err = p.Snapshot.Doc(from); err != nil {
							p.Fail(err)
							return false
						}
					}
					if !placeholder(d, l, target) {
						p.Report(brokenLinkAt(x, d, l, target))
					}
					return true
				}
				goOn := true
				for _, l := range p.Links(from) {
					if goOn = look(l); !goOn {
						break
					}
				}
				for _, r := range p.References(from) {
					// "[note]: words" in prose is a definition as well, of a link that
					// nobody writes.
					if !goOn || r.Kind != memfile.Definition || !memfile.IsMarkdown(r.Path()) {
						continue
					}
					goOn = look(r.Link)
				}
			}
		},
	}
}

func isLog(p string) bool { return strings.HasPrefix(p, memdir.LogsDir+"/") }

// leavesBy reports whether a cleaned path leads out of the directory.
func leavesBy(target string) bool { return target == ".." || strings.HasPrefix(target, "../") }

// placeholder reports whether a link's target is to be filled in by whoever copies it:
// "{{path}}", "<path>", "notes/<name>.md", "…".
func placeholder(d *diagnostics.Doc, l memfile.Link, target string) bool {
	if strings.ContainsAny(target, "{}<>") || strings.Trim(target, ".…") == "" {
		return true
	}
	src := d.Source()
	return l.Dest.Start > 0 && src[l.Dest.Start-1] == '<' && !strings.ContainsAny(target, "./") // a name has an ending
}

// exemplary reports whether a path is one that examples have, so that nobody is led to
// make a file of it.
func exemplary(target string) bool {
	base := strings.ToLower(path.Base(target))
	return strings.HasPrefix(target, "path/to/") || strings.Contains(target, "/path/to/") || strings.HasPrefix(base, "your-") ||
		slices.Contains([]string{"file.md", "filename.md", "file-name.md", "file_name.md"}, base)
}

// brokenLinkAt makes the finding of a link in d that leads to no file.
func brokenLinkAt(x *targets, d *diagnostics.Doc, l memfile.Link, target string) diagnostics.Finding {
	f := diagnostics.Finding{Path: d.Path, Text: d.File.Text, Span: l.Dest}
	retarget := func(t *memdir.Topic) {
		f.Offers = append(f.Offers, diagnostics.Offer{Fix: fixes.RetargetLink, Arg: t.Path, Title: "Link " + shownName(t.Path) + " instead"})
	}
	remove := func() {
		if d.Index == nil {
			return
		}
		if e := x.entries().at(l); e != nil {
			f.Offers = append(f.Offers, fixes.OfferUnlink(x.p.View.Index, e, "Remove the entry")...)
		}
	}
	what := fmt.Sprintf("The link leads to %s, which does not exist.", shownName(target))
	if same := x.topic(target); same != nil && same.Path != d.Path && linkable(same) {
		// Creating the topic beside one that is spelled nearly the same would
		// make the two one file on some systems, and one name everywhere.
		if d.Index != nil && x.entries().of[same.Path] > 0 {
			f.Message = fmt.Sprintf("%s %s does, and has its entry already.", what, shownName(same.Path))
			remove()
			retarget(same)
			if f.Offers[0].Fix == fixes.RemoveLink { // the topic is known that its words are about
				f.Offers = slices.Insert(f.Offers[:len(f.Offers)-1], 0, f.Offers[len(f.Offers)-1])
			}
		} else {
			f.Message = fmt.Sprintf("%s Is %s meant?", what, shownName(same.Path))
			retarget(same)
			remove()
		}
		return f
	}
	near := x.nearFiles(d, target)
	for _, t := range near {
		retarget(t)
	}
	create := memfile.IsMarkdown(target) && !exemplary(target) && memdir.CheckTopicPath(target) == nil && x.p.View.CheckPlace(target) == nil &&
		(d.Index != nil || !x.p.View.LinkedOnly) // there, what a topic alone links is none of the memory
	if create {
		f.Offers = append(f.Offers, diagnostics.Offer{Fix: fixes.CreateTopic, Arg: target, Title: "Create the topic " + shownName(target)})
	}
	remove()
	switch {
	case len(near) > 0:
		f.Message = fmt.Sprintf("%s Is %s meant?", what, shownName(near[0].Path))
	case exemplary(target):
		f.Message = what + " Correct the path, or write it as code if it is an example."
	case create:
		f.Message = what + " Create it, or take the link out."
	default:
		f.Message = what + " Correct the path, or write it as code if the file lies elsewhere."
	}
	return f
}

// nearFiles gives the topics that a broken link may have meant. In an index, one
// that has its entry already is no slip of the pen.
func (x *targets) nearFiles(d *diagnostics.Doc, target string) []*memdir.Topic {
	var out []*memdir.Topic
	for _, t := range x.nearest(target) {
		if t.Path != d.Path && linkable(t) && len(out) < maxNear && (d.Index == nil || x.entries().of[t.Path] == 0) {
			out = append(out, t)
		}
	}
	return out
}

// linkable reports whether a link can lead to a topic: not where its name reads as
// a URL or a home directory.
func linkable(t *memdir.Topic) bool {
	if memdir.CheckTopicPath(t.Path) == nil {
		return true // names that we write can be linked; no need to try
	}
	_, err := memdir.TopicEntry(t, memdir.EntryLength)
	return err == nil
}

// indexEntries is what the index's entries link, found once for a check.
type indexEntries struct {
	byLink map[int]*memfile.Entry // by where the link starts
	of     map[string]int         // how many entries a path has
}

func (e *indexEntries) at(l memfile.Link) *memfile.Entry { return e.byLink[l.Span.Start] }

func (x *targets) entries() *indexEntries {
	if x.index == nil {
		all := x.p.View.Index.Entries
		x.index = &indexEntries{byLink: make(map[int]*memfile.Entry, len(all)), of: make(map[string]int, len(all))}
		for i := range all {
			x.index.byLink[all[i].Link.Span.Start] = &all[i]
			x.index.of[all[i].Target]++
		}
	}
	return x.index
}
