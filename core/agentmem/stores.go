// Package agentmem owns the memory of agents beside the project's own: the stores
// that there are, in a project and for its user, their state, those that belong
// together and lie apart, and what a team shares of them.
package agentmem

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"mem/core/memdir"
	"mem/core/memory"
)

// Store is one memory that tools and commands can be told to work on.
type Store struct {
	// Name addresses it; "" where the name of its folder cannot be one.
	Name      string       `json:"store"`
	Agent     string       `json:"agent,omitempty"` // its folder
	Scope     memdir.Scope `json:"scope,omitempty"`
	Directory string       `json:"directory"`
	Exists    bool         `json:"exists"`
	ReadOnly  bool         `json:"readOnly,omitempty"`
	Snapshot  bool         `json:"snapshot,omitempty"` // a team shares one of this agent
	Health    *Health      `json:"health,omitempty"`
	// Defined are the files that define this agent with memory of this scope.
	Defined []string `json:"definedIn,omitempty"`
	Notes   []string `json:"notes,omitempty"`
}

// Part is a memory of an agent that lies apart from the store of the same agent and
// scope, where only a client that was started there finds it.
type Part struct {
	Store     string `json:"store"` // where it belongs; "" where its folder's name can be no store's
	Directory string `json:"directory"`
	// Where is the directory that clients were started in, and Kind says what it is:
	// "subdirectory" or "worktree".
	Where  string `json:"where"`
	Kind   string `json:"kind"`
	Topics int    `json:"topics"`
	// Same says that the store has all that is in it.
	Same bool `json:"same,omitempty"`
	// Merge is the command that brings it into the store; "" where there is nothing to
	// bring, or no way.
	Merge string `json:"merge,omitempty"`
	Note  string `json:"note,omitempty"`
}

// Stores is everything that there is.
type Stores struct {
	Project string  `json:"project"` // its root, or the worktree of a bare repository
	Stores  []Store `json:"stores"`
	Split   []Part  `json:"split"`
	memory.Notice
}

// Options says how stores are listed.
type Options struct {
	Look  Look   // nil reads each directory once and checks nothing
	Agent string // only the stores of this agent; "" is all
}

// Limits of what List looks into, in directories: each costs a few milliseconds when it
// is read for the first time. What is beyond is listed without its state.
const (
	maxLooked      = 200
	maxLookedSplit = 50
)

// List finds all stores of the project that a memory belongs to, and of its user.
// What cannot be looked at is told in a store's notes or in the list's.
func List(ctx context.Context, m *memory.Memory, o Options) (*Stores, error) {
	l := newLister(m, o)
	l.auto()
	l.agents(ctx)
	l.extra()
	l.parts(ctx)
	if o.Agent != "" {
		if err := l.out.only(o.Agent); err != nil {
			return nil, err
		}
	}
	l.fill(ctx)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return l.out, nil
}

type lister struct {
	m    *memory.Memory
	look Look
	base string // of the checkout; "" where there is none
	out  *Stores
}

func newLister(m *memory.Memory, o Options) *lister {
	l := &lister{m: m, look: o.Look, out: &Stores{Stores: []Store{}, Split: []Part{}}}
	if l.look == nil {
		l.look = readView(m)
	}
	var err error
	if l.base, err = memdir.StoreBase(m.Location.Project); err != nil {
		l.out.Note(err.Error())
	}
	l.out.Project = l.base
	return l
}

func (l *lister) auto() {
	m := l.m
	if !m.Location.Store.Auto() {
		other, err := m.Other(memdir.StoreAuto)
		if err != nil {
			l.out.Note(err.Error())
			return
		}
		defer other.Close() // nothing was opened yet
		m = other
	}
	l.out.Stores = append(l.out.Stores, Store{Name: memdir.StoreAuto, Directory: m.Location.Directory, Exists: isFolder(m.Location.Directory)})
}

