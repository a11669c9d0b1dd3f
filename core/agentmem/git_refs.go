package agentmem

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"mem/core/project"
)

// gitFormat is how a repository keeps its objects and references.
type gitFormat struct {
	name     int  // bytes of an object's name
	reftable bool // references lie in tables, not in files
}

// formatOf reads how a repository keeps things from its configuration. A way that is not
// known here is an error that names it, as it is for a git that is too old.
func formatOf(commonDir string) (f gitFormat, err error) {
	if f.name, err = project.ObjectName(commonDir); err != nil {
		return f, err
	}
	data, err := project.ReadFile(filepath.Join(commonDir, "config"), 1<<20)
	if err != nil {
		return f, nil // there is none
	}
	switch v := project.GitConfig(string(data), "extensions", "refstorage"); {
	case v == "" || strings.EqualFold(v, "files"):
	case strings.EqualFold(v, "reftable"):
		f.reftable = true
	default:
		return f, fmt.Errorf("the repository keeps its references as %.40q, and files and reftable are read here", v)
	}
	return f, nil
}

// maxRefs is how many references a HEAD is followed through, as git does.
const maxRefs = 5

// headOf gives the commit that is checked out, "" before the first one.
func headOf(gitDir, commonDir string) (string, error) {
	format, err := formatOf(commonDir)
	if err != nil {
		return "", err
	}
	look := fileRef
	if format.reftable {
		look = func(gitDir, commonDir, name string) (string, error) {
			return tableRef(gitDir, commonDir, name, format.name)
		}
	}
	at := "ref: HEAD"
	for range maxRefs {
		name, ok := strings.CutPrefix(at, "ref:")
		if !ok {
			return at, nil
		}
		name = strings.TrimSpace(name)
		if name != "HEAD" && (strings.Contains(name, "..") || !strings.HasPrefix(name, "refs/")) {
			return "", fmt.Errorf("HEAD names %.200q, which is no reference", name)
		}
		if at, err = look(gitDir, commonDir, name); err != nil || at == "" {
			return "", err
		}
	}
	return "", errors.New("HEAD leads in a circle")
}

// fileRef gives what a reference is, as files keep it: a name, "ref: " with another one,
// or "" for none.
func fileRef(gitDir, commonDir, name string) (string, error) {
	for _, dir := range []string{gitDir, commonDir} {
		b, err := project.ReadFile(filepath.Join(dir, filepath.FromSlash(name)), 64<<10)
		if err == nil {
			return strings.TrimSpace(string(b)), nil
		}
		if name == "HEAD" {
			return "", fmt.Errorf("reading HEAD: %w", project.Reason(err))
		}
	}
	return packedRef(commonDir, name)
}

func packedRef(commonDir, name string) (string, error) {
	b, err := project.ReadFile(filepath.Join(commonDir, "packed-refs"), 64<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("reading packed-refs: %w", project.Reason(err))
	}
	for _, line := range strings.Split(string(b), "\n") {
		if id, ref, ok := strings.Cut(line, " "); ok && ref == name {
			return id, nil
		}
	}
	return "", nil
}
