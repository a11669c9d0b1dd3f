package transcript

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/project"
	"mem/core/rawjson"
	"mem/core/settings"
)

// Moved is a project whose directory is gone and that may be one that exists now under
// another path.
type Moved struct {
	// ID names it where its path cannot be told: the beginning of the hash of that.
	ID       string    `json:"id"`
	Root     string    `json:"root"`              // where it was
	Folders  []string  `json:"folders"`           // of the client, with its sessions
	Memory   string    `json:"memory,omitempty"`  // its memory directory, where there is one
	Topics   int       `json:"topics"`            // Markdown files in it, the index left out
	Sessions int       `json:"sessions"`          // that are there
	LastUsed time.Time `json:"lastUsed,omitzero"` // of the newest one
	Why      []string  `json:"why"`               // what speaks for it, in words
	Certain  bool      `json:"certain"`           // whether it may be offered unasked
	Adopted  string    `json:"adopted,omitempty"` // id of the adoption, where it was taken over already
	list     []*Session
	score    int
}

// What speaks for a project having moved here. A checkout that is gone takes its
// git configuration along, so the remote cannot be compared; what its sessions
// say of files and branches can.
const (
	scoreName   = 2 // the directory had the same name
	scoreFiles  = 3 // most files that its sessions worked on are here
	scoreFew    = 1 // some of them are
	scoreBranch = 1 // the branch it was on is here, and is not one that all have

	scoreCertain = 3
)

const (
	// maxEvidence bounds how much of how many sessions is searched for files.
	maxEvidence      = 512 << 10
	evidenceSessions = 3
	maxEvidenceFiles = 50
	// maxJudged is of how many projects that are gone, the newest first, sessions are
	// searched: a disk can hold those of hundreds. The others only count by their name.
	maxJudged = 30
)

// FindMoved finds the projects whose directory is gone and that may be p under an
// earlier path, the likeliest first. They are found by the directories that the client's transcripts
// name; a project without transcripts can only be taken over by its path. progress, which may be nil, is told
// the bytes of transcripts that are done and those to be done, for each part of the work.
func FindMoved(ctx context.Context, env settings.Env, p project.Project, progress func(what string, done, total int64)) ([]Moved, error) {
	byTime, err := lost(ctx, env, p, progress)
	if err != nil {
		return nil, err
	}
	adopted := readAdoptions(env)
	slices.SortFunc(byTime, func(a, b *Moved) int { return b.LastUsed.Compare(a.LastUsed) })
	var list []Moved
	searched, total := int64(0), int64(0)
	for _, m := range byTime[:min(len(byTime), maxJudged)] {
		total += m.evidence()
	}
	for i, m := range byTime {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		m.judge(ctx, p, i < maxJudged)
		if i < maxJudged {
			searched += m.evidence()
		}
		if progress != nil {
			progress("comparing projects", searched, total)
		}
		if m.score == 0 {
			continue
		}
		if before := adopted.between(env, m.Root, p.Root); len(before) > 0 {
			m.Adopted, m.Certain = before[len(before)-1].ID, false
		}
		list = append(list, *m)
	}
	slices.SortFunc(list, func(a, b Moved) int {
		if a.score != b.score {
			return b.score - a.score
		}
		if c := b.LastUsed.Compare(a.LastUsed); c != 0 {
			return c
		}
		return strings.Compare(a.Root, b.Root)
	})
	return list, nil
}

