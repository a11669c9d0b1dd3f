package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"mem/core/settings"
	"mem/internal/term"
)

func (a *app) configCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "config",
		Short: "Show every setting of mem, its value and where that came from",
		Args:  term.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return a.config() },
	}
}

func (a *app) config() error {
	cfg, err := settings.LoadConfig(a.env)
	values := settings.Values(cfg)
	shown := a.show(struct {
		File   string                 `json:"file"`
		Values []settings.ConfigValue `json:"values"`
	}{a.env.ConfigFile(), values}, func() {
		a.Printf("%s %s\n", a.Style(term.Faint, "file"), a.env.ConfigFile())
		var rows [][]string
		for _, v := range values {
			rows = append(rows, []string{v.Key, v.Value, v.Source, v.Doc})
		}
		a.Table([]string{"key", "value", "from", "meaning"}, rows)
	})
	if shown != nil {
		return shown
	}
	if err != nil {
		return fmt.Errorf("the configuration has faults, the values shown are those that hold:\n%w", err)
	}
	return nil
}
