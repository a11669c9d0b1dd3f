package guard

import (
	"hash/maphash"
	"regexp"
	"sync"
)

// memo keeps what was found in pieces of text by a hash of their bytes. A file that is scanned again after one line of it
// changed has nearly all of its pieces in common with the last time, and the expressions that are run on them are what a
// scan costs. What is found in a piece depends on its bytes alone, so that no result depends on what is kept.
//
// It holds offsets and fingerprints, never text. Pieces are told apart by their length and 128 bits of hash with random
// seeds, so that nobody can make two that are alike.
type memo[V any] struct {
	max   int // how many pieces are young
	mu    sync.Mutex
	young map[memoKey]V
	old   map[memoKey]V // what was young before; what is used of it becomes young again
}

type memoKey struct {
	rule    *rule
	present uint64 // the keywords elsewhere, where those matter
	length  int
	hash    [2]uint64
}

var memoSeeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

const (
	// keptWindows is for the windows of rules. An index of 25 KB that names tokens and keys in every line has some 400;
	// one without a match, nearly every one, takes about 80 bytes.
	keptWindows = 4096
	// keptRegions is for the surroundings of what is encoded.
	keptRegions = 512
)

func newMemo[V any](entries int) *memo[V] { return &memo[V]{max: entries, young: map[memoKey]V{}} }

func keyOf(r *rule, piece string) memoKey {
	return memoKey{rule: r, length: len(piece), hash: [2]uint64{maphash.String(memoSeeds[0], piece), maphash.String(memoSeeds[1], piece)}}
}

func (m *memo[V]) get(key memoKey) (V, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.young[key]
	if !ok {
		if v, ok = m.old[key]; ok {
			m.add(key, v)
		}
	}
	return v, ok
}

func (m *memo[V]) put(key memoKey, v V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.add(key, v)
}

func (m *memo[V]) add(key memoKey, v V) {
	if len(m.young) >= m.max {
		m.old, m.young = m.young, make(map[memoKey]V, m.max/4)
	}
	m.young[key] = v
}

// matchesIn gives what re, which is the rule's, matches in a window, as FindAllStringSubmatchIndex does; the caller must
// not change it.
func (set *ruleSet) matchesIn(r *rule, re *regexp.Regexp, window string) [][]int32 {
	key := keyOf(r, window)
	if found, ok := set.windows.get(key); ok {
		return found
	}
	var found [][]int32
	for _, at := range re.FindAllStringSubmatchIndex(window, -1) {
		in := make([]int32, len(at))
		for i := range at {
			in[i] = int32(at[i])
		}
		found = append(found, in)
	}
	set.windows.put(key, found)
	return found
}
