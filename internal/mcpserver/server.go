// Package mcpserver wires the MCP server: tools and resources on the memory of
// a project, over our own transport.
package mcpserver

import (
	"container/list"
	"context"
	_ "embed"
	"errors"
	"io"
	"log/slog"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"mem/core/memdir"
	"mem/core/memory"
	"mem/core/sessions"
	"mem/internal/mcpserver/stdio"
	"mem/resources"
	"mem/tools"
)

//go:embed instructions.md
var instructions string

// Name is what the server calls itself.
const Name = "mem"

// pageSize is how many tools or resources one listing gives. All tools of a
// toolset fit, since some clients read the first page only.
const pageSize = 64

// Options says what the server serves.
type Options struct {
	Memory  memory.Options
	Version string
	Logger  *slog.Logger
	Tools   tools.Options
}

// Server is the MCP server of one process.
type Server struct {
	opt Options
	mcp *server.MCPServer

	filled sync.Once // with tools, resources and prompts

	mu       sync.Mutex
	opened   *memory.Memory
	unrooted *memory.Memory   // for resources, while the client's roots are unknown
	closed   []*memory.Memory // replaced when the client's roots changed
	sessions map[*memory.Memory]*sessions.Sessions
	others   stores
	fallback string // the store of calls that name none

	// Jobs that run in this process: life ends with the server, which waits for them.
	life       context.Context
	end        context.CancelFunc
	background sync.WaitGroup
}

// New makes a server. It opens nothing before the first call.
func New(opt Options) *Server {
	s := &Server{opt: opt, sessions: map[*memory.Memory]*sessions.Sessions{}, fallback: opt.Memory.Store,
		others: stores{byName: map[string]*list.Element{}, recent: list.New()}}
	s.life, s.end = context.WithCancel(context.Background())
	if s.opt.Tools.Sampling == nil {
		s.opt.Tools.Sampling = s.sampling
	}
	if s.opt.Tools.Background == nil {
		s.opt.Tools.Background = func(f func(context.Context)) { s.background.Go(func() { f(s.life) }) }
	}
	s.opt.Memory.Store = "" // what is opened first is the project's
	hooks := &server.Hooks{}
	hooks.AddBeforeAny(func(_ context.Context, _ any, method mcp.MCPMethod, _ any) {
		if method != mcp.MethodInitialize && method != mcp.MethodPing {
			s.fill()
		}
	})
	s.mcp = server.NewMCPServer(Name, opt.Version,
		server.WithHooks(hooks),
		server.WithTitle("Memory"),
		server.WithInstructions(strings.TrimSpace(instructions)),
		server.WithToolCapabilities(false),
		server.WithResourceCapabilities(false, false),
		server.WithPromptCapabilities(false),
		server.WithElicitation(),
		server.WithRecovery(),
		server.WithResourceRecovery(),
		server.WithPaginationLimit(pageSize),
	)
	s.mcp.AddNotificationHandler(string(mcp.MethodNotificationRootsListChanged), func(context.Context, mcp.JSONRPCNotification) { s.forget() })
	s.mcp.AddNotificationHandler(string(mcp.MethodNotificationInitialized), func(context.Context, mcp.JSONRPCNotification) {
		s.background.Go(s.fill) // while the client makes its first request
	})
	return s
}

// fill makes what the server offers, before the first request that needs any of it. The
// reply to initialize does not, and clients wait for it: three dozen tools with their
// schemas take a third of the time until then.
func (s *Server) fill() {
	s.filled.Do(func() {
		for _, t := range tools.Toolsets() {
			s.mcp.AddTools(t.Bind(s.open, s.sessionsOf, s.opt.Tools)...)
		}
		fixed, templates := resources.All(s.openToRead, s.sessionsOf, notFound, tools.Progress)
		s.mcp.AddResources(fixed...)
		s.mcp.AddResourceTemplates(templates...)
		s.mcp.AddPrompts(resources.Prompts()...)
	})
}

// Serve speaks MCP over a pair of streams until the input ends.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	err := stdio.Serve(ctx, s.mcp, in, out, stdio.Options{Logger: s.opt.Logger})
	return errors.Join(err, s.close())
}

// maxStores bounds the stores of agents that are kept opened beside the project's
// memory: as many as one search looks into.
const maxStores = memory.MaxShelf

// stores keeps other stores opened, the ones last used.
type stores struct {
	byName map[string]*list.Element
	recent *list.List // of *opened, the last one first
}

type opened struct {
	name string
	of   *memory.Memory // the project's, that it was opened for
	m    *memory.Memory
}

// open gives the memory of a store; the project is found at the first call.
func (s *Server) open(ctx context.Context, store string) (*memory.Memory, error) {
	auto, err := s.openAuto(ctx)
	if err != nil {
		return nil, err
	}
	return s.other(auto, store)
}

func (s *Server) openAuto(ctx context.Context) (*memory.Memory, error) {
	if m := s.current(&s.opened); m != nil {
		return m, nil
	}
	opt := s.opt.Memory
	if opt.Project == "" && opt.Env.Getenv("CLAUDE_PROJECT_DIR") == "" {
		var err error
		if opt.Roots, err = s.roots(ctx); err != nil {
			return nil, err
		}
	}
	return s.keep(&s.opened, opt)
}

