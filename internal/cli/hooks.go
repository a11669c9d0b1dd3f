package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"github.com/spf13/cobra"

	"mem/core/hook"
	"mem/internal/term"
)

// Scopes of an installation.
const (
	scopeUser    = "user"
	scopeProject = "project"
)

// hooksFlags are those of install and remove.
type hooksFlags struct {
	scope string
	yes   bool
	skip  []string
}

func (a *app) hooksCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "hooks",
		Short: "Say which clients call mem at their events, and install or remove that",
		Args:  term.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return a.showHooks(nil) },
	}
	clients := strings.Join(hook.ClientNames(), ", ")
	var o hooksFlags
	install := &cobra.Command{
		Use: "install CLIENT", Short: "Have a client call mem: shows what changes in its settings, asks, keeps a backup",
		Long: "install adds hooks to the settings of a client: " + clients + ".\nIt shows the change, asks, and keeps a backup. All other keys and comments stay as they are.",
		Args: term.OneArg("a client: " + clients),
		RunE: func(cmd *cobra.Command, args []string) error { return a.changeHooks(cmd.Context(), args[0], o, true) },
	}
	install.Flags().StringArrayVar(&o.skip, "skip", nil, "leave this event of the client out (can be repeated)")
	remove := &cobra.Command{
		Use: "remove CLIENT", Short: "Take the hooks of mem out of a client's settings again",
		Args: term.OneArg("a client: " + clients),
		RunE: func(cmd *cobra.Command, args []string) error { return a.changeHooks(cmd.Context(), args[0], o, false) },
	}
	for _, c := range []*cobra.Command{install, remove} {
		c.Flags().StringVar(&o.scope, "scope", scopeUser, "whose settings: user, or project for this project only")
		c.Flags().BoolVar(&o.yes, "yes", false, "write without asking")
	}
	show := &cobra.Command{
		Use: "show [CLIENT]", Short: "Say what is installed where",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return term.Usage("show takes at most one client: %s", clients)
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.showHooks(args) },
	}
	c.AddCommand(install, remove, show)
	return c
}

// hooksChange is what an installation did, or would do.
type hooksChange struct {
	Client  string   `json:"client"`
	File    string   `json:"file"`
	Changed bool     `json:"changed"`
	Diff    string   `json:"diff,omitempty"`
	Backup  string   `json:"backup,omitempty"` // of the file as it was
	Notes   []string `json:"notes,omitempty"`
}

func (a *app) changeHooks(ctx context.Context, name string, o hooksFlags, install bool) error {
	c, err := hook.ClientNamed(name)
	if err != nil {
		return &term.UsageError{Err: err}
	}
	f, err := a.hooksFile(c, o.scope)
	if err != nil {
		return err
	}
	before, exists, err := f.read()
	if err != nil {
		return err
	}
	var after string
	if install {
		after, err = a.withHooks(c, before, o.skip)
	} else if exists {
		after, err = c.Remove(before)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.path, err)
	}
	out := hooksChange{Client: c.Name, File: f.path, Changed: after != before}
	if install && c.Note() != "" {
		out.Notes = append(out.Notes, c.Note())
	}
	if state, err := c.State(after); err == nil {
		out.Notes = append(out.Notes, stateNotes(state, install)...)
	}
	if !out.Changed {
		return a.show(out, func() {
			if install {
				a.Printf("%s: nothing to change, the hooks are there\n", a.Data(f.path))
			} else {
				a.Printf("%s: nothing to change, there are no hooks of mem\n", a.Data(f.path))
			}
			a.hooksNotes(out.Notes)
		})
	}
	out.Diff = udiff.Unified(f.path, f.path, before, after)
	if !a.json {
		a.Printf("%s", a.Diff(a.Data(out.Diff)))
	}
	if !o.yes {
		yes, asked := a.Ask(ctx, "Write this?")
		switch {
		case !asked:
			return errors.New("nothing was written: nobody is there to be asked. Say --yes if this is what you want")
		case !yes:
			return errors.New("nothing was written")
		}
	}
	if exists {
		if out.Backup, err = a.backUp(c, before); err != nil {
			return err
		}
	}
	if err := f.write(before, after, exists); err != nil {
		return err
	}
	return a.show(out, func() {
		a.Printf("wrote %s\n", a.Data(f.path))
		if out.Backup != "" {
			a.Printf("as it was: %s\n", a.Data(out.Backup))
		}
		a.hooksNotes(out.Notes)
	})
}

// stateNotes tell a person what else matters in a settings file.
func stateNotes(s *hook.Installed, install bool) []string {
	var notes []string
	if install && s.Off != "" {
		notes = append(notes, fmt.Sprintf("the file also says %s, so that no hook runs until you take that out", s.Off))
	}
	for _, m := range s.Mixed {
		notes = append(notes, "left alone, because it does more than to call mem: "+m)
	}
	return notes
}