// lost finds the projects whose directory is gone, p itself left out, each with its id.
func lost(ctx context.Context, env settings.Env, p project.Project, progress func(what string, done, total int64)) ([]*Moved, error) {
	o := FindOptions{Shallow: true}
	if progress != nil {
		o.Progress = func(done, total int64) { progress("looking for projects", done, total) }
	}
	all, err := Find(ctx, env, o)
	if err != nil {
		return nil, err
	}
	groups := map[string]*Moved{}
	own := newOwner(env, p)
	for _, s := range all.List {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if s.Cwd == "" || s.Origin == OriginArchive && s.From != "" || !filepath.IsAbs(s.Cwd) || !gone(s.Cwd) || own.owns(s.Cwd) {
			continue
		}
		root := lostRoot(env, s.Cwd)
		if groups[root] == nil {
			groups[root] = &Moved{Root: root}
		}
		groups[root].list = append(groups[root].list, s)
	}
	for _, root := range slices.Sorted(maps.Keys(groups)) { // a subdirectory belongs to what it lay in
		for _, other := range slices.Sorted(maps.Keys(groups)) {
			if groups[root] != nil && groups[other] != nil && below(env.GOOS, other, root) {
				groups[root].list = append(groups[root].list, groups[other].list...)
				delete(groups, other)
			}
		}
	}
	list := slices.Collect(maps.Values(groups))
	for _, m := range list {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		slices.SortFunc(m.list, func(a, b *Session) int { return b.Modified.Compare(a.Modified) })
		m.fill(env)
	}
	name(list)
	return list, nil
}

// minMovedID is how long the id of a project that moved is, in hexadecimal digits: four
// thousand million are enough for those that one disk knows.
const minMovedID = 8

// name gives projects ids that tell them apart.
func name(list []*Moved) {
	for n := minMovedID; ; n++ {
		seen := map[string]bool{}
		for _, m := range list {
			m.ID = movedID(m.Root)[:n]
			seen[m.ID] = true
		}
		if len(seen) == len(list) || n == 2*sha256.Size {
			return
		}
	}
}

func movedID(root string) string {
	sum := sha256.Sum256([]byte(root))
	return hex.EncodeToString(sum[:])
}

// isMovedID reports whether what a person gave is an id and no path.
func isMovedID(s string) bool {
	return len(s) >= minMovedID && len(s) <= 2*sha256.Size && strings.Trim(s, "0123456789abcdef") == ""
}

// evidence is how many bytes of its sessions are searched for files.
func (m *Moved) evidence() int64 {
	n := int64(0)
	for _, s := range m.list[:min(len(m.list), evidenceSessions)] {
		n += min(s.Size, maxEvidence)
	}
	return n
}

// lostRoot is the directory that kept the memory of a working directory that is gone:
// the highest one above it that is gone as well and has memory, else itself.
func lostRoot(env settings.Env, cwd string) string {
	root := cwd
	for dir := cwd; dir != filepath.Dir(dir) && gone(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(memoryOf(env, dir), memfile.IndexName)); err == nil {
			root = dir
		}
	}
	return root
}

// memoryOf is where the client keeps the memory of a project's root.
func memoryOf(env settings.Env, root string) string {
	base := env.Getenv(settings.EnvRemoteDir)
	if !filepath.IsAbs(base) {
		base = env.ClientDir()
	}
	return filepath.Join(base, projectsDir, project.Slug(root), "memory")
}

// fill tells what there is of the project.
func (m *Moved) fill(env settings.Env) {
	m.Sessions, m.Folders, m.Why = len(m.list), []string{}, []string{}
	for _, s := range m.list {
		if dir := filepath.Dir(s.Path); !slices.Contains(m.Folders, dir) {
			m.Folders = append(m.Folders, dir)
		}
		if s.Modified.After(m.LastUsed) {
			m.LastUsed = s.Modified
		}
	}
	slices.Sort(m.Folders)
	if m.Memory == "" {
		m.Memory = memoryOf(env, m.Root)
	}
	m.Topics = 0
	found := false
	_ = filepath.WalkDir(m.Memory, func(_ string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fs.SkipDir
		case d.Type().IsRegular() && memfile.IsMarkdown(d.Name()):
			found = true
			if d.Name() != memfile.IndexName {
				m.Topics++
			}
		}
		return nil
	})
	if !found {
		m.Memory = ""
	}
}

