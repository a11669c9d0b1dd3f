package lspserver

import (
	"os"
	"sync"
	"time"

	"mem/core/guard"
	"mem/core/settings"
)

// userConfig is what the user's own configuration decides here: the exceptions to
// the safety rules. It holds anew as soon as the file is saved.
type userConfig struct {
	mu    sync.Mutex
	at    fileStamp
	guard *guard.Scanner
}

// fileStamp tells whether a file was written.
type fileStamp struct {
	size  int64
	mtime time.Time
}

func (s *server) configStamp() fileStamp {
	name := s.o.Env.ConfigFile()
	if name == "" {
		return fileStamp{}
	}
	info, err := os.Stat(name)
	if err != nil {
		return fileStamp{}
	}
	return fileStamp{info.Size(), info.ModTime()}
}

// scanner gives the guard with the user's exceptions. A configuration that cannot
// be read is logged and makes none.
func (s *server) scanner() *guard.Scanner {
	now := s.configStamp()
	c := &s.config
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.guard != nil && c.at == now {
		return c.guard
	}
	config, err := settings.LoadConfig(s.o.Env)
	if err == nil {
		c.guard, err = guard.New(guard.Options{Allow: config.Guard.Allow})
	}
	if err != nil {
		s.logf("the configuration is not used: %v", err)
		c.guard, _ = guard.New(guard.Options{}) // fails for what is allowed only
	}
	c.at = now
	return c.guard
}
