package agentmem

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"mem/core/change"
	"mem/core/memdir"
	"mem/core/memory"
	"mem/core/transcript"
)

func isFile(p string) bool {
	info, err := os.Lstat(p)
	return err == nil && info.Mode().IsRegular()
}

// argument writes a path as the shell of a system takes it; "" where none does.
func argument(goos, p string) string {
	plain := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(`/:._-+@%,`, r) || r == '\\' && goos == "windows"
	}
	switch {
	case strings.ContainsFunc(p, func(r rune) bool { return !unicode.IsPrint(r) }):
		return ""
	case !strings.ContainsFunc(p, func(r rune) bool { return !plain(r) }):
		return p
	case goos == "windows":
		return `"` + p + `"`
	}
	return "'" + strings.ReplaceAll(p, "'", `'\''`) + "'"
}

// holds reports whether a store has all that is in a part: merging would change
// nothing.
func holds(ctx context.Context, store, part *memdir.View, where string) bool {
	files, taken, err := transcript.Union(ctx, transcript.UnionOptions{From: part, Into: store, Name: filepath.Base(where)})
	if err != nil || len(files) > 0 {
		return false
	}
	for _, t := range taken {
		if t.Action == transcript.TakenLeft {
			return false
		}
	}
	return true
}

// United is what merging one store into another did.
type United struct {
	From  string `json:"from"` // directory
	Store string `json:"store"`
	// Files are those of the store that was merged, with what became of them.
	Files []transcript.Taken `json:"files"`
	memory.Change
}

// Source is what is merged: a directory that is the memory of an agent.
type Source struct {
	Directory string // absolute
	Name      memdir.StoreName
	// Where is the directory around it, from which second names are made.
	Where string
}

// SourceOf finds what a person means: the name of a store, or the directory of an
// agent's memory, such as one that List tells of in Split.
func SourceOf(m *memory.Memory, given string) (Source, error) {
	if strings.HasPrefix(given, "agent/") || strings.HasPrefix(given, "extra/") || given == memdir.StoreAuto {
		other, err := m.Other(given)
		if err != nil {
			return Source{}, err
		}
		s := Source{Directory: other.Location.Directory, Name: other.Location.Store, Where: strings.ReplaceAll(given, "/", " ")}
		return s, other.Close()
	}
	dir := given
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(m.Env().Cwd, dir)
	}
	dir = filepath.Clean(dir)
	place := memdir.PlaceOf(dir)
	if place != memdir.PlaceAgent && place != memdir.PlaceLocal {
		return Source{}, fmt.Errorf("%s is neither a store nor the memory of an agent. Give a store, such as agent/<name>/local, or a folder such as <directory>/.claude/agent-memory/<name>; mem-mcp stores lists both", memdir.ShownName(given))
	}
	s := Source{Directory: dir, Where: filepath.Base(filepath.Dir(filepath.Dir(filepath.Dir(dir))))}
	scope := memdir.ScopeProject
	if place == memdir.PlaceLocal {
		scope = memdir.ScopeLocal
	}
	var err error
	s.Name, err = memdir.ParseStore("agent/" + filepath.Base(dir) + "/" + string(scope))
	return s, err
}

// Unite brings the memory of a source into an opened store: topics by name, another
// text of a name under a second name, entries behind those of the index. Nothing that
// is in the store changes but the index and the logs; the source stays as it is. Undo
// takes it back.
func Unite(ctx context.Context, from Source, into *memory.Memory) (*United, error) {
	if err := into.MayWrite(); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(from.Directory)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s does not exist, so there is nothing to merge; mem-mcp stores lists what there is", memdir.ShownName(from.Directory))
	}
	if err != nil {
		return nil, fmt.Errorf("merging %s: %w", memdir.ShownName(from.Directory), err)
	}
	defer root.Close()
	if here, err := os.Stat(into.Location.Directory); err == nil {
		if there, err := root.Stat("."); err == nil && os.SameFile(here, there) {
			return nil, fmt.Errorf("%s is the store %s itself: there is nothing to merge", memdir.ShownName(from.Directory), into.StoreName())
		}
	}
	l := into.Config.Limits
	old, err := memdir.Read(ctx, memdir.Disk(root), nil, memdir.Limits{TopicBytes: l.TopicBytes, ScanLines: l.ScanLines, EntryLength: l.EntryLength})
	if err != nil {
		return nil, fmt.Errorf("merging %s: %w", memdir.ShownName(from.Directory), err)
	}
	here, _, err := into.Look(ctx)
	if err != nil {
		return nil, err
	}
	out := &United{From: from.Directory, Store: into.StoreName()}
	var files []change.File
	files, out.Files, err = transcript.Union(ctx, transcript.UnionOptions{From: old, Into: here.View, Name: from.Where,
		Guard: into.Guard(), AllowSecrets: into.AllowsSecrets(ctx)})
	if err != nil {
		return nil, fmt.Errorf("merging %s: %w", memdir.ShownName(from.Directory), err)
	}
	c, err := into.Apply(ctx, change.Change{Op: "unite", Title: "merge " + memdir.Shown(from.Directory, 120), Files: files})
	if err != nil {
		return nil, err
	}
	out.Change = *c
	return out, nil
}

// Words tells in a sentence what was merged.
func (u *United) Words() string {
	count := map[string]int{}
	for _, f := range u.Files {
		count[f.Action]++
	}
	var parts []string
	for _, action := range []string{transcript.TakenOver, transcript.TakenRenamed, transcript.TakenMerged, transcript.TakenSame, transcript.TakenLeft} {
		if n := count[action]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, action))
		}
	}
	if len(parts) == 0 {
		parts = []string{"nothing is in it"}
	}
	return fmt.Sprintf("From %s into %s: %s. The source stays as it is: a client that is started there still uses it; remove it when nobody does.", memdir.ShownName(u.From), u.Store, strings.Join(parts, ", "))
}