// agents lists what is on disk in the places of agents' memory, and what agents are
// defined with memory that has no folder yet.
func (l *lister) agents(ctx context.Context) {
	env := l.m.Env()
	user := env.ClientDir()
	if !filepath.IsAbs(user) {
		user = ""
	}
	var found []place
	var defs []Definition
	add := func(clientDir, base string, scopes ...memdir.Scope) {
		places, notes := placesIn(clientDir, scopes...)
		found = append(found, places...)
		l.out.Note(notes...)
		ds, notes := definitionsIn(ctx, base, clientDir)
		defs = append(defs, ds...)
		l.out.Note(notes...)
	}
	inProject := filepath.Join(l.base, clientFolder)
	if l.base != "" && inProject != user {
		add(inProject, l.base, memdir.ScopeProject, memdir.ScopeLocal)
	} else if l.base != "" {
		l.out.Note(fmt.Sprintf("The project is %s itself, which holds the memory of this user's agents: its stores of the scopes user and project are the same.", memdir.ShownName(l.base)))
		places, notes := placesIn(inProject, memdir.ScopeLocal)
		found = append(found, places...)
		l.out.Note(notes...)
	}
	if user != "" {
		add(user, "", memdir.ScopeUser)
	}
	at := map[string]int{}
	for _, p := range found {
		s := Store{Agent: p.agent, Scope: p.scope, Directory: p.dir, Exists: true}
		n, err := memdir.ParseStore("agent/" + p.agent + "/" + string(p.scope))
		if err == nil && n.Agent == p.agent {
			s.Name = n.String()
		} else {
			s.Notes = append(s.Notes, "No agent's memory has a folder of this name, so no store addresses it: open it with --memory-dir, or rename it.")
		}
		at[string(p.scope)+"/"+p.agent] = len(l.out.Stores)
		l.out.Stores = append(l.out.Stores, s)
	}
	l.define(defs, at, user)
	for i := range l.out.Stores {
		s := &l.out.Stores[i]
		if s.Agent == "" {
			continue
		}
		l.finish(s, defs)
	}
}

// define notes which agents' definitions name which store, and lists those that have
// none yet.
func (l *lister) define(defs []Definition, at map[string]int, user string) {
	for _, d := range defs {
		if d.Scope == "" {
			continue
		}
		if d.Folder == "" {
			l.out.Note(fmt.Sprintf("%s defines the agent %s with memory, but no folder can have that name", memdir.ShownName(d.File), memdir.ShownName(d.Name)))
			continue
		}
		key := string(d.Scope) + "/" + d.Folder
		i, ok := at[key]
		if !ok {
			n := memdir.StoreName{Agent: d.Folder, Scope: d.Scope}
			dir := n.Below(filepath.Join(l.base, clientFolder))
			if d.Scope == memdir.ScopeUser {
				dir = n.Below(user)
			} else if l.base == "" {
				continue
			}
			i = len(l.out.Stores)
			at[key] = i
			l.out.Stores = append(l.out.Stores, Store{Name: n.String(), Agent: d.Folder, Scope: d.Scope, Directory: dir,
				Notes: []string{"The agent is defined with memory and has written none yet: the first write makes it."}})
		}
		l.out.Stores[i].Defined = append(l.out.Stores[i].Defined, d.File)
	}
}

// finish says what else is to be known of an agent's store.
func (l *lister) finish(s *Store, defs []Definition) {
	if l.base != "" && s.Scope == memdir.ScopeProject {
		s.Snapshot = isFile(filepath.Join(l.base, clientFolder, string(memdir.PlaceSnapshot), s.Agent, "snapshot.json"))
	}
	if s.Snapshot && !s.Exists && len(s.Notes) > 0 {
		s.Notes[0] = fmt.Sprintf("The team shares what this agent learnt, and nothing is here yet: mem-mcp snapshot pull %s copies it.", s.Agent)
	}
	if len(s.Defined) > 0 || !s.Exists {
		return
	}
	var with []string
	defined := false
	for _, d := range defs {
		if d.Folder == s.Agent {
			defined = true
			with = append(with, cmp.Or(string(d.Scope), "none"))
		}
	}
	switch {
	case !defined:
		s.Notes = append(s.Notes, "No agent of this name is defined here or for this user: it was renamed or removed, or comes with a plugin.")
	case !slices.Contains(with, string(s.Scope)):
		s.Notes = append(s.Notes, fmt.Sprintf("The agent is defined with memory: %s, so nobody uses this one.", strings.Join(slices.Compact(with), ", ")))
	}
}

