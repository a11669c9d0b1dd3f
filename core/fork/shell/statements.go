package shell

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

func (r *runner) file(ctx context.Context, f *syntax.File) int {
	r.stmts(ctx, f.Stmts)
	return r.status & 0xff
}

func (r *runner) stmts(ctx context.Context, list []*syntax.Stmt) {
	for _, st := range list {
		r.stmt(ctx, st)
		if r.flow != onward || ctx.Err() != nil {
			return
		}
	}
}

// broken takes an error of an expansion: the statement fails.
func (r *runner) broken(err error) {
	r.errorf("%s", words(err))
	r.status = 1
	var unset expand.UnsetParameterError
	if errors.As(err, &unset) {
		r.flow = exits
	}
}

func (r *runner) stmt(ctx context.Context, st *syntax.Stmt) {
	if r.flow != onward || ctx.Err() != nil {
		return
	}
	in, out, errs := r.in, r.out, r.err
	ok := true
	for _, rd := range st.Redirs {
		if err := r.redirect(ctx, rd); err != nil {
			r.broken(err)
			ok = false
			break
		}
	}
	if ok {
		if st.Cmd != nil {
			r.command(ctx, st.Cmd)
		} else {
			r.status = 0
		}
	}
	r.in, r.out, r.err = in, out, errs
	if st.Negated {
		r.status = oneIf(r.status == 0)
		return
	}
	if b, ok := st.Cmd.(*syntax.BinaryCmd); ok && (b.Op == syntax.AndStmt || b.Op == syntax.OrStmt) {
		return
	}
	if r.strict && r.quiet == 0 && r.status != 0 && r.flow == onward {
		r.flow = exits
	}
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}

// redirect points one of the streams elsewhere. Check has seen to it that no file is
// written.
func (r *runner) redirect(ctx context.Context, rd *syntax.Redirect) error {
	to := &r.out
	if rd.N != nil && rd.N.Value == "2" {
		to = &r.err
	}
	switch rd.Op {
	case syntax.RdrIn:
		name, err := r.word(ctx, rd.Word)
		if err != nil {
			return err
		}
		if name == "/dev/null" {
			r.in = strings.NewReader("")
			return nil
		}
		text, err := r.readFile(name)
		if err != nil {
			return err
		}
		r.in = bytes.NewReader(text)
	case syntax.WordHdoc:
		text, err := r.word(ctx, rd.Word)
		if err != nil {
			return err
		}
		r.in = strings.NewReader(text + "\n")
	case syntax.Hdoc, syntax.DashHdoc:
		text, err := r.heredoc(ctx, rd)
		if err != nil {
			return err
		}
		r.in = strings.NewReader(text)
	case syntax.DplOut:
		if rd.Word.Lit() == "2" {
			*to = r.err
		} else {
			*to = r.out
		}
	case syntax.RdrAll, syntax.AppAll:
		r.out, r.err = io.Discard, io.Discard
	default: // to /dev/null
		*to = io.Discard
	}
	return nil
}

