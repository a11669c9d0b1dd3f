// Package agentmem owns the memories of agents and what a team shares of them through
// git: the stores of an agent, and the snapshot of its project memory that lies in the
// checkout, with its state, pulling, publishing and the merge driver of git.
package agentmem

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"mem/core/guard"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/memory"
	"mem/core/project"
	"mem/core/text"
)

// Shared is an agent's project memory together with its snapshot.
type Shared struct {
	Agent    string
	Top      string // the checkout, or the project's directory without git
	Store    string // the memory directory
	Snapshot string // the folder of the snapshot

	m     *memory.Memory
	state stateStore
}

// Checkout gives the directory below which a project's agent memories and snapshots lie:
// that of the checkout, so that every worktree has its own; without git the project's.
func Checkout(p project.Project) string {
	if p.Worktree != "" {
		return p.Worktree
	}
	return p.Root
}

// Share joins an agent's opened project memory with the snapshot of a checkout. Nothing
// is read or made.
func Share(m *memory.Memory, top, agent string) (*Shared, error) {
	if err := checkAgent(agent); err != nil {
		return nil, err
	}
	s := &Shared{
		Agent: agent, Top: top, m: m, Store: m.Location.Directory,
		Snapshot: filepath.Join(top, filepath.FromSlash(SnapshotsDir), agent),
		state:    stateStore{filepath.Join(m.StateDirectory(), stateFolder)},
	}
	return s, nil
}

