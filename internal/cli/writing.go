package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/memory"
	"mem/core/project"
	"mem/core/store"
	"mem/internal/term"
)

func (a *app) writeCommand() *cobra.Command {
	var w memory.Write
	var bodyFile string
	c := &cobra.Command{
		Use:   "write NAME --type TYPE --description TEXT --body-file FILE|-",
		Short: "Write a memory: a topic with its entry",
		Args:  term.OneArg("the name of the memory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			w.Name = args[0]
			if w.Type == "" {
				return term.Usage("write needs --type: %s", strings.Join(memfile.Types, ", "))
			}
			if err := term.OneOf("type", w.Type, memfile.Types); err != nil {
				return err
			}
			if w.Description == "" {
				return term.Usage("write needs --description: one line that tells when the memory matters")
			}
			if bodyFile == "" {
				return term.Usage("write needs --body-file: a file, or - for standard input")
			}
			body, err := a.body(cmd.Context(), bodyFile)
			if err != nil {
				return err
			}
			w.Body = body
			return a.withMemory(func(m *memory.Memory) error {
				r, err := working(a, "writing", func() (*memory.Written, error) { return m.Write(cmd.Context(), w) })
				if err != nil {
					return a.explain(err)
				}
				return a.show(r, func() {
					if r.Entry != "" {
						a.Printf("%s\n", a.Data(r.Entry))
					}
					a.change(r.Change)
				})
			})
		},
	}
	f := c.Flags()
	f.StringVar(&w.Type, "type", "", "user, feedback, project or reference")
	f.StringVar(&w.Description, "description", "", "one line that tells when the memory matters")
	f.StringVar(&w.Summary, "summary", "", "text of the entry (default: the description)")
	f.StringVar(&w.Path, "path", "", "file in the memory directory (default: made from the name)")
	f.StringVar(&w.ExpectedHash, "expected-hash", "", "replace the topic that has this hash")
	f.StringVar(&bodyFile, "body-file", "", "file with the body, - for standard input")
	a.serveFlags(c)
	return c
}

// maxBody bounds a body that is read, in bytes.
const maxBody = memdir.DefaultTopicBytes

func (a *app) body(ctx context.Context, name string) (string, error) {
	in, from := term.Until(ctx, a.In), "standard input"
	if name == "-" && a.InTerminal && a.ErrTerminal {
		fmt.Fprintln(a.Err, a.Style(term.Faint, "Type the memory; Ctrl-D at the start of a line ends it, Ctrl-C writes nothing."))
	}
	if name != "-" {
		from = term.Clean(name)

		f, err := os.Open(name)
		if err != nil {
			return "", fmt.Errorf("reading the body from %s: %w. Give a file that can be read, or - for standard input", from, project.Reason(err))
		}
		defer f.Close()
		in = f
	}
	b, err := io.ReadAll(io.LimitReader(in, maxBody+1))
	if err != nil {
		return "", fmt.Errorf("reading the body from %s: %w", from, project.Reason(err))
	}
	if len(b) > maxBody {
		return "", fmt.Errorf("the body in %s has more than %d bytes; keep what matters", from, maxBody)
	}
	return string(b), nil
}

// explain adds to an error what a person needs to go on.
func (a *app) explain(err error) error {
	var exists *memory.ExistsError
	var conflict *store.ConflictError
	switch {
	case errors.As(err, &exists):
		return fmt.Errorf("%s exists already with the hash %s. Nothing was written. Look at it with: mem-mcp read %s; replace it with --expected-hash, or choose another name", exists.Path, exists.Current.Hash, exists.Path)
	case errors.As(err, &conflict):
		for _, c := range conflict.Conflicts {
			fmt.Fprintf(a.Err, "conflict in %s, %s\n--- yours\n%s\n--- theirs\n%s\n", term.Clean(c.Path), term.Clean(c.Part), term.Visible(c.Ours), term.Visible(c.Theirs))
		}
	}
	return err
}

func (a *app) deleteCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "delete TOPIC",
		Short: "Delete a topic, by path or name, with its entry",
		Args:  term.OneArg("a path or name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withMemory(func(m *memory.Memory) error {
				c, err := working(a, "deleting", func() (*memory.Change, error) { return m.Delete(cmd.Context(), args[0], "") })
				if err != nil {
					return a.explain(err)
				}
				return a.show(c, func() { a.change(*c) })
			})
		},
	}
}

func (a *app) undoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "undo CHANGE",
		Short: "Take a change back, by its id",
		Args:  term.OneArg("the id of a change; mem-mcp history lists them"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withMemory(func(m *memory.Memory) error {
				c, err := working(a, "taking it back", func() (*memory.Change, error) { return m.Undo(cmd.Context(), args[0]) })
				if err != nil {
					return a.explain(err)
				}
				return a.show(c, func() { a.change(*c) })
			})
		},
	}
}
