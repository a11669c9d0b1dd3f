package language

import (
	"fmt"
	"strings"

	"mem/core/memdir"
	"mem/diagnostics"
)

// budget says how full the index is for the readers that the configuration names,
// what they do not load, and whether that takes in a line (from 0; -1 asks of none).
func budget(s *diagnostics.Snapshot, line int) string {
	fills := fillsOf(s)
	percent, first, last := 0, fills[0].FirstDropped, fills[0].FirstDropped
	var sizes, losses []string
	for _, f := range fills {
		percent = max(percent, f.Percent)
		first, last = min(first, f.FirstDropped), max(last, f.FirstDropped)
		sizes = append(sizes, fmt.Sprintf("- %s of %s %s, %s", thousands(f.Size), thousands(f.MaxSize), f.Unit, whoCounts[f.Unit]))
		if f.FirstDropped > 0 {
			losses = append(losses, fmt.Sprintf("Line %s and what follows (%s) are **not loaded** by readers that count %s.",
				thousands(f.FirstDropped), count(f.Dropped, "line"), f.Unit))
		}
	}
	switch {
	case len(losses) == 0:
		losses = []string{"All of it is loaded."}
	case first == last && len(fills) > 1:
		losses = []string{fmt.Sprintf("Line %s and what follows (%s) are **not loaded** by any reader.", thousands(first), count(fills[0].Dropped, "line"))}
	}
	if line >= 0 && last > 0 && line+1 >= last && first > 0 {
		losses = append(losses, "This line is among them.")
	}
	return fmt.Sprintf("**Memory index** · %s %% full\n\n- %s of %s lines\n%s\n\n%s", thousands(percent),
		thousands(fills[0].Lines), thousands(fills[0].MaxLines), strings.Join(sizes, "\n"), strings.Join(losses, "\n"))
}

// whoCounts says whose way of counting a unit is.
var whoCounts = map[memdir.Unit]string{
	memdir.UTF16: "as Claude Code counts",
	memdir.Bytes: "as other readers count",
}

// fillsOf gives how full the index is under the limits of the configuration, for
// each kind of reader that it names.
func fillsOf(s *diagnostics.Snapshot) []memdir.Fill {
	var fills []memdir.Fill
	for _, rule := range []memdir.Rule{memdir.ClientRule(), memdir.SeedRule()} {
		if s.Config.Client == diagnostics.ClaudeCode && rule.Unit != memdir.UTF16 || s.Config.Client == diagnostics.SeedClient && rule.Unit != memdir.Bytes {
			continue
		}
		rule.Lines, rule.Size = max(s.Config.Limits.IndexLines, 1), max(s.Config.Limits.IndexSize, 1)
		fills = append(fills, memdir.FillOf(s.View.Index, rule))
	}
	return fills
}
