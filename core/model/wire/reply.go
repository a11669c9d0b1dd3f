package wire

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http/httptrace"
	"sync/atomic"
	"time"

	"mem/core/model"
)

// The pauses between attempts double from the first to the longest.
const (
	firstPause   = time.Second
	longestPause = 16 * time.Second
)

// Reply answers a request by attempts: once makes one, and gives what was used even where
// it fails. What failed in a way that may pass is tried again, a bounded number of times
// and never beyond ctx. The SDKs' own retries are off: they do not see a stream that is cut,
// nor do they bound the pause that a server asks for.
//
// A request that was sent and then given up, since ctx ended or the server said nothing, is
// counted by its size: the server has read it all the same.
func (c *Client) Reply(ctx context.Context, r model.Request, once func(ctx context.Context) (*model.Reply, error)) (*model.Reply, error) {
	if c.wrong != nil {
		return nil, fmt.Errorf("the %s model cannot be asked: %w", c.api.Name, c.wrong)
	}
	var used model.Usage
	restarts := 0
	for attempt := 0; ; attempt++ {
		sent, asking := watchSent(ctx)
		reply, err := once(asking)
		if reply == nil && sent.Load() && (ctx.Err() != nil || givenUp(err)) {
			reply = &model.Reply{Usage: model.Estimate(r, nil)}
		}
		if reply != nil {
			used = used.Add(c.o.Prices.Price(reply.Usage))
		}
		if err == nil {
			c.words.hush(reply)
			reply.Usage = used
			return reply, nil
		}
		spent := &model.Reply{Model: c.o.Model, Usage: used}
		if ctx.Err() != nil {
			return spent, fmt.Errorf("asking %s: %w", c.Name(), ctx.Err())
		}
		f := c.failure(err)
		if f.Begun {
			restarts++
		}
		tries := ""
		if attempt > 0 {
			tries = fmt.Sprintf(" (%d attempts)", attempt+1)
		}
		final := func(why string) (*model.Reply, error) {
			return spent, fmt.Errorf("asking %s: %w%s%s", c.Name(), f, why, tries)
		}
		pause := pauseBefore(attempt)
		switch {
		case !f.Again || attempt >= c.o.Retries || restarts > MaxRestarts:
			return final("")
		case f.After > MaxWait:
			return final(fmt.Sprintf("; it asks to be left alone for %v", f.After.Round(time.Second)))
		case f.After > 0:
			pause = f.After
		}
		if end, ok := ctx.Deadline(); ok && time.Until(end) < pause {
			return final("; no time is left to try again")
		}
		if err := c.o.Sleep(ctx, pause); err != nil {
			return spent, fmt.Errorf("asking %s: %w", c.Name(), err)
		}
	}
}

// watchSent gives a context whose requests note when one was written whole.
func watchSent(ctx context.Context) (*atomic.Bool, context.Context) {
	var sent atomic.Bool
	return &sent, httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteRequest: func(w httptrace.WroteRequestInfo) {
		if w.Err == nil {
			sent.Store(true)
		}
	}})
}

// givenUp reports whether a server was left alone that might still have answered.
func givenUp(err error) bool {
	var f *Failure
	return errors.As(err, &f) && f.Begun && f.Status == 0
}

// pauseBefore is the pause after an attempt, the first being 0: between half and all of
// what doubles, so that many processes do not come back at once.
func pauseBefore(attempt int) time.Duration {
	d := min(firstPause<<min(attempt, 10), longestPause)
	return d/2 + rand.N(d/2)
}

// failure gives the failure in what an SDK returned. What is none is an answer that the
// SDK could not read.
func (c *Client) failure(err error) *Failure {
	var f *Failure
	if errors.As(err, &f) {
		return f
	}
	return c.Strange(plain(err))
}
