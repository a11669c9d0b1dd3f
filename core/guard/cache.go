package guard

import (
	"container/list"
	"crypto/sha256"
	"sync"
)

// cacheEntries is how many pieces of text (of at most chunkBytes each) have their result kept. An entry without a
// secret, nearly every one, takes about 200 bytes.
const cacheEntries = 512

// cache keeps the hits of a piece of text by the hash of its bytes, least recently used out first. It holds offsets
// and fingerprints, never text.
type cache struct {
	mu    sync.Mutex
	max   int
	order *list.List // of *cacheEntry, most recent first
	byKey map[[sha256.Size]byte]*list.Element
}

type cacheEntry struct {
	key  [sha256.Size]byte
	hits []hit
}

func newCache(entries int) *cache {
	return &cache{max: entries, order: list.New(), byKey: make(map[[sha256.Size]byte]*list.Element)}
}

// get returns the hits stored under key; the caller must not change them.
func (c *cache) get(key [sha256.Size]byte) ([]hit, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[key]
	if !ok {
		return nil, false
	}
	c.order.MoveToFront(e)
	return e.Value.(*cacheEntry).hits, true
}

func (c *cache) put(key [sha256.Size]byte, hits []hit) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byKey[key]; ok { // two scans of one text at the same time
		c.order.MoveToFront(e)
		return
	}
	c.byKey[key] = c.order.PushFront(&cacheEntry{key, hits})
	if c.order.Len() > c.max {
		old := c.order.Remove(c.order.Back()).(*cacheEntry)
		delete(c.byKey, old.key)
	}
}
