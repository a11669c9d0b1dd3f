package wire

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"
)

// maxErrorBody is how much of an error's body is looked at, in bytes.
const maxErrorBody = 64 << 10

// transport carries requests for the SDKs. It answers with a stream of events or a
// *Failure, so that no SDK reads what else a server may send: it follows no redirect, waits
// for no byte longer than it may, and reads no more than it may.
type transport struct {
	base         http.RoundTripper
	stall, first time.Duration
	most         int64
	words        words
}

func newTransport(o Options, w words) *transport {
	t := &transport{stall: o.Stall, first: o.First, most: o.MaxBytes, words: w}
	if o.HTTP != nil && o.HTTP.Transport != nil {
		t.base = o.HTTP.Transport
		return t
	}
	d, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		d = &http.Transport{Proxy: http.ProxyFromEnvironment}
	}
	t.base = d.Clone()
	return t
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	w := &watch{cancel: cancel}
	w.wait(t.first, t.words.stalled(t.first))
	res, err := t.base.RoundTrip(req.WithContext(ctx))
	if err != nil {
		err = t.words.broken(ctx, err, false)
		w.stop()
		return nil, err
	}
	b := &body{ctx: ctx, rc: res.Body, watch: w, t: t, left: t.most}
	res.Body = b
	if f := t.refuse(res); f != nil {
		return nil, errors.Join(f, b.Close())
	}
	b.stream = true
	return res, nil
}

// refuse gives what is wrong with a response that is no stream of events.
func (t *transport) refuse(res *http.Response) *Failure {
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")) // "" where it is none
	html := kind == "text/html" || kind == "application/xhtml+xml"
	switch {
	case res.StatusCode >= 300 && res.StatusCode < 400:
		return t.words.redirect(res)
	case res.StatusCode < 300 && !html && kind != "application/json":
		return nil
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, maxErrorBody))
	if err != nil && len(text) == 0 && res.StatusCode < 300 {
		var f *Failure
		if errors.As(err, &f) {
			return f
		}
	}
	if res.StatusCode < 300 {
		return t.words.noStream(html, string(text))
	}
	return t.words.status(res.StatusCode, res.Header, html, string(text))
}

// watch ends a request for which nothing comes.
type watch struct {
	cancel context.CancelCauseFunc
	timer  *time.Timer
	span   time.Duration
}

// wait begins to wait anew.
func (w *watch) wait(d time.Duration, late *Failure) {
	if w.timer != nil && w.span == d && w.timer.Reset(d) {
		return
	}
	if w.timer != nil {
		w.timer.Stop()
	}
	w.span, w.timer = d, time.AfterFunc(d, func() { w.cancel(late) })
}

func (w *watch) stop() {
	w.timer.Stop()
	w.cancel(nil)
}

// body is the body of a response, bounded in time and size.
type body struct {
	ctx   context.Context
	rc    io.ReadCloser
	watch *watch
	t     *transport
	left  int64
	// stream says that events are expected, begun that they came.
	stream, begun bool
	once          sync.Once
	err           error
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, b.t.words.tooLong(b.t.most)
	}
	p = p[:min(int64(len(p)), b.left)]
	n, err := b.rc.Read(p)
	b.left -= int64(n)
	if n > 0 {
		b.watch.wait(b.t.stall, b.t.words.stalled(b.t.stall))
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = b.t.words.broken(b.ctx, err, true)
	}
	if n > 0 && !b.begun && b.stream {
		if begin := bytes.TrimLeft(p[:n], "\xEF\xBB\xBF \t\r\n"); len(begin) > 0 {
			b.begun = true
			if strings.IndexByte("{[<", begin[0]) >= 0 { // no line of a stream begins so
				text := string(begin)
				if err == nil {
					rest, _ := io.ReadAll(io.LimitReader(b.rc, maxErrorBody)) // what can be read of it is told
					text += string(rest)
				}
				return 0, b.t.words.noStream(false, text)
			}
		}
	}
	return n, err
}

// Close implements io.Closer.
func (b *body) Close() error {
	b.once.Do(func() {
		b.watch.stop()
		b.err = b.rc.Close()
	})
	return b.err
}

// isHTML reports whether a text is a page for people.
func isHTML(s string) bool {
	s = strings.ToLower(strings.TrimSpace(s[:min(len(s), 200)]))
	return strings.HasPrefix(s, "<!doctype html") || strings.HasPrefix(s, "<html")
}
