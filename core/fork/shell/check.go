package shell

import (
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"mem/core/memdir"
)

const (
	// maxScript bounds a script, in bytes; the depth of the parser follows from it.
	maxScript = 16 << 10
	// maxNesting bounds how deep constructs lie in each other.
	maxNesting = 60
)

// Check says why a script will not be run, as far as its text tells, or nil.
func Check(script string) error {
	_, err := parse(script)
	return err
}

func refuse(what, reason string, a ...any) error {
	return &RefusedError{What: what, Reason: fmt.Sprintf(reason, a...)}
}

func parse(script string) (*syntax.File, error) {
	switch {
	case strings.TrimSpace(script) == "":
		return nil, fmt.Errorf("the script is empty")
	case len(script) > maxScript:
		return nil, refuse("the script", "it has %d bytes and may have %d. Write a shorter one", len(script), maxScript)
	case strings.ContainsRune(script, 0):
		return nil, refuse("the script", "it holds a NUL")
	case strings.Count(script, "(")+strings.Count(script, "{")+strings.Count(script, "[") > 2000:
		return nil, refuse("the script", "it holds more than 2,000 brackets. Write a simpler one")
	}
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(script), "")
	if err != nil {
		return nil, fmt.Errorf("the script cannot be parsed: %w", err)
	}
	c := checker{functions: map[string]bool{}}
	syntax.Walk(f, func(n syntax.Node) bool {
		if d, ok := n.(*syntax.FuncDecl); ok && d.Name != nil {
			c.functions[d.Name.Value] = true
		}
		return true
	})
	syntax.Walk(f, c.node)
	if c.err != nil {
		return nil, c.err
	}
	return f, nil
}

// checker looks at every node of a script before any of it runs.
type checker struct {
	functions map[string]bool
	depth     int
	err       error
}

func (c *checker) node(n syntax.Node) bool {
	if n == nil {
		c.depth--
		return true
	}
	if c.err == nil {
		c.err = c.look(n)
	}
	if c.depth > maxNesting*4 && c.err == nil {
		c.err = refuse("the script", "its constructs lie too deep in each other. Write a simpler one")
	}
	if c.err != nil {
		return false
	}
	c.depth++
	return true
}

func (c *checker) look(n syntax.Node) error {
	switch n := n.(type) {
	case *syntax.Stmt:
		if n.Background || n.Coprocess || n.Disown {
			return refuse("&", "nothing runs in the background here. Leave it out")
		}
	case *syntax.Redirect:
		return redirect(n)
	case *syntax.CallExpr:
		return c.call(n)
	case *syntax.ForClause:
		if n.Select {
			return refuse("select", "nobody can answer it here. Use for")
		}
	case *syntax.ProcSubst:
		return refuse("<( ) and >( )", "process substitution is not open to you. Use a pipe or $(...)")
	case *syntax.CmdSubst:
		if n.TempFile || n.ReplyVar {
			return refuse("${ ...; }", "write $(...)")
		}
	case *syntax.ExtGlob:
		return refuse("extended patterns", "they are not known here. Use several words, or find")
	case *syntax.CoprocClause:
		return refuse("coproc", "nothing runs in the background here. Leave it out")
	case *syntax.TimeClause:
		return refuse("time", "nothing is measured here. Leave it out")
	case *syntax.TestDecl:
		return refuse("@test", "it is not known here")
	case *syntax.FuncDecl:
		if n.Name == nil {
			return refuse("functions without a name", "they are not known here")
		}
	case *syntax.DeclClause:
		return declaration(n)
	case *syntax.Assign:
		return assignment(n)
	case *syntax.ParamExp:
		return parameter(n)
	case *syntax.UnaryTest:
		if n.Op == syntax.TsModif || n.Op == syntax.TsUsrOwn || n.Op == syntax.TsGrpOwn || n.Op == syntax.TsRefVar {
			return refuse("the test "+n.Op.String(), "it is not known here")
		}
	case *syntax.UnaryArithm:
		if n.Op == syntax.Inc || n.Op == syntax.Dec {
			return counter(n.X)
		}
	case *syntax.BinaryArithm:
		switch n.Op {
		case syntax.Assgn, syntax.AddAssgn, syntax.SubAssgn, syntax.MulAssgn, syntax.QuoAssgn, syntax.RemAssgn,
			syntax.AndAssgn, syntax.OrAssgn, syntax.XorAssgn, syntax.ShlAssgn, syntax.ShrAssgn:
			return counter(n.X)
		}
	}
	return nil
}

func counter(x syntax.ArithmExpr) error {
	if w, ok := x.(*syntax.Word); ok && syntax.ValidName(w.Lit()) {
		return nil
	}
	return refuse("arithmetic", "only plain variables can be assigned")
}

// redirect admits what writes no file.
func redirect(r *syntax.Redirect) error {
	if r.N != nil && (r.N.Value < "0" || r.N.Value > "2" || len(r.N.Value) > 1) {
		return refuse("redirection of "+memdir.ShownName(r.N.Value), "only 0, 1 and 2 are there")
	}
	to := r.Word.Lit()
	switch r.Op {
	case syntax.RdrIn, syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		return nil
	case syntax.DplOut:
		if to == "1" || to == "2" {
			return nil
		}
	case syntax.RdrOut, syntax.AppOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll:
		if to == "/dev/null" {
			return nil
		}
	}
	return refuse(r.Op.String(), "output to files is not open to you (only to /dev/null). Change files of the memory with Write and Edit")
}

