package shell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/pattern"
	"mvdan.cc/sh/v3/syntax"
)

// environ are the variables of one shell.
type environ struct {
	r      *runner
	vars   map[string]expand.Variable
	scopes []map[string]expand.Variable // what local hides, innermost last
	params []string
	size   int
}

func newEnviron(r *runner, vars map[string]string) *environ {
	e := &environ{r: r, vars: map[string]expand.Variable{}}
	for k, v := range vars {
		e.vars[k] = expand.Variable{Set: true, Kind: expand.String, Str: v}
	}
	return e
}

func (e *environ) clone(r *runner) *environ {
	c := *e
	c.r, c.vars = r, maps.Clone(e.vars)
	c.scopes = make([]map[string]expand.Variable, len(e.scopes))
	for i, s := range e.scopes {
		c.scopes[i] = maps.Clone(s)
	}
	return &c
}

// Get gives a variable.
func (e *environ) Get(name string) expand.Variable {
	text := func(s string) expand.Variable { return expand.Variable{Set: true, Kind: expand.String, Str: s} }
	switch {
	case strings.HasPrefix(name, "HOME "): // ~name: no user of this machine is looked up
		return text("~" + name[len("HOME "):])
	case name == "?":
		return text(strconv.Itoa(e.r.status))
	case name == "#":
		return text(strconv.Itoa(len(e.params)))
	case name == "@" || name == "*":
		return expand.Variable{Set: true, Kind: expand.Indexed, List: e.params}
	case name == "0":
		return text("sh")
	case name == "PWD":
		return text(e.r.dir)
	}
	if n, err := strconv.Atoi(name); err == nil {
		if n < 1 || n > len(e.params) {
			return expand.Variable{}
		}
		return text(e.params[n-1])
	}
	return e.vars[name]
}

// Each gives all variables.
func (e *environ) Each(f func(string, expand.Variable) bool) {
	for _, name := range slices.Sorted(maps.Keys(e.vars)) {
		if !f(name, e.vars[name]) {
			return
		}
	}
}

func sizeOf(v expand.Variable) int {
	n := len(v.Str)
	for _, s := range v.List {
		n += len(s) + 16
	}
	return n
}

// Set sets a variable.
func (e *environ) Set(name string, v expand.Variable) error {
	if !syntax.ValidName(name) {
		return fmt.Errorf("%.40q is no name of a variable", name)
	}
	if e.vars[name].ReadOnly {
		return fmt.Errorf("%s: readonly variable", name)
	}
	if v.Kind == expand.KeepValue {
		return nil
	}
	e.size += sizeOf(v) + len(name) - sizeOf(e.vars[name])
	if e.size > maxVariables || len(e.vars) > 10000 {
		return e.r.stop(fmt.Errorf("stopped: its variables hold more than %d KB. Use pipes", maxVariables>>10))
	}
	if !v.Set {
		delete(e.vars, name)
		return nil
	}
	e.vars[name] = v
	return nil
}

func (e *environ) setText(name, value string) error {
	return e.Set(name, expand.Variable{Set: true, Kind: expand.String, Str: value})
}

// local hides a variable until the function returns.
func (e *environ) local(name string) {
	if len(e.scopes) == 0 {
		return
	}
	scope := e.scopes[len(e.scopes)-1]
	if _, ok := scope[name]; !ok {
		scope[name] = e.vars[name]
	}
}

func (e *environ) enter() { e.scopes = append(e.scopes, map[string]expand.Variable{}) }

func (e *environ) leave() {
	last := len(e.scopes) - 1
	for name, v := range e.scopes[last] {
		e.size += sizeOf(v) - sizeOf(e.vars[name])
		if v.Set {
			e.vars[name] = v
		} else {
			delete(e.vars, name)
		}
	}
	e.scopes = e.scopes[:last]
}

// config is how the library expands words for this shell. It finds no files: globs
// are ours, since the library's follow the system's idea of a path.
func (r *runner) config(ctx context.Context) *expand.Config {
	return &expand.Config{
		Env:      r.env,
		NoUnset:  r.unset,
		CmdSubst: func(w io.Writer, c *syntax.CmdSubst) error { return r.capture(ctx, w, c) },
		ProcSubst: func(*syntax.ProcSubst) (string, error) {
			return "", errors.New("process substitution is not open to you")
		},
	}
}

// limited is a writer that ends the script where it gets too much.
type limited struct {
	w    io.Writer
	left int
	s    *state
}

func (l *limited) Write(b []byte) (int, error) {
	if l.left -= len(b); l.left < 0 {
		return 0, l.s.stop(fmt.Errorf("stopped: one $(...) gave more than %d KB. Use a pipe", maxCaptured>>10))
	}
	return l.w.Write(b)
}

