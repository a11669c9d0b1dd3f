package transcript

import (
	"context"
	"fmt"
	"path"
	"strings"

	"mem/core/change"
	"mem/core/guard"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/store"
	"mem/core/text"
)

// What became of a file of a memory that was taken over.
const (
	TakenOver    = "taken over"
	TakenRenamed = "under another name"
	TakenMerged  = "merged"
	TakenSame    = "there already"
	TakenLeft    = "left behind"
)

// takeover makes the change that brings one memory into another. Nothing that is there
// changes but the index and daily logs, which get longer.
type takeover struct {
	old, here *memdir.View
	name      string // of the old project, for second names
	guard     store.Scanner
	allow     bool

	to     map[string]string  // path in the old memory → here, for what is here then
	taken  map[string]bool    // paths that are in use here, without case
	before map[string]Arrived // what came with earlier adoptions that hold, by the old path
	came   map[string]Arrived // what comes with this one
	out    *Adopted

	// anyName takes a text for one that came before where it stands here under a second
	// name of its own, whoever it came from.
	anyName bool
}

// known reports whether a file came with an earlier adoption as it is, whatever became of it
// here since.
func (t *takeover) known(p, content string) (to string, ok bool) {
	b, ok := t.before[p]
	if !ok || b.Hash != text.Hash(content) {
		return "", false
	}
	t.note(p, b.To, TakenSame, "")
	return b.To, true
}

func (t *takeover) arrive(p, to, content, action string) {
	t.came[p] = Arrived{To: to, Hash: text.Hash(content)}
	t.note(p, to, action, "")
}

func (t *takeover) note(p, to, action, reason string) {
	t.out.Files = append(t.out.Files, Taken{Path: p, To: to, Action: action, Reason: reason})
}

// arrival is a topic that comes.
type arrival struct {
	topic   *memdir.Topic
	body    *memdir.Body
	to      string
	renamed bool
}

func (t *takeover) files(ctx context.Context) ([]change.File, error) {
	for _, topic := range t.here.Topics {
		t.taken[strings.ToLower(topic.Path)] = true
	}
	var arrivals []arrival
	for _, topic := range t.old.Topics {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		body, err := t.old.Load(topic)
		if err != nil {
			t.note(topic.Path, "", TakenLeft, "it cannot be read: "+reasonOf(err))
			continue
		}
		content := body.File.Text.String()
		if to, ok := t.known(topic.Path, content); ok {
			t.to[topic.Path] = to
			continue
		}
		if why := t.refuse(topic.Path, content); why != "" {
			t.note(topic.Path, "", TakenLeft, why)
			continue
		}
		a := arrival{topic: topic, body: body, to: topic.Path}
		if t.occupied(topic.Path) {
			if t.same(topic.Path, content) {
				t.to[topic.Path] = topic.Path
				t.note(topic.Path, topic.Path, TakenSame, "")
				continue
			}
			var came bool
			if a.to, came = t.secondName(topic, content); came {
				t.to[topic.Path] = a.to
				t.note(topic.Path, a.to, TakenSame, "")
				continue
			}
			if a.to == "" {
				t.note(topic.Path, "", TakenLeft, "no free name was found for it")
				continue
			}
			a.renamed = true
		}
		t.to[topic.Path] = a.to
		t.taken[strings.ToLower(a.to)] = true
		arrivals = append(arrivals, a)
	}
	if t.anyName {
		arrivals = t.arrivedBefore(arrivals)
	}
	renamed := false
	for old, to := range t.to {
		renamed = renamed || old != to
	}
	var files []change.File
	for _, a := range arrivals {
		content := a.body.File.Text.String()
		if renamed {
			content = t.follow(a.body.File, a.topic.Path, a.to)
		}
		action := TakenOver
		if a.renamed {
			action = TakenRenamed
			content = t.rename(content, a.topic, a.to)
		}
		files = append(files, change.File{Path: a.to, Kind: change.Create, New: content})
		t.arrive(a.topic.Path, a.to, a.body.File.Text.String(), action)
	}
	for _, p := range t.old.Problems {
		t.note(p.Path, "", TakenLeft, p.Message)
	}
	files = append(files, t.logs()...)
	return append(files, t.index()...), nil
}

// refuse says why a text is not taken over, "" when it is.
func (t *takeover) refuse(p, content string) string {
	if memdir.CheckTopicPath(p) != nil {
		return "mem does not write a file of this name"
	}
	if t.guard == nil || t.allow {
		return ""
	}
	for _, s := range []string{content, p} { // a name is a text like any other
		for _, f := range t.guard.Added(nil, []byte(s)) {
			if f.Kind == guard.KindSecret || f.Kind == guard.KindIncomplete {
				return "the guard refuses it: " + f.Reason
			}
		}
	}
	return ""
}

// occupied reports whether another file stands at a path here.
func (t *takeover) occupied(p string) bool {
	return t.taken[strings.ToLower(p)] || t.here.Exists(p) || t.here.CheckPlace(p) != nil
}

// same reports whether the topic here says what the old one says: all but what clients stamp.
func (t *takeover) same(p, content string) bool {
	topic := t.here.Topic(p)
	if topic == nil {
		return false
	}
	body, err := t.here.Load(topic)
	if err != nil {
		return false
	}
	return body.File.Text.String() == content || unstamped(body.File) == unstamped(memfile.Parse(content))
}

