package modeltest

import (
	"crypto/sha256"
	"hash"
)

// bytesPerToken is how usage is counted that a step does not give.
const bytesPerToken = 4

// lookback is how many blocks before a mark the Anthropic API looks for what it has
// (its documentation of prompt caching, 2026-11-30).
const lookback = 20

// cache plays the cache of a provider: prefixes of requests, by what they hold. The
// Anthropic API stores up to each mark, and finds what was stored within 20 blocks before
// a mark; the OpenAI API finds the longest beginning that it saw.
type cache struct{ stored map[[32]byte]bool }

// usage counts a request and stores its prefixes.
func (c *cache) usage(r *Request) Usage {
	if c.stored == nil {
		c.stored = map[[32]byte]bool{}
	}
	ends := make([]int64, len(r.blocks)+1) // bytes up to and with each block
	keys := make([][32]byte, len(r.blocks)+1)
	sum := sha256.New()
	_, _ = sum.Write([]byte(r.API + r.Model)) // a hash takes everything
	for i, b := range r.blocks {
		_, _ = sum.Write([]byte(b)) // as above
		ends[i+1] = ends[i] + int64(len(b))
		keys[i+1] = key(sum)
	}
	hit, write := 0, 0
	if r.API == OpenAI {
		for i := len(r.blocks); i > 0 && hit == 0; i-- {
			if c.stored[keys[i]] {
				hit = i
			}
		}
		write = hit
		for _, k := range keys[1:] {
			c.stored[k] = true
		}
	}
	for _, m := range r.marks {
		for i := m; i > 0 && i > m-lookback; i-- {
			if c.stored[keys[i]] {
				hit = max(hit, i)
				break
			}
		}
		write = max(write, m)
	}
	for _, m := range r.marks {
		c.stored[keys[m]] = true
	}
	write = max(write, hit)
	return Usage{
		Input:     (ends[len(r.blocks)] - ends[write]) / bytesPerToken,
		CacheRead: ends[hit] / bytesPerToken, CacheWrite: (ends[write] - ends[hit]) / bytesPerToken,
	}
}

func key(h hash.Hash) (k [32]byte) {
	h.Sum(k[:0])
	return k
}
