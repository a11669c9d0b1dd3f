package shell

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"

	"mvdan.cc/sh/v3/pattern"
	"mvdan.cc/sh/v3/syntax"
)

func (r *runner) condition(ctx context.Context, list []*syntax.Stmt) {
	r.quiet++
	r.stmts(ctx, list)
	r.quiet--
}

func (r *runner) ifClause(ctx context.Context, cm *syntax.IfClause) {
	for ; cm != nil; cm = cm.Else {
		if len(cm.Cond) > 0 { // else has none
			r.condition(ctx, cm.Cond)
			if r.flow != onward {
				return
			}
			if r.status != 0 {
				r.status = 0
				continue
			}
		}
		r.stmts(ctx, cm.Then)
		return
	}
}

// turn runs the body of a loop once and says whether the loop ends.
func (r *runner) turn(ctx context.Context, body []*syntax.Stmt) bool {
	r.loops++
	r.stmts(ctx, body)
	r.loops--
	switch r.flow {
	case breaks:
		if r.levels--; r.levels <= 0 || r.loops == 0 {
			r.flow = onward
		}
		return true
	case continues:
		if r.levels--; r.levels <= 0 || r.loops == 0 {
			r.flow = onward
			return false
		}
		return true
	case returns, exits:
		return true
	}
	return ctx.Err() != nil
}

func (r *runner) forClause(ctx context.Context, cm *syntax.ForClause) {
	switch loop := cm.Loop.(type) {
	case *syntax.WordIter:
		items := r.env.params
		if loop.InPos.IsValid() {
			var err error
			if items, err = r.fields(ctx, loop.Items); err != nil {
				r.broken(err)
				return
			}
		}
		r.status = 0
		for _, item := range items {
			if err := r.env.setText(loop.Name.Value, item); err != nil {
				r.broken(err)
				return
			}
			if r.turn(ctx, cm.Do) {
				return
			}
		}
	case *syntax.CStyleLoop:
		step := func(x syntax.ArithmExpr) (int, bool) {
			if x == nil {
				return 1, true
			}
			n, err := r.arithm(ctx, x)
			if err != nil {
				r.broken(err)
			}
			return n, err == nil
		}
		if _, ok := step(loop.Init); !ok {
			return
		}
		r.status = 0
		for ctx.Err() == nil {
			n, ok := step(loop.Cond)
			if !ok || n == 0 || r.turn(ctx, cm.Do) {
				return
			}
			if _, ok = step(loop.Post); !ok {
				return
			}
		}
	}
}

func (r *runner) caseClause(ctx context.Context, cm *syntax.CaseClause) {
	subject, err := r.word(ctx, cm.Word)
	if err != nil {
		r.broken(err)
		return
	}
	r.status = 0
	next := false
	for _, item := range cm.Items {
		hit := next
		for i := 0; i < len(item.Patterns) && !hit; i++ {
			pat, err := r.pattern(ctx, item.Patterns[i])
			if err == nil {
				hit, err = r.fits(pat, subject)
			}
			if err != nil {
				r.broken(err)
				return
			}
		}
		if !hit {
			continue
		}
		r.stmts(ctx, item.Stmts)
		switch item.Op {
		case syntax.Fallthrough:
			next = true
		case syntax.Resume, syntax.ResumeKorn:
			next = false
		default:
			return
		}
	}
}

// fits reports whether a pattern matches all of a text.
func (r *runner) fits(pat, subject string) (bool, error) {
	expr, err := pattern.Regexp(pat, pattern.EntireString)
	if err != nil {
		return false, nil // as in a shell, a broken pattern matches nothing
	}
	re, err := r.regexp(expr, subject)
	if err != nil {
		return false, err
	}
	return re.MatchString(subject), nil
}

// regexp compiles an expression that will be asked of a text, unless that would take
// too long.
func (r *runner) regexp(expr, subject string) (*regexp.Regexp, error) {
	if (len(expr)+1)*(len(subject)+1) > 8<<20 {
		return nil, r.stop(errors.New("stopped: a pattern and a text are too long to be compared. Use grep"))
	}
	return regexp.Compile(expr)
}

func (r *runner) binary(ctx context.Context, cm *syntax.BinaryCmd) {
	switch cm.Op {
	case syntax.AndStmt, syntax.OrStmt:
		r.quiet++
		r.stmt(ctx, cm.X)
		r.quiet--
		if r.flow == onward && (r.status == 0) == (cm.Op == syntax.AndStmt) {
			r.stmt(ctx, cm.Y)
		}
	case syntax.Pipe, syntax.PipeAll:
		defer r.state.pipe(-1)
		if err := r.state.pipe(1); err != nil {
			return
		}
		pr, pw := io.Pipe()
		// What waits for the other side ends with the script.
		stop := context.AfterFunc(ctx, func() { pr.CloseWithError(io.ErrClosedPipe); pw.CloseWithError(io.ErrClosedPipe) })
		defer stop()
		left, right := r.sub(), r.sub()
		left.out = pw
		if cm.Op == syntax.PipeAll {
			left.err = pw
		}
		right.in = bufio.NewReader(pr)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			defer pw.Close()
			defer left.caught()
			left.stmt(ctx, cm.X)
		}()
		func() {
			defer right.caught()
			right.stmt(ctx, cm.Y)
		}()
		pr.Close()
		<-ended
		r.status = right.status
		if r.fail && r.status == 0 {
			r.status = left.status
		}
	}
}

// caught ends the script where a part of it has a fault, instead of the process.
func (r *runner) caught() {
	if v := recover(); v != nil {
		r.stop(fmt.Errorf("stopped by a fault in the shell (%v). Write it another way", v))
	}
}
