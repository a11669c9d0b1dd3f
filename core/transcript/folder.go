package transcript

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"mem/core/memdir"
	"mem/core/project"
	"mem/core/settings"
)

// Names in folders of sessions.
const (
	projectsDir  = "projects"  // of the client: one folder for each working directory
	sessionsDir  = "sessions"  // of our state: what we record
	archiveDir   = "archive"   // of our state: copies
	subagentsDir = "subagents" // beside a transcript, below the session's name
	memoryDir    = "session-memory"
	memoryFile   = "summary.md"
	historyDir   = "file-history" // of the client, and below the session's name in the archive

	transcriptExt = ".jsonl"
	archiveExt    = ".jsonl.gz"
)

// Origin says what kind of place a session lies in.
type Origin string

// The places.
const (
	OriginClient   Origin = "client"   // a transcript of the client; never written to
	OriginRecorded Origin = "recorded" // a session that we recorded
	OriginArchive  Origin = "archive"  // a compressed copy of ours
	OriginFolder   Origin = "folder"   // a folder that the caller named
)

// Skipped is what was not taken for a session, and why.
type Skipped struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

func (s Skipped) String() string { return memdir.ShownName(s.Path) + ": " + s.Reason }

// place is a folder that may hold sessions.
type place struct {
	dir    string
	origin Origin
	// sure says that what lies here belongs to the project without a look into it.
	sure bool
}

// file is a transcript in a place, not looked into.
type file struct {
	place
	name, id string
	size     int64 // as stored
	mtime    time.Time
	// companion is the folder of the session's subagents and tool results, "" without one.
	companion string
}

func (f file) path() string { return filepath.Join(f.dir, f.name) }

// ValidID says why an id cannot name a session, or nil. It becomes the name of
// a file, and it is shown among words of ours.
func ValidID(id string) error {
	bad := func(why string) error {
		return fmt.Errorf("%s is no session id: %s. Give letters, digits, dashes, dots and underscores, at most %d", memdir.ShownName(id), why, maxID)
	}
	switch {
	case id == "":
		return bad("it is empty")
	case len(id) > maxID:
		return bad("it is too long")
	case id[0] == '.' || id[len(id)-1] == '.':
		return bad("it starts or ends with a dot")
	case strings.EqualFold(id, latest):
		return bad("the word stands for the newest session")
	}
	for _, c := range []byte(id) {
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.IndexByte("-._", c) >= 0) {
			return bad("it holds another character")
		}
	}
	if stem, _, _ := strings.Cut(strings.ToLower(id), "."); isDevice(stem) {
		return bad("Windows takes it for a device")
	}
	return nil
}