// checkAgent says why a name is none of a folder of an agent's memory.
func checkAgent(agent string) error {
	if strings.ContainsAny(agent, `/\`) || memdir.CheckTopicPath(agent+".md") != nil {
		return fmt.Errorf("%s is no name of an agent: it has to be one plain name, such as code-reviewer", memdir.ShownName(agent))
	}
	return nil
}

// analysis is both sides at one moment, with what they have in common.
type analysis struct {
	*Shared
	mine, theirs *tree
	manifest     *Manifest
	problems     []Problem // why the snapshot is not taken
	st           *syncState
	items        []*item
	private      map[string]bool // topics here that are about a person and were never shared
	notes        []string
}

func (a *analysis) close() {
	a.mine.close()
	a.theirs.close()
}

// look reads both sides.
func (s *Shared) look(ctx context.Context) (*analysis, error) {
	if p := checkFolders(s.Top, filepath.Join(s.Top, filepath.FromSlash(agentsDir), s.Agent)); p != nil && strings.HasPrefix(s.Store, s.Top+string(filepath.Separator)) {
		return nil, fmt.Errorf("the memory of %s is not used: %s", s.Agent, p.Reason)
	}
	a := &analysis{Shared: s, manifest: &Manifest{}, private: map[string]bool{},
		mine: &tree{dir: s.Store, files: map[string]*leaf{}}, theirs: &tree{dir: s.Snapshot, files: map[string]*leaf{}}}
	env := s.m.Env()
	known := openHashes(env.CacheDir, s.Store)
	mine, err := readTree(ctx, s.Store, false, known)
	if err != nil {
		return nil, err
	}
	a.mine = mine
	known.save()
	for _, p := range mine.problems {
		a.notes = append(a.notes, "Left out of this memory: "+p.String()+".")
	}
	if err := a.lookAtSnapshot(ctx); err != nil {
		a.close()
		return nil, err
	}
	if a.st, err = s.state.load(); err != nil {
		a.close()
		return nil, err
	}
	if !a.st.known && len(a.mine.files) > 0 && len(a.theirs.files) > 0 {
		if err := a.baseFromGit(ctx); err != nil {
			a.notes = append(a.notes, fmt.Sprintf("What this memory and the snapshot had in common could not be looked up in git: %v.", err))
		}
	}
	if err := a.findItems(); err != nil {
		a.close()
		return nil, err
	}
	a.findPrivate()
	if err := a.findContent(); err != nil {
		a.close()
		return nil, err
	}
	return a, nil
}

// agentsDir is where the client keeps project memories of agents.
const agentsDir = ".claude/agent-memory"

func (a *analysis) lookAtSnapshot(ctx context.Context) error {
	if p := checkFolders(a.Top, a.Snapshot); p != nil {
		a.problems = append(a.problems, *p)
		return nil
	}
	known := openHashes(a.m.Env().CacheDir, a.Snapshot)
	theirs, err := readTree(ctx, a.Snapshot, true, known)
	if err != nil {
		return err
	}
	a.theirs = theirs
	known.save()
	a.notes = append(a.notes, theirs.notes...)
	a.problems = append(a.problems, theirs.problems...)
	if !theirs.exists {
		return nil
	}
	info, err := theirs.root.Lstat(ManifestName)
	switch {
	case err != nil && len(theirs.files) == 0 && len(theirs.problems) == 0:
		theirs.exists = false // an empty folder is no snapshot
		return nil
	case err != nil:
		a.problems = append(a.problems, Problem{Kind: ProblemManifest, Path: ManifestName,
			Reason: "it is missing: a publish was interrupted, or this is no snapshot; publishing writes it"})
		return nil
	case !info.Mode().IsRegular() || info.Size() > maxManifest:
		a.problems = append(a.problems, Problem{Kind: ProblemShape, Path: ManifestName, Reason: fmt.Sprintf("it is no regular file of at most %d bytes. Remove it", maxManifest)})
		return nil
	}
	data, err := theirs.read(ManifestName)
	if err != nil {
		return fmt.Errorf("reading %s: %w", filepath.Join(a.Snapshot, ManifestName), project.Reason(err))
	}
	var problems []Problem
	a.manifest, problems = parseManifest([]byte(data), a.m.Env().Time())
	a.problems = append(a.problems, problems...)
	if len(problems) == 0 && a.manifest.Files != nil && len(a.problems) == 0 {
		a.checkManifest()
	}
	return nil
}

// checkManifest compares the files with what snapshot.json says of them, which is written
// last: a snapshot that somebody is in the middle of writing is not taken for a new one.
func (a *analysis) checkManifest() {
	var wrong []string
	for p, sum := range a.manifest.Files {
		if l := a.theirs.files[p]; l == nil || (sum != "" && sum != l.sum) {
			wrong = append(wrong, p)
		}
	}
	for p := range a.theirs.files {
		if _, ok := a.manifest.Files[p]; !ok {
			wrong = append(wrong, p)
		}
	}
	if len(wrong) > 0 {
		first := wrong[0]
		for _, p := range wrong {
			first = min(first, p)
		}
		a.problems = append(a.problems, Problem{Kind: ProblemManifest, Path: first,
			Reason: fmt.Sprintf("it is not the file that %s names (%d such): a publish or a checkout is under way, or the snapshot was edited or merged by hand. Publishing merges it and writes %s anew", ManifestName, len(wrong), ManifestName)})
	}
}

func (a *analysis) findPrivate() {
	for p, l := range a.mine.files {
		if l.user && a.theirs.files[p] == nil && a.st.Files[p].Base == none {
			a.private[p] = true
		}
	}
	for _, it := range a.items {
		if it.base != "" || it.theirs != "" {
			delete(a.private, it.mine)
		}
	}
}

// maxContent is how many findings in texts of a snapshot are listed.
const maxContent = 20

// findContent looks at texts that would come from the team for what may not be taken
// unseen. What is the same here is here already.
func (a *analysis) findContent() error {
	for _, it := range a.items {
		if it.theirs == "" {
			continue
		}
		sum := a.theirs.sum(it.theirs)
		if sum == a.st.Files[it.base].Base || sum == a.st.Files[it.base].seen() || sum == a.mine.sum(it.mine) {
			continue
		}
		if err := a.content(it.theirs, it.mine); err != nil {
			return err
		}
	}
	const index = memfile.IndexName
	if sum := a.theirs.sum(index); sum != "" && sum != a.st.Files[index].Base && sum != a.mine.sum(index) {
		return a.content(index, index)
	}
	return nil
}

func (a *analysis) content(theirs, mine string) error {
	t, err := a.theirs.text(theirs)
	if err != nil {
		return err
	}
	m, err := a.mine.text(mine)
	if err != nil {
		return err
	}
	found := a.m.Guard().Added(text.Bytes(m), text.Bytes(t))
	code := memfile.OutlineOf(text.New(t), text.Span{End: len(t)}).Code
	for _, f := range guard.Instructions(text.Bytes(t), code) {
		if f.Start < 0 || f.End > len(t) || !strings.Contains(m, t[f.Start:f.End]) {
			found = append(found, f)
		}
	}
	for _, f := range found {
		if len(a.problems) >= maxContent {
			return nil
		}
		a.problems = append(a.problems, Problem{Kind: ProblemContent, Path: theirs, Line: f.Line, Reason: f.Reason})
	}
	return nil
}

// blocking gives the problems for which nothing is pulled; a person may accept those of
// content.
func (a *analysis) blocking(accept bool) []Problem {
	var out []Problem
	for _, p := range a.problems {
		if !accept || p.Kind != ProblemContent {
			out = append(out, p)
		}
	}
	return out
}
