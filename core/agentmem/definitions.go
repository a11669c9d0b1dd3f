package agentmem

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/project"
)

// Definition is an agent that a file defines, as clients read it: the frontmatter
// of a Markdown file in the folder agents.
type Definition struct {
	Name   string       // as it is written; the file's without one
	Folder string       // of its memory; "" where its name cannot be one
	Scope  memdir.Scope // of its memory; "" for one that keeps none
	File   string       // absolute
	odd    string       // what stands for the scope and is none
}

// Limits of looking for definitions: a person has dozens of agents.
const (
	maxDefinitions     = 500
	maxDefinition      = 256 << 10 // bytes of a file
	maxDefinitionDepth = 4         // folders below agents
)

// clientFolder is the client's folder in a project.
const clientFolder = ".claude"

const agentsFolder = "agents"

// definitionsIn reads the definitions below a client's folder. In a checkout, base is
// its top, which no link leads out of; "" is the user's own folder, whose links are
// theirs. What cannot be read is told.
func definitionsIn(ctx context.Context, base, clientDir string) (found []Definition, notes []string) {
	dir := filepath.Join(clientDir, agentsFolder)
	var src fs.FS
	if base == "" {
		real, err := filepath.EvalSymlinks(dir)
		if err != nil {
			return nil, nil // there is none
		}
		src = os.DirFS(real)
	} else {
		top, err := os.OpenRoot(base)
		if err != nil {
			return nil, nil
		}
		defer top.Close()
		rel, err := filepath.Rel(base, dir)
		if err != nil {
			return nil, nil
		}
		root, err := top.OpenRoot(rel)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, []string{fmt.Sprintf("%s cannot be read: %v", memdir.ShownName(dir), project.Reason(err))}
		}
		defer root.Close()
		src = root.FS()
	}
	err := fs.WalkDir(src, ".", func(p string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		name := filepath.Join(dir, filepath.FromSlash(p))
		unread := func(err error) error {
			notes = append(notes, fmt.Sprintf("%s cannot be read: %v", memdir.ShownName(name), project.Reason(err)))
			return nil
		}
		switch {
		case err != nil && p == "." && errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return unread(err)
		case d.IsDir() && strings.Count(p, "/") >= maxDefinitionDepth:
			return fs.SkipDir
		case d.IsDir() || !memfile.IsMarkdown(d.Name()):
			return nil
		case len(found) == maxDefinitions:
			notes = append(notes, fmt.Sprintf("%s holds more than %d agents; the others were not looked at", memdir.ShownName(dir), maxDefinitions))
			return fs.SkipAll
		}
		def, err := readDefinition(src, p)
		if err != nil {
			return unread(err)
		}
		def.File = name
		if def.odd != "" {
			notes = append(notes, fmt.Sprintf("%s: memory is %s, which is none of user, project and local: this agent keeps no memory", memdir.ShownName(name), memdir.ShownName(def.odd)))
		}
		found = append(found, def)
		return nil
	})
	if err != nil && ctx.Err() == nil {
		notes = append(notes, fmt.Sprintf("looking for agents in %s: %v", memdir.ShownName(dir), project.Reason(err)))
	}
	return found, notes
}

func readDefinition(src fs.FS, p string) (Definition, error) {
	// Before it is opened: opening a pipe would wait for its writer.
	if info, err := fs.Stat(src, p); err != nil {
		return Definition{}, err
	} else if !info.Mode().IsRegular() {
		return Definition{}, errors.New("it is not a plain file")
	}
	f, err := src.Open(p)
	if err != nil {
		return Definition{}, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxDefinition))
	if err != nil {
		return Definition{}, err
	}
	file := memfile.Parse(string(b))
	d := Definition{Name: strings.TrimSpace(file.Value("name"))}
	if d.Name == "" {
		d.Name = strings.TrimSuffix(path.Base(p), path.Ext(p))
	}
	d.Folder, _ = memdir.AgentFolder(d.Name) // "" says that it cannot be one
	switch s := memdir.Scope(strings.ToLower(strings.TrimSpace(file.Value("memory")))); s {
	case memdir.ScopeUser, memdir.ScopeProject, memdir.ScopeLocal:
		d.Scope = s
	case "", "none", "false":
	default:
		d.odd = string(s)
	}
	return d, nil
}
