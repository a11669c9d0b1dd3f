package agentmem

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/project"
	"mem/core/text"
)

// Where snapshots lie below a project, and the file that says of what time one is.
// The seed (24.5) names both.
const (
	SnapshotsDir = ".claude/agent-memory-snapshots"
	ManifestName = "snapshot.json"
)

// Limits of a snapshot. Real memories stay far below: the largest topic seen has 180 KB
// and the largest directory some hundred topics; a reader of a checkout that somebody
// else wrote has to stop somewhere.
const (
	MaxFiles    = 2_000    // topics
	MaxFile     = 1 << 20  // bytes of one file
	MaxSnapshot = 32 << 20 // bytes of all files
	maxManifest = 1 << 20
	maxListed   = 20_000         // names that are looked at
	futureSlack = 24 * time.Hour // clocks differ by a zone; more is no clock
	formatV     = 1
	maxNoteText = 2_000
)

// Kind of a problem: what it takes to go on.
const (
	// ProblemShape: the folder or a file in it is not what a snapshot may hold.
	ProblemShape = "shape"
	// ProblemManifest: snapshot.json is missing, damaged, or not that of these files; the
	// next publish writes it anew.
	ProblemManifest = "manifest"
	// ProblemContent: a text holds a secret, hidden characters or commands to its reader; a
	// person may accept it.
	ProblemContent = "content"
)

// Problem is why a snapshot is not taken.
type Problem struct {
	Kind   string `json:"kind"`
	Path   string `json:"path,omitempty"` // inside the snapshot
	Line   int    `json:"line,omitempty"`
	Reason string `json:"reason"`
	// Secret says that a problem of content is what looks like a secret: accepting commands
	// and hidden characters does not take it.
	Secret bool `json:"secret,omitempty"`
}

func (p Problem) String() string {
	switch {
	case p.Path == "":
		return p.Reason
	case p.Line > 0:
		return fmt.Sprintf("%s:%d: %s", memdir.ShownName(p.Path), p.Line, p.Reason)
	}
	return memdir.ShownName(p.Path) + ": " + p.Reason
}

// Manifest is what snapshot.json says. docs/formats.md specifies it.
type Manifest struct {
	UpdatedAt time.Time
	// Files names the SHA-256 of each file's normalised text in hexadecimal. nil where the
	// snapshot has no list.
	Files map[string]string
	// Merged names the merge of git that made it, "" for none: files that are not listed may
	// stand there.
	Merged       string
	Author, Note string

	rest map[string]json.RawMessage // keys that we do not know, kept
}

// normal gives a text as snapshots hold it and as texts are compared: newlines only, no
// byte order mark, one newline at the end.
func normal(s string) string {
	s = strings.TrimPrefix(s, text.BOM)
	if strings.ContainsRune(s, '\r') {
		s = strings.ReplaceAll(s, "\r\n", "\n")
	}
	if strings.HasSuffix(s, "\n\n") || !strings.HasSuffix(s, "\n") {
		s = strings.TrimRight(s, "\n")
		if s != "" {
			s += "\n"
		}
	}
	return s
}

// likeRaw gives a normalised text the line endings and the mark of the file that it is
// to replace.
func likeRaw(raw, s string) string {
	if normal(raw) == s {
		return raw
	}
	if raw != "" {
		s = text.WithEOL(s, text.EOL(raw))
	}
	if strings.HasPrefix(raw, text.BOM) {
		s = text.BOM + s
	}
	return s
}

