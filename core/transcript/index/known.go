package index

import (
	"context"
	"encoding/binary"
	"hash/fnv"

	"mem/core/recall"
)

// known is what searches remember of the index between them. SQLite's
// data_version says whether another connection wrote since.
type known struct {
	version  int64
	loaded   bool
	state    uint32
	sources  map[int64]*source
	entries  int
	counts   map[string]int // of entries with a term, up to manyEntries
	vocab    *recall.Vocabulary
	lastWord int64
}

// refresh brings k up to date. The caller holds x.reading.
func (x *Index) refresh(ctx context.Context) error {
	k := &x.known
	var version int64
	if err := scanOne(ctx, x.read, &version, "PRAGMA data_version"); err != nil {
		return err
	}
	if k.loaded && version == k.version {
		return nil
	}
	sources, err := loadSources(ctx, x.read)
	if err != nil {
		return err
	}
	k.sources, k.counts, k.entries = make(map[int64]*source, len(sources)), map[string]int{}, 0
	for _, s := range sources {
		k.sources[s.id] = s
		k.entries += s.entries
	}
	k.version, k.loaded, k.state = version, true, stateOf(k.sources)
	return nil
}

// stateOf gives a number that is another one when other entries are indexed.
func stateOf(sources map[int64]*source) uint32 {
	var sum uint64
	for id, s := range sources { // in whatever order: the parts are added up
		h := fnv.New64a()
		var b [16]byte
		binary.LittleEndian.PutUint64(b[:], uint64(id))
		binary.LittleEndian.PutUint64(b[8:], uint64(s.entries))
		h.Write(append(b[:], s.mark...))
		sum += h.Sum64()
	}
	return uint32(sum>>32) ^ uint32(sum)
}

// maxCounts is how many counts are remembered. A query needs maxTerms of them and
// those of the words that it is corrected to.
const maxCounts = 10_000

// count returns in how many entries a term stands, at most manyEntries.
func (x *Index) count(ctx context.Context, term string) (int, error) {
	if n, ok := x.known.counts[term]; ok {
		return n, nil
	}
	var n int
	err := scanOne(ctx, x.read, &n, "SELECT count(*) FROM (SELECT 1 FROM term WHERE term MATCH ? LIMIT ?)", quoteTerm(term), manyEntries)
	if err == nil {
		if len(x.known.counts) >= maxCounts {
			clear(x.known.counts)
		}
		x.known.counts[term] = n
	}
	return n, err
}

// vocabulary returns the words of the index. It is loaded at the first word that
// the index lacks, and then only what is new.
func (x *Index) vocabulary(ctx context.Context) (*recall.Vocabulary, error) {
	k := &x.known
	if k.vocab == nil {
		k.vocab = &recall.Vocabulary{}
	}
	rows, err := x.read.QueryContext(ctx, "SELECT id, text FROM word WHERE id > ? ORDER BY id", k.lastWord)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&k.lastWord, &text); err != nil {
			return nil, err
		}
		k.vocab.Add(text)
	}
	return k.vocab, rows.Err()
}
