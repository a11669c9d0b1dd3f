package hook

import (
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

// addEvent adds a hook of ours to an event that has none.
func (c Client) addEvent(content, event, command string) (string, error) {
	d, err := parse(content)
	if err != nil {
		return "", err
	}
	for _, h := range d.all() {
		if (h.own || h.mixed) && h.event == event {
			return content, nil
		}
	}
	in := func(n int) string { return d.eol + strings.Repeat(d.unit, n) }
	list := func(depth int) string {
		return "[" + in(depth+1) + c.entry(d, depth+1, command) + in(depth) + "]"
	}
	name, err := marshal(event)
	if err != nil {
		return "", err
	}
	hooks := d.hooks()
	if hooks == nil {
		root, _ := d.root.Value.(*hujson.Object)
		text := `"hooks": {` + in(2) + name + ": " + list(2) + in(1) + "}"
		return d.insert(d.root, lastOfObject(root), 0, text), nil
	}
	root, _ := d.root.Value.(*hujson.Object)
	if m := member(hooks, event); m != nil {
		groups, ok := m.Value.Value.(*hujson.Array)
		if !ok {
			return "", fmt.Errorf("its hooks of %s are no list", event)
		}
		return d.insert(m.Value, lastOfArray(groups), 2, c.entry(d, 3, command)), nil
	}
	return d.insert(member(root, "hooks").Value, lastOfObject(hooks), 1, name+": "+list(2)), nil
}

// last is where a list or an object ends: its last element, or none.
type last struct {
	any      bool
	end      int // of the last element
	extra    int // length of what stands between it and a comma that follows
	trailing bool
}

func lastOf(v hujson.Value) last {
	// hujson keeps what follows the last value in it only where a comma comes after.
	return last{any: true, end: v.EndOffset, extra: len(v.AfterExtra), trailing: v.AfterExtra != nil}
}

func lastOfObject(o *hujson.Object) last {
	if n := len(o.Members); n > 0 {
		return lastOf(o.Members[n-1].Value)
	}
	return last{}
}

func lastOfArray(a *hujson.Array) last {
	if n := len(a.Elements); n > 0 {
		return lastOf(a.Elements[n-1])
	}
	return last{}
}

const blanks = " \t\r\n"

// insert adds text as the last element of the list or object v, which stands at a depth:
// after the comments that are there, on a line of its own.
func (d *document) insert(v hujson.Value, l last, depth int, text string) string {
	t, closing := d.text, v.EndOffset-1
	from, comma := v.StartOffset+1, -1
	if l.any {
		if from = l.end + l.extra; l.trailing {
			from++ // the comma
		} else {
			comma = l.end
		}
	}
	at := from + len(strings.TrimRight(t[from:closing], blanks))
	if at < from {
		at = from
	}
	text = d.eol + strings.Repeat(d.unit, depth+1) + text
	if l.trailing {
		text += "," // as the one before has it
	}
	if !strings.Contains(t[at:closing], "\n") {
		text += d.eol + strings.Repeat(d.unit, depth)
		t = t[:at] + t[v.EndOffset-1:] // the blanks before the bracket are replaced
	}
	if comma < 0 {
		return d.bom + t[:at] + text + t[at:]
	}
	return d.bom + t[:comma] + "," + t[comma:at] + text + t[at:]
}

// strip removes hooks of ours but those that keep wants, of which it keeps the first in
// each event.
func strip(content string, keep func(found) bool) (string, error) {
	for {
		d, err := parse(content)
		if err != nil {
			return "", err
		}
		seen := map[string]bool{}
		var gone *found
		for _, h := range d.all() {
			if !h.own {
				continue
			}
			if keep(h) && !seen[h.event] {
				seen[h.event] = true
				continue
			}
			gone = &h
			break
		}
		if gone == nil {
			return content, nil
		}
		content = d.without(*gone)
	}
}

// without removes a hook, and with it the group, the event and the object that hold
// nothing else, not even a comment.
func (d *document) without(h found) string {
	root, _ := d.root.Value.(*hujson.Object)
	hooks := d.hooks()
	event := hooks.Members[h.inHooks].Value
	groups, _ := event.Value.(*hujson.Array)
	group, _ := groups.Elements[h.inEvent].Value.(*hujson.Object)
	holder := member(group, "hooks").Value
	list, _ := holder.Value.(*hujson.Array)
	whole := member(root, "hooks").Value
	first := hooks.Members[h.inHooks].Name.StartOffset
	switch {
	case len(list.Elements) > 1 || d.comments(group) || !d.only(holder, list.Elements[h.inGroup].StartOffset, list.Elements[h.inGroup].EndOffset):
		return d.cutElement(list, h.inGroup)
	case len(groups.Elements) > 1 || !bare(hooks.Members[h.inHooks]) || !d.only(event, groups.Elements[h.inEvent].StartOffset, groups.Elements[h.inEvent].EndOffset):
		return d.cutElement(groups, h.inEvent)
	case len(hooks.Members) > 1 || !bare(*member(root, "hooks")) || !d.only(whole, first, event.EndOffset):
		return d.cutMember(hooks, h.inHooks)
	}
	for i := range root.Members {
		if l, ok := root.Members[i].Name.Value.(hujson.Literal); ok && l.String() == "hooks" {
			return d.cutMember(root, i)
		}
	}
	return d.bom + d.text // cannot be: it was found there
}

// comments reports whether a group of hooks has comments of its own.
func (d *document) comments(group *hujson.Object) bool {
	for _, m := range group.Members {
		if !bare(m) || strings.Trim(string(m.Name.BeforeExtra)+string(m.Value.AfterExtra), blanks) != "" {
			return true
		}
	}
	return strings.Trim(string(group.AfterExtra), blanks) != ""
}

// bare reports whether no comment stands between the name and the value of a member.
func bare(m hujson.ObjectMember) bool {
	return strings.Trim(string(m.Name.AfterExtra)+string(m.Value.BeforeExtra), blanks) == ""
}

// only reports whether a list or an object holds nothing but what lies between from and
// to: no comments either.
func (d *document) only(v hujson.Value, from, to int) bool {
	around := d.text[v.StartOffset+1:from] + d.text[to:v.EndOffset-1]
	return strings.Trim(around, blanks+",") == ""
}

func (d *document) cutElement(a *hujson.Array, i int) string {
	var before *hujson.Value
	if i > 0 {
		before = &a.Elements[i-1]
	}
	return d.cutRange(before, a.Elements[i].StartOffset, a.Elements[i], i == len(a.Elements)-1)
}

func (d *document) cutMember(o *hujson.Object, i int) string {
	var before *hujson.Value
	if i > 0 {
		before = &o.Members[i-1].Value
	}
	return d.cutRange(before, o.Members[i].Name.StartOffset, o.Members[i].Value, i == len(o.Members)-1)
}

// cutRange removes what begins at start and ends with v, the comma that belongs to it, and the
// line break before it.
func (d *document) cutRange(before *hujson.Value, start int, v hujson.Value, isLast bool) string {
	t := d.text
	comma := -1
	switch {
	case !isLast || v.AfterExtra != nil:
		comma = v.EndOffset + len(v.AfterExtra)
	case before != nil: // which becomes the last one
		comma = before.EndOffset + len(before.AfterExtra)
	}
	from := len(strings.TrimRight(t[:start], " \t"))
	if from > 0 && t[from-1] == '\n' {
		from = len(strings.TrimSuffix(t[:from-1], "\r"))
	} else {
		from = start
	}
	head, tail := t[:from], t[v.EndOffset:]
	switch {
	case comma >= v.EndOffset:
		tail = t[v.EndOffset:comma] + t[comma+1:]
	case comma >= 0:
		head = t[:comma] + t[comma+1:from]
	}
	if from < start && !strings.HasPrefix(strings.TrimLeft(tail, " \t\r"), "\n") {
		head += d.eol // a comment may stand before it, which ends with the line
	}
	if before == nil && isLast { // nothing is left: no empty lines between the brackets
		h, r := strings.TrimRight(head, blanks), strings.TrimLeft(tail, blanks)
		if h != "" && r != "" && strings.ContainsRune("{[", rune(h[len(h)-1])) && strings.ContainsRune("}]", rune(r[0])) {
			head, tail = h, r
		}
	}
	return d.bom + head + tail
}
