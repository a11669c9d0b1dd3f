package transcript

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mem/core/project"
	"mem/core/settings"
)

// maxTracked bounds the files of a FileHistory.
const maxTracked = 100_000

// FileHistory is what the client knew of the user's files at the leaf of a
// chain: for each file that it touched, the copy that it made before.
type FileHistory struct {
	Files   []TrackedFile // by path
	Records int           // snapshots and deltas that were used
	// Skipped counts those of other branches, and Problems those that could not
	// be read.
	Skipped, Problems int
}

// TrackedFile is one file with its newest copy.
type TrackedFile struct {
	Path string // as the client names it; may be relative to the session's directory
	// Abs is where the file lies, "" when that is not known.
	Abs string
	// Backup names the copy in the session's folder below file-history; "" says
	// that the file did not exist.
	Backup  string
	Version int
	Time    time.Time
}

type backupRecord struct {
	FileName   *string `json:"backupFileName"`
	Version    int     `json:"version"`
	Time       string  `json:"backupTime"`
	RealParent string  `json:"realParentDir"`
}

type historyRecord struct {
	Type     string `json:"type"`
	Message  UUID   `json:"messageId"`
	Base     UUID   `json:"snapshotMessageId"`
	Snapshot struct {
		Message UUID                    `json:"messageId"`
		Files   map[string]backupRecord `json:"trackedFileBackups"`
	} `json:"snapshot"`
	Path   string       `json:"trackingPath"`
	Backup backupRecord `json:"backup"`
}

// FileHistory rebuilds the state up to the leaf of c from the snapshots and
// deltas that belong to messages of its conversation, compacted ones included.
// A snapshot's own messageId equals a message's uuid, so the records are told
// apart by their type. A file that a later snapshot does not name is kept: a
// client that resumed starts with an empty one.
func (t *Transcript) FileHistory(ctx context.Context, src io.ReaderAt, c *Chain) (*FileHistory, error) {
	h := &FileHistory{}
	files := map[string]TrackedFile{}
	var raw []byte
	for _, at := range t.history {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		raw = slices.Grow(raw[:0], int(at.len))[:at.len] // what is decoded copies what it keeps
		if n, err := src.ReadAt(raw, at.offset); n < len(raw) {
			if err == nil || err == io.EOF {
				err = ErrChanged
			}
			return nil, fmt.Errorf("reading the file history at line %d: %w", at.line, err)
		}
		var r historyRecord
		if json.Unmarshal(raw, &r) != nil {
			h.Problems++
			continue
		}
		if !t.historyApplies(c, &r) {
			h.Skipped++
			continue
		}
		h.Records++
		for path, b := range r.Snapshot.Files {
			t.track(files, path, b)
		}
		if r.Type == "file-history-delta" && r.Path != "" {
			t.track(files, r.Path, r.Backup)
		}
	}
	for _, f := range files {
		h.Files = append(h.Files, f)
	}
	slices.SortFunc(h.Files, func(a, b TrackedFile) int { return strings.Compare(a.Path, b.Path) })
	return h, nil
}

// historyApplies reports whether a record belongs to the conversation of c: its
// message is on the chain or was compacted, or is not in the file at all, where
// its place in the file has to do.
func (t *Transcript) historyApplies(c *Chain, r *historyRecord) bool {
	for _, u := range []UUID{r.Message, r.Base, r.Snapshot.Message} {
		if i, ok := t.Row(u); ok {
			return i < len(c.marks) && (c.marks[i] == onChain || c.marks[i] == compacted)
		}
	}
	return len(c.Rows) > 0
}

func (t *Transcript) track(files map[string]TrackedFile, path string, b backupRecord) {
	if _, ok := files[path]; !ok && len(files) >= maxTracked {
		return
	}
	f := TrackedFile{Path: path, Abs: t.absolute(path, b.RealParent), Version: b.Version}
	f.Time, _ = time.Parse(time.RFC3339, b.Time)
	if b.FileName != nil {
		f.Backup = *b.FileName
	}
	files[path] = f
}

func (t *Transcript) absolute(path, parent string) string {
	switch {
	case filepath.IsAbs(path):
		return filepath.Clean(path)
	case filepath.IsAbs(parent):
		return filepath.Join(parent, filepath.Base(path))
	case len(t.Cwds) > 0 && filepath.IsAbs(t.Cwds[0]):
		return filepath.Join(t.Cwds[0], path)
	}
	return ""
}

// FileState says how a file relates to the client's copy of it.
type FileState string

// The states.
const (
	FileUnchanged FileState = "unchanged"      // as the copy; or not there, as it was
	FileChanged   FileState = "changed"        // differs from the copy; or there, and was not
	FileGone      FileState = "gone"           // no longer there
	BackupMissing FileState = "backup-missing" // there, but the copy is not
	FileUnknown   FileState = "unknown"        // could not be compared
)

// ComparedFile is the result for one file.
type ComparedFile struct {
	TrackedFile
	State  FileState
	Reason string // why the state is unknown
}