func (r *runner) capture(ctx context.Context, w io.Writer, c *syntax.CmdSubst) error {
	if r.depth >= maxFunctions {
		return r.stop(fmt.Errorf("stopped: more than %d functions and $(...) within each other", maxFunctions))
	}
	r2 := r.sub()
	r2.depth++
	r2.out = &limited{w, maxCaptured, r.state}
	if len(c.Stmts) == 1 && c.Stmts[0].Cmd == nil && len(c.Stmts[0].Redirs) == 1 && c.Stmts[0].Redirs[0].Op == syntax.RdrIn { // $(<file)
		name, err := r2.word(ctx, c.Stmts[0].Redirs[0].Word)
		if err != nil {
			return err
		}
		text, err := r2.readFile(name)
		if err != nil {
			r2.errorf("%s", words(err))
			return nil
		}
		_, err = r2.out.Write(text)
		return err
	}
	r2.stmts(ctx, c.Stmts)
	r.subst = r2.status
	return ctx.Err()
}

// word expands a word to one text, as in an assignment.
func (r *runner) word(ctx context.Context, w *syntax.Word) (string, error) {
	if err := r.sizes(w); err != nil {
		return "", err
	}
	return r.checked(expand.Literal(r.config(ctx), w))
}

// document expands a here-document.
func (r *runner) document(ctx context.Context, w *syntax.Word) (string, error) {
	if err := r.sizes(w); err != nil {
		return "", err
	}
	return r.checked(expand.Document(r.config(ctx), w))
}

// pattern expands a word that names match, with its quoted parts escaped.
func (r *runner) pattern(ctx context.Context, w *syntax.Word) (string, error) {
	if err := r.sizes(w); err != nil {
		return "", err
	}
	return r.checked(expand.Pattern(r.config(ctx), w))
}

func (r *runner) checked(s string, err error) (string, error) {
	if err == nil && len(s) > maxArguments {
		err = r.stop(fmt.Errorf("stopped: a word of %d bytes", len(s)))
	}
	return s, err
}

func (r *runner) arithm(ctx context.Context, x syntax.ArithmExpr) (int, error) {
	if err := r.sizes(x); err != nil {
		return 0, err
	}
	return expand.Arithm(r.config(ctx), x)
}

// sizes ends the script before a word grows without measure, or is matched for too
// long: the library cannot be stopped once it expands.
func (r *runner) sizes(n syntax.Node) error {
	if n == nil {
		return nil
	}
	total, worst := 0, 0
	syntax.Walk(n, func(n syntax.Node) bool {
		p, ok := n.(*syntax.ParamExp)
		if !ok {
			_, deeper := n.(*syntax.CmdSubst) // its own words come later
			return !deeper
		}
		size := r.length(p)
		total += size
		for _, w := range grown(p) {
			worst = max(worst, (size+1)*(r.estimate(w)+1))
		}
		return true
	})
	if total > 4*maxArguments || worst > 8<<20 {
		return r.stop(errors.New("stopped: an expansion could grow beyond measure. Use shorter variables, or a pipe"))
	}
	return nil
}

func (r *runner) length(p *syntax.ParamExp) int {
	if p.Param == nil {
		return 0
	}
	return sizeOf(r.env.Get(p.Param.Value))
}

func (r *runner) estimate(w *syntax.Word) (n int) {
	if w == nil {
		return 0
	}
	syntax.Walk(w, func(node syntax.Node) bool {
		switch node := node.(type) {
		case *syntax.Lit:
			n += len(node.Value)
		case *syntax.SglQuoted:
			n += len(node.Value)
		case *syntax.ParamExp:
			n += r.length(node)
		}
		return true
	})
	return n
}

