package transcript

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"mem/core/memdir"
	"mem/core/project"
	"mem/core/settings"
)

// search is one run of Find.
type search struct {
	env     settings.Env
	o       FindOptions
	own     *owner // nil for all projects
	adopted adoptions
	out     Sessions

	shelves map[string]*shelf // by folder
	there   map[string]map[string]bool
	period  *time.Duration // after which the client deletes; nil while nobody asked
	agents  []file         // transcripts of subagents that lie beside sessions

	mu    sync.Mutex
	looks []look
	total int64
	done  int64
	other map[string]*strays // by folder
}

// look is a file that was looked into.
type look struct {
	file
	noted *noted
}

// strays are sessions of another project in a folder that may hold this one's.
type strays struct {
	n   int
	cwd string
}

func newSearch(env settings.Env, o FindOptions) *search {
	s := &search{env: env, o: o, shelves: map[string]*shelf{}, there: map[string]map[string]bool{}, other: map[string]*strays{}}
	s.out.List, s.out.Looked = []*Session{}, []string{}
	if o.Project.Root != "" {
		s.own = newOwner(env, o.Project)
	}
	s.adopted = readAdoptions(env)
	return s
}

// files lists the candidates.
func (s *search) files() []file {
	list, skipped := places(s.env, s.own, s.o.Dirs)
	s.out.Skipped = append(s.out.Skipped, skipped...)
	var all []file
	for _, p := range list {
		sessions, agents, skipped := p.list()
		s.out.Looked = append(s.out.Looked, p.dir)
		s.out.Skipped = append(s.out.Skipped, skipped...)
		there := map[string]bool{}
		for _, f := range sessions {
			there[f.name] = true
		}
		for _, f := range agents {
			there[f.name] = true
		}
		s.there[p.dir] = there
		if !s.o.Since.IsZero() {
			old := func(f file) bool { return !f.mtime.After(s.o.Since) }
			sessions, agents = slices.DeleteFunc(sessions, old), slices.DeleteFunc(agents, old)
		}
		all = append(all, sessions...)
		s.agents = append(s.agents, agents...)
	}
	return all
}

// look makes the facts of files, those that are not in the cache in parallel, and
// saves the cache, also where the work was broken off.
func (s *search) look(ctx context.Context, files []file) error {
	s.looks = nil
	var stale []file
	take := func(f file) {
		sh := s.shelves[f.dir]
		if sh == nil {
			sh = shelfOf(s.env, f.dir)
			s.shelves[f.dir] = sh
		}
		if n := sh.fresh(&f); n != nil {
			s.looks = append(s.looks, look{f, n})
		} else {
			stale = append(stale, f)
			s.total += f.size
		}
	}
	for _, f := range files {
		take(f)
	}
	if len(files) > 0 {
		for _, f := range s.agents {
			take(f)
		}
	}
	next := make(chan file)
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(stale)) {
		wg.Go(func() {
			for f := range next {
				s.read(ctx, f)
			}
		})
	}
	for _, f := range stale {
		if ctx.Err() != nil {
			break
		}
		next <- f
	}
	close(next)
	wg.Wait()
	for i := range s.looks {
		l := &s.looks[i]
		if l.noted.listAgents(&l.file) {
			s.shelves[l.dir].changed = true
		}
	}
	s.save()
	return ctx.Err()
}

// read makes the facts of one file.
func (s *search) read(ctx context.Context, f file) {
	s.mu.Lock()
	before := s.shelves[f.dir].Files[f.name]
	s.mu.Unlock()
	told := int64(0)
	n, full, err := s.note(ctx, &f, before, func(done, _ int64) {
		s.progress(done - told)
		told = done
	})
	s.progress(max(f.size-told, 0))
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case ctx.Err() != nil:
	case err != nil:
		s.out.Skipped = append(s.out.Skipped, Skipped{Path: f.path(), Reason: reasonOf(err)})
	default:
		if full {
			s.shelves[f.dir].keep(&f, n)
		}
		s.looks = append(s.looks, look{f, n})
	}
}

// progress tells of bytes that are done.
func (s *search) progress(n int64) {
	if s.o.Progress == nil || n <= 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = min(s.done+n, s.total)
	s.o.Progress(s.done, s.total)
}

// note looks into a file; full says that everything was read.
func (s *search) note(ctx context.Context, f *file, before *noted, progress func(done, total int64)) (n *noted, full bool, err error) {
	src, err := Open(f.path())
	if err != nil {
		return nil, false, unwrapped(err, f)
	}
	defer src.Close()
	// What is added meanwhile is found at the next look: size and time are those that
	// were seen first.
	size := src.Size()
	if a, ok := src.(*archive); ok {
		before = nil
		defer func() {
			if n != nil {
				n.Head = &a.Head
			}
		}()
	} else {
		size = min(size, f.size)
	}
	if s.o.Shallow && before == nil && size > headSize {
		n, err = noteHead(ctx, src, size)
		return n, false, err
	}
	n, err = note(ctx, src, size, before, progress)
	return n, true, err
}

