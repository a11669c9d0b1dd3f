package memdir

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"mem/core/memfile"
)

// View is an immutable snapshot of what a memory directory contains, parsed.
// Topics' heads are in it; their bodies are loaded on demand from the source.
type View struct {
	Index    *memfile.Index
	Topics   []*Topic   // all of them, by path
	Logs     []DailyLog // newest first
	Nested   []string   // folders below that are memory directories of their own
	Problems []Problem  // what could not be read, and why
	// LinkedOnly is set where the index stands at the root of a repository:
	// there only linked files are topics.
	LinkedOnly bool
	// IndexError is why the index is not read, nil where it is or where there is none;
	// see Limits.IndexMayFail.
	IndexError *FileError

	src    fs.FS
	cache  *Cache
	limits Limits
	byPath map[string]*Topic
	names  func() *names
	unread []unread             // while it is built
	seen   int                  // names, while it is built
	dirs   map[string]time.Time // modification times of the folders that were read
	stands *standing
	readAt time.Time

	formOnce sync.Once
	form     memfile.Form
}

// Problem is a file or folder that a View leaves out, with the reason and the
// way out.
type Problem struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

// Limits bounds what a View reads.
type Limits struct {
	TopicBytes  int64 // larger files are listed as problems, not read; 0 means DefaultTopicBytes
	ScanLines   int   // lines of a topic that a scan reads; 0 means MaxScanLines
	EntryLength int   // characters of an entry that is made from a description; 0 means EntryLength
	// IndexMayFail reads the topics of a directory whose index cannot be read as memory,
	// as IndexError says, for those who look at files one by one. Otherwise it is an error:
	// a View without the index says of every topic that nothing names it.
	IndexMayFail bool
}

const (
	// DefaultTopicBytes is the size past which a file is not read as memory.
	// The largest real topic seen has 180 KB.
	DefaultTopicBytes = 8 << 20
	// headBytes is read of each topic for its frontmatter; it is extended where
	// that is longer.
	headBytes    = 4 << 10
	maxHeadBytes = 1 << 20
	// maxDepth bounds how deep folders are followed.
	maxDepth = 16
	// maxReaders bounds how many files are read at a time.
	maxReaders = 4
	// maxFiles bounds how many topics a View holds, and maxNames how many names of any
	// kind it looks at for them: a MEMORY.md that was saved in the wrong place, such as a
	// home or the root of a disk, must not have all of that read.
	maxFiles = 100_000
	maxNames = 3 * maxFiles
)

func (l Limits) scanLines() int {
	if l.ScanLines > 0 {
		return l.ScanLines
	}
	return MaxScanLines
}

func (l Limits) entryLength() int {
	if l.EntryLength > 0 {
		return l.EntryLength
	}
	return EntryLength
}

func (l Limits) topicBytes() int64 {
	if l.TopicBytes > 0 {
		return l.TopicBytes
	}
	return DefaultTopicBytes
}

// Topic is one memory file as a View lists it.
type Topic struct {
	Path    string
	Size    int64
	ModTime time.Time
	Meta    memfile.Meta
	Form    memfile.Form
	Hash    string // "" where the file is larger than what was read of it for its frontmatter
	// FrontLines is the number of lines to the end of the frontmatter, 0 without one.
	FrontLines int
	// Problems are those of the frontmatter, and of the body as far as it was
	// read; Load finds all.
	Problems []memfile.Problem

	state   state
	scanned memfile.Meta // what a reader of the lines that a scan reads sees
}

// Version tells whether the file is the one that was read, for those who keep
// something made of it.
func (t *Topic) Version() string {
	return fmt.Sprint(t.Size, t.ModTime.UnixNano(), t.state, t.Hash)
}

// Name gives the topic's name, from the file name where it has none.
func (t *Topic) Name() string {
	if t.Meta.Name != "" {
		return t.Meta.Name
	}
	return Stem(t.Path)
}

// Stem gives a file's name without folder and extension.
func Stem(p string) string { return strings.TrimSuffix(path.Base(p), path.Ext(p)) }

// Read builds a View from a source, which has to stand several readers at a time.
// cache may be nil; with one, files that did not change since an earlier View are
// not read again. A directory without any file gives an empty View; one that
// cannot be read gives an error.
func Read(ctx context.Context, src fs.FS, cache *Cache, limits Limits) (*View, error) {
	if cache == nil {
		cache = NewCache()
	}
	v := &View{src: src, cache: cache, limits: limits, byPath: map[string]*Topic{}, dirs: map[string]time.Time{}, stands: new(standing), readAt: time.Now()}
	v.names = sync.OnceValue(func() *names { return cache.namesOf(v.Topics) })
	if err := v.readNames(ctx); err != nil {
		return nil, err
	}
	if err := v.readHeads(ctx); err != nil {
		return nil, err
	}
	if v.IndexError != nil {
		v.problem(memfile.IndexName, "%s. %s.", v.IndexError.Reason, upperFirst(v.IndexError.Hint))
	}
	sort.Slice(v.Topics, func(i, j int) bool { return v.Topics[i].Path < v.Topics[j].Path })
	for _, t := range v.Topics {
		v.byPath[t.Path] = t
	}
	sort.Slice(v.Logs, func(i, j int) bool { return v.Logs[i].Date > v.Logs[j].Date })
	cache.prune(v)
	return v, nil
}

