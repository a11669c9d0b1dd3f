package agentmem

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"
)

// Objects of a git repository, read without running git: loose ones and those in packs
// (version 2), named by SHA-1 or SHA-256. go-git's readers of packs bring modules of their
// own, and know SHA-256 only in a build of their own; what is needed here is small.

const (
	maxObject = 4 << 20 // bytes of one object: a topic or a folder
	maxPacks  = 200
	maxReads  = 100_000 // objects
	maxDeltas = 60      // links of a chain; git makes at most 50, or 4,095 on request
)

var (
	errNoObject = errors.New("git has no such object here")
	errTooMuch  = errors.New("git's history is larger than is looked through here")
)

type objects struct {
	// until ends all reading: folders may hold each other many times over (a bomb), and a
	// whole version is read through one call.
	until time.Time
	reads int
	size  int64    // bytes of texts that were kept
	name  int      // bytes of an object's name
	dirs  []string // of objects: the repository's, and those that it borrows from
	packs []*pack
}

type pack struct {
	idx, data *os.File
	name      int // bytes of an object's name
	count     uint32
	fan       [256]uint32
}

func openObjects(commonDir string) (*objects, error) {
	format, err := formatOf(commonDir)
	if err != nil {
		return nil, err
	}
	o := &objects{until: time.Now().Add(maxLookBack), name: format.name, dirs: []string{filepath.Join(commonDir, "objects")}}
	if b, err := os.ReadFile(filepath.Join(o.dirs[0], "info", "alternates")); err == nil && len(b) < 64<<10 {
		for _, line := range strings.Split(string(b), "\n") {
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			if !filepath.IsAbs(line) {
				line = filepath.Join(o.dirs[0], filepath.FromSlash(line))
			}
			o.dirs = append(o.dirs, line)
		}
	}
	for _, dir := range o.dirs {
		names, err := filepath.Glob(filepath.Join(dir, "pack", "*.idx"))
		if err != nil {
			continue
		}
		for _, name := range names {
			if len(o.packs) == maxPacks {
				break
			}
			if p, err := openPack(name, o.name); err == nil {
				o.packs = append(o.packs, p)
			}
		}
	}
	return o, nil
}

func (o *objects) close() {
	for _, p := range o.packs {
		_ = errors.Join(p.idx.Close(), p.data.Close()) // they were only read
	}
}

func openPack(name string, bytesOfName int) (*pack, error) {
	idx, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	p := &pack{idx: idx, name: bytesOfName}
	head := make([]byte, 8+1024)
	if _, err = io.ReadFull(idx, head); err == nil && (!bytes.Equal(head[:4], []byte("\xfftOc")) || binary.BigEndian.Uint32(head[4:]) != 2) {
		err = errors.New("not an index of version 2")
	}
	if err == nil {
		for i := range p.fan {
			p.fan[i] = binary.BigEndian.Uint32(head[8+4*i:])
		}
		p.count = p.fan[255]
		p.data, err = os.Open(strings.TrimSuffix(name, ".idx") + ".pack")
	}
	if err != nil {
		return nil, errors.Join(err, idx.Close())
	}
	return p, nil
}

// find gives the offset of an object in the pack.
func (p *pack) find(id []byte) (int64, bool) {
	lo, hi := uint32(0), p.fan[id[0]]
	if id[0] > 0 {
		lo = p.fan[id[0]-1]
	}
	if lo > hi || hi > p.count {
		return 0, false
	}
	const names = 8 + 1024
	n := int64(p.name)
	buf := make([]byte, n)
	i := lo + uint32(sort.Search(int(hi-lo), func(k int) bool {
		_, err := p.idx.ReadAt(buf, names+n*(int64(lo)+int64(k)))
		return err == nil && bytes.Compare(buf, id) >= 0
	}))
	if i >= hi {
		return 0, false
	}
	if _, err := p.idx.ReadAt(buf, names+n*int64(i)); err != nil || !bytes.Equal(buf, id) {
		return 0, false
	}
	const sums = 4 // bytes of a checksum, one an object, between names and offsets
	offsets := names + (n+sums)*int64(p.count)
	if _, err := p.idx.ReadAt(buf[:4], offsets+4*int64(i)); err != nil {
		return 0, false
	}
	at := binary.BigEndian.Uint32(buf[:4])
	if at&(1<<31) == 0 {
		return int64(at), true
	}
	if _, err := p.idx.ReadAt(buf[:8], offsets+4*int64(p.count)+8*int64(at&^(1<<31))); err != nil {
		return 0, false
	}
	return int64(binary.BigEndian.Uint64(buf[:8]) & (1<<63 - 1)), true
}

// read gives the kind (commit, tree, blob, tag) and the content of an object.
func (o *objects) read(id string) (kind string, data []byte, err error) {
	raw, err := hex.DecodeString(id)
	if err != nil || len(raw) != o.name {
		return "", nil, fmt.Errorf("%q is no object name of this repository, which has %d digits", id, 2*o.name)
	}
	return o.readRaw(raw, 0)
}