func (r *runner) heredoc(ctx context.Context, rd *syntax.Redirect) (string, error) {
	if rd.Hdoc == nil {
		return "", nil
	}
	text := ""
	_, quoted := literal(rd.Word)
	if rd.Word.Lit() != "" {
		quoted = strings.Contains(rd.Word.Lit(), `\`)
	}
	if lit := rd.Hdoc.Lit(); quoted && lit != "" {
		text = lit
	} else {
		var err error
		if text, err = r.document(ctx, rd.Hdoc); err != nil {
			return "", err
		}
	}
	if rd.Op == syntax.DashHdoc {
		lines := strings.SplitAfter(text, "\n")
		for i := range lines {
			lines[i] = strings.TrimLeft(lines[i], "\t")
		}
		text = strings.Join(lines, "")
	}
	return text, nil
}

func (r *runner) command(ctx context.Context, cm syntax.Command) {
	switch cm := cm.(type) {
	case *syntax.CallExpr:
		r.simple(ctx, cm)
	case *syntax.Block:
		r.stmts(ctx, cm.Stmts)
	case *syntax.Subshell:
		r2 := r.sub()
		r2.stmts(ctx, cm.Stmts)
		r.status = r2.status
	case *syntax.BinaryCmd:
		r.binary(ctx, cm)
	case *syntax.IfClause:
		r.ifClause(ctx, cm)
	case *syntax.WhileClause:
		r.status = 0
		last := 0
		for ctx.Err() == nil {
			r.condition(ctx, cm.Cond)
			if (r.status == 0) == cm.Until || r.flow != onward || r.turn(ctx, cm.Do) {
				break
			}
			last = r.status
		}
		if r.flow == onward {
			r.status = last
		}
	case *syntax.ForClause:
		r.forClause(ctx, cm)
	case *syntax.CaseClause:
		r.caseClause(ctx, cm)
	case *syntax.FuncDecl:
		r.funcs[cm.Name.Value] = cm.Body
		r.status = 0
	case *syntax.ArithmCmd:
		n, err := r.arithm(ctx, cm.X)
		if err != nil {
			r.broken(err)
			return
		}
		r.status = oneIf(n == 0)
	case *syntax.LetClause:
		for _, x := range cm.Exprs {
			n, err := r.arithm(ctx, x)
			if err != nil {
				r.broken(err)
				return
			}
			r.status = oneIf(n == 0)
		}
	case *syntax.TestClause:
		r.testClause(ctx, cm)
	case *syntax.DeclClause:
		r.status = 0
		for _, a := range cm.Args {
			if v := cm.Variant.Value; v == "local" || v == "declare" || v == "typeset" {
				r.env.local(a.Name.Value)
			}
			if a.Naked {
				continue
			}
			if err := r.assign(ctx, a); err != nil {
				r.broken(err)
				return
			}
			if cm.Variant.Value == "readonly" {
				v := r.env.vars[a.Name.Value]
				v.ReadOnly = true
				r.env.vars[a.Name.Value] = v
			}
		}
	default:
		r.broken(fmt.Errorf("this construct is not known here"))
	}
}

func (r *runner) assign(ctx context.Context, a *syntax.Assign) error {
	name := a.Name.Value
	old := r.env.vars[name]
	if a.Array != nil {
		var list []*syntax.Word
		for _, el := range a.Array.Elems {
			if el.Value != nil {
				list = append(list, el.Value)
			}
		}
		items, err := r.fields(ctx, list)
		if err != nil {
			return err
		}
		if a.Append {
			if old.Kind == expand.String && old.Set {
				old.List = []string{old.Str}
			}
			items = append(append([]string{}, old.List...), items...)
		}
		return r.env.Set(name, expand.Variable{Set: true, Kind: expand.Indexed, List: items})
	}
	value := ""
	if a.Value != nil {
		var err error
		if value, err = r.word(ctx, a.Value); err != nil {
			return err
		}
	}
	if a.Append {
		value = old.String() + value
	}
	return r.env.setText(name, value)
}

func (r *runner) simple(ctx context.Context, cm *syntax.CallExpr) {
	r.subst = 0
	args, err := r.fields(ctx, cm.Args)
	if err != nil {
		r.broken(err)
		return
	}
	if len(args) > 0 && len(cm.Assigns) > 0 { // they hold for this command alone
		r.env.enter()
		for _, a := range cm.Assigns {
			r.env.local(a.Name.Value)
		}
		defer r.env.leave()
	}
	for _, a := range cm.Assigns {
		if err := r.assign(ctx, a); err != nil {
			r.broken(err)
			return
		}
	}
	if len(args) == 0 {
		r.status = r.subst
		return
	}
	r.run(ctx, args)
}

// run runs a command: one that the shell keeps, a function, or a tool.
func (r *runner) run(ctx context.Context, args []string) {
	if r.called() != nil {
		return
	}
	if status, ok := r.builtin(ctx, args); ok {
		r.status = status
		return
	}
	body, ok := r.funcs[args[0]]
	if !ok {
		r.status = r.tool(ctx, args)
		return
	}
	if r.depth >= maxFunctions {
		r.stop(fmt.Errorf("stopped: more than %d functions and $(...) within each other", maxFunctions))
		return
	}
	params, loops := r.env.params, r.loops
	r.env.params, r.loops = args[1:], 0
	r.env.enter()
	r.depth++
	r.stmt(ctx, body)
	r.depth--
	r.env.leave()
	r.env.params, r.loops = params, loops
	if r.flow == returns {
		r.flow = onward
	}
}
