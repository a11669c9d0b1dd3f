package lspcli

import (
	"fmt"
	"sync"
	"time"

	"mem/internal/term"
)

// progress tells a person at a terminal what takes so long.
type progress struct {
	a    *app
	done chan struct{}
	over sync.WaitGroup

	mu    sync.Mutex
	doing string
}

// How long a command is silent, and how often it then speaks.
const (
	patience = 500 * time.Millisecond
	beat     = 200 * time.Millisecond
)

// startProgress begins; stop has to be called before the command prints.
func (a *app) startProgress() *progress {
	p := &progress{a: a, done: make(chan struct{})}
	if !a.ErrTerminal || a.env.Getenv("TERM") == "dumb" {
		return p
	}
	p.over.Go(p.run)
	return p
}

func (p *progress) run() {
	start := time.Now()
	wait := time.NewTimer(patience)
	defer wait.Stop()
	for spoken := false; ; {
		select {
		case <-p.done:
			if spoken {
				fmt.Fprint(p.a.Err, "\r\x1b[K")
			}
			return
		case <-wait.C:
			p.mu.Lock()
			doing := p.doing
			p.mu.Unlock()
			if width := []rune(doing); p.a.Width > 20 && len(width) > p.a.Width-12 {
				doing = string(width[:p.a.Width-13]) + "…"
			}
			fmt.Fprintf(p.a.Err, "\r\x1b[K%s (%.0f s)", doing, time.Since(start).Seconds())
			spoken = true
			wait.Reset(beat)
		}
	}
}

// say sets what is being done.
func (p *progress) say(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.doing = term.Clean(fmt.Sprintf(format, args...))
}

// stop ends it and clears its line.
func (p *progress) stop() {
	close(p.done)
	p.over.Wait()
}
