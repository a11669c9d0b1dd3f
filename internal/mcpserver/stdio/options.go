package stdio

import (
	"errors"
	"log/slog"
	"time"
)

// Limits that an Options field does not set.
const (
	// DefaultGrace is how long calls may run on after the end of input. Clients wait a few seconds between
	// closing the input and killing the process (the TypeScript SDK 1.32: 2 s, then SIGTERM and 2 s more).
	DefaultGrace = 5 * time.Second
	// DefaultMaxMessage is the longest line that is read, in bytes.
	DefaultMaxMessage = 16 << 20
	// DefaultConcurrency is how many requests run at once.
	DefaultConcurrency = 64
	// DefaultWriteTimeout is how long one write of at most 64 KiB may take. It is long because a person may
	// suspend the client (Ctrl-Z) and come back; memory stays bounded in the meantime.
	DefaultWriteTimeout = 2 * time.Minute
	// DefaultMaxQueued is how many bytes of output may wait before whoever produces more has to wait too.
	DefaultMaxQueued = 4 << 20
	// DefaultAskTimeout bounds a question to the client that a person may have to answer (elicitation, sampling).
	DefaultAskTimeout = 10 * time.Minute
	// DefaultProgressGap separates a reply from the last notification of its call where the system cannot tell
	// whether the client has read that. The TypeScript SDK (1.32.2, issue 2580) runs notification handlers a
	// microtask after it has read them but takes a reply at once, so progress that comes in one read with its
	// reply is lost. Measured on two busy cores, 300 calls with five notifications each: no gap loses them in
	// 293 calls, 1 ms in 6, 2 ms in 1, 5 ms in 1; waiting until they are read in none.
	DefaultProgressGap = 2 * time.Millisecond

	// drainLimit is how long a reply waits for the client to read the notifications of its call, where the system
	// can tell (Linux). A client that is busy for longer loses some, as it would without us.
	drainLimit = 250 * time.Millisecond
	// drainPoll is how often it looks; an idle Go process sleeps for 1 ms at least.
	drainPoll = 200 * time.Microsecond
	// reliefAfter is how long a call may keep the input from being read by another, in time by the clock: what comes
	// meanwhile, a ping or a cancel, waits so long and no longer. Reading 2 KB of memory takes a twentieth of it. An idle
	// Go process on Linux cannot wait for less.
	reliefAfter = time.Millisecond
	// rootsTimeout bounds roots/list, which no person answers.
	rootsTimeout = 30 * time.Second
	// maxWaiting is how many requests may wait for a worker, maxWaitingBytes how much text they may hold.
	maxWaiting      = 4096
	maxWaitingBytes = 4 * DefaultMaxMessage
	// admitPatience is how long the reader waits for a place among the waiting requests while none finishes,
	// before it refuses one: as long as work gets done a full house slows the client down, and when nothing
	// moves any more pings and cancels must still be read.
	admitPatience = time.Second
	// maxListens is how many subscriptions/listen streams may be open; they wait without a worker.
	maxListens = 64
	// controlReserve is what the reader's own replies may queue beyond MaxQueued: it must never wait.
	controlReserve = 1 << 20
	// writeChunk is the most that one Write is given, in bytes: the size of a pipe's buffer on Linux.
	writeChunk = 64 << 10
	// notifyBuffer is how many notifications of one call may be on their way to the queue.
	notifyBuffer = 64
	// windDown is how long cancelled handlers may take to return.
	windDown = time.Second
)

// Options are the limits of one session. Zero values stand for the defaults named after the fields.
type Options struct {
	SessionID    string        // what server.ClientSession.SessionID reports; "stdio"
	Grace        time.Duration // DefaultGrace; negative: none
	MaxMessage   int           // bytes, DefaultMaxMessage
	Concurrency  int           // DefaultConcurrency
	WriteTimeout time.Duration // DefaultWriteTimeout
	MaxQueued    int           // bytes, DefaultMaxQueued
	AskTimeout   time.Duration // DefaultAskTimeout
	ProgressGap  time.Duration // DefaultProgressGap; negative: replies follow notifications at once
	// Logger gets what has no other way to be told: panics with their stack, notifications that cannot be encoded,
	// answers to questions that nobody asked. Nil discards. It must not write to the session's output.
	Logger *slog.Logger
}

var (
	// ErrStalled ends a session whose client does not read.
	ErrStalled = errors.New("the client stopped reading the server's output")
	// ErrUnfinished reports handlers that ignored the end of their context; their goroutines are left behind.
	ErrUnfinished = errors.New("calls did not end when they were cancelled")
	// ErrCancelled is the context cause of a call that the client cancelled.
	ErrCancelled = errors.New("cancelled by the client")
	// ErrEnded is the context cause of a call, and the answer to a question, that outlived the session.
	ErrEnded = errors.New("the session has ended")
	// ErrUndeclared answers a question that needs a capability which the client did not declare.
	ErrUndeclared = errors.New("the client did not declare this capability")
	// ErrAskInline answers a question that a notification handler or an initialize hook waits for: these run on
	// the reader, which alone could read the answer. Ask from a goroutine of its own.
	ErrAskInline = errors.New("a handler that runs on the reader cannot wait for the client's answer")
)

func (o Options) withDefaults() Options {
	if o.SessionID == "" {
		o.SessionID = "stdio"
	}
	orDuration := func(d *time.Duration, def time.Duration) {
		if *d == 0 {
			*d = def
		}
		*d = max(*d, 0)
	}
	orInt := func(n *int, def int) {
		if *n <= 0 {
			*n = def
		}
	}
	orDuration(&o.Grace, DefaultGrace)
	orDuration(&o.WriteTimeout, DefaultWriteTimeout)
	orDuration(&o.AskTimeout, DefaultAskTimeout)
	orDuration(&o.ProgressGap, DefaultProgressGap)
	orInt(&o.MaxMessage, DefaultMaxMessage)
	orInt(&o.Concurrency, DefaultConcurrency)
	orInt(&o.MaxQueued, DefaultMaxQueued)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}