func (o *objects) readRaw(id []byte, depth int) (string, []byte, error) {
	if depth > maxDeltas {
		return "", nil, errors.New("a chain of differences in a pack is too long")
	}
	if o.reads++; o.reads > maxReads || time.Now().After(o.until) {
		return "", nil, errTooMuch
	}
	name := hex.EncodeToString(id)
	for _, dir := range o.dirs {
		f, err := os.Open(filepath.Join(dir, name[:2], name[2:]))
		if err != nil {
			continue
		}
		kind, data, err := loose(f)
		return kind, data, errors.Join(err, f.Close())
	}
	for _, p := range o.packs {
		if at, ok := p.find(id); ok {
			return o.packed(p, at, depth)
		}
	}
	return "", nil, errNoObject
}

func inflate(r io.Reader, size int64) ([]byte, error) {
	if size > maxObject {
		return nil, fmt.Errorf("an object has %d bytes; at most %d are read", size, int64(maxObject))
	}
	z, err := zlib.NewReader(r)
	if err != nil {
		return nil, err
	}
	limit := size
	if size < 0 {
		limit = maxObject + 100
	}
	data, err := io.ReadAll(io.LimitReader(z, limit+1))
	if err == nil && (int64(len(data)) > limit || (size >= 0 && int64(len(data)) != size)) {
		err = errors.New("an object has another size than it says")
	}
	return data, errors.Join(err, z.Close())
}

func loose(f *os.File) (string, []byte, error) {
	data, err := inflate(f, -1)
	if err != nil {
		return "", nil, err
	}
	head, body, ok := bytes.Cut(data, []byte{0})
	kind, _, _ := strings.Cut(string(head), " ")
	if !ok {
		return "", nil, errors.New("a loose object has no head")
	}
	return kind, body, nil
}

var packKinds = map[byte]string{1: "commit", 2: "tree", 3: "blob", 4: "tag"}

// packed reads an object at an offset in a pack, following differences.
func (o *objects) packed(p *pack, at int64, depth int) (string, []byte, error) {
	if depth > maxDeltas {
		return "", nil, errors.New("a chain of differences in a pack is too long")
	}
	head := make([]byte, 64)
	n, err := p.data.ReadAt(head, at)
	if n == 0 {
		return "", nil, err
	}
	head = head[:n]
	kind, size, i := head[0]>>4&7, int64(head[0]&15), 1
	for shift := 4; head[i-1]&0x80 != 0; shift += 7 {
		if i >= len(head) || shift > 56 {
			return "", nil, errors.New("a pack is damaged")
		}
		size |= int64(head[i]&0x7f) << shift
		i++
	}
	var base []byte
	var of string
	switch kind {
	case 6: // the difference to an object before it in the pack
		back := int64(0)
		for {
			if i >= len(head) || back > 1<<55 {
				return "", nil, errors.New("a pack is damaged")
			}
			c := head[i]
			i++
			back = back<<7 | int64(c&0x7f)
			if c&0x80 == 0 {
				break
			}
			back++
		}
		if back <= 0 || back > at {
			return "", nil, errors.New("a pack is damaged")
		}
		of, base, err = o.packed(p, at-back, depth+1)
	case 7: // the difference to a named object
		if i+o.name > len(head) {
			return "", nil, errors.New("a pack is damaged")
		}
		of, base, err = o.readRaw(head[i:i+o.name], depth+1)
		i += o.name
	}
	if err != nil {
		return "", nil, err
	}
	data, err := inflate(io.NewSectionReader(p.data, at+int64(i), 1<<40), size)
	if err != nil {
		return "", nil, err
	}
	if of != "" {
		data, err = patch(base, data)
		return of, data, err
	}
	if packKinds[kind] == "" {
		return "", nil, errors.New("a pack holds an object of an unknown kind")
	}
	return packKinds[kind], data, nil
}

// patch applies a difference of a pack.
func patch(base, delta []byte) ([]byte, error) {
	bad := errors.New("a difference in a pack is damaged")
	from, n := binary.Uvarint(delta)
	if n <= 0 || from != uint64(len(base)) {
		return nil, bad
	}
	delta = delta[n:]
	size, n := binary.Uvarint(delta)
	if n <= 0 || size > maxObject {
		return nil, bad
	}
	delta = delta[n:]
	out := make([]byte, 0, size)
	for len(delta) > 0 {
		op := delta[0]
		delta = delta[1:]
		if op&0x80 == 0 {
			if op == 0 || int(op) > len(delta) {
				return nil, bad
			}
			out, delta = append(out, delta[:op]...), delta[op:]
			continue
		}
		var v [7]uint64
		for k := range v {
			if op&(1<<k) != 0 {
				if len(delta) == 0 {
					return nil, bad
				}
				v[k], delta = uint64(delta[0]), delta[1:]
			}
		}
		start := v[0] | v[1]<<8 | v[2]<<16 | v[3]<<24
		length := v[4] | v[5]<<8 | v[6]<<16
		if length == 0 {
			length = 0x10000
		}
		if start+length > uint64(len(base)) || uint64(len(out))+length > size {
			return nil, bad
		}
		out = append(out, base[start:start+length]...)
	}
	if uint64(len(out)) != size {
		return nil, bad
	}
	return out, nil
}
