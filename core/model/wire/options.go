// Package wire is what the model APIs over HTTP have in common: where they are, a
// transport that never hands the key on and never waits or reads without end, what
// their errors mean in words, and when a request is made again.
package wire

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"mem/core/model"
)

// Limits of requests. The first two are per wait, the others per request.
const (
	// DefaultStall is how long a stream may say nothing. Anthropic sends a ping
	// every few seconds, others a token or a comment.
	DefaultStall = time.Minute
	// DefaultFirst is how long the answer may take to begin: a local server reads the
	// whole prompt first, some hundred tokens a second without a graphics card.
	DefaultFirst = 5 * time.Minute
	// DefaultRetries is how often a request is made again: with pauses of 1, 2, 4, 8 and
	// 16 s it outlives half a minute of overload.
	DefaultRetries = 5
	// MaxRestarts is how often an answer that had begun is asked for again, since each
	// beginning is paid for.
	MaxRestarts = 2
	// DefaultMaxBytes is the longest answer, in bytes of the stream: 64,000 tokens at the
	// 300 bytes or so that an event for one token has.
	DefaultMaxBytes = 32 << 20
	// MaxWait is the longest pause that a server can ask for; who asks for more is not
	// asked again.
	MaxWait = 2 * time.Minute
)

// Options say how a model is reached.
type Options struct {
	BaseURL string // "" is the API's own
	Key     string // "" sends none
	// KeyName is where the key comes from, for words: a variable or "the key command".
	KeyName string
	Model   string
	Prices  model.Prices

	// HTTP lends its Transport; its other fields are not used. nil is a transport that
	// heeds the proxy variables of the environment.
	HTTP *http.Client
	// Retries is how often a request that failed is made again; 0 is DefaultRetries, less is
	// never.
	Retries  int
	Stall    time.Duration // 0 is DefaultStall
	First    time.Duration // 0 is DefaultFirst
	MaxBytes int64         // 0 is DefaultMaxBytes
	// Sleep waits between attempts; nil is the clock. It returns early, with ctx's error,
	// when ctx ends.
	Sleep func(ctx context.Context, d time.Duration) error
}

// API is one of the APIs.
type API struct {
	Name    string // as engines.provider.api has it
	BaseURL string
	KeyEnv  string // the usual variable of its key
}

// Client asks one model.
type Client struct {
	api    API
	o      Options
	base   *url.URL
	wrong  error // what makes every request fail
	client *http.Client
	words  words
}

// New gives a client. What is wrong in the options is told by every Reply.
func New(api API, o Options) *Client {
	if o.Retries == 0 {
		o.Retries = DefaultRetries
	}
	if o.Stall <= 0 {
		o.Stall = DefaultStall
	}
	if o.First <= 0 {
		o.First = DefaultFirst
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	if o.KeyName == "" {
		o.KeyName = api.KeyEnv
	}
	c := &Client{api: api, o: o}
	c.base, c.wrong = address(api, o)
	if c.wrong == nil && o.Model == "" {
		c.wrong = fmt.Errorf("no model is named; set engines.provider.model")
	}
	if c.wrong == nil && strings.ContainsFunc(o.Key, func(r rune) bool { return r <= ' ' || r == 0x7f || r > 0x7e }) {
		c.wrong = fmt.Errorf("the key from %s holds a space or another character that no key has; check it", o.KeyName)
	}
	host := ""
	if c.base != nil {
		host = c.base.Host
	}
	c.words = words{api: api, host: host, model: o.Model, key: o.Key, keyName: o.KeyName}
	c.client = &http.Client{Transport: newTransport(o, c.words)}
	return c
}

// BaseURL is where the API is, without a slash at its end.
func (c *Client) BaseURL() string {
	if c.base == nil {
		return c.api.BaseURL
	}
	return strings.TrimRight(c.base.String(), "/")
}

// HTTP is the client that an SDK has to use for every request.
func (c *Client) HTTP() *http.Client { return c.client }

// Options are the options, with defaults filled in.
func (c *Client) Options() Options { return c.o }

// Own reports whether the API is asked where its makers serve it.
func (c *Client) Own() bool {
	own, err := url.Parse(c.api.BaseURL)
	return err == nil && c.base != nil && c.base.Host == own.Host
}

// Name says whose model it is and which.
func (c *Client) Name() string {
	name := c.api.Name + " " + c.o.Model
	if c.base != nil && !c.Own() {
		name += " at " + c.base.Host
	}
	return name
}

// address checks a base URL. A key, and what memory says, travel in the clear only within
// this machine; without a key it is up to the user.
func address(api API, o Options) (*url.URL, error) {
	const key = "engines.provider.base_url"
	text := strings.TrimSpace(o.BaseURL)
	if text == "" {
		text = api.BaseURL
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s is no URL; write it as %s", key, api.BaseURL)
	case u.User != nil:
		return nil, fmt.Errorf("%s holds a name or password; leave it out: the key comes from %s", key, o.KeyName)
	case u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("%s holds a query or fragment; write it as %s", key, api.BaseURL)
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return nil, fmt.Errorf("%s has to begin with https:// or http:// and a host, such as %s", key, api.BaseURL)
	case u.Scheme == "http" && o.Key != "" && !Loopback(u.Hostname()):
		return nil, fmt.Errorf("%s is http, which would send the key to %s in the clear; use https, or no key", key, u.Host)
	}
	return u, nil
}

// Loopback reports whether a host is this machine.
func Loopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
