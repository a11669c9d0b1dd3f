package wire

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"mem/core/memdir"
	"mem/core/model"
)

// maxSaid is how much of what a server says is told, in characters.
const maxSaid = 300

// Failure is why a request came to nothing.
type Failure struct {
	Status int    // of HTTP; 0 where there was none
	Kind   string // what the API calls it
	Words  string // what happened and the way out, without a key
	Again  bool   // it may succeed later
	// After is the pause that the server asks for; 0 is none.
	After time.Duration
	// Begun says that an answer had begun, which has to be paid.
	Begun bool
}

// Error implements error.
func (f *Failure) Error() string { return f.Words }

// words say what happened to a request to one model.
type words struct {
	api         API
	host, model string
	key         string
	keyName     string
}

// clean makes what others wrote fit to be told: on one line, short, without the key.
func (w words) clean(s string) string {
	return memdir.Shown(strings.ToValidUTF8(w.veil(s), "�"), maxSaid)
}

// veil takes the key out of what others wrote.
func (w words) veil(s string) string { return model.Veil(s, w.key, "[key]") }

// hush takes the key out of an answer, to which nobody gave it but a server that repeats what
// it is sent: answers are shown, recorded, and written into memory. What only the provider
// reads is left as it is.
func (w words) hush(r *model.Reply) {
	r.Model = w.veil(r.Model)
	for i := range r.Blocks {
		b := &r.Blocks[i]
		b.Text = w.veil(b.Text)
		if b.Call != nil {
			b.Call.Name = w.veil(b.Call.Name)
			b.Call.Input = json.RawMessage(w.veil(string(b.Call.Input)))
		}
	}
}

func (w words) quote(s string) string {
	if s = w.clean(s); s == "" {
		return ""
	}
	return ": " + s
}

func (w words) stalled(d time.Duration) *Failure {
	return &Failure{Again: true, Begun: true, Words: fmt.Sprintf("%s sent nothing for %v", w.host, d)}
}

func (w words) tooLong(most int64) *Failure {
	return &Failure{Begun: true, Words: fmt.Sprintf("the answer of %s had no end: it was cut at %d bytes; choose another model in engines.provider.model if that happens again", w.host, most)}
}

// Cut is an answer that ended before its end.
func (c *Client) Cut(what string) *Failure {
	return &Failure{Again: true, Begun: true, Words: fmt.Sprintf("the answer of %s was cut off%s", c.words.host, c.words.quote(what))}
}

// Strange is an answer that is not what the API promises.
func (c *Client) Strange(what string) *Failure {
	return &Failure{Begun: true, Words: fmt.Sprintf("%s does not answer as the %s API does%s; check engines.provider.api and engines.provider.base_url", c.words.host, c.api.Name, c.words.quote(what))}
}

// InStream is an error that the API sends in the middle of a stream.
func (c *Client) InStream(kind, message string) *Failure {
	f := c.words.failed(statusOf(kind), kind, message)
	f.Begun = true
	return f
}

// statusOf gives the status that an error would have had before the stream began.
func statusOf(kind string) int {
	switch kind {
	case "invalid_request_error":
		return http.StatusBadRequest
	case "authentication_error":
		return http.StatusUnauthorized
	case "billing_error", "insufficient_quota":
		return http.StatusPaymentRequired
	case "permission_error":
		return http.StatusForbidden
	case "not_found_error":
		return http.StatusNotFound
	case "request_too_large":
		return http.StatusRequestEntityTooLarge
	case "rate_limit_error", "rate_limit_exceeded":
		return http.StatusTooManyRequests
	}
	return http.StatusInternalServerError
}

