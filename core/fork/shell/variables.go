package shell

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"
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
