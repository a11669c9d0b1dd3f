package model

import "mem/core/settings"

// Prices are what a model costs, in US dollars for a million tokens; 0 is not known.
type Prices struct {
	Input, Output, CacheRead, CacheWrite float64
}

// PricesOf gives the prices that our configuration names.
func PricesOf(p settings.ProviderConfig) Prices {
	return Prices{Input: p.PriceInput, Output: p.PriceOutput, CacheRead: p.PriceCacheRead, CacheWrite: p.PriceCacheWrite}
}

// Price puts the cost into u. Where the price of the cache is not known its tokens count
// as input, which is never cheaper to read than a cache. What has no price at all leaves u
// without one.
func (p Prices) Price(u Usage) Usage {
	const million = 1e6
	read, write := p.CacheRead, p.CacheWrite
	if read == 0 {
		read = p.Input
	}
	if write == 0 {
		write = p.Input
	}
	u.Cost = (float64(u.Input)*p.Input + float64(u.Output)*p.Output + float64(u.CacheRead)*read + float64(u.CacheWrite)*write) / million
	u.Priced = (p.Input > 0 || u.Input == 0) && (p.Output > 0 || u.Output == 0) && (read > 0 || u.CacheRead == 0) && (write > 0 || u.CacheWrite == 0)
	return u
}

// BytesPerToken is how tokens are estimated where nobody counts them: English text
// and code have about four bytes a token in the tokenisers of today's models.
const BytesPerToken = 4

// Bytes is how much text a request holds.
func (r Request) Bytes() int64 {
	n := len(r.System)
	for _, t := range r.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	for _, m := range r.Messages {
		n += m.bytes()
	}
	return int64(n)
}

func (m Message) bytes() int {
	n := 0
	for _, b := range m.Blocks {
		n += len(b.Text) + len(b.Opaque)
		if b.Call != nil {
			n += len(b.Call.Name) + len(b.Call.Input)
		}
		if b.Result != nil {
			n += len(b.Result.Text)
		}
	}
	return n
}

// Estimate is what a request and its answer used, as far as their texts tell.
func Estimate(r Request, answer []Block) Usage {
	tokens := func(bytes int64) int64 { return (bytes + BytesPerToken - 1) / BytesPerToken }
	return Usage{Requests: 1, Input: tokens(r.Bytes()), Output: tokens(int64(Message{Blocks: answer}.bytes())), Estimated: true}
}