// readNames reads the index, and finds the files. Where the index does not decide
// what is looked for, both are done at the same time: of 200 topics they take
// equally long.
func (v *View) readNames(ctx context.Context) error {
	if _, err := lstat(v.src, ".git"); err == nil {
		if err := v.readIndex(); err != nil {
			return err
		}
		if v.LinkedOnly = v.Index.Exists || v.IndexError != nil; v.LinkedOnly {
			return v.readLinked(ctx)
		}
		return v.walk(ctx, ".", 0)
	}
	var walked error
	var wg sync.WaitGroup
	wg.Go(func() { walked = v.walk(ctx, ".", 0) })
	err := v.readIndex()
	wg.Wait()
	return cmp.Or(err, walked)
}

// Over gives the View of the same source with open buffers in place of its files,
// as Overlay does.
func (v *View) Over(ctx context.Context, buffers map[string]Buffer) (*View, error) {
	return Read(ctx, Overlay(v.src, buffers), v.cache, v.limits)
}

func (v *View) readIndex() error {
	err := v.tryIndex()
	if v.limits.IndexMayFail && errors.As(err, &v.IndexError) {
		v.Index = memfile.NoIndex()
		return nil
	}
	return err
}

// upperFirst writes a hint as a sentence.
func upperFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func (v *View) tryIndex() error {
	info, err := lstat(v.src, memfile.IndexName)
	if err != nil {
		if isNotExist(err) {
			v.Index = memfile.NoIndex()
			return nil
		}
		return fmt.Errorf("reading the index %s: %w", memfile.IndexName, err)
	}
	if why := notRegular(info); why != "" {
		return &FileError{Path: memfile.IndexName, Reason: why, Hint: "put a plain file in its place"}
	}
	v.Index, err = v.cache.index(v.src, info, v.limits)
	var unusable *FileError
	switch {
	case err == nil || errors.As(err, &unusable):
		return err
	case isNotExist(err): // it vanished meanwhile
		v.Index = memfile.NoIndex()
		return nil
	}
	return fmt.Errorf("reading the index %s: %w. Check its permissions", memfile.IndexName, err)
}

// unread is a topic whose head is not in the cache; its place in Topics is kept.
type unread struct {
	at   int
	path string
	info fs.FileInfo
	err  error
}

// readHeads reads the heads that the cache did not have, several at a time.
func (v *View) readHeads(ctx context.Context) error {
	var next atomic.Int64
	var wg sync.WaitGroup
	some := newPatience(viewPatience)
	for range min(runtime.GOMAXPROCS(0), maxReaders, 1+len(v.unread)/32) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(v.unread) && ctx.Err() == nil; i = int(next.Add(1)) - 1 {
				u := &v.unread[i]
				v.Topics[u.at], u.err = v.cache.readHead(v.src, u.path, u.info, v.limits.scanLines(), some)
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for _, u := range v.unread {
		if u.err != nil && !isNotExist(u.err) {
			v.problem(u.path, "cannot be read: %v. Check its permissions.", u.err)
		}
	}
	v.unread = nil
	v.Topics = slices.DeleteFunc(v.Topics, func(t *Topic) bool { return t == nil })
	return nil
}

func (v *View) problem(p, format string, args ...any) {
	v.Problems = append(v.Problems, Problem{Path: p, Message: fmt.Sprintf(format, args...)})
}

// SameFiles reports whether certainly no file came or went since the View was
// read, at the cost of one stat for each folder. What the files hold may have
// changed.
func (v *View) SameFiles() bool {
	for dir, at := range v.dirs {
		info, err := fs.Stat(v.src, dir)
		if err != nil || !info.ModTime().Equal(at) || !(stamp{mtime: at}).trustworthy(v.readAt) {
			return false
		}
	}
	return len(v.dirs) > 0
}

// Topic gives the topic at a path, nil when there is none.
func (v *View) Topic(p string) *Topic { return v.byPath[p] }

// Load reads a whole topic, or gives it from the cache.
func (v *View) Load(t *Topic) (*Body, error) { return v.LoadPath(t.Path) }

// LoadPath reads the memory file at a path, whether the View lists it or not.
func (v *View) LoadPath(p string) (*Body, error) { return v.cache.Load(v.src, p, v.limits) }

// Form gives the frontmatter form that a new topic takes: the one most topics
// of this directory have, flat in an empty one.
func (v *View) Form() memfile.Form {
	v.formOnce.Do(func() { v.form = v.mostlyForm() })
	return v.form
}

func (v *View) mostlyForm() memfile.Form {
	nested, flat := 0, 0
	for _, t := range v.Topics {
		switch t.Form {
		case memfile.FormNested:
			nested++
		case memfile.FormFlat:
			flat++
		}
	}
	if nested > flat {
		return memfile.FormNested
	}
	return memfile.FormFlat
}

// Scan gives what a reader with the seed's limits sees: the newest topics by
// modification time, each by its first lines, and how many were left out.
func (v *View) Scan(topics int) (seen []Scanned, leftOut int) {
	all := slices.Clone(v.Topics)
	sort.SliceStable(all, func(i, j int) bool { return all[i].ModTime.After(all[j].ModTime) })
	if len(all) > topics {
		leftOut = len(all) - topics
		all = all[:topics]
	}
	for _, t := range all {
		seen = append(seen, Scanned{Topic: t, Meta: t.scanned})
	}
	return seen, leftOut
}

// Scanned is a topic with what its first lines say.
type Scanned struct {
	*Topic
	Meta memfile.Meta
}