// Disk is how files are read. Stat returns the size of a regular file, in bytes,
// and ReadFile its content; limit bounds it. Where there is no file their errors
// wrap fs.ErrNotExist.
type Disk struct {
	Stat     func(path string) (size int64, err error)
	ReadFile func(path string, limit int64) ([]byte, error)
}

// OSDisk is the disk itself. Anything but a regular file is an error, so that
// nothing blocks.
func OSDisk() Disk {
	return Disk{
		Stat: func(path string) (int64, error) {
			st, err := os.Stat(path)
			if err != nil {
				return 0, err
			}
			if !st.Mode().IsRegular() {
				return 0, errors.New("it is no regular file")
			}
			return st.Size(), nil
		},
		ReadFile: project.ReadFile,
	}
}

// Backups gives the folder with the client's copies of the files that a session changed, for
// Compare, and how to read it: copies in the archive lie compressed. It gives "" where
// there is none to be expected.
func (s *Session) Backups(env settings.Env) (dir string, d Disk) {
	dir, d = s.backups(env), OSDisk()
	if s.Origin == OriginArchive {
		if kept := filepath.Join(filepath.Dir(s.Path), s.ID, historyDir); isFolder(kept) {
			return kept, archivedIn(kept, d)
		}
	}
	return dir, d
}

// backups is the folder where the client keeps them.
func (s *Session) backups(env settings.Env) string {
	base := env.ClientDir()
	if projects := filepath.Dir(filepath.Dir(s.Path)); filepath.Base(projects) == projectsDir && s.Origin != OriginArchive {
		base = filepath.Dir(projects) // of the client that wrote this transcript
	}
	if base == "" || ValidID(s.ID) != nil {
		return ""
	}
	return filepath.Join(base, historyDir, s.ID)
}

// archivedIn is a disk on which what lies in a folder lies compressed.
func archivedIn(dir string, d Disk) Disk {
	plain := d
	d.Stat = func(path string) (int64, error) {
		if filepath.Dir(path) != dir {
			return plain.Stat(path)
		}
		if _, err := plain.Stat(path + ".gz"); err != nil {
			return 0, err
		}
		a, err := openArchive(path + ".gz")
		if err != nil {
			return 0, err
		}
		return a.Size(), a.Close()
	}
	d.ReadFile = func(path string, limit int64) ([]byte, error) {
		if filepath.Dir(path) != dir {
			return plain.ReadFile(path, limit)
		}
		a, err := openArchive(path + ".gz")
		if err != nil {
			return nil, err
		}
		defer a.Close()
		if a.Size() > limit {
			return nil, fmt.Errorf("larger than %d MB", limit>>20)
		}
		b := make([]byte, a.Size())
		_, err = io.ReadFull(io.NewSectionReader(a, 0, a.Size()), b)
		return b, err
	}
	return d
}

// maxCompared is the largest file that is compared, in bytes.
const maxCompared = 32 << 20

// Compare looks at each file and at its copy in dir, which is
// <base>/file-history/<session>.
func (h *FileHistory) Compare(ctx context.Context, d Disk, dir string) ([]ComparedFile, error) {
	out := make([]ComparedFile, 0, len(h.Files))
	for _, f := range h.Files {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		state, reason := f.compare(d, dir)
		out = append(out, ComparedFile{f, state, reason})
	}
	return out, nil
}

func (f *TrackedFile) compare(d Disk, dir string) (FileState, string) {
	if f.Abs == "" {
		return FileUnknown, "where the file lies is not recorded"
	}
	size, err := d.Stat(f.Abs)
	here := err == nil
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return FileUnknown, project.Reason(err).Error()
	}
	switch {
	case f.Backup == "" && here:
		return FileChanged, ""
	case f.Backup == "":
		return FileUnchanged, ""
	case !here:
		return FileGone, ""
	case !isBackupName(f.Backup):
		return FileUnknown, "the name of the copy is not one that the client gives"
	}
	copyPath := filepath.Join(dir, f.Backup)
	copySize, err := d.Stat(copyPath)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return BackupMissing, ""
	case err != nil:
		return FileUnknown, project.Reason(err).Error()
	case copySize != size:
		return FileChanged, ""
	case size > maxCompared:
		return FileUnknown, fmt.Sprintf("larger than %d MB", maxCompared>>20)
	}
	now, err := d.ReadFile(f.Abs, maxCompared)
	if err != nil {
		return FileUnknown, project.Reason(err).Error()
	}
	then, err := d.ReadFile(copyPath, maxCompared)
	if err != nil {
		return FileUnknown, project.Reason(err).Error()
	}
	if !bytes.Equal(now, then) {
		return FileChanged, ""
	}
	return FileUnchanged, ""
}

// isBackupName accepts <16 hex digits>@v<number> and nothing that could lead out
// of the folder.
func isBackupName(s string) bool {
	hash, version, ok := strings.Cut(s, "@v")
	if !ok || len(hash) != 16 || len(version) == 0 || len(version) > 9 {
		return false
	}
	for i := range len(hash) {
		if nibbles[hash[i]] == 0xff {
			return false
		}
	}
	for i := range len(version) {
		if version[i] < '0' || version[i] > '9' {
			return false
		}
	}
	return true
}