func (a *app) hooksNotes(notes []string) {
	for _, n := range notes {
		a.Printf("%s %s\n", a.Style(term.Yellow, "note:"), a.Data(n))
	}
}

// withHooks gives the settings with the hooks that this program serves.
func (a *app) withHooks(c hook.Client, before string, skip []string) (string, error) {
	program, err := ownPath()
	if err != nil {
		return "", err
	}
	events := slices.Clone(c.Install)
	for _, s := range skip {
		i := slices.Index(events, s)
		if i < 0 {
			return "", term.Usage("%s has no event %q to skip; there are %s", c.Name, s, strings.Join(c.Install, ", "))
		}
		events = slices.Delete(events, i, i+1)
	}
	if len(events) == 0 {
		return "", term.Usage("nothing is left to install; mem-mcp hooks remove takes hooks out")
	}
	var flags []string
	if a.memoryDir != "" {
		dir, err := filepath.Abs(a.memoryDir)
		if err != nil {
			return "", err
		}
		flags = append(flags, "--memory-dir", dir)
	}
	return c.Add(before, c.Command(runtime.GOOS, program, flags...), events)
}

// hooksState is what is installed in one settings file.
type hooksState struct {
	Client string `json:"client"`
	Scope  string `json:"scope"`
	File   string `json:"file"`
	Exists bool   `json:"exists"`
	*hook.Installed
	Error string `json:"error,omitempty"`
}

func (a *app) showHooks(names []string) error {
	clients := hook.Clients
	if len(names) == 1 {
		c, err := hook.ClientNamed(names[0])
		if err != nil {
			return &term.UsageError{Err: err}
		}
		clients = []hook.Client{c}
	}
	list := a.hooksStates(clients)
	return a.show(map[string]any{"hooks": list, "notSupported": hook.Unsupported}, func() {
		var rows [][]string
		for _, s := range list {
			rows = append(rows, []string{s.Client, s.Scope, s.words(), s.File})
		}
		a.Table([]string{"client", "scope", "", "settings"}, rows)
		if len(names) == 0 {
			fmt.Fprintf(a.Err, "not supported: %s\n", strings.Join(sortedKeys(hook.Unsupported), ", "))
		}
	})
}

// hooksStates looks into the settings of clients, of the user and of this project.
func (a *app) hooksStates(clients []hook.Client) []hooksState {
	list := []hooksState{}
	for _, c := range clients {
		for _, scope := range []string{scopeUser, scopeProject} {
			s := hooksState{Client: c.Name, Scope: scope}
			f, err := a.hooksFile(c, scope)
			if err == nil {
				var text string
				s.File = f.path
				if text, s.Exists, err = f.read(); err == nil && s.Exists {
					s.Installed, err = c.State(text)
				}
			}
			if err != nil {
				s.Error = err.Error()
			}
			list = append(list, s)
		}
	}
	return list
}

// calledByNobody reports whether no client calls mem at its events.
func (a *app) calledByNobody() bool {
	return !slices.ContainsFunc(a.hooksStates(hook.Clients), func(s hooksState) bool {
		return s.Error != "" || s.Installed != nil && len(s.Events) > 0 && s.Off == ""
	})
}

func (s hooksState) words() string {
	switch {
	case s.Error != "":
		return term.Clean(term.ForPeople(s.Error))
	case s.Installed == nil || len(s.Events) == 0:
		return "not installed"
	}
	text := "installed: " + strings.Join(append(slices.Clone(s.Commands), s.Mixed...), " | ")
	if len(s.Missing) > 0 {
		text = "installed, without " + strings.Join(s.Missing, ", ")
	}
	if s.Off != "" {
		text += "; but none runs, because of " + s.Off
	}
	return term.Clean(text)
}

func sortedKeys(m map[string]string) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// hooksFile finds the settings of a client.
func (a *app) hooksFile(c hook.Client, scope string) (*clientFile, error) {
	switch scope {
	case scopeUser:
		path := c.File(a.env)
		if path == "" {
			return nil, fmt.Errorf("the settings of %s cannot be found: there is no home directory", c.Title)
		}
		return &clientFile{path: path}, nil
	case scopeProject:
		root, err := a.projectRoot()
		if err != nil {
			return nil, err
		}
		return &clientFile{path: filepath.Join(root, filepath.FromSlash(c.ProjectFile())), root: root}, nil
	}
	return nil, term.Usage("there is no scope %q; it is %s or %s", scope, scopeUser, scopeProject)
}
