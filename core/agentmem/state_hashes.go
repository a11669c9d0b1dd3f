package agentmem

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"mem/core/project"
	"mem/core/store"
)

// hashesHead is the first line of a file of hashes: what it is and its version.
const hashesHead = "mem snapshot hashes 1"

// settled is how old a file's time must be, when it is read, for a later write to show
// in it: the coarsest clock of a file system counts two seconds.
const settled = 2 * time.Second

// hashes keeps the hashes of a directory's files by size and modification time, in the
// cache directory. It is rebuilt where it is missing or damaged.
type hashes struct {
	file  string // "" keeps nothing
	known map[string]hashed
	seen  map[string]hashed
	fresh bool // something was added
	at    time.Time
}

type hashed struct {
	size, mtime int64
	leaf        *leaf
}

// openHashes reads the hashes of a directory.
func openHashes(cacheDir, dir string) *hashes {
	h := &hashes{known: map[string]hashed{}, seen: map[string]hashed{}, at: time.Now()} // times of files are the system's
	if cacheDir == "" {
		return h
	}
	h.file = filepath.Join(cacheDir, "snapshots", store.Key(dir))
	data, err := project.ReadFile(h.file, 16<<20)
	if err != nil {
		return h
	}
	head, rest, _ := strings.Cut(string(data), "\n")
	if head != hashesHead {
		return h
	}
	for rest != "" {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		f := strings.SplitN(line, "\t", 5)
		if len(f) != 5 || !isSum(f[0]) {
			return h
		}
		size, err1 := strconv.ParseInt(f[2], 10, 64)
		mtime, err2 := strconv.ParseInt(f[3], 10, 64)
		if err1 != nil || err2 != nil {
			return h
		}
		h.known[f[4]] = hashed{size, mtime, &leaf{sum: f[0], user: f[1] == "u", size: size}}
	}
	return h
}

func (h *hashes) get(p string, info fs.FileInfo) *leaf {
	k, ok := h.known[p]
	if !ok || k.size != info.Size() || k.mtime != info.ModTime().UnixNano() {
		return nil
	}
	h.seen[p] = k
	return k.leaf
}

func (h *hashes) put(p string, info fs.FileInfo, l *leaf) {
	if h.at.Sub(info.ModTime()) < settled {
		return // it may change once more without another size or time
	}
	h.seen[p] = hashed{info.Size(), info.ModTime().UnixNano(), l}
	h.fresh = true
}

// forget lets go of a file that is not what its size and time say.
func (h *hashes) forget(p string) {
	delete(h.seen, p)
	h.fresh = true
	h.save()
}

// save writes what was seen. Failing to costs the next reader its time only.
func (h *hashes) save() {
	if h.file == "" || (!h.fresh && len(h.seen) == len(h.known)) {
		return
	}
	var b strings.Builder
	b.WriteString(hashesHead + "\n")
	for p, k := range h.seen {
		kind := "-"
		if k.leaf.user {
			kind = "u"
		}
		b.WriteString(k.leaf.sum + "\t" + kind + "\t" + strconv.FormatInt(k.size, 10) + "\t" + strconv.FormatInt(k.mtime, 10) + "\t" + p + "\n")
	}
	if os.MkdirAll(filepath.Dir(h.file), 0o700) == nil {
		_ = writeAtomic(h.file, []byte(b.String()), 0o600)
	}
}