// isDevice reports whether Windows takes a name for a device, whatever its extension.
func isDevice(stem string) bool {
	switch stem {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(stem) == 4 && (stem[:3] == "com" || stem[:3] == "lpt") && stem[3] >= '0' && stem[3] <= '9'
}

// maxID bounds an id, in bytes: with its extension it must fit into a file name.
const maxID = 128

// places lists where sessions may lie. Without an owner these are the places of
// all projects.
func places(env settings.Env, own *owner, dirs []string) (list []place, skipped []Skipped) {
	if len(dirs) > 0 {
		return namedPlaces(env, dirs)
	}
	if base := env.ClientDir(); base != "" {
		// CLAUDE_CODE_REMOTE_MEMORY_DIR moves memory only; the client keeps transcripts here.
		top := filepath.Join(base, projectsDir)
		names, skip := folders(top)
		skipped = append(skipped, skip...)
		for _, name := range names {
			if own == nil || own.mayHold(name) {
				list = append(list, place{dir: filepath.Join(top, name), origin: OriginClient})
			}
		}
	}
	if env.StateDir != "" {
		names, skip := folders(env.StateDir)
		skipped = append(skipped, skip...)
		for _, name := range names {
			for _, sub := range []struct {
				dir    string
				origin Origin
			}{{sessionsDir, OriginRecorded}, {archiveDir, OriginArchive}} {
				dir := filepath.Join(env.StateDir, name, sub.dir)
				if info, err := os.Stat(dir); err == nil && info.IsDir() {
					list = append(list, place{dir: dir, origin: sub.origin})
				}
			}
		}
	}
	return list, skipped
}

// namedPlaces are the folders that the caller named, with the ones in them: a
// folder of transcripts, one of such folders, or the client's whole directory.
func namedPlaces(env settings.Env, dirs []string) (list []place, skipped []Skipped) {
	seen := map[string]bool{}
	add := func(dir string) {
		if !seen[dir] {
			seen[dir] = true
			list = append(list, place{dir: dir, origin: OriginFolder, sure: true})
		}
	}
	for _, given := range dirs {
		dir, err := project.Absolute(given, env.ProjectOptions())
		if err == nil {
			var info fs.FileInfo
			if info, err = os.Stat(dir); err == nil && !info.IsDir() {
				err = errors.New("it is no folder")
			}
		}
		if err != nil {
			skipped = append(skipped, Skipped{Path: given, Reason: reasonOf(err)})
			continue
		}
		add(dir)
		if info, err := os.Stat(filepath.Join(dir, projectsDir)); err == nil && info.IsDir() {
			dir = filepath.Join(dir, projectsDir)
			add(dir)
		}
		names, skip := folders(dir)
		skipped = append(skipped, skip...)
		for _, name := range names {
			add(filepath.Join(dir, name))
		}
	}
	return list, skipped
}

// folders lists the folders in dir, links to folders included.
func folders(dir string) (names []string, skipped []Skipped) {
	list, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		skipped = append(skipped, Skipped{Path: dir, Reason: reasonOf(err)})
	}
	for _, e := range list {
		if e.IsDir() {
			names = append(names, e.Name())
		} else if e.Type()&fs.ModeSymlink != 0 {
			if info, err := os.Stat(filepath.Join(dir, e.Name())); err == nil && info.IsDir() {
				names = append(names, e.Name())
			}
		}
	}
	return names, skipped
}

// list gives the transcripts in a place: sessions, and the subagents' files that
// older clients kept beside them.
func (p place) list() (sessions, agents []file, skipped []Skipped) {
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			skipped = append(skipped, Skipped{Path: p.dir, Reason: reasonOf(err)})
		}
		return nil, nil, skipped
	}
	dirs := map[string]bool{}
	for _, e := range entries {
		if e.IsDir() {
			dirs[e.Name()] = true
		}
	}
	for _, e := range entries {
		name := e.Name()
		id, ok := p.idOf(name)
		if !ok {
			continue
		}
		f := file{place: p, name: name, id: id}
		if info, err := os.Stat(f.path()); err != nil {
			skipped = append(skipped, Skipped{Path: f.path(), Reason: reasonOf(err)})
			continue
		} else if !info.Mode().IsRegular() {
			skipped = append(skipped, Skipped{Path: f.path(), Reason: "it is no regular file"})
			continue
		} else {
			f.size, f.mtime = info.Size(), info.ModTime()
		}
		if ValidID(id) != nil {
			skipped = append(skipped, Skipped{Path: f.path(), Reason: "its name is no session id"})
			continue
		}
		if dirs[id] {
			f.companion = filepath.Join(p.dir, id)
		}
		if strings.HasPrefix(name, "agent-") {
			agents = append(agents, f)
		} else {
			sessions = append(sessions, f)
		}
	}
	return sessions, agents, skipped
}

// idOf gives the session whose transcript has this name in the place.
func (p place) idOf(name string) (id string, ok bool) {
	if strings.HasPrefix(name, ".") {
		return "", false
	}
	if p.origin == OriginArchive || p.origin == OriginFolder {
		if id, ok = strings.CutSuffix(name, archiveExt); ok {
			return id, true
		}
	}
	if p.origin == OriginArchive {
		return "", false
	}
	return strings.CutSuffix(name, transcriptExt)
}

// newestFirst orders files by the time they were last written.
func newestFirst(files []file) {
	slices.SortStableFunc(files, func(a, b file) int {
		if c := b.mtime.Compare(a.mtime); c != 0 {
			return c
		}
		return strings.Compare(a.id, b.id)
	})
}

// reasonOf says in words what the system has against a file.
func reasonOf(err error) string {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return "you have no permission to read it"
	case errors.Is(err, fs.ErrNotExist):
		return "it does not exist"
	}
	return project.Reason(err).Error()
}

// isNotFolder reports that something on the way to a file is no folder.
func isNotFolder(err error) bool { return errors.Is(err, syscall.ENOTDIR) }
