package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mem/core/atomicfile"
	"mem/core/engine"
	"mem/core/fork"
	"mem/core/model"
	"mem/core/model/wire"
	"mem/core/project"
	"mem/core/settings"
	"mem/core/spend"
	"mem/internal/term"
)

func (a *app) engineCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "engine",
		Short: "Show who does the thinking of jobs, and why",
		Long:  "engine shows who does the thinking of jobs: for those that somebody starts, and for those that run by themselves.",
		Args:  term.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return a.engine() },
	}
	c.AddCommand(a.engineUseCommand(), a.engineTestCommand())
	return c
}

// chosen is a choice as it is shown.
type chosen struct {
	Engine  string           `json:"engine"`
	Detail  string           `json:"detail,omitempty"`
	Why     string           `json:"why"`
	Missing string           `json:"missing,omitempty"`
	Skipped []engine.Skipped `json:"skipped"`
}

// shownEngines is what `mem-mcp engine` tells.
type shownEngines struct {
	Configured string     `json:"configured"`
	Source     string     `json:"source"`
	Started    chosen     `json:"startedBySomebody"`
	Automatic  chosen     `json:"automatic"`
	Left       spend.Left `json:"leftToday"`
	Budget     budget     `json:"budgetOfTheDay"`
}

// chooseHere chooses as a server would whose client has no sampling and takes jobs as a
// host, which most clients are.
func (a *app) chooseHere(cfg settings.Config, automatic bool) chosen {
	c := engine.Choose(a.env, cfg, engine.Have{Host: true}, automatic)
	if c.Skipped == nil {
		c.Skipped = []engine.Skipped{}
	}
	return chosen{c.Name, c.Detail, c.Why, c.Missing, c.Skipped}
}

func (a *app) engine() error {
	cfg, cfgErr := settings.LoadConfig(a.env)
	left, err := spend.Open(a.env).Left(cfg.Budgets)
	if err != nil {
		return err
	}
	s := shownEngines{cfg.Engine, cfg.Source("engine"), a.chooseHere(cfg, false), a.chooseHere(cfg, true), left, budget{cfg.Budgets.Day.Tokens, cfg.Budgets.Day.Runs, cfg.Budgets.Day.Cost}}
	if err := a.show(s, func() { a.showEngines(s) }); err != nil {
		return err
	}
	if cfgErr != nil {
		return fmt.Errorf("the configuration has faults, what is shown is by the values that hold:\n%w", cfgErr)
	}
	return nil
}

func (a *app) showEngines(s shownEngines) {
	a.Printf("%s %s %s\n", a.Style(term.Faint, "configured"), a.Style(term.Bold, s.Configured), a.Style(term.Faint, "("+s.Source+")"))
	for _, c := range []struct {
		what string
		chosen
	}{{"started by somebody", s.Started}, {"automatic", s.Automatic}} {
		colour := term.Green
		if c.Missing != "" {
			colour = term.Red
		}
		a.Printf("\n%s: %s\n", c.what, a.Style(colour, strings.TrimSpace(c.Engine+" "+term.Clean(c.Detail))))
		a.Printf("  %s\n", term.Clean(c.Why))
		for _, x := range c.Skipped {
			a.Printf("  not %s: %s\n", x.Engine, term.Clean(x.Reason))
		}
	}
	a.Printf("\n%s %s\n", a.Style(term.Faint, "left today"), leftWords(s.Left, s.Budget))
	if s.Left.Spent != "" {
		fmt.Fprintln(a.Err, a.Style(term.Yellow, "note:"), s.Left.Spent)
	}
	for _, n := range s.Left.Notes {
		fmt.Fprintln(a.Err, a.Style(term.Yellow, "note:"), term.Clean(n))
	}
}

// useFlags are the keys of the configuration that `engine use` can set besides.
var useFlags = []struct{ flag, key, of, doc string }{
	{"api", "engines.provider.api", fork.Provider, "the API that it speaks: anthropic, or openai as local servers do too (default anthropic)"},
	{"base-url", "engines.provider.base_url", fork.Provider, "where the API is, such as http://127.0.0.1:11434/v1 (default: the API's own address)"},
	{"model", "engines.%s.model", "", "the model that thinks"},
	{"key-env", "engines.provider.key_env", fork.Provider, "the environment variable that holds the key"},
	{"key-command", "engines.provider.key_command", fork.Provider, "a command that prints the key; the key itself is not written anywhere"},
	{"command", "engines.command.name", fork.Command, "the headless agent: claude, or auto"},
	{"path", "engines.command.path", fork.Command, "where the program of the headless agent lies (default: looked for in PATH)"},
}