// parseManifest reads snapshot.json.
func parseManifest(data []byte, now time.Time) (*Manifest, []Problem) {
	m := &Manifest{}
	bad := func(format string, args ...any) []Problem {
		return []Problem{{Kind: ProblemManifest, Path: ManifestName, Reason: fmt.Sprintf(format, args...) + "; publishing writes it anew"}}
	}
	all := map[string]json.RawMessage{}
	if err := json.Unmarshal(bytes.TrimPrefix(data, []byte(text.BOM)), &all); err != nil {
		if bytes.Contains(data, []byte("<<<<<<<")) {
			return m, bad("it holds a conflict of git that nobody resolved (mem-mcp snapshot setup makes git merge it)")
		}
		return m, bad("it is not a JSON object: %v", err)
	}
	m.rest = all
	take := func(key string, into any) error {
		raw, ok := all[key]
		if !ok {
			return nil
		}
		if err := json.Unmarshal(raw, into); err != nil {
			return fmt.Errorf("its %q is not what it has to be: %w", key, err)
		}
		delete(all, key)
		return nil
	}
	var version int
	var updated string
	for key, into := range map[string]any{"version": &version, "updatedAt": &updated, "files": &m.Files, "author": &m.Author, "note": &m.Note, "merged": &m.Merged} {
		if err := take(key, into); err != nil {
			return m, bad("%v", err)
		}
	}
	if version > formatV {
		return m, []Problem{{Kind: ProblemShape, Path: ManifestName, Reason: fmt.Sprintf("it has format version %d, and this program knows %d; update mem", version, formatV)}}
	}
	if updated == "" {
		return m, bad(`it has no "updatedAt"`)
	}
	at, err := time.Parse(time.RFC3339, updated)
	if err != nil {
		return m, bad(`its "updatedAt" %s is no time such as 2026-11-30T12:00:00Z`, memdir.ShownName(updated))
	}
	m.UpdatedAt = at.UTC()
	if at.After(now.Add(futureSlack)) {
		return m, bad(`its "updatedAt" %s lies in the future: the clock of whoever published it is wrong`, at.Format(time.RFC3339))
	}
	var problems []Problem
	for p, sum := range m.Files {
		if err := checkFile(p); err != nil {
			problems = append(problems, Problem{Kind: ProblemShape, Path: ManifestName, Reason: "it names a file that no snapshot holds: " + err.Error()})
			break
		}
		if !isSum(sum) {
			problems = append(problems, bad("the hash of %s is no SHA-256", memdir.ShownName(p))...)
			break
		}
	}
	return m, problems
}

func isSum(s string) bool {
	return len(s) == 64 && strings.Trim(s, "0123456789abcdef") == ""
}

// bytes gives snapshot.json: keys sorted, two spaces, a newline at the end.
func (m *Manifest) bytes() ([]byte, error) {
	all := map[string]any{"version": formatV, "updatedAt": m.UpdatedAt.UTC().Format("2006-01-02T15:04:05.000Z")}
	for k, v := range m.rest {
		all[k] = v
	}
	if m.Files != nil {
		all["files"] = m.Files
	}
	if m.Author != "" {
		all["author"] = m.Author
	}
	if m.Note != "" {
		all["note"] = m.Note
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(all); err != nil {
		return nil, fmt.Errorf("writing %s: %w", ManifestName, err)
	}
	return b.Bytes(), nil
}

// checkFile says why a path is none of a file in a snapshot.
func checkFile(p string) error {
	if p == memfile.IndexName {
		return nil
	}
	return memdir.CheckTopicPath(p)
}

// checkFolders makes sure that no folder from the project down to dir is a link: a
// checkout may hold one that leads anywhere. What does not exist is fine.
func checkFolders(top, dir string) *Problem {
	rel, err := filepath.Rel(top, dir)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return &Problem{Kind: ProblemShape, Reason: fmt.Sprintf("%s does not lie in %s", dir, top)}
	}
	at := top
	for _, el := range strings.Split(rel, string(filepath.Separator)) {
		at = filepath.Join(at, el)
		info, err := os.Lstat(at)
		switch {
		case os.IsNotExist(err):
			return nil
		case err != nil:
			return &Problem{Kind: ProblemShape, Reason: fmt.Sprintf("%s cannot be looked at: %v", at, project.Reason(err))}
		case info.Mode()&fs.ModeSymlink != 0:
			return &Problem{Kind: ProblemShape, Reason: at + " is a link; a snapshot is a folder of the checkout itself. Replace the link by a folder"}
		case !info.IsDir():
			return &Problem{Kind: ProblemShape, Reason: at + " is no folder; remove it"}
		}
	}
	return nil
}