// unwrapped leaves the name out of an error that is shown beside it.
func unwrapped(err error, f *file) error {
	if s, ok := strings.CutPrefix(err.Error(), "opening the transcript "+f.path()+": "); ok && !errors.Is(err, fs.ErrPermission) {
		return errors.New(s)
	}
	return err
}

// save writes what was learnt into the cache.
func (s *search) save() {
	for dir, sh := range s.shelves {
		if err := sh.save(s.there[dir], s.env.Time()); err != nil {
			note := fmt.Sprintf("What sessions tell could not be kept for the next time: %v.", project.Reason(err))
			if !slices.Contains(s.out.Notes, note) {
				s.out.Notes = append(s.out.Notes, note)
			}
		}
	}
	if s.own == nil && len(s.o.Dirs) == 0 {
		dropUnused(s.env)
	}
}

// belongs reports whether a file is one of those that were asked for.
func (s *search) belongs(l *look) bool {
	f := l.noted.facts()
	if l.sure || s.own == nil {
		return true
	}
	if l.noted.Head != nil {
		if a := s.adopted.of(l.noted.Head); a != nil {
			return project.SamePath(s.env.GOOS, a.To, s.own.root)
		}
	}
	if slices.ContainsFunc(f.Cwds, s.own.owns) {
		return true
	}
	if l.origin == OriginClient {
		o := s.other[l.dir]
		if o == nil {
			o = &strays{cwd: f.Cwd}
			s.other[l.dir] = o
		}
		o.n++
	}
	return false
}

// found turns what was looked into into sessions.
func (s *search) found() *Sessions {
	if s.period == nil {
		period, _ := settings.LoadClient(s.env, s.o.Project).Cleanup()
		s.period = &period
	}
	byID := map[string]*Session{}
	clear(s.other)
	list := []*Session{}
	slices.SortStableFunc(s.looks, func(a, b look) int { return strings.Compare(a.path(), b.path()) })
	for i := range s.looks {
		l := &s.looks[i]
		if strings.HasPrefix(l.name, "agent-") || !s.belongs(l) {
			continue
		}
		x := s.session(l)
		if x.Origin == OriginClient {
			x.Expires = x.Modified.Add(*s.period)
		}
		if twin := byID[x.ID]; twin != nil {
			if better(x, twin) {
				*twin, *x = *x, *twin
			}
			twin.join(x)
			continue
		}
		byID[x.ID] = x
		list = append(list, x)
	}
	for i := range s.looks {
		if l := &s.looks[i]; strings.HasPrefix(l.name, "agent-") {
			if x := byID[l.noted.facts().Parent]; x != nil {
				x.Subagents = append(x.Subagents, subagent(l.path(), l.id))
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *Session) int {
		if c := b.Modified.Compare(a.Modified); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	out := s.out
	out.List = list
	out.Skipped = append(slices.Clone(s.out.Skipped), s.strays()...)
	return &out
}

// strays names the folders that hold sessions of another project, each once.
func (s *search) strays() []Skipped {
	var list []Skipped
	for dir, o := range s.other {
		where := "name no directory"
		if o.cwd != "" {
			where = "name other directories, such as " + memdir.ShownName(clean(o.cwd))
		}
		noun := "sessions"
		if o.n == 1 {
			noun = "session"
		}
		list = append(list, Skipped{Path: dir, Reason: fmt.Sprintf("the records of %d %s in it %s", o.n, noun, where)})
	}
	slices.SortFunc(list, func(a, b Skipped) int { return strings.Compare(a.Path, b.Path) })
	return list
}

func (s *search) session(l *look) *Session {
	x := &Session{ID: l.id, Path: l.path(), Origin: l.origin, Modified: l.mtime, Size: l.size, stored: l.size,
		Facts: l.noted.facts(), companion: l.companion}
	if len(x.Cwds) == 1 {
		x.Cwds = nil
	}
	if x.Parent == x.ID {
		x.Parent = ""
	}
	if h := l.noted.Head; h != nil {
		x.head, x.Size, x.Modified = h, h.Size, h.Modified
		if ValidID(h.Session) == nil {
			x.ID = h.Session
		}
		if a := s.adopted.of(h); a != nil {
			x.From = a.From
		}
	}
	x.Subagents = slices.Clone(l.noted.Agents)
	x.live(s.env)
	return x
}

// better reports whether of two files of one session x is the one to show: what the
// client wrote before what we recorded, an original before a copy, then the one that
// was written last.
func better(x, y *Session) bool {
	rank := map[Origin]int{OriginRecorded: 1, OriginArchive: 2}
	if rank[x.Origin] != rank[y.Origin] {
		return rank[x.Origin] < rank[y.Origin]
	}
	return x.Modified.After(y.Modified)
}

// join notes another file of the same session.
func (s *Session) join(other *Session) {
	later(&s.From, other.From)
	if other.Origin == OriginArchive && s.Origin != OriginArchive && other.Size <= s.Size {
		s.Archived = s.Archived || other.Size == s.Size
		return
	}
	s.Also = append(s.Also, other.Path)
}

// unmarshalLoose decodes JSON as far as its types fit.
func unmarshalLoose(data []byte, v any) bool {
	err := json.Unmarshal(data, v)
	var typeError *json.UnmarshalTypeError
	return err == nil || errors.As(err, &typeError)
}