// judge decides how well the project fits one that is there.
func (m *Moved) judge(ctx context.Context, p project.Project, search bool) {
	add := func(score int, format string, args ...any) {
		m.score += score
		m.Why = append(m.Why, fmt.Sprintf(format, args...))
	}
	if lastElement(m.Root) == lastElement(p.Root) {
		add(scoreName, "the directory had the same name")
		search = true
	}
	if !search {
		return
	}
	if files := m.touched(ctx); len(files) > 0 {
		here := 0
		for _, f := range files {
			if _, err := os.Lstat(filepath.Join(p.Root, filepath.FromSlash(f))); err == nil {
				here++
			}
		}
		switch {
		case here == 0:
			m.Why = append(m.Why, "none of the files that its sessions worked on are here")
			m.score--
		case here*2 >= len(files) && here >= 2:
			add(scoreFiles, "%d of %d files that its sessions worked on are here", here, len(files))
		default:
			add(scoreFew, "%d of %d files that its sessions worked on are here", here, len(files))
		}
	}
	for _, s := range m.list {
		if s.Branch != "" && !slices.Contains([]string{"HEAD", "main", "master", "develop"}, s.Branch) && hasBranch(p, s.Branch) {
			add(scoreBranch, "its branch %s is here", memdir.ShownName(s.Branch))
			break
		}
	}
	m.score = max(m.score, 0)
	m.Certain = m.score >= scoreCertain
}

// hasBranch reports whether a repository has a branch.
func hasBranch(p project.Project, name string) bool {
	if p.CommonDir == "" || !filepath.IsLocal(filepath.FromSlash(name)) || strings.ContainsRune(name, 0) {
		return false
	}
	if _, err := os.Lstat(filepath.Join(p.CommonDir, "refs", "heads", filepath.FromSlash(name))); err == nil {
		return true
	}
	packed, err := project.ReadFile(filepath.Join(p.CommonDir, "packed-refs"), 16<<20)
	return err == nil && bytes.Contains(append(packed, '\n'), []byte(" refs/heads/"+name+"\n"))
}

// touched lists files below the old root that the newest sessions worked on, as
// slash-separated paths below it.
func (m *Moved) touched(ctx context.Context) []string {
	var files []string
	add := func(p string) {
		p = path.Clean(strings.ReplaceAll(p, `\`, "/"))
		if len(files) < maxEvidenceFiles && p != "." && !strings.HasPrefix(p, "../") && !path.IsAbs(p) && !slices.Contains(files, p) {
			files = append(files, p)
		}
	}
	for _, s := range m.list[:min(len(m.list), evidenceSessions)] {
		if ctx.Err() != nil {
			break
		}
		for _, named := range filesNamed(s) {
			if rest, ok := strings.CutPrefix(named, m.Root); ok && rest != "" && (rest[0] == '/' || rest[0] == '\\') {
				add(strings.TrimLeft(rest, `/\`))
			}
		}
	}
	return files
}

// filesNamed gives the paths that the end of a transcript names as those of files
// that a tool read or wrote. They are looked for as text: this is evidence, and a part of a line does.
func filesNamed(s *Session) []string {
	src, err := s.Open()
	if err != nil {
		return nil
	}
	defer src.Close()
	b := make([]byte, min(src.Size(), maxEvidence))
	if n, err := src.ReadAt(b, src.Size()-int64(len(b))); err != nil && !errors.Is(err, io.EOF) {
		return nil
	} else {
		b = b[:n]
	}
	var files []string
	for _, key := range []string{`"file_path":`, `"filePath":`} {
		for rest := b; ; {
			_, after, ok := bytes.Cut(rest, []byte(key))
			if !ok {
				break
			}
			rest = after
			after = bytes.TrimLeft(after, " ")
			if len(after) == 0 || after[0] != '"' {
				continue
			}
			end, _ := rawjson.ScanString(after, 0)
			var name string
			if end > 0 && end < 4096 && json.Unmarshal(after[:end], &name) == nil {
				files = append(files, name)
			}
		}
	}
	return files
}
