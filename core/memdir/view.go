package memdir

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"sort"
	"strings"
	"time"

	"mem/core/memfile"
)

// View is an immutable snapshot of what a memory directory contains, parsed.
// Topics' heads are in it; their bodies are loaded on demand from the source.
type View struct {
	Index    *memfile.Index
	Topics   []*Topic  // all of them, by path
	Logs     []DailyLog     // newest first
	Nested   []string  // folders below that are memory directories of their own
	Problems []Problem // what could not be read, and why
	// LinkedOnly is set where the index stands at the root of a repository:
	// there only linked files are topics.
	LinkedOnly bool

	src    fs.FS
	cache  *Cache
	limits Limits
	byPath map[string]*Topic
}

// Problem is a file or folder that a View leaves out, with the reason and the
// way out.
type Problem struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

// Limits bounds what a View reads.
type Limits struct {
	TopicBytes int64 // larger files are listed as problems, not read; 0 means DefaultTopicBytes
}

const (
	// DefaultTopicBytes is the size past which a file is not read as memory.
	// The largest real topic seen has 180 KB.
	DefaultTopicBytes = 8 << 20
	// headBytes is read of each topic for its frontmatter; it is extended where
	// that is longer.
	headBytes = 4 << 10
	// maxDepth bounds how deep folders are followed.
	maxDepth = 16
	// maxFiles bounds how many topics a View holds.
	maxFiles = 100_000
)

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
	Hash    string // "" where the file is larger than its head and was not loaded yet
	// FrontLines is the number of lines to the end of the frontmatter, 0 without one.
	FrontLines int
	Problems   []memfile.Problem

	scanned memfile.Meta // what a reader of the first MaxScanLines lines sees
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

// Read builds a View from a source. cache may be nil; with one, files that did
// not change since an earlier View are not read again. A directory without any
// file gives an empty View; one that cannot be read gives an error.
func Read(ctx context.Context, src fs.FS, cache *Cache, limits Limits) (*View, error) {
	if cache == nil {
		cache = NewCache()
	}
	v := &View{src: src, cache: cache, limits: limits, byPath: map[string]*Topic{}}
	if err := v.readIndex(); err != nil {
		return nil, err
	}
	if _, err := fs.Stat(src, ".git"); err == nil && v.Index.Exists {
		v.LinkedOnly = true
	}
	if err := v.walk(ctx, ".", 0); err != nil {
		return nil, err
	}
	sort.Slice(v.Topics, func(i, j int) bool { return v.Topics[i].Path < v.Topics[j].Path })
	for _, t := range v.Topics {
		v.byPath[t.Path] = t
	}
	sort.Slice(v.Logs, func(i, j int) bool { return v.Logs[i].Date > v.Logs[j].Date })
	return v, nil
}

func (v *View) readIndex() error {
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
	return err
}

func (v *View) walk(ctx context.Context, dir string, depth int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := fs.ReadDir(v.src, dir)
	if err != nil {
		if dir == "." {
			return fmt.Errorf("reading the memory directory: %w", err)
		}
		v.problem(dir, "cannot be read: %v. Check its permissions.", err)
		return nil
	}
	if dir != "." && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == memfile.IndexName }) {
		v.Nested = append(v.Nested, dir)
		return nil
	}
	for _, e := range entries {
		p := path.Join(dir, e.Name())
		switch {
		case strings.HasPrefix(e.Name(), "."):
		case e.IsDir():
			v.visitDir(ctx, p, depth)
		case !memfile.IsMarkdown(p) || p == memfile.IndexName || notTopics[strings.ToLower(e.Name())]:
		case e.Type()&fs.ModeSymlink != 0:
			if !v.LinkedOnly {
				v.problem(p, "is a symbolic link, which mem does not follow. Put the file itself here.")
			}
		case !e.Type().IsRegular():
			v.problem(p, "is not a regular file.")
		default:
			v.addTopic(p, e)
		}
		if len(v.Topics) > maxFiles {
			return fmt.Errorf("more than %d Markdown files below the memory directory; is it the right one? Choose another with --memory-dir", maxFiles)
		}
	}
	return nil
}

func (v *View) visitDir(ctx context.Context, p string, depth int) {
	if p == LogsDir {
		v.readLogs()
		return
	}
	if memfile.IsMarkdown(p) {
		v.problem(p, "is a folder with the name of a memory file. Rename it.")
		return
	}
	if depth >= maxDepth {
		v.problem(p, "lies deeper than %d folders and is not read.", maxDepth)
		return
	}
	if err := v.walk(ctx, p, depth+1); err != nil {
		v.problem(p, "cannot be read: %v.", err)
	}
}

func (v *View) addTopic(p string, e fs.DirEntry) {
	if v.LinkedOnly && v.Index.Entry(p) == nil {
		return
	}
	info, err := e.Info()
	if err != nil {
		if !isNotExist(err) { // a file that just vanished is no problem
			v.problem(p, "cannot be read: %v.", err)
		}
		return
	}
	if info.Size() > v.limits.topicBytes() {
		v.problem(p, "has %d bytes; files over %d are not read as memory. Split it, or raise limits.topic_bytes in the configuration.", info.Size(), v.limits.topicBytes())
		return
	}
	t, err := v.cache.head(v.src, p, info)
	if err != nil {
		if !isNotExist(err) {
			v.problem(p, "cannot be read: %v. Check its permissions.", err)
		}
		return
	}
	v.Topics = append(v.Topics, t)
}

func (v *View) problem(p, format string, args ...any) {
	v.Problems = append(v.Problems, Problem{Path: p, Message: fmt.Sprintf(format, args...)})
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

// Resolve finds the topic that ref means: its path, its path without ".md", its
// name, or either of them written with other case, dashes or underscores.
func (v *View) Resolve(ref string) (*Topic, error) {
	ref = strings.TrimSpace(strings.ReplaceAll(ref, `\`, "/"))
	for _, p := range []string{ref, ref + ".md"} {
		if t := v.byPath[path.Clean(p)]; t != nil {
			return t, nil
		}
	}
	var found []*Topic
	for _, same := range []func(t *Topic) bool{
		func(t *Topic) bool { return t.Name() == ref },
		func(t *Topic) bool { return Fold(t.Name()) == Fold(ref) },
		func(t *Topic) bool { return Fold(Stem(t.Path)) == Fold(strings.TrimSuffix(ref, ".md")) },
		func(t *Topic) bool { return t.Meta.Type != "" && Fold(t.Name()) == Fold(t.Meta.Type+"-"+ref) },
	} {
		for _, t := range v.Topics {
			if same(t) {
				found = append(found, t)
			}
		}
		if len(found) > 0 {
			break
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, &NotFoundError{Ref: ref, Near: v.near(ref)}
	}
	err := &AmbiguousError{Ref: ref}
	for _, t := range found {
		err.Paths = append(err.Paths, t.Path)
	}
	return nil, err
}

// near gives up to three paths that share a word with ref.
func (v *View) near(ref string) []string {
	var out []string
	words := strings.Split(Fold(strings.TrimSuffix(ref, ".md")), "-")
	for _, t := range v.Topics {
		hay := Fold(t.Path + " " + t.Name())
		for _, w := range words {
			if len(w) > 2 && strings.Contains(hay, w) {
				out = append(out, t.Path)
				break
			}
		}
		if len(out) == 3 {
			break
		}
	}
	return out
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
