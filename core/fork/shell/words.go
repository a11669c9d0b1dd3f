package shell

import (
	"context"
	"errors"
	"fmt"
	"io"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/pattern"
	"mvdan.cc/sh/v3/syntax"
)

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

// The files of this shell. What is refused is noted.