// fields expands words to the arguments of a command, or the items of a list.
func (r *runner) fields(ctx context.Context, list []*syntax.Word) ([]string, error) {
	var out []string
	size := 0
	add := func(s string) error {
		if size += len(s) + 16; size > maxArguments {
			return r.stop(fmt.Errorf("stopped: more than %d KB of arguments", maxArguments>>10))
		}
		out = append(out, s)
		return ctx.Err()
	}
	for _, w := range list {
		if err := r.sizes(w); err != nil {
			return nil, err
		}
		one := *w
		if !syntax.SplitBraces(&one) {
			if err := r.field(ctx, &one, add); err != nil {
				return nil, err
			}
			continue
		}
		for alt, err := range expand.BracesSeq(nil, &one) {
			if err == nil {
				err = r.field(ctx, alt, add)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

func (r *runner) field(ctx context.Context, w *syntax.Word, add func(string) error) error {
	cfg := r.config(ctx)
	got, err := expand.Fields(cfg, w)
	if err != nil {
		return err
	}
	if len(got) == 1 && mayGlob(w) {
		pat, err := expand.Pattern(cfg, w)
		if err != nil {
			return err
		}
		if pattern.HasMeta(pat, 0) {
			names, err := r.glob(ctx, pat)
			if err != nil {
				return err
			}
			if len(names) > 0 {
				got = names
			}
		}
	}
	for _, s := range got {
		if err := add(s); err != nil {
			return err
		}
	}
	return nil
}

// mayGlob tells words that can be expanded twice, and may name files by a pattern.
func mayGlob(w *syntax.Word) bool {
	glob := false
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			glob = glob || strings.ContainsAny(p.Value, "*?[")
		case *syntax.ParamExp:
			glob = true
			if p.Exp != nil || p.Slice != nil || p.Index != nil {
				return false
			}
		case *syntax.SglQuoted:
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				switch q := q.(type) {
				case *syntax.Lit:
				case *syntax.ParamExp:
					if q.Exp != nil || q.Slice != nil || q.Index != nil {
						return false
					}
				default:
					return false
				}
			}
		default:
			return false
		}
	}
	return glob
}

// glob gives the names that a pattern fits, in order.
func (r *runner) glob(ctx context.Context, pat string) ([]string, error) {
	parts := strings.Split(pat, "/")
	matches := []string{""}
	for i, part := range parts {
		var next []string
		for _, m := range matches {
			prefix := m
			if i > 0 {
				prefix += "/"
			}
			if !pattern.HasMeta(part, 0) {
				next = append(next, prefix+unescape(part))
				continue
			}
			names, err := r.match(ctx, prefix, part, i+1 < len(parts))
			if err != nil {
				return nil, err
			}
			for _, n := range names {
				next = append(next, prefix+n)
			}
		}
		if len(next) > maxListed/10 {
			return nil, r.stop(errors.New("stopped: a pattern fits too many names"))
		}
		matches = next
	}
	if !pattern.HasMeta(parts[len(parts)-1], 0) { // what follows the last pattern has to be there
		matches = slices.DeleteFunc(matches, func(m string) bool { _, err := r.stat(m); return err != nil })
	}
	return matches, nil
}

func (r *runner) match(ctx context.Context, dir, part string, folders bool) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	expr, err := pattern.Regexp(part, pattern.EntireString)
	if err != nil {
		return nil, nil // as in a shell, a broken pattern fits nothing
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, nil
	}
	if dir == "" {
		dir = "."
	}
	list, err := r.readDir(dir)
	if err != nil {
		return nil, ctx.Err()
	}
	var names []string
	for _, info := range list {
		if re.MatchString(info.Name()) && (!folders || info.IsDir()) {
			names = append(names, info.Name())
		}
	}
	return names, nil
}

func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// The files of this shell. What is refused is noted.

func (r *runner) resolve(p string) (string, error) {
	abs, err := r.files.Resolve(r.dir, p)
	r.note(err)
	return abs, err
}

func (r *runner) stat(p string) (fs.FileInfo, error) {
	abs, err := r.resolve(p)
	if err != nil {
		return nil, err
	}
	info, err := r.files.Stat(abs)
	r.note(err)
	return info, err
}

func (r *runner) readDir(p string) ([]fs.FileInfo, error) {
	abs, err := r.resolve(p)
	if err != nil {
		return nil, err
	}
	list, err := r.files.ReadDir(abs)
	r.note(err)
	if err == nil {
		err = r.count(&r.state.listed, len(list)+1, maxListed, fmt.Sprintf("more than %d entries of folders were listed", maxListed))
	}
	return list, err
}

func (r *runner) readFile(p string) ([]byte, error) {
	abs, err := r.resolve(p)
	if err != nil {
		return nil, err
	}
	text, err := r.files.ReadFile(abs)
	r.note(err)
	if err == nil {
		err = r.count(&r.state.read, len(text)+1, maxRead, fmt.Sprintf("more than %d MB of files were read", maxRead>>20))
	}
	return text, err
}

func join(dir, name string) string {
	if dir == "." {
		return "./" + name
	}
	if dir == "" || strings.HasSuffix(dir, "/") {
		return dir + name
	}
	return dir + "/" + name
}

// words gives an error as commands print it.
func words(err error) string {
	var p *fs.PathError
	switch {
	case !errors.As(err, &p):
		return err.Error()
	case errors.Is(p.Err, fs.ErrNotExist):
		return path.Clean(p.Path) + ": No such file or directory"
	case errors.Is(p.Err, fs.ErrPermission):
		return p.Path + ": Permission denied"
	}
	return p.Path + ": " + p.Err.Error()
}
