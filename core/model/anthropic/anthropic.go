// Package anthropic asks models over the Anthropic Messages API, streamed and with
// prompt caching.
package anthropic

import (
	"context"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"mem/core/model"
	"mem/core/model/wire"
)

// DefaultModel is asked where the configuration names none: cheap, quick, and able to
// call tools.
const DefaultModel = "claude-haiku-4-5"

// DefaultMaxTokens bounds an answer where the request does not: thinking, which newer
// models do unasked, counts too.
const DefaultMaxTokens = 16_000

// KeyEnv is the usual variable of the key.
const KeyEnv = "ANTHROPIC_API_KEY"

var api = wire.API{Name: "anthropic", BaseURL: "https://api.anthropic.com", KeyEnv: KeyEnv}

// Options say how a model is reached.
type Options = wire.Options

// provider is one model.
type provider struct {
	wire *wire.Client
	sdk  sdk.Client
}

// New gives a model. What is wrong in the options is told by every Reply.
func New(o Options) model.Model {
	if o.Model == "" {
		o.Model = DefaultModel
	}
	// The SDK puts /v1 before its paths; configurations have it at the end as often as not.
	o.BaseURL = strings.TrimSuffix(strings.TrimRight(strings.TrimSpace(o.BaseURL), "/"), "/v1")
	o.Prices = priced(o)
	w := wire.New(api, o)
	opts := []option.RequestOption{
		// Of the environment and its profiles the SDK takes nothing: who pays, and where
		// texts go, our configuration says alone.
		option.WithoutEnvironmentDefaults(),
		option.WithoutOpenTelemetry(),
		option.WithBaseURL(w.BaseURL()),
		option.WithHTTPClient(w.HTTP()),
		option.WithMaxRetries(0), // wire does it
	}
	if o.Key != "" {
		opts = append(opts, option.WithAPIKey(o.Key))
	}
	return &provider{wire: w, sdk: sdk.NewClient(opts...)}
}

// priced fills in the prices of the default model, so that a budget in money holds for
// who configured nothing: 1 and 5 dollars for a million tokens, a tenth of input for
// reading from the cache and five quarters for writing to it (Anthropic's price list, 2026-11-30).
// All other prices are the configuration's to say, except that of the cache, which is in
// these proportions to input for all models.
func priced(o Options) model.Prices {
	p := o.Prices
	if p == (model.Prices{}) && strings.HasPrefix(o.Model, DefaultModel) {
		p = model.Prices{Input: 1, Output: 5}
	}
	if p.CacheRead == 0 {
		p.CacheRead = p.Input / 10
	}
	if p.CacheWrite == 0 {
		p.CacheWrite = p.Input * 5 / 4
	}
	return p
}

// Name implements model.Model.
func (p *provider) Name() string { return p.wire.Name() }

// Reply implements model.Model.
func (p *provider) Reply(ctx context.Context, r model.Request) (*model.Reply, error) {
	body := params(r, p.wire.Options().Model)
	return p.wire.Reply(ctx, r, func(ctx context.Context) (*model.Reply, error) {
		stream := p.sdk.Messages.NewStreaming(ctx, body)
		if err := stream.Err(); err != nil {
			return nil, p.failure(err)
		}
		a := answer{wire: p.wire, request: r}
		for stream.Next() {
			if err := a.event(stream.Current()); err != nil {
				return a.spent(), closed(stream.Close(), err)
			}
		}
		err := stream.Err()
		if err != nil {
			err = p.failure(err)
		}
		err = closed(stream.Close(), err)
		reply, cut := a.reply(p.wire.Options().Model)
		if cut == nil {
			return reply, nil // all of it came, whatever became of the connection then
		}
		if err == nil {
			err = cut
		}
		return a.spent(), err
	})
}

// closed joins what came of closing a stream to what came before, which matters more.
func closed(closing, err error) error {
	if err != nil {
		return err
	}
	return closing
}
