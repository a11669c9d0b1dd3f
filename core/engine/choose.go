// Package engine chooses who does the thinking of a job, says which and why, and keeps
// the budgets: what it hands out counts what every run used, and runs nothing when the
// budget of the day is spent.
package engine

import (
	"fmt"
	"strings"

	"mem/core/fork"
	"mem/core/fork/command"
	"mem/core/model"
	"mem/core/settings"
	"mem/core/spend"
)

// Auto is the value of the key engine that takes what is there.
const Auto = "auto"

// Order is that in which auto tries the engines.
var Order = []string{fork.Provider, fork.Command, fork.Sampling, fork.Host, fork.None}

// Have is what the caller can reach and we cannot see.
type Have struct {
	Sampling model.Model // of the client, where it has declared it; nil where not
	Host     bool        // a calling agent takes jobs, now or in its next conversation
}

// Choice is who thinks, and why.
type Choice struct {
	Name   string
	Detail string // which model or command; "" for host and none
	Why    string // in words, for people
	// Engine runs tasks; nil for host and none, and where the one that the configuration names
	// cannot be used: then Missing says what it needs.
	Engine  fork.Engine
	Missing string
	Skipped []Skipped // those before it
}

// Skipped is an engine that was not taken.
type Skipped struct {
	Engine string `json:"engine"`
	Reason string `json:"reason"`
}

// Choose says who thinks: the engine that the configuration names, and no other, or the
// first that is there. Automatic runs, which nobody asked for, take one that costs money
// or sends memory somewhere only if the configuration file names it.
func Choose(env settings.Env, cfg settings.Config, have Have, automatic bool) Choice {
	c := chooser{env: env, cfg: cfg, have: have}
	if cfg.Engine != Auto && cfg.Engine != "" {
		return c.named(automatic)
	}
	var out Choice
	for _, name := range Order {
		reason := ""
		if automatic && costs(name) {
			reason = fmt.Sprintf("it would cost money and nobody asked for this run; `mem-mcp engine use %s` lets it", name)
			if name == fork.Sampling {
				reason = "it uses the client's model and nobody asked for this run; `engine: sampling` in the configuration lets it"
			}
		} else if e, why := c.find(name); why == "" {
			out.take(c.counted(e), name, "the first of "+strings.Join(Order, ", ")+" that is there")
			return out
		} else {
			reason = why
		}
		out.Skipped = append(out.Skipped, Skipped{name, reason})
	}
	return out // not reached: none is always there
}

// costs reports whether an engine spends somebody's money.
func costs(name string) bool {
	return name == fork.Provider || name == fork.Command || name == fork.Sampling
}

func (c *Choice) take(e fork.Engine, name, why string) {
	c.Name, c.Why, c.Engine = name, why, e
	if e != nil {
		c.Detail = e.Detail()
	}
}

// chooser is one choice under way.
type chooser struct {
	env  settings.Env
	cfg  settings.Config
	have Have
}

// named takes the engine that the configuration names.
func (c chooser) named(automatic bool) Choice {
	name, set := c.cfg.Engine, c.cfg.Source("engine")
	source := strings.TrimSuffix(set, ":") // a value that is about to be written has no line yet
	out := Choice{Name: name}
	if automatic && costs(name) && !c.inFile(set) {
		out.Missing = fmt.Sprintf("%s names the engine %s, and a run that nobody asked for takes one that costs money only if the configuration file names it (`mem-mcp engine use %s`)", source, name, name)
		out.Why = out.Missing
		return out
	}
	e, why := c.find(name)
	if why != "" {
		out.Missing = fmt.Sprintf("the engine is %s (%s), and it cannot be used: %s", name, source, why)
		out.Why = out.Missing
		return out
	}
	out.take(c.counted(e), name, "the configuration names it ("+source+")")
	return out
}

// inFile reports whether a value comes from the configuration file.
func (c chooser) inFile(source string) bool {
	file := c.env.ConfigFile()
	return file != "" && strings.HasPrefix(source, file+":")
}

// find gives an engine, or why it is not there.
func (c chooser) find(name string) (fork.Engine, string) {
	if name != fork.None && fork.Inside(c.env) {
		return nil, "this process was started by a forked agent (" + fork.EnvInside + " is set), which may not start another one"
	}
	switch name {
	case fork.Provider:
		m, why := provider(c.env, c.cfg.Engines.Provider)
		if m == nil {
			return nil, why
		}
		return fork.NewLoop(m, fork.Provider), ""
	case fork.Command:
		return command.Find(c.cfg.Engines.Command, c.env)
	case fork.Sampling:
		if c.have.Sampling == nil {
			return nil, "there is no client here that has declared sampling with tools"
		}
		return fork.NewLoop(c.have.Sampling, fork.Sampling), ""
	case fork.Host:
		if !c.have.Host {
			return nil, "there is no calling agent here that could take the job"
		}
	}
	return nil, ""
}

func (c chooser) counted(e fork.Engine) fork.Engine {
	if e == nil {
		return nil
	}
	return &counted{Engine: e, ledger: spend.Open(c.env), budgets: c.cfg.Budgets}
}
