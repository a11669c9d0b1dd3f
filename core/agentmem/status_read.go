package agentmem

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"mem/core/guard"
	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/memory"
	"mem/core/project"
	"mem/core/store"
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
	// instant is called before every write to the snapshot; tests end the process there.
	instant func(path string) error
}

// Checkout gives the directory below which a project's agent memories and snapshots lie:
// that of the checkout, so that every worktree has its own; without git the project's.
func Checkout(p project.Project) string {
	if p.Worktree != "" {
		return p.Worktree
	}
	return p.Root
}

// Folder gives the folder that holds the snapshots of a project's checkout.
func Folder(p project.Project) string {
	return filepath.Join(Checkout(p), filepath.FromSlash(SnapshotsDir))
}

// Open opens an agent's project memory with the snapshot in the checkout. Nothing is read
// or made. The options' store is set by the agent's name.
func Open(o memory.Options, agent string) (*Shared, error) {
	folder, err := memdir.AgentFolder(agent)
	if err != nil {
		return nil, err
	}
	o.Store = memdir.StoreName{Agent: folder, Scope: memdir.ScopeProject}.String()
	m, err := memory.Open(o)
	if err != nil {
		return nil, err
	}
	return sharedOf(m, folder), nil
}

// sharedOf gives an opened memory of an agent with its snapshot.
func sharedOf(m *memory.Memory, folder string) *Shared {
	top := Checkout(m.Location.Project)
	dir := filepath.Join(top, filepath.FromSlash(SnapshotsDir), folder)
	return &Shared{
		Agent: folder, Top: top, Store: m.Location.Directory, Snapshot: dir, m: m,
		state: stateStore{filepath.Join(m.StateDirectory(), stateFolder, store.Key(dir))},
	}
}

// Close lets go of the memory.
func (s *Shared) Close() error { return s.m.Close() }

// Memory gives the agent's memory.
func (s *Shared) Memory() *memory.Memory { return s.m }

// Agents lists the agents of a project that have a project memory or a snapshot, and
// says what was left out and why.
func Agents(p project.Project) (agents, notes []string, err error) {
	folders := []string{Folder(p)}
	if base, err := memdir.StoreBase(p); err == nil {
		folders = append(folders, filepath.Join(base, ".claude", memdir.ScopeProject.Folder()))
	}
	seen := map[string]bool{}
	for _, dir := range folders {
		list, err := os.ReadDir(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, nil, fmt.Errorf("reading %s: %w", dir, project.Reason(err))
		}
		for _, d := range list {
			name := d.Name()
			if strings.HasPrefix(name, ".") || seen[name] || (!d.IsDir() && d.Type()&fs.ModeSymlink == 0) {
				continue
			}
			seen[name] = true
			if folder, err := memdir.AgentFolder(name); err != nil || folder != name {
				notes = append(notes, fmt.Sprintf("%s is no folder of an agent and is left out.", memdir.ShownName(filepath.Join(dir, name))))
				continue
			}
			agents = append(agents, name)
		}
	}
	slices.Sort(agents)
	if len(agents) > maxAgents {
		notes = append(notes, fmt.Sprintf("%d more agents were not looked at; name one.", len(agents)-maxAgents))
		agents = agents[:maxAgents]
	}
	return agents, notes, nil
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
	moment       string // of the checkout, before the snapshot was read
}

// checkedOut names the moment of a checkout: the commit and what snapshot.json says.
func (s *Shared) checkedOut() string {
	head := ""
	if p := s.m.Location.Project; p.GitDir != "" {
		head, _ = headOf(p.GitDir, p.CommonDir) // unknown is a moment as well
	}
	data, _ := project.ReadFile(filepath.Join(s.Snapshot, ManifestName), maxManifest) // as is a missing one
	return head + "\n" + string(data)
}

// unmoved makes sure that git did not take the checkout elsewhere since both sides were read.
func (a *analysis) unmoved() error {
	if a.checkedOut() != a.moment {
		return changed(a.Snapshot)
	}
	return nil
}

func (a *analysis) close() {
	a.mine.close()
	a.theirs.close()
}

// look reads both sides.
func (s *Shared) look(ctx context.Context) (*analysis, error) { return s.lookOver(ctx, nil) }

// lookOver reads both sides, with texts by path in place of files of this memory.
func (s *Shared) lookOver(ctx context.Context, over map[string]string) (*analysis, error) {
	a := &analysis{Shared: s, manifest: &Manifest{}, moment: s.checkedOut(), private: map[string]bool{},
		mine: &tree{dir: s.Store, files: map[string]*leaf{}}, theirs: &tree{dir: s.Snapshot, files: map[string]*leaf{}}}
	known := openHashes(s.m.Env().CacheDir, s.Store)
	mine, err := readTree(ctx, s.Store, false, known)
	if err != nil {
		return nil, err
	}
	a.mine = mine
	known.save()
	mine.overlay(over)
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
	if err := a.followUndo(ctx); err != nil {
		a.close()
		return nil, err
	}
	if !a.st.known && len(a.mine.files) > 0 && len(a.theirs.files) > 0 {
		if err := a.baseFromGit(ctx); err != nil {
			a.notes = append(a.notes, fmt.Sprintf("What this memory and the snapshot had in common could not be looked up in git: %v.", err))
		}
	}
	if err := a.followCheckout(ctx); err != nil {
		a.close()
		return nil, err
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
	if errors.Is(err, fs.ErrNotExist) {
		return changed(filepath.Join(a.Snapshot, ManifestName))
	}
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
	// Letters may be composed on one side only: git on macOS composes those in the names that
	// it commits.
	files, listed := map[string]*leaf{}, map[string]bool{}
	for p, l := range a.theirs.files {
		files[norm.NFC.String(p)] = l
	}
	for p, sum := range a.manifest.Files {
		listed[norm.NFC.String(p)] = true
		if l := files[norm.NFC.String(p)]; l == nil || sum != l.sum {
			wrong = append(wrong, p)
		}
	}
	for p := range a.theirs.files {
		if !listed[norm.NFC.String(p)] && a.manifest.Merged == "" {
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
		if l.user && a.theirs.files[p] == nil && a.st.stored[p].Base == none {
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

// findWanted looks at the texts of topics that were skipped and are taken after all.
func (a *analysis) findWanted(w wishes) error {
	for _, it := range a.items {
		if f := a.st.Files[it.base]; it.theirs != "" && it.base != "" && w.wanted(f, it.names()...) && a.theirs.sum(it.theirs) == f.seen() {
			if err := a.content(it.theirs, it.mine); err != nil {
				return err
			}
		}
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
		a.problems = append(a.problems, Problem{Kind: ProblemContent, Path: theirs, Line: f.Line, Reason: f.Reason,
			Secret: f.Kind == guard.KindSecret || f.Kind == guard.KindIncomplete})
	}
	return nil
}

// blocking gives the problems for which nothing is pulled. A person may accept those of
// content, secrets apart, and whoever skips a topic takes none of it.
func (a *analysis) blocking(w wishes, accept, secrets bool) []Problem {
	var out []Problem
	for _, p := range a.problems {
		taken := accept
		if p.Secret {
			taken = secrets
		}
		if p.Kind != ProblemContent || !taken && w.file(p.Path) != Skip {
			out = append(out, p)
		}
	}
	return out
}