func (l *lister) extra() {
	for _, name := range l.m.ExtraNames() {
		s := Store{Name: memdir.StoreName{Extra: name}.String(), ReadOnly: true}
		other, err := l.m.Extra(name)
		if err != nil {
			s.Directory = l.m.Config.Stores[name]
			s.Notes = append(s.Notes, err.Error())
		} else {
			s.Directory, s.Exists = other.Location.Directory, isFolder(other.Location.Directory)
			if !s.Exists {
				s.Notes = append(s.Notes, "The folder does not exist; stores in "+l.m.Env().ConfigFile()+" names it.")
			}
		}
		l.out.Stores = append(l.out.Stores, s)
	}
}

// parts finds memory of agents that lies apart.
func (l *lister) parts(ctx context.Context) {
	if l.base == "" {
		return
	}
	add := func(places []place, notes []string, kind string, where func(place) string) {
		l.out.Note(notes...)
		for _, p := range places {
			part := Part{Directory: p.dir, Where: where(p), Kind: kind}
			if n, err := memdir.ParseStore("agent/" + p.agent + "/" + string(p.scope)); err == nil && n.Agent == p.agent {
				part.Store = n.String()
				if arg := argument(l.m.Env().GOOS, p.dir); arg != "" {
					part.Merge = "mem-mcp stores merge " + arg
				}
			}
			l.out.Split = append(l.out.Split, part)
		}
	}
	above := func(p place) string { return filepath.Dir(filepath.Dir(filepath.Dir(p.dir))) }
	places, notes := inSubdirectories(ctx, l.base, l.m.Location.Project.CommonDir)
	add(places, notes, "subdirectory", above)
	trees, notes := worktrees(l.m.Location.Project, l.base)
	l.out.Note(notes...)
	for _, w := range trees {
		places, notes := placesIn(filepath.Join(w, clientFolder), memdir.ScopeProject, memdir.ScopeLocal)
		add(places, notes, "worktree", above)
	}
}

// fill looks into all directories, several at once.
func (l *lister) fill(ctx context.Context) {
	var wg sync.WaitGroup
	room := make(chan struct{}, runtime.GOMAXPROCS(0))
	each := func(f func()) {
		wg.Add(1)
		room <- struct{}{}
		go func() {
			defer wg.Done()
			defer func() { <-room }()
			f()
		}()
	}
	views, looked := make([]*memdir.View, len(l.out.Stores)), 0
	for i := range l.out.Stores {
		s := &l.out.Stores[i]
		if !s.Exists || ctx.Err() != nil {
			continue
		}
		if looked++; looked > maxLooked {
			s.Notes = append(s.Notes, "Its state was not looked at, since there are so many; name this agent.")
			continue
		}
		each(func() {
			v, problems, err := l.look(ctx, s.Directory)
			if err != nil {
				s.Notes = append(s.Notes, "It cannot be read: "+memdir.Shown(err.Error(), memdir.MaxShown))
				return
			}
			views[i], s.Health = v, healthOf(l.m, v, problems)
		})
	}
	wg.Wait()
	for i := range l.out.Split {
		part := &l.out.Split[i]
		if ctx.Err() != nil {
			break
		}
		if i >= maxLookedSplit {
			part.Note = "Its topics were not counted, since there are so many; name this agent."
			continue
		}
		each(func() {
			v, _, err := l.look(ctx, part.Directory)
			if err != nil {
				part.Note = "It cannot be read: " + memdir.Shown(err.Error(), memdir.MaxShown)
				return
			}
			part.Topics = len(v.Topics)
			j := slices.IndexFunc(l.out.Stores, func(s Store) bool { return s.Name == part.Store && s.Name != "" })
			if j >= 0 && views[j] != nil && holds(ctx, views[j], v, part.Where) {
				part.Same, part.Merge = true, ""
				part.Note = "The store has all that is in it; a client that is started there still uses it."
			}
		})
	}
	wg.Wait()
}
