package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"mem/core/memdir"
	"mem/core/settings"
	"mem/internal/term"
)

func (a *app) whereCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "where",
		Short: "Tell where memory lies, which rule chose it, and what was skipped and why",
		Args:  term.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return a.where() },
	}
}

func (a *app) where() error {
	cfg, cfgErr := settings.LoadConfig(a.env)
	l, err := memdir.Locate(a.env, memdir.LocateOptions{MemoryDir: a.memoryDir, Project: a.project, TrustProjectSettings: cfg.Memory.TrustProjectSettings,
		Store: a.store, Extra: cfg.Stores})
	if err != nil {
		return err
	}
	if cfgErr != nil {
		l.Warnings = append(l.Warnings, cfgErr.Error())
	}
	return a.show(l, func() {
		exists := ""
		if !l.Exists {
			exists = a.Style(term.Faint, " (does not exist yet)")
		}
		a.Printf("%s%s\n", a.Style(term.Bold, l.Directory), exists)
		a.Printf("chosen by %s: %s\n", l.Rule, l.Why)
		a.Printf("project   %s (%s)\n", l.Project.Root, l.Project.Why)
		a.Printf("memory    %s (%s)\n", onOff(l.Memory.On), l.Memory.Why)
		a.Printf("dream     %s (%s)\n", onOff(l.Dream.On), l.Dream.Why)
		for _, s := range l.Skipped {
			a.Printf("skipped   %s %s: %s\n", s.Rule, s.Candidate, s.Reason)
		}
		for _, w := range l.Warnings {
			fmt.Fprintln(a.Err, a.Style(term.Yellow, "warning:"), w)
		}
	})
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}