// never are commands that would get around the gate, and why they are refused.
var never = map[string]string{
	"exec": "no program is started here", "eval": "write the script out", "source": "write the script out", ".": "write the script out",
	"command": "name the command itself", "builtin": "name the command itself", "trap": "there are no signals here", "wait": "nothing runs in the background here",
	"alias": "write the command out", "sudo": "no program is started here", "env": "there is no environment to see", "printenv": "there is no environment to see",
	"tee": "output to files is not open to you; use Write", "rm": "nothing can be removed", "mv": "nothing can be moved", "cp": "use Read and Write",
	"touch": "use Write", "mkdir": "folders are made by Write", "chmod": "permissions are not yours to change", "ln": "links are not followed here",
	"bash": "write the script itself", "sh": "write the script itself", "python": "no program is started here", "python3": "no program is started here",
	"node": "no program is started here", "git": "no program is started here", "curl": "there is no network", "wget": "there is no network",
	"rg": "use grep, or the tool Grep", "awk": "use cut, grep and sed -n", "which": "only the commands of the list are there", "type": "only the commands of the list are there",
	"sleep": "there is nothing to wait for",
}

func (c *checker) call(n *syntax.CallExpr) error {
	if len(n.Args) == 0 {
		return nil
	}
	if len(n.Assigns) > 0 {
		for _, a := range n.Assigns {
			if a.Array != nil {
				return refuse("an array before a command", "set it in a line of its own")
			}
		}
	}
	name, ok := literal(n.Args[0])
	if !ok {
		return refuse("a command that is put together", "write its name out, so that it can be seen before anything runs")
	}
	if c.functions[name] && !slices.Contains(keep, name) {
		return nil
	}
	if _, ok := commands[name]; ok || slices.Contains(keep, name) {
		return nil
	}
	reason, ok := never[name]
	if !ok {
		reason = "no program is started here"
	}
	return refuse(memdir.ShownName(name), "%s. There are: %s", reason, strings.Join(Commands(), " "))
}

// literal gives a word that says the same whatever the variables hold.
func literal(w *syntax.Word) (string, bool) {
	var b strings.Builder
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if strings.ContainsAny(p.Value, `\*?[{~`) && p.Value != "[" {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.SglQuoted:
			if p.Dollar {
				return "", false
			}
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			if len(p.Parts) == 0 {
				continue
			}
			lit, ok := p.Parts[0].(*syntax.Lit)
			if len(p.Parts) > 1 || !ok || strings.Contains(lit.Value, `\`) {
				return "", false
			}
			b.WriteString(lit.Value)
		default:
			return "", false
		}
	}
	return b.String(), true
}

func declaration(n *syntax.DeclClause) error {
	switch n.Variant.Value {
	case "declare", "typeset", "local", "export", "readonly":
	default:
		return refuse(n.Variant.Value, "it is not known here. Assign with name=value")
	}
	for _, a := range n.Args {
		if a.Name == nil {
			return refuse(n.Variant.Value+" with options", "they are not known here. Assign with name=value")
		}
	}
	return nil
}

func assignment(a *syntax.Assign) error {
	if a.Name == nil {
		return nil
	}
	name := a.Name.Value
	switch {
	case name == "PATH", name == "ENV", name == "BASH_ENV", name == "SHELLOPTS", name == "BASHOPTS", strings.HasPrefix(name, "LD_"), strings.HasPrefix(name, "DYLD_"):
		return refuse(name, "no program is started here, so it changes nothing. Leave it out")
	case a.Index != nil:
		return refuse("assignment to one element", "it is not known here. Assign the list: a=(x y)")
	case a.Array != nil:
		for _, el := range a.Array.Elems {
			if el.Index != nil {
				return refuse("lists with keys", "they are not known here. Use plain lists: a=(x y)")
			}
		}
	}
	return nil
}

func parameter(n *syntax.ParamExp) error {
	switch {
	case n.Param == nil || n.Width || n.IsSet || n.NestedParam != nil || n.Flags != nil || len(n.Modifiers) > 0:
		return refuse("${ }", "this form is not known here. Use plain ${name}")
	case n.Excl:
		return refuse("${!name}", "names in variables are not followed. Use the variable itself")
	case n.Param.Value == "$" || n.Param.Value == "PPID" || n.Param.Value == "!":
		return refuse("$"+n.Param.Value, "there are no processes here. Leave it out")
	case n.Exp != nil && n.Exp.Op == syntax.OtherParamOps:
		return refuse("${name@...}", "it is not known here")
	}
	for _, w := range grown(n) {
		if err := plain(w); err != nil {
			return err
		}
	}
	return nil
}

// grown are the words in an expansion that are put in, or matched, many times.
func grown(n *syntax.ParamExp) []*syntax.Word {
	var list []*syntax.Word
	if n.Repl != nil {
		list = append(list, n.Repl.Orig, n.Repl.With)
	}
	if n.Exp != nil {
		switch n.Exp.Op {
		case syntax.RemSmallPrefix, syntax.RemLargePrefix, syntax.RemSmallSuffix, syntax.RemLargeSuffix,
			syntax.UpperFirst, syntax.UpperAll, syntax.LowerFirst, syntax.LowerAll:
			list = append(list, n.Exp.Word)
		}
	}
	return list
}

// plain admits words whose length is known from those of the variables.
func plain(w *syntax.Word) (err error) {
	if w == nil {
		return nil
	}
	syntax.Walk(w, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst, *syntax.ArithmExp:
			err = refuse("$( ) inside of ${ }", "set a variable first, and use that")
		case *syntax.ParamExp:
			if n.Repl != nil || n.Exp != nil || n.Slice != nil {
				err = refuse("${ } inside of ${ }", "set a variable first, and use that")
			}
		}
		return err == nil
	})
	return err
}
