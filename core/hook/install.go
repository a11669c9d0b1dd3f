package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// timeout is what a client gives mem's hooks before it ends them, in seconds: twice what
// they take at most.
const timeout = 10

// ours recognises a command that does nothing but call mem, whatever its path and its flags.
// One that does something else as well is its author's: it is neither replaced nor removed.
// (Both are compiled when they are used: a hook that runs needs neither.)
var ours = sync.OnceValue(func() *regexp.Regexp {
	const (
		variable = `\$(?:\w+|\{\w+\})`
		inDouble = "(?:[^\"$`]|" + variable + ")*"
		// part is a piece of a word in which no shell sees another command, redirection or comment.
		part = "(?:'[^']*'|\"" + inDouble + "\"|" + variable + "|\\\\.|[^\\s'\"\\\\;&|<>$`(){}#])"
		name = `mem-mcp[\w.-]*`
	)
	program := `(?:` + part + `*'(?:[^']*[/\\])?` + name + `'|` + part + `*"(?:` + inDouble + `[/\\])?` + name + `"|(?:` + part + `*[/\\])?` + name + `)`
	return regexp.MustCompile(`^\s*` + program + `\s+hook(?:[ \t]+` + part + `+)*\s*$`)
})

// calls recognises one that calls mem at all.
var calls = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(^|[/\\\s"'])mem-mcp[\w.-]*["']?\s+hook([^\w.-]|$)`)
})

// Command is what a client is told to run: program is its path.
func (c Client) Command(goos, program string, flags ...string) string {
	words := []string{program, "hook"}
	if c.Name != Clients[0].Name {
		words = append(words, "--client", c.Name)
	}
	words = append(words, flags...)
	for i, w := range words {
		words[i] = quoted(goos, w)
	}
	return strings.Join(words, " ")
}

