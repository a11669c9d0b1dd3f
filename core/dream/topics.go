package dream

import (
	"context"
	"fmt"
	"path"
	"strings"
	"time"

	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/text"
)

// topic is one topic as the mechanical part works on it.
type topic struct {
	*memdir.Topic
	base     string        // its text on disk
	file     *memfile.File // of base
	pinned   bool
	links    []memfile.Link // of base
	linkedBy map[string]bool
	entries  int // links in the index
}

// library is all topics of a View, whole.
type library struct {
	view  *memdir.View
	by    map[string]*topic
	order []string // paths, sorted
	// dead are links in topics and index that lead to no file: target → files that have one.
	dead  map[string][]string
	links int // distinct targets of links to Markdown files
	wiki  int // [[names]] that mean no topic
	notes []string
}

// gather loads all topics and finds out who links whom. exists tells what else there is.
func gather(ctx context.Context, v *memdir.View, exists func(path string) bool) (*library, error) {
	l := &library{view: v, by: map[string]*topic{}, dead: map[string][]string{}}
	for _, t := range v.Topics {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		b, err := v.Load(t)
		if err != nil {
			l.notes = append(l.notes, fmt.Sprintf("%s could not be read and was left alone: %v", memdir.ShownName(t.Path), err))
			continue
		}
		f := b.File
		l.by[t.Path] = &topic{Topic: t, base: f.Text.String(), file: f, pinned: f.Pinned(),
			links: memfile.Links(f.Text, f.Body, f.Outline()), linkedBy: map[string]bool{}}
		l.order = append(l.order, t.Path)
	}
	targets := map[string]bool{}
	see := func(from string, links []memfile.Link) {
		for _, k := range links {
			to := l.means(from, k)
			if to != nil {
				if from == memfile.IndexName {
					to.entries++
				} else if from != to.Path {
					to.linkedBy[from] = true
				}
			}
			if k.Wiki {
				if to == nil {
					l.wiki++
				}
				continue
			}
			target := targetOf(from, k)
			if target == "" {
				continue
			}
			targets[target] = true
			if to == nil && v.Topic(target) == nil && !exists(target) {
				if at := l.dead[target]; len(at) == 0 || at[len(at)-1] != from {
					l.dead[target] = append(at, from)
				}
			}
		}
	}
	see(memfile.IndexName, v.Index.Links)
	for _, p := range l.order {
		see(p, l.by[p].links)
	}
	l.links = len(targets)
	return l, nil
}

// targetOf gives the path of the memory file that a link leads to, "" where it leads
// elsewhere or is an example to be filled in.
func targetOf(from string, k memfile.Link) string {
	p := k.Path()
	if k.Wiki || p == "" || !memfile.IsMarkdown(p) || strings.ContainsAny(p, "{}<>…*") {
		return ""
	}
	p = path.Join(path.Dir(from), p)
	if p == ".." || strings.HasPrefix(p, "../") {
		return ""
	}
	return p
}

// means gives the topic that a link leads to, nil where it leads to none or to several.
func (l *library) means(from string, k memfile.Link) *topic {
	if !k.Wiki {
		if p := targetOf(from, k); p != "" {
			return l.by[p]
		}
		return nil
	}
	name, _, _ := strings.Cut(k.Target, "|")
	name, _, _ = strings.Cut(name, "#")
	if found := l.view.Lookup(strings.TrimSpace(name)); len(found) == 1 {
		return l.by[found[0].Path]
	}
	return nil
}

// touched is when a topic was last written to, as far as it says so itself.
func (t *topic) touched() time.Time {
	if at, err := time.Parse(time.RFC3339, t.file.Meta().Modified); err == nil {
		return at
	}
	return t.ModTime
}

// folded is a text without differences of white space.
func folded(s string) string { return memfile.OneLine(s) }

// says reports whether a folded text says folded words, as words of their own.
func says(s, words string) bool {
	if words == "" {
		return true
	}
	for at := 0; ; {
		i := strings.Index(s[at:], words)
		if i < 0 {
			return false
		}
		start, end := at+i, at+i+len(words)
		if (start == 0 || !wordByte(s[start-1]) || !wordByte(s[start])) && (end == len(s) || !wordByte(s[end]) || !wordByte(s[end-1])) {
			return true
		}
		at = start + 1
	}
}

func wordByte(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_'
}

// relinked gives a body that goes from one file into another, with its links leading
// where they led.
func relinked(body, from, to string) string {
	t := text.New(body)
	part := text.Span{End: t.Len()}
	after, ok := text.Apply(body, memdir.Relink(t, memfile.Links(t, part, memfile.OutlineOf(t, part)), from, to))
	if !ok {
		return body // cannot be: the edits are of distinct links
	}
	return after
}
