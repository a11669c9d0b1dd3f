package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"mem/core/memdir"
	"mem/core/settings"
)

func (a *app) whereCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "where",
		Short: "Tell where memory lies, which rule chose it, and what was skipped and why",
		Args:  noArgs,
		RunE:  func(*cobra.Command, []string) error { return a.where() },
	}
}

func (a *app) where() error {
	cfg, cfgErr := settings.LoadConfig(a.env)
	l, err := memdir.Locate(a.env, memdir.LocateOptions{MemoryDir: a.memoryDir, Project: a.project, TrustProjectSettings: cfg.Memory.TrustProjectSettings})
	if err != nil {
		return err
	}
	if cfgErr != nil {
		l.Warnings = append(l.Warnings, cfgErr.Error())
	}
	return a.show(l, func() {
		exists := ""
		if !l.Exists {
			exists = a.style(faint, " (does not exist yet)")
		}
		a.printf("%s%s\n", a.style(bold, l.Directory), exists)
		a.printf("chosen by %s: %s\n", l.Rule, l.Why)
		a.printf("project   %s (%s)\n", l.Project.Root, l.Project.Why)
		a.printf("memory    %s (%s)\n", onOff(l.Memory.On), l.Memory.Why)
		a.printf("dream     %s (%s)\n", onOff(l.Dream.On), l.Dream.Why)
		for _, s := range l.Skipped {
			a.printf("skipped   %s %s: %s\n", s.Rule, s.Candidate, s.Reason)
		}
		for _, w := range l.Warnings {
			fmt.Fprintln(a.streams.Err, a.style(yellow, "warning:"), w)
		}
	})
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}
