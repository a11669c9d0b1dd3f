package gate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mem/core/fork"
	"mem/core/fork/shell"
	"mem/core/memdir"
)

// access is what a tool needs of the path that it is given.
type access int

const (
	noPath access = iota
	readFile
	searchIn // a file or folder; the current folder where none is given
	writeFile
	script // paths in a script: the shell asks for each
)

// rule is a tool: what it takes, what it needs, what it does.
type rule struct {
	tool        string
	description string
	needs       access
	path        string // the field with the path
	rooted      string // a field with a pattern, which may begin with a path of its own
	fields      []field
	run         func(context.Context, *Gate, decision) (fork.Called, error)
}

type field struct {
	name, kind, about string
	required          bool
}

// table is all that the agent can do. What is not in it is refused.
var table []rule

func init() { // the tools' code looks into the table too
	table = []rule{
		{
			tool: "Read", needs: readFile, path: "file_path", run: runRead,
			description: "Reads a text file, with line numbers. At most 2,000 lines and 64 KB a call; use offset and limit for more.",
			fields: []field{
				{"file_path", "string", "The file, such as /memory/MEMORY.md", true},
				{"offset", "integer", "The line to start from, counted from 1", false},
				{"limit", "integer", "How many lines", false},
			},
		},
		{
			tool: "Grep", needs: searchIn, path: "path", run: runGrep,
			description: "Searches files for a regular expression (RE2).",
			fields: []field{
				{"pattern", "string", "The regular expression", true},
				{"path", "string", "A file or folder to search in; by default the current folder", false},
				{"glob", "string", "Only files whose name or path fits, such as *.md or logs/**", false},
				{"output_mode", "string", "content: lines with their numbers; files: names (also files_with_matches, the default); count: how many lines in each", false},
				{"-i", "boolean", "Ignore case", false},
				{"-n", "boolean", "Line numbers with content (default true)", false},
				{"-A", "integer", "Lines after each match", false},
				{"-B", "integer", "Lines before each match", false},
				{"-C", "integer", "Lines around each match", false},
				{"multiline", "boolean", "Let . match line ends, so that a match may span lines", false},
				{"head_limit", "integer", "At most so many lines of output", false},
			},
		},
		{
			tool: "Glob", needs: searchIn, path: "path", rooted: "pattern", run: runGlob,
			description: "Lists files by name, those changed last first. * and ? stay within a folder, ** crosses them, {a,b} is either.",
			fields: []field{
				{"pattern", "string", "Such as **/*.md", true},
				{"path", "string", "The folder to look in; by default the current folder", false},
			},
		},
		{
			tool: "Bash", needs: script, run: runBash,
			description: "Runs a read-only shell script on the same files: " + strings.Join(shell.Commands(), " ") +
				". Pipes, loops and $(...) work; programs, background jobs and output to files do not. 5 seconds and 64 KB of output.",
			fields: []field{
				{"command", "string", "The script", true},
				{"description", "string", "What it is for; for your own use", false},
				{"timeout", "integer", "Milliseconds, at most 5000", false},
			},
		},
		{
			tool: "Edit", needs: writeFile, path: "file_path", run: runEdit,
			description: "Replaces a text in a file that you have Read in this run. old_string must occur exactly once, unless replace_all is true.",
			fields: []field{
				{"file_path", "string", "The file", true},
				{"old_string", "string", "The text to replace, exactly as in the file and without line numbers", true},
				{"new_string", "string", "What to put there", true},
				{"replace_all", "boolean", "Replace every occurrence", false},
			},
		},
		{
			tool: "Write", needs: writeFile, path: "file_path", run: runWrite,
			description: "Writes a whole file. One that exists must have been Read in this run.",
			fields: []field{
				{"file_path", "string", "The file", true},
				{"content", "string", "All of its text", true},
			},
		},
	}
}

// decision is a call that may be made.
type decision struct {
	rule *rule
	at   place // what the path means
	in   arguments
}