func (a *app) engineUseCommand() *cobra.Command {
	var yes bool
	values := map[string]*string{}
	c := &cobra.Command{
		Use:   "use provider|command|sampling|host|none|auto",
		Short: "Write into the configuration who does the thinking of jobs, also of those that run by themselves",
		Long: "use writes into the configuration who does the thinking of jobs, after it has said what that means. Runs that nobody\n" +
			"asked for take an engine that costs money only when this names it. Then try it with mem-mcp engine test.\n\n" +
			"  provider   a model API, paid by the owner of its key; a server on this machine needs none\n" +
			"  command    a headless agent that you have, such as claude -p, under its own login\n" +
			"  sampling   the model of the MCP client\n" +
			"  host       the agent of your next conversation\n" +
			"  none       nobody\n" +
			"  auto       the first that is there, for what you start; for what runs by itself, none that costs money",
		Example: "  mem-mcp engine use provider --key-command \"pass show anthropic\"\n" +
			"  mem-mcp engine use provider --api openai --base-url http://127.0.0.1:11434/v1 --model qwen3\n" +
			"  mem-mcp engine use command",
		Args: term.OneArg("the engine: provider, command, sampling, host, none or auto"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] != engine.Auto && !slices.Contains(engine.Order, args[0]) {
				return term.Usage("there is no engine %q; there are auto, %s", args[0], strings.Join(engine.Order, ", "))
			}
			set := []settings.Setting{{Key: "engine", Text: args[0]}}
			for _, f := range useFlags {
				if !cmd.Flags().Changed(f.flag) {
					continue
				}
				of, key := f.of, f.key
				if strings.Contains(key, "%s") && (args[0] == fork.Provider || args[0] == fork.Command) {
					of, key = args[0], fmt.Sprintf(key, args[0])
				}
				if of != args[0] {
					return term.Usage("--%s does not belong to the engine %s", f.flag, args[0])
				}
				set = append(set, settings.Setting{Key: key, Text: *values[f.flag]})
			}
			return a.engineUse(cmd.Context(), set, yes)
		},
	}
	for _, f := range useFlags {
		values[f.flag] = c.Flags().String(f.flag, "", f.doc)
	}
	c.Flags().BoolVar(&yes, "yes", false, "write it without asking")
	return c
}

func (a *app) engineUse(ctx context.Context, set []settings.Setting, yes bool) error {
	path := a.env.ConfigFile()
	if path == "" {
		return errors.New("there is no place for a configuration: neither a home directory nor XDG_CONFIG_HOME is known")
	}
	old, err := project.ReadFile(path, settings.MaxConfigFile)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s cannot be read: %w; make it a readable file, or remove it", path, project.Reason(err))
	}
	text, err := settings.EditConfig(path, old, set)
	if err != nil {
		return err
	}
	cfg, _ := settings.LoadConfig(a.env) // EditConfig has checked the file
	for _, s := range set {
		if err := cfg.Set(s.Key, s.Text, path+":"); err != nil {
			return err
		}
	}
	c := a.chooseHere(cfg, true)
	meaning := a.meaning(set[0].Text, cfg)
	result := struct {
		File    string `json:"file"`
		Written bool   `json:"written"`
		Meaning string `json:"meaning"`
		Choice  chosen `json:"automatic"`
	}{path, false, meaning, c}
	if !a.json {
		a.Printf("%s\n", a.Style(term.Faint, "into "+path))
		for _, s := range set {
			a.Printf("  %s: %s\n", s.Key, term.Clean(s.Text))
		}
		a.Printf("%s\n", term.Clean(meaning))
		if c.Missing != "" {
			a.Printf("%s %s\n", a.Style(term.Yellow, "note:"), term.Clean(c.Missing))
		}
	}
	if string(text) == string(old) {
		return a.show(result, func() { a.Printf("it says so already\n") })
	}
	if !yes {
		answer, asked := a.Ask(ctx, "Write it?")
		if !asked {
			return term.Usage("nobody is here to say yes to this; say so with --yes")
		}
		if !answer {
			return errors.New("nothing was written")
		}
	}
	if err := replaceFile(path, text); err != nil {
		return fmt.Errorf("%s was not written: %w", path, err)
	}
	result.Written = true
	return a.show(result, func() {
		a.Printf("written\n")
		if c.Missing == "" && (set[0].Text == fork.Provider || set[0].Text == fork.Command) {
			fmt.Fprintln(a.Err, "mem-mcp engine test makes one tiny request, to see that it works")
		}
	})
}