// unstamped is a text without the keys that clients write on their own.
func unstamped(f *memfile.File) string {
	var edits []text.Edit
	if f.Front != nil {
		for _, k := range f.Front.Keys {
			for _, stamp := range memfile.Stamps {
				if k.Name == stamp {
					edits = append(edits, text.Edit{Span: k.Span})
				}
			}
		}
	}
	s, ok := text.Apply(f.Text.String(), edits)
	if !ok {
		s = f.Text.String()
	}
	return strings.TrimSpace(text.WithEOL(s, "\n"))
}

// secondName gives a free path beside the one that is taken; came says that it is not
// free, since the topic came to it before: a process that died may have left no record of that.
func (t *takeover) secondName(topic *memdir.Topic, content string) (name string, came bool) {
	p := topic.Path
	stem, from := strings.TrimSuffix(p, path.Ext(p)), memdir.Slug(t.name)
	if from == "" {
		from = "adopted"
	}
	if t.anyName {
		for _, here := range t.here.Topics {
			if strings.HasPrefix(here.Path, stem+"-from-") && t.same(here.Path, t.rename(content, topic, here.Path)) {
				return here.Path, true
			}
		}
	}
	for n := 1; n <= 1000; n++ {
		name := stem + "-from-" + from
		if n > 1 {
			name = fmt.Sprintf("%s-%d", name, n)
		}
		if name += path.Ext(p); memdir.CheckTopicPath(name) != nil {
			from = "adopted" // too long, or something that a path may not hold
			continue
		}
		if t.same(name, t.rename(content, topic, name)) {
			return name, true
		}
		if !t.occupied(name) {
			return name, false
		}
	}
	return "", false
}

// follow makes links to topics that get another name follow, those in the topic at from,
// which goes to another path of the same folder.
func (t *takeover) follow(f *memfile.File, from, to string) string {
	var edits []text.Edit
	for _, l := range memfile.Links(f.Text, f.Body, f.Outline()) {
		edits = append(edits, t.followLink(f.Text, l, from, to)...)
	}
	s, ok := text.Apply(f.Text.String(), edits)
	if !ok {
		return f.Text.String()
	}
	return s
}

func (t *takeover) followLink(doc *text.Text, l memfile.Link, from, to string) []text.Edit {
	if l.Wiki {
		if found := t.old.Lookup(l.Target); len(found) == 1 {
			if dest := t.to[found[0].Path]; dest != "" && dest != found[0].Path {
				return []text.Edit{{Span: l.Dest, New: memdir.Stem(dest)}}
			}
		}
		return nil
	}
	p := l.Path()
	if p == "" {
		return nil
	}
	target := path.Join(path.Dir(from), p)
	if dest := t.to[target]; dest != "" && dest != target {
		return []text.Edit{memdir.Retarget(doc, l, to, dest)}
	}
	return nil
}

// rename gives a topic that gets another path the name of that path, where it would
// bear the name of the topic that is there.
func (t *takeover) rename(content string, topic *memdir.Topic, to string) string {
	f := memfile.Parse(content)
	if topic.Meta.Name == "" {
		return content
	}
	edits, err := f.SetKey("name", memdir.Stem(to), f.Form())
	if err != nil {
		return content
	}
	if s, ok := text.Apply(content, edits); ok {
		return s
	}
	return content
}

// logs takes the daily logs over; where there is one of the same day, behind it.
func (t *takeover) logs() []change.File {
	var files []change.File
	for _, log := range t.old.Logs {
		body, err := t.old.LoadPath(log.Path)
		if err != nil {
			t.note(log.Path, "", TakenLeft, "it cannot be read: "+reasonOf(err))
			continue
		}
		content := body.File.Text.String()
		if _, ok := t.known(log.Path, content); ok {
			continue
		}
		if why := t.refuseLog(content); why != "" {
			t.note(log.Path, "", TakenLeft, why)
			continue
		}
		here, err := t.here.LoadPath(log.Path)
		switch {
		case err != nil && !t.here.Exists(log.Path):
			files = append(files, change.File{Path: log.Path, Kind: change.Create, New: content})
			t.arrive(log.Path, log.Path, content, TakenOver)
		case err != nil:
			t.note(log.Path, "", TakenLeft, "the log of that day here cannot be read: "+reasonOf(err))
		case strings.Contains(here.File.Text.String(), strings.TrimSpace(content)):
			t.note(log.Path, log.Path, TakenSame, "")
		default:
			base := here.File.Text.String()
			if f, ok := change.EditFile(log.Path, base, appendText(base, content, true)); ok {
				files = append(files, f)
				t.arrive(log.Path, log.Path, content, TakenMerged)
			}
		}
	}
	return files
}

func (t *takeover) refuseLog(content string) string { return t.refuse("log.md", content) }

// appendText gives the edit that puts a text behind another, in its line endings, a
// blank line between where the caller wants one.
func appendText(base, more string, blank bool) []text.Edit {
	eol := text.EOL(base)
	between := ""
	if base != "" && !strings.HasSuffix(base, "\n") {
		between = eol
	}
	if blank && base != "" && !strings.HasSuffix(base+between, eol+eol) {
		between += eol
	}
	return []text.Edit{{Span: text.Span{Start: len(base), End: len(base)}, New: between + text.WithEOL(more, eol)}}
}