// decide is the gate: it says what a call is and where it works, or why it is not
// made. It looks at nothing on disk.
func (g *Gate) decide(name string, input json.RawMessage) (decision, error) {
	i := slices.IndexFunc(table, func(r rule) bool { return r.tool == name })
	if i < 0 {
		return decision{}, &shell.RefusedError{What: "the tool " + memdir.ShownName(name), Reason: "this run has only " + toolNames() + ". Use one of them, or do without"}
	}
	d := decision{rule: &table[i]}
	in, err := d.rule.arguments(input)
	if err != nil {
		return decision{}, err
	}
	d.in = in
	switch d.rule.needs {
	case noPath:
		return d, nil
	case script:
		if err := shell.Check(in.text("command")); err != nil {
			return decision{}, err
		}
		return d, nil
	case searchIn:
		p := in.text(d.rule.path)
		if folder, rest, ok := rooted(in.text(d.rule.rooted)); ok {
			p, in[d.rule.rooted] = folder, rest
		}
		if p == "" {
			p = g.cwd
		}
		d.at, err = g.world.resolve(g.cwd, p)
		return d, err
	case readFile:
		d.at, err = g.world.resolve(g.cwd, in.text(d.rule.path))
		return d, err
	case writeFile:
		if d.at, err = g.world.resolve(g.cwd, in.text(d.rule.path)); err != nil {
			return decision{}, err
		}
		if d.at.m == nil || d.at.m.Write == nil {
			return decision{}, refusal(d.at, "it is read only. "+g.world.writable())
		}
		if d.at.rel == "." {
			return decision{}, refusal(d.at, "it is a folder; name a file in it")
		}
		if err := d.at.m.Write(d.at.rel); err != nil {
			return decision{}, refusal(d.at, err.Error())
		}
		return d, nil
	}
	return decision{}, fmt.Errorf("the table says nothing of what %s needs", name)
}

func (w *world) writable() string {
	var list []string
	for _, m := range w.mounts {
		if m.Write != nil {
			list = append(list, "/"+m.Name)
		}
	}
	if len(list) == 0 {
		return "Nothing can be written in this run"
	}
	return "Write below " + strings.Join(list, " or ")
}

func toolNames() string {
	names := make([]string, len(table))
	for i, r := range table {
		names[i] = r.tool
	}
	return strings.Join(names, ", ")
}

// schema is the JSON schema of the tool's input.
func (r *rule) schema() json.RawMessage {
	type property struct {
		Type  string `json:"type"`
		About string `json:"description"`
	}
	s := struct {
		Type       string              `json:"type"`
		Properties map[string]property `json:"properties"`
		Required   []string            `json:"required"`
		Additional bool                `json:"additionalProperties"`
	}{Type: "object", Properties: map[string]property{}}
	for _, f := range r.fields {
		s.Properties[f.name] = property{f.kind, f.about}
		if f.required {
			s.Required = append(s.Required, f.name)
		}
	}
	out, err := json.Marshal(s)
	if err != nil {
		panic(err) // strings and booleans always encode
	}
	return out
}

// arguments are the fields of a call, checked against the table.
type arguments map[string]any

func (a arguments) text(name string) string { s, _ := a[name].(string); return s }
func (a arguments) yes(name string) bool    { b, _ := a[name].(bool); return b }

// number gives a number, or what stands for one that was not given.
func (a arguments) number(name string, missing int) int {
	if n, ok := a[name].(int); ok {
		return n
	}
	return missing
}

// arguments reads the input of a call. Models write numbers and booleans as strings
// now and then; everything else has to be as the schema says.
func (r *rule) arguments(input json.RawMessage) (arguments, error) {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(input, &raw); err != nil || raw == nil {
		return nil, fmt.Errorf("the input of %s is no JSON object; give one with %s", r.tool, r.fieldNames())
	}
	in := arguments{}
	for name, v := range raw {
		i := slices.IndexFunc(r.fields, func(f field) bool { return f.name == name })
		if i < 0 {
			return nil, fmt.Errorf("%s takes no %s; it takes %s", r.tool, memdir.ShownName(name), r.fieldNames())
		}
		if bytes.Equal(v, []byte("null")) {
			continue
		}
		value, ok := decode(r.fields[i].kind, v)
		if !ok {
			return nil, fmt.Errorf("%s of %s has to be of type %s", name, r.tool, r.fields[i].kind)
		}
		in[name] = value
	}
	for _, f := range r.fields {
		if _, ok := in[f.name]; f.required && !ok {
			return nil, fmt.Errorf("%s needs %s", r.tool, f.name)
		}
	}
	return in, nil
}

// maxNumber bounds numbers of lines and the like, so that sums of them stay sums.
const maxNumber = 1 << 30

func decode(kind string, v json.RawMessage) (any, bool) {
	var s string
	isText := json.Unmarshal(v, &s) == nil
	switch kind {
	case "string":
		return s, isText
	case "boolean":
		if !isText {
			s = string(v)
		}
		b, err := strconv.ParseBool(s)
		return b, err == nil
	}
	if !isText {
		s = string(v)
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f != float64(int64(f)) || f < 0 || f > maxNumber {
		return nil, false
	}
	return int(f), true
}

func (r *rule) fieldNames() string {
	names := make([]string, len(r.fields))
	for i, f := range r.fields {
		names[i] = f.name
		if !f.required {
			names[i] += " (optional)"
		}
	}
	return strings.Join(names, ", ")
}