// broken is a connection that did not come about or did not last.
func (w words) broken(ctx context.Context, err error, begun bool) error {
	var f *Failure
	if errors.As(context.Cause(ctx), &f) || errors.As(err, &f) {
		return f
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	f = &Failure{Again: true, Begun: begun, Words: fmt.Sprintf("the connection to %s broke%s", w.host, w.quote(plain(err)))}
	var dns *net.DNSError
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var verify *tls.CertificateVerificationError
	var noTLS tls.RecordHeaderError
	host, _, splitErr := net.SplitHostPort(w.host)
	if splitErr != nil {
		host = w.host
	}
	switch {
	case begun:
		if errors.Is(err, io.ErrUnexpectedEOF) {
			f.Words = fmt.Sprintf("the answer of %s was cut off: the connection broke", w.host)
		}
	case errors.As(err, &dns) && dns.IsNotFound:
		f.Again = false
		f.Words = fmt.Sprintf("there is no host %s; check engines.provider.base_url and the network", w.host)
	case errors.Is(err, syscall.ECONNREFUSED) && Loopback(host):
		f.Again = false
		f.Words = fmt.Sprintf("nothing listens at %s; start the model server, or check engines.provider.base_url", w.host)
	case errors.As(err, &unknown), errors.As(err, &name), errors.As(err, &invalid), errors.As(err, &verify):
		f.Again = false
		f.Words = fmt.Sprintf("the certificate of %s is not accepted%s; check engines.provider.base_url", w.host, w.quote(plain(err)))
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &noTLS):
		f.Again = false
		f.Words = fmt.Sprintf("%s does not speak https; write http:// in engines.provider.base_url if it is a server of yours", w.host)
	}
	return f
}

// plain is an error without the address that HTTP clients put before it.
func plain(err error) string {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return err.Error()
}

func (w words) redirect(res *http.Response) *Failure {
	to := "elsewhere"
	if u, err := res.Location(); err == nil {
		to = "to " + w.clean(u.Scheme+"://"+u.Host+u.EscapedPath())
	}
	return &Failure{Status: res.StatusCode, Words: fmt.Sprintf("%s sends us %s, and the key is not taken along; if that is right, write it into engines.provider.base_url", w.host, to)}
}

// title finds the title of a page.
var title = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`) })

func (w words) page(text string) string {
	if m := title().FindStringSubmatch(text); m != nil {
		return w.quote(html.UnescapeString(m[1]))
	}
	return ""
}

func (w words) noStream(isPage bool, text string) *Failure {
	if isPage || isHTML(text) {
		return &Failure{Words: fmt.Sprintf("%s answered with a page for people%s; engines.provider.base_url does not lead to the %s API", w.host, w.page(text), w.api.Name)}
	}
	if kind, message := said(text); message != "" && strings.Contains(text, `"error"`) {
		return w.failed(http.StatusBadRequest, kind, message)
	}
	return &Failure{Words: fmt.Sprintf("%s answered with one piece of JSON instead of a stream%s; check engines.provider.api and engines.provider.base_url", w.host, w.quote(text))}
}

// status is an answer that is an error.
func (w words) status(code int, h http.Header, isPage bool, text string) *Failure {
	kind, message := said(text)
	if isPage || isHTML(text) {
		message = strings.TrimPrefix(w.page(text), ": ")
		if code == http.StatusNotFound || code == http.StatusMethodNotAllowed {
			return &Failure{Status: code, Words: fmt.Sprintf("%s answered %d with a page for people%s; engines.provider.base_url does not lead to the %s API", w.host, code, w.quote(message), w.api.Name)}
		}
	}
	f := w.failed(code, kind, message)
	f.After = retryAfter(h, time.Now())
	switch h.Get("X-Should-Retry") { // Anthropic's own word on it
	case "true":
		f.Again = true
	case "false":
		f.Again = false
	}
	return f
}

// said finds what an API says of an error, in any of the shapes that are about.
func said(text string) (kind, message string) {
	var body struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Type    string          `json:"type"`
		Detail  json.RawMessage `json:"detail"`
	}
	if json.Unmarshal([]byte(text), &body) != nil {
		return "", text
	}
	var inner struct {
		Type    string          `json:"type"`
		Message string          `json:"message"`
		Code    json.RawMessage `json:"code"`
	}
	switch {
	case json.Unmarshal(body.Error, &inner) == nil && inner.Message != "":
		kind = inner.Type
		var code string
		if json.Unmarshal(inner.Code, &code) == nil && code == "insufficient_quota" || kind == "" {
			kind = code
		}
		return kind, inner.Message
	case json.Unmarshal(body.Error, &message) == nil && message != "":
		return "", message
	case body.Message != "":
		return body.Type, body.Message
	case json.Unmarshal(body.Detail, &message) == nil && message != "":
		return "", message
	}
	return "", text
}

// retryAfter is the pause that a server asks for, 0 for none.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 && ms < 1e12 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	v := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(v, 64); err == nil && s > 0 && s < 1e9 {
		return time.Duration(s * float64(time.Second))
	}
	if t, err := http.ParseTime(v); err == nil && t.After(now) {
		return t.Sub(now)
	}
	return 0
}
