// Package openai asks models over the OpenAI chat completions API, which most other
// providers and local model servers speak too. Such servers cache prompts by themselves:
// what is the same in two requests is the same bytes.
package openai

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"

	sdk "github.com/sashabaranov/go-openai"

	"mem/core/model"
	"mem/core/model/wire"
)

// KeyEnv is the usual variable of the key.
const KeyEnv = "OPENAI_API_KEY"

var api = wire.API{Name: "openai", BaseURL: "https://api.openai.com/v1", KeyEnv: KeyEnv}

// Options say how a model is reached.
type Options = wire.Options

// provider is one model.
type provider struct {
	wire *wire.Client
	sdk  *sdk.Client
	// Servers differ in these, and say so once: see adapt.
	otherLimit, noStreamOptions atomic.Bool
}

// New gives a model. What is wrong in the options is told by every Reply.
func New(o Options) model.Model {
	o.BaseURL = versioned(o.BaseURL)
	w := wire.New(api, o)
	c := sdk.DefaultConfig(o.Key)
	c.BaseURL, c.HTTPClient = w.BaseURL(), w.HTTP()
	// Lines that are no data, such as signs of life while a model is loaded, are bounded by
	// the size of the answer.
	c.EmptyMessagesLimit = math.MaxUint32
	return &provider{wire: w, sdk: sdk.NewClientWithConfig(c)}
}

// versioned adds the path that all servers have to a base URL that is only a host.
func versioned(base string) string {
	if u, err := url.Parse(strings.TrimSpace(base)); err == nil && u.Host != "" && strings.Trim(u.Path, "/") == "" {
		u.Path = "/v1"
		return u.String()
	}
	return base
}

// Name implements model.Model.
func (p *provider) Name() string { return p.wire.Name() }

// Reply implements model.Model.
func (p *provider) Reply(ctx context.Context, r model.Request) (*model.Reply, error) {
	return p.wire.Reply(ctx, r, func(ctx context.Context) (*model.Reply, error) {
		reply, err := p.once(ctx, r)
		if p.adapt(err) {
			return p.once(ctx, r)
		}
		return reply, err
	})
}

func (p *provider) once(ctx context.Context, r model.Request) (*model.Reply, error) {
	stream, err := p.sdk.CreateChatCompletionStream(ctx, p.params(r))
	if err != nil {
		return nil, p.failure(err)
	}
	a := answer{wire: p.wire, request: r}
	for {
		var chunk sdk.ChatCompletionStreamResponse
		if chunk, err = stream.Recv(); err != nil {
			break
		}
		if err = a.chunk(chunk); err != nil {
			break
		}
	}
	closing := stream.Close()
	switch {
	case errors.Is(err, io.EOF):
		err = nil
	case err != nil:
		err = p.failure(err)
	}
	reply, cut := a.reply(p.wire.Options().Model)
	if cut == nil && a.wrong == nil {
		return reply, nil // all of it came, whatever became of the connection then
	}
	if err = errors.Join(a.wrong, err); err == nil {
		if err = cut; err == nil {
			err = closing
		}
	}
	return a.spent(), err
}

// adapt takes note of what a server does not know, and reports whether the request
// should be made anew for it: the limit of an answer has two names, and some servers do not
// know how to count what they stream.
func (p *provider) adapt(err error) bool {
	var f *wire.Failure
	if !errors.As(err, &f) || f.Status != http.StatusBadRequest && f.Status != http.StatusUnprocessableEntity {
		return false
	}
	switch {
	case strings.Contains(f.Words, "stream_options"):
		return p.noStreamOptions.CompareAndSwap(false, true)
	case strings.Contains(f.Words, "max_tokens") || strings.Contains(f.Words, "max_completion_tokens"):
		return unknown().MatchString(f.Words) && p.otherLimit.CompareAndSwap(false, true)
	}
	return false
}

// unknown is how servers say that they do not know a parameter, as opposed to its value.
var unknown = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)unsupported|not supported|unrecogni[sz]ed|unknown|unexpected|not permitted|not allowed`)
})

// failure gives the words for an error of the SDK: mostly the transport's own, else what
// the SDK refuses before it asks, or an error that the API sent in the stream.
func (p *provider) failure(err error) error {
	var f *wire.Failure
	if errors.As(err, &f) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	var inStream *sdk.APIError
	switch {
	case errors.Is(err, sdk.ErrReasoningToolsRequireResponses):
		return &wire.Failure{Words: "the model " + p.wire.Options().Model + " calls tools only over another API of its provider; choose another in engines.provider.model"}
	case errors.As(err, &inStream):
		kind := inStream.Type
		if code, ok := inStream.Code.(string); ok && (kind == "" || code == "insufficient_quota") {
			kind = code
		}
		return p.wire.InStream(kind, inStream.Message)
	}
	return p.wire.Strange(err.Error())
}