var plainWord = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_./:@%+=,~-]+$`) })

// quoted makes a word one of the client's shell: that of POSIX, which is what clients
// use on Windows too; forward slashes are understood everywhere there.
func quoted(goos, w string) string {
	if goos == "windows" {
		w = strings.ReplaceAll(w, `\`, "/")
		if plainWord().MatchString(w) {
			return w
		}
		return `"` + w + `"`
	}
	if plainWord().MatchString(w) && !strings.HasPrefix(w, "~") {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// Installed says what of ours a settings file holds.
type Installed struct {
	Events   []string `json:"events"`  // of the client, with a hook of ours
	Missing  []string `json:"missing"` // that an installation asks for
	Commands []string `json:"commands"`
	Others   int      `json:"others"` // hooks that are not ours
	// Mixed are those of the others that call mem among other things, as "event: command".
	// mem leaves them alone, and adds none of its own to their events.
	Mixed []string `json:"mixed,omitempty"`
	// Off names the setting in the file that keeps every hook from running; "" where none does.
	Off string `json:"off,omitempty"`
}

// State reads a settings file.
func (c Client) State(content string) (*Installed, error) {
	doc, err := parse(content)
	if err != nil {
		return nil, err
	}
	s := &Installed{Events: []string{}, Missing: []string{}, Commands: []string{}, Off: c.off(doc)}
	for _, h := range doc.all() {
		if !h.own {
			s.Others++
			if h.mixed {
				s.Mixed = append(s.Mixed, h.event+": "+h.command)
			}
		}
		if !h.own && !h.mixed {
			continue
		}
		if !slices.Contains(s.Events, h.event) {
			s.Events = append(s.Events, h.event)
		}
		if h.own && !slices.Contains(s.Commands, h.command) {
			s.Commands = append(s.Commands, h.command)
		}
	}
	for _, e := range c.Install {
		if !slices.Contains(s.Events, e) {
			s.Missing = append(s.Missing, e)
		}
	}
	return s, nil
}

// Add gives a settings file with hooks of ours that run command at events, each once, and
// no others of ours. Everything else in it, comments included, stays as it is.
func (c Client) Add(content, command string, events []string) (string, error) {
	if !ours().MatchString(command) {
		return "", fmt.Errorf("%s would not be known again as a hook of mem: the program's name has to begin with mem-mcp. Call it so, or make a link of that name and start that", command)
	}
	out, err := strip(content, func(h found) bool { return h.command == command && slices.Contains(events, h.event) })
	if err != nil {
		return "", err
	}
	for _, e := range events {
		if out, err = c.addEvent(out, e, command); err != nil {
			return "", err
		}
	}
	return out, verify(content, out)
}

// Remove gives a settings file without hooks of ours.
func (c Client) Remove(content string) (string, error) {
	out, err := strip(content, func(found) bool { return false })
	if err != nil {
		return "", err
	}
	return out, verify(content, out)
}

// verify makes sure that nothing but our hooks differs.
func verify(before, after string) error {
	var sides [2]any
	for i, text := range []string{before, after} {
		doc, err := parse(text)
		if err == nil {
			sides[i], err = doc.withoutOurs()
		}
		if err != nil {
			return fmt.Errorf("the result would not be right, so nothing is changed: %w", err)
		}
	}
	if !reflect.DeepEqual(sides[0], sides[1]) {
		return errors.New("the result would differ in more than mem's hooks, so nothing is changed; add them by hand as docs/hooks.md shows")
	}
	return nil
}

// document is a settings file, taken apart.
type document struct {
	text string // without byte order mark
	bom  string
	root hujson.Value
	eol  string
	unit string // of indentation
}

const byteOrderMark = "\ufeff"

func parse(content string) (*document, error) {
	d := &document{text: content, eol: "\n", unit: "  "}
	if rest, ok := strings.CutPrefix(content, byteOrderMark); ok {
		d.text, d.bom = rest, byteOrderMark
	}
	if !utf8.ValidString(d.text) {
		return nil, errors.New("it is no UTF-8 text")
	}
	if strings.TrimSpace(d.text) == "" {
		d.text = "{}\n"
	}
	if strings.Contains(d.text, "\r\n") {
		d.eol = "\r\n"
	}
	var err error
	if d.root, err = hujson.Parse([]byte(d.text)); err != nil {
		return nil, fmt.Errorf("it cannot be parsed: %s. Repair it first", strings.TrimPrefix(err.Error(), "hujson: "))
	}
	o, ok := d.root.Value.(*hujson.Object)
	if !ok {
		return nil, errors.New("it holds no JSON object")
	}
	if len(o.Members) > 0 {
		before := string(o.Members[0].Name.BeforeExtra)
		if i := strings.LastIndexByte(before, '\n'); i >= 0 && strings.Trim(before[i+1:], " \t") == "" && before[i+1:] != "" {
			d.unit = before[i+1:]
		}
	}
	if n := len(members(o, "hooks")); n > 1 {
		return nil, fmt.Errorf("it has the key \"hooks\" %d times; keep one", n)
	}
	if h := member(o, "hooks"); h != nil {
		if _, ok := h.Value.Value.(*hujson.Object); !ok {
			return nil, errors.New(`its "hooks" is no object; take it out, or make it one`)
		}
	}
	return d, nil
}

func members(o *hujson.Object, name string) []*hujson.ObjectMember {
	var out []*hujson.ObjectMember
	for i := range o.Members {
		if l, ok := o.Members[i].Name.Value.(hujson.Literal); ok && l.String() == name {
			out = append(out, &o.Members[i])
		}
	}
	return out
}

func member(o *hujson.Object, name string) *hujson.ObjectMember {
	if all := members(o, name); len(all) > 0 {
		return all[0]
	}
	return nil
}

// found is one hook in a document, by its place.
type found struct {
	event            string
	inHooks, inEvent int // index of the event in "hooks", of the group in the event
	inGroup          int // of the hook in the group
	command          string
	own              bool
	mixed            bool // calls mem and is not own
}

// off gives the setting of a client that keeps every hook from running, where the file has it.
func (c Client) off(d *document) string {
	for _, s := range c.switches {
		at, is := d.root, true
		for _, key := range strings.Split(s.key, ".") {
			o, _ := at.Value.(*hujson.Object)
			if o == nil {
				is = false
				break
			}
			m := member(o, key)
			if m == nil {
				is = false
				break
			}
			at = m.Value
		}
		if l, ok := at.Value.(hujson.Literal); is && ok && l.String() == s.off {
			return s.key + ": " + s.off
		}
	}
	return ""
}

// hooks gives the object of hooks, nil without one.
func (d *document) hooks() *hujson.Object {
	root, _ := d.root.Value.(*hujson.Object)
	if m := member(root, "hooks"); m != nil {
		o, _ := m.Value.Value.(*hujson.Object)
		return o
	}
	return nil
}

// all lists the hooks. What has another shape than a client reads is passed over.
func (d *document) all() []found {
	hooks := d.hooks()
	if hooks == nil {
		return nil
	}
	var out []found
	for i := range hooks.Members {
		name, _ := hooks.Members[i].Name.Value.(hujson.Literal)
		groups, ok := hooks.Members[i].Value.Value.(*hujson.Array)
		if !ok {
			continue
		}
		for g := range groups.Elements {
			group, ok := groups.Elements[g].Value.(*hujson.Object)
			if !ok {
				continue
			}
			m := member(group, "hooks")
			if m == nil {
				continue
			}
			list, ok := m.Value.Value.(*hujson.Array)
			if !ok {
				continue
			}
			for k := range list.Elements {
				h := found{event: name.String(), inHooks: i, inEvent: g, inGroup: k}
				if o, ok := list.Elements[k].Value.(*hujson.Object); ok {
					if m := member(o, "command"); m != nil {
						if l, ok := m.Value.Value.(hujson.Literal); ok && l.Kind() == '"' {
							h.command = l.String()
						}
					}
				}
				h.own = ours().MatchString(h.command)
				h.mixed = !h.own && calls().MatchString(h.command)
				out = append(out, h)
			}
		}
	}
	return out
}

// withoutOurs is what a document says besides our hooks, for comparison. Lists and objects
// that hold nothing else go with them.
func (d *document) withoutOurs() (any, error) {
	std := d.root.Clone()
	std.Standardize()
	var root map[string]any
	dec := json.NewDecoder(bytes.NewReader(std.Pack()))
	dec.UseNumber()
	if err := dec.Decode(&root); err != nil {
		return nil, err
	}
	hooks, ok := root["hooks"].(map[string]any)
	if !ok {
		return root, nil
	}
	for event, v := range hooks {
		groups, ok := v.([]any)
		if !ok {
			continue
		}
		groups = slices.DeleteFunc(groups, func(g any) bool {
			group, _ := g.(map[string]any)
			list, ok := group["hooks"].([]any)
			if !ok {
				return false
			}
			list = slices.DeleteFunc(list, func(h any) bool {
				hook, _ := h.(map[string]any)
				command, _ := hook["command"].(string)
				return ours().MatchString(command)
			})
			group["hooks"] = list
			return len(list) == 0
		})
		if hooks[event] = groups; len(groups) == 0 {
			delete(hooks, event)
		}
	}
	if len(hooks) == 0 {
		delete(root, "hooks")
	}
	return root, nil
}

// entry is the text of a new hook of ours, on lines that are indented as those around it.
func (c Client) entry(d *document, depth int, command string) string {
	in := func(n int) string { return d.eol + strings.Repeat(d.unit, depth+n) }
	end := ""
	if c.timeoutUnit > 0 {
		end = "," + in(3) + `"timeout": ` + strconv.Itoa(int(timeout*c.timeoutUnit))
	}
	text, err := marshal(command)
	if err != nil {
		return "" // cannot be: a string
	}
	return "{" + in(1) + `"hooks": [` + in(2) + "{" + in(3) + `"type": "command",` + in(3) + `"command": ` + text + end + in(2) + "}" + in(1) + "]" + in(0) + "}"
}

// marshal writes a string without escaping what only HTML needs escaped.
func marshal(s string) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(s)
	return strings.TrimSuffix(b.String(), "\n"), err
}