// meaning says who pays, and where memory and conversations go.
func (a *app) meaning(name string, cfg settings.Config) string {
	b := cfg.Budgets
	bounds := fmt.Sprintf("Jobs that run by themselves use it too, within the budgets (%s tokens and $%g a day; mem-mcp config shows all).", grouped(b.Day.Tokens), b.Day.Cost)
	what := "Parts of your conversations and of your memory, without the secrets that are found in them, go to "
	switch name {
	case fork.Provider:
		p := cfg.Engines.Provider
		where := p.BaseURL
		if where == "" {
			where = "the " + p.API + " API"
		}
		pays := ", and whoever owns the key pays. "
		if u, err := url.Parse(p.BaseURL); err == nil && wire.Loopback(u.Hostname()) {
			pays = ", a server on this machine. "
		}
		return what + where + pays + bounds
	case fork.Command:
		return what + "the model of the headless agent, under its own login, and its account pays. It works on a copy of the memory, without shell and network. " + bounds
	case fork.Sampling:
		return what + "the model of the MCP client, and its account pays. " + bounds
	case fork.Host:
		return "Nothing is sent anywhere by mem: the agent of your next conversation is offered the jobs."
	case fork.None:
		return "Nobody thinks: jobs do mechanical work only."
	}
	return "What is there is taken when you start a job. What runs by itself takes nothing that costs money."
}

// replaceFile writes a file whole, for its owner alone, or leaves it as it is.
func replaceFile(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	path, err := throughLinks(path) // dotfiles are often links into a repository
	if err != nil {
		return err
	}
	return atomicfile.Write(path, text, 0o600, atomicfile.Durable)
}

func (a *app) engineTestCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "test",
		Short: "Make one tiny request to the engine and show what came back",
		Args:  term.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return a.engineTest(cmd.Context()) },
	}
}

// noTools are those of a request that needs none.
type noTools struct{}

func (noTools) Tools() []model.Tool { return nil }
func (noTools) Call(context.Context, string, json.RawMessage) fork.Called {
	return fork.Called{Refused: "there are no tools in a test"}
}

func (a *app) engineTest(ctx context.Context) error {
	cfg, err := settings.LoadConfig(a.env)
	if err != nil {
		return err
	}
	c := engine.Choose(a.env, cfg, engine.Have{Host: true}, false)
	switch {
	case c.Missing != "":
		return errors.New(c.Missing)
	case c.Engine == nil:
		why := c.Why
		for _, s := range c.Skipped {
			why += fmt.Sprintf("\nnot %s: %s", s.Engine, s.Reason)
		}
		return fmt.Errorf("the engine is %s, which makes no requests: %s", c.Name, why)
	}
	stage, err := os.MkdirTemp("", "mem-engine-test-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(stage) //nolint:errcheck // scratch
	begin := time.Now()
	out, err := c.Engine.Run(ctx, fork.Task{
		Kind: "test", System: "You answer in one word.", Prompt: "Reply with the one word: ready", Tools: noTools{}, Stage: stage,
		Limits: fork.Limits{Turns: 2, OutputTokens: 2000, Wall: 2 * time.Minute},
	})
	if err != nil {
		return err
	}
	result := struct {
		Engine  string      `json:"engine"`
		Detail  string      `json:"detail"`
		Model   string      `json:"model"`
		Answer  string      `json:"answer"`
		End     string      `json:"end"`
		Reason  string      `json:"reason"`
		Seconds float64     `json:"seconds"`
		Usage   model.Usage `json:"usage"`
	}{c.Name, c.Detail, out.Model, out.Text, string(out.End), out.Reason, time.Since(begin).Seconds(), out.Usage}
	if err := a.show(result, func() {
		a.Printf("%s %s\n", a.Style(term.Bold, c.Name), term.Clean(c.Detail))
		if out.Text != "" {
			a.Printf("%s answered in %.1f s: %s\n", term.Clean(out.Model), result.Seconds, a.Data(term.Clean(out.Text)))
		}
		u := out.Usage
		a.Printf("%d requests, %d tokens in, %d out", u.Requests, u.Input+u.CacheRead+u.CacheWrite, u.Output)
		if u.Priced {
			a.Printf(", $%.4f", u.Cost)
		}
		a.Printf("\n")
	}); err != nil {
		return err
	}
	if out.End != fork.EndDone {
		return fmt.Errorf("it did not work (%s): %s", out.End, out.Reason)
	}
	return nil
}