// openToRead gives the memory of a store to a resource. In the stateless era
// mcp-go lets a resource ask nothing; before a tool has learned the roots, it
// reads the memory of the working directory, which decides nothing for later.
func (s *Server) openToRead(ctx context.Context, store string) (*memory.Memory, error) {
	m, err := s.open(ctx, store)
	if !errors.Is(err, tools.ErrNeedRoots) {
		return m, err
	}
	auto := s.current(&s.unrooted)
	if auto == nil {
		if auto, err = s.keep(&s.unrooted, s.opt.Memory); err != nil {
			return nil, err
		}
	}
	return s.other(auto, store)
}

// other gives the memory of a store, beside the project's own that was opened. One
// that was not used for longest makes room for it; the collector closes that, since
// calls under way may still use it.
func (s *Server) other(auto *memory.Memory, store string) (*memory.Memory, error) {
	if store == "" {
		store = s.fallback
	}
	name, err := memdir.ParseStore(store)
	if err != nil {
		return nil, err
	}
	if name.Auto() {
		return auto, nil
	}
	store = name.String()
	s.mu.Lock()
	defer s.mu.Unlock()
	if e := s.others.byName[store]; e != nil {
		if o := e.Value.(*opened); o.of == auto {
			s.others.recent.MoveToFront(e)
			return o.m, nil
		}
		s.others.drop(e)
	}
	m, err := auto.Other(store)
	if err != nil {
		return nil, err
	}
	s.others.byName[store] = s.others.recent.PushFront(&opened{store, auto, m})
	if s.others.recent.Len() > maxStores {
		s.others.drop(s.others.recent.Back())
	}
	return m, nil
}

func (x *stores) drop(e *list.Element) *memory.Memory {
	o := x.recent.Remove(e).(*opened)
	delete(x.byName, o.name)
	return o.m
}

func (s *Server) current(slot **memory.Memory) *memory.Memory {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *slot
}

// keep opens a memory and keeps it in its slot, where no other call was faster.
func (s *Server) keep(slot **memory.Memory, opt memory.Options) (*memory.Memory, error) {
	m, err := memory.Open(opt)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if *slot == nil {
		*slot = m
	} else if err := m.Close(); err != nil {
		return nil, err
	}
	return *slot, nil
}

// sessionsOf gives the sessions that belong to an opened memory.
func (s *Server) sessionsOf(m *memory.Memory) *sessions.Sessions {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions[m] == nil {
		s.sessions[m] = sessions.Open(m, sessions.Options{Version: s.opt.Version})
	}
	return s.sessions[m]
}

// rootsWait is how long the client may take to name its roots.
const rootsWait = 3 * time.Second

// roots asks the client for its directories, where it has such. A client that
// does not answer has none: the working directory decides then.
func (s *Server) roots(ctx context.Context) ([]string, error) {
	session, ok := server.ClientSessionFromContext(ctx).(server.SessionWithClientInfo)
	if !ok || session.GetClientCapabilities().Roots == nil {
		return nil, nil
	}
	if answer, ok := tools.Roots(ctx); ok {
		return dirsOf(answer), nil
	}
	if server.IsModernRequest(ctx) {
		return nil, tools.ErrNeedRoots
	}
	ctx, cancel := context.WithTimeout(ctx, rootsWait)
	defer cancel()
	res, err := s.mcp.RequestRoots(ctx, mcp.ListRootsRequest{})
	if err != nil {
		return nil, nil
	}
	return dirsOf(res.Roots), nil
}

func dirsOf(roots []mcp.Root) []string {
	var dirs []string
	for _, r := range roots {
		if dir, ok := fileOf(r.URI); ok {
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// fileOf gives the path of a file address.
func fileOf(uri string) (string, bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || (u.Host != "" && u.Host != "localhost") {
		return "", false
	}
	p := u.Path
	if len(p) > 2 && p[0] == '/' && p[2] == ':' { // file:///C:/x
		p = p[1:]
	}
	return filepath.FromSlash(p), p != ""
}

// forget makes the next call find the project anew. Calls under way keep what
// they have.
func (s *Server) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, slot := range []**memory.Memory{&s.opened, &s.unrooted} {
		if *slot != nil {
			s.closed = append(s.closed, *slot)
			*slot = nil
		}
	}
	for s.others.recent.Len() > 0 {
		s.closed = append(s.closed, s.others.drop(s.others.recent.Back()))
	}
}

func (s *Server) close() error {
	s.end()
	s.background.Wait() // jobs obey within a second
	s.forget()
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	for _, x := range s.sessions {
		err = errors.Join(err, x.Close())
	}
	clear(s.sessions)
	for _, m := range s.closed {
		err = errors.Join(err, m.Close())
	}
	s.closed = nil
	return err
}

func notFound(ctx context.Context, _ string, err error) error {
	code := mcp.RESOURCE_NOT_FOUND
	if mcp.IsModernProtocol(server.RequestProtocolVersion(ctx)) {
		code = mcp.INVALID_PARAMS
	}
	return stdio.WithCode(ctx, err, code, nil)
}
