package transcript

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"mem/core/project"
	"mem/core/settings"
)

// Session is a session that was found.
type Session struct {
	ID       string    `json:"session"`
	Path     string    `json:"path"`
	Origin   Origin    `json:"origin"`
	Modified time.Time `json:"modified"`
	Size     int64     `json:"size"` // of the transcript, in bytes
	Facts
	Subagents []Subagent `json:"subagents,omitempty"`
	// Live says that somebody is probably still writing, and LiveWhy what shows it.
	Live    bool   `json:"live,omitempty"`
	LiveWhy string `json:"liveWhy,omitempty"`
	// Expires is when the client deletes the transcript, at its next start after that,
	// unless somebody goes on with the session. Zero where nobody deletes it.
	Expires time.Time `json:"expires,omitzero"`
	// Archived says that there is a copy in the archive that holds everything.
	Archived bool `json:"archived,omitempty"`
	// From is the directory of the project that the session was taken over from.
	From string `json:"from,omitempty"`
	// Also lists other files of the same session, such as an older one in another folder.
	Also []string `json:"also,omitempty"`

	head      *ArchiveHead
	companion string
	stored    int64 // bytes on disk
}

// Subagent is a transcript of an agent that a session called.
type Subagent struct {
	ID          string `json:"agent"`
	Type        string `json:"type,omitempty"`
	Description string `json:"description,omitempty"`
	Path        string `json:"path"`
}

// Source is a transcript that is open for reading.
type Source interface {
	io.ReaderAt
	io.Closer
	Size() int64 // in bytes, when it was opened
}

// Open opens the transcript for reading.
func (s *Session) Open() (Source, error) { return Open(s.Path) }

// Open opens a transcript, and a copy in the archive as if it were the original.
func Open(path string) (Source, error) {
	f, err := OpenFile(path)
	if err != nil {
		return nil, err
	}
	if !strings.HasSuffix(path, archiveExt) {
		return plainFile{f}, nil
	}
	a, err := newArchive(f.File)
	if err != nil {
		return nil, fmt.Errorf("opening the transcript %s: %w", path, err)
	}
	return a, nil
}

// plainFile is a transcript as it lies on disk.
type plainFile struct{ *File }

// Size is that of the file when it was opened.
func (p plainFile) Size() int64 { return p.File.Size }

const (
	// liveFor is how long after a write a session counts as live in any case.
	liveFor = 2 * time.Minute
	// answerFor is how long a tool or an answer may take without a record: clients end
	// a shell command after ten minutes.
	answerFor = 15 * time.Minute
)

// live decides whether somebody is still writing. No client says so in a file that
// we could rely on; what shows it is a write a moment ago, a question that waits for
// its answer, or that the session is the one that this process was started in.
func (s *Session) live(env settings.Env) {
	age := env.Time().Sub(s.Modified)
	switch {
	case s.Origin == OriginArchive:
	case s.ID != "" && s.ID == env.Getenv("CLAUDE_CODE_SESSION_ID"):
		s.Live, s.LiveWhy = true, "it is the session that this process belongs to"
	case age < -liveFor: // a clock that is wrong says nothing
	case age < liveFor:
		s.Live, s.LiveWhy = true, "it was written to less than two minutes ago"
	case age < answerFor && s.Waiting:
		s.Live, s.LiveWhy = true, "its last message waits for an answer, for less than a quarter of an hour"
	}
}

// Subagents in folders: bounds of what is read.
const (
	maxSubagents = 10_000
	maxMeta      = 256 << 10
)

// listAgents lists the subagents' transcripts beside a session, unless the list that
// is kept is of the folder as it is. It reports whether the list changed.
func (n *noted) listAgents(f *file) bool {
	var at int64
	dir := filepath.Join(f.companion, subagentsDir)
	if f.companion != "" {
		if info, err := os.Stat(dir); err == nil {
			at = info.ModTime().UnixNano()
		}
	}
	if at == n.AgentsAt {
		return false
	}
	n.AgentsAt, n.Agents = at, nil
	if at == 0 {
		return true
	}
	ext := transcriptExt
	if strings.HasSuffix(f.name, archiveExt) {
		ext = archiveExt
	}
	list, err := os.ReadDir(dir)
	if err != nil {
		return true
	}
	for _, e := range list[:min(len(list), maxSubagents)] {
		id, ok := strings.CutSuffix(e.Name(), ext)
		if !ok || !strings.HasPrefix(id, "agent-") || ValidID(id) != nil {
			continue
		}
		if e.Type()&(fs.ModeType&^fs.ModeSymlink) != 0 {
			continue // a folder, a pipe
		}
		n.Agents = append(n.Agents, subagent(filepath.Join(dir, e.Name()), id))
	}
	return true
}

// subagent is one file with what the client says of it beside.
func subagent(path, id string) Subagent {
	a := Subagent{ID: strings.TrimPrefix(id, "agent-"), Path: path}
	data, err := project.ReadFile(filepath.Join(filepath.Dir(path), id+".meta.json"), maxMeta)
	if err != nil {
		return a
	}
	var meta struct {
		AgentType   any `json:"agentType"`
		Description any `json:"description"`
	}
	if unmarshalLoose(data, &meta) {
		a.Type, a.Description = shortText(meta.AgentType), shortText(meta.Description)
	}
	return a
}

// shortText is a text of a file for a list; "" of anything else.
func shortText(v any) string {
	s, _ := v.(string)
	return clean(shorten(s))
}
