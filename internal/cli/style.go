package cli

import (
	"fmt"
	"strings"

	"mem/core/memdir"
	"mem/core/memory"
	"mem/internal/term"
)

// fill prints how full the index is.
func (a *app) fill(f memdir.Fill) {
	c := term.Green
	if f.Percent >= 70 {
		c = term.Yellow
	}
	if f.Dropped > 0 {
		c = term.Red
	}
	a.Printf("%s %d of %d lines, %d of %d %s\n", a.Style(c, fmt.Sprintf("index %d %%:", f.Percent)), f.Lines, f.MaxLines, f.Size, f.MaxSize, f.Unit)
	if f.Warning != "" {
		a.Printf("%s\n", a.Style(c, f.Warning))
	}
}

// change prints what a change did.
func (a *app) change(c memory.Change) {
	if c.ID == "" {
		a.Printf("nothing changed\n")
	} else {
		for _, f := range c.Files {
			a.Printf("%s\n", strings.TrimRight(a.Style(term.Bold, f.Action)+" "+term.Clean(f.Path)+" "+a.Style(term.Faint, f.Hash), " "))
		}
		if c.MoreFiles > 0 {
			a.Printf("and %d more files\n", c.MoreFiles)
		}
		a.Printf("change %s %s\n", a.Style(term.Bold, c.ID), a.Style(term.Faint, "(mem-mcp undo "+c.ID+a.elsewhere()+" takes it back)"))
	}
	for _, f := range c.Guarded {
		a.Printf("%s %s\n", a.Style(term.Yellow, "found:"), term.Clean(f.Reason))
	}
	a.fill(c.Index)
	a.notice(c.Notice)
}

// elsewhere gives the flags that name this memory, for a command that is to be run later.
func (a *app) elsewhere() string {
	flags := ""
	if a.store != "" {
		flags = " --store " + term.Argument(a.store)
	}
	switch {
	case a.memoryDir != "":
		flags += " --memory-dir " + term.Argument(a.memoryDir)
	case a.project != "":
		flags += " --project " + term.Argument(a.project)
	}
	return flags
}
