package transcript

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// A copy in the archive is a gzip file, so that any program can read it, made of
// members that each hold a block of the transcript and say in their header how long
// they are: whoever wants a part unpacks only its blocks. docs/formats.md specifies it.
const (
	archiveVersion = 1
	// archiveBlock is how much of a transcript one member holds: what a reader wants
	// at a time, and enough for a compression as good as that of the whole.
	archiveBlock = 1 << 20
	// MaxArchived is the largest transcript that is copied, in bytes: real ones have
	// up to several GB, and the list of their blocks stays below a megabyte.
	MaxArchived = 32 << 30
	// archiveCached is how many unpacked blocks a reader keeps.
	archiveCached = 4

	// maxMember bounds a member: a block that does not get smaller, its header and trailer.
	maxMember = archiveBlock + 64<<10
	// gzipFixed is the length of a header of gzip before the extra field (RFC 1952).
	gzipFixed = 12
)

// Subfields of the extra field (RFC 1952 §2.3.1.1), of names that nobody registered.
var (
	subHead  = [2]byte{'m', 'H'} // ArchiveHead as JSON; in the first member, which is empty
	subBlock = [2]byte{'m', 'B'} // bytes of the member, bytes of the block
)

// ArchiveHead is what a copy in the archive says of itself.
type ArchiveHead struct {
	Version  int       `json:"v"`
	Session  string    `json:"session,omitempty"` // "" for what lies beside a transcript
	Source   string    `json:"source"`            // the path it was copied from
	Size     int64     `json:"size"`              // bytes of the original
	SHA256   string    `json:"sha256"`            // of the original
	Modified time.Time `json:"modified"`          // when the original was last written
	Archived time.Time `json:"archived"`
	Client   string    `json:"client,omitempty"`  // version of mem that wrote it
	Adopted  string    `json:"adopted,omitempty"` // id of the adoption that it belongs to
}

// writeArchive packs head.Size bytes of src. It fails where they are not those that
// the head has the hash of.
func writeArchive(ctx context.Context, w io.Writer, src io.ReaderAt, head ArchiveHead, progress func(n int64)) error {
	head.Version = archiveVersion
	text, err := json.Marshal(head)
	if err != nil {
		return err
	}
	p := packer{w: w}
	if err := p.member(subHead, text, nil); err != nil {
		return err
	}
	hash := sha256.New()
	block := make([]byte, archiveBlock)
	for at := int64(0); at < head.Size; at += archiveBlock {
		if err := ctx.Err(); err != nil {
			return err
		}
		b := block[:min(archiveBlock, head.Size-at)]
		if _, err := src.ReadAt(b, at); err != nil && !errors.Is(err, io.EOF) {
			return err
		} else if err != nil && at+int64(len(b)) < head.Size {
			return errShort
		}
		hash.Write(b)
		if err := p.member(subBlock, make([]byte, 8), b); err != nil {
			return err
		}
		if progress != nil {
			progress(int64(len(b)))
		}
	}
	if hex.EncodeToString(hash.Sum(nil)) != head.SHA256 {
		return errors.New("the file changed while it was copied")
	}
	return nil
}

// packer writes members of gzip.
type packer struct {
	w    io.Writer
	buf  bytes.Buffer
	gzip *gzip.Writer
}

func (p *packer) member(name [2]byte, field, content []byte) error {
	p.buf.Reset()
	if p.gzip == nil {
		// Transcripts repeat themselves: a faster level gives hardly larger files.
		p.gzip, _ = gzip.NewWriterLevel(nil, 3)
	}
	p.gzip.Reset(&p.buf)
	extra := append(name[:], 0, 0)
	binary.LittleEndian.PutUint16(extra[2:], uint16(len(field)))
	p.gzip.Extra = append(extra, field...)
	if len(field) > 1<<15 {
		return fmt.Errorf("the head of a copy has %d bytes", len(field))
	}
	if _, err := p.gzip.Write(content); err != nil {
		return err
	}
	if err := p.gzip.Close(); err != nil {
		return err
	}
	b := p.buf.Bytes()
	if name == subBlock {
		// The length stands in the header, which is written before it is known.
		binary.LittleEndian.PutUint32(b[gzipFixed+4:], uint32(len(b)))
		binary.LittleEndian.PutUint32(b[gzipFixed+8:], uint32(len(content)))
	}
	_, err := p.w.Write(b)
	return err
}

// archive reads a copy as if it were the file. It is safe for concurrent use.
type archive struct {
	Head   ArchiveHead
	file   *os.File
	blocks []archivedBlock
	size   int64

	mu     sync.Mutex
	cached [archiveCached]struct {
		block int // -1 while empty
		data  []byte
		used  uint64
	}
	clock uint64
}

type archivedBlock struct {
	offset int64 // of the member in the file
	start  int64 // of the block in the transcript
	packed uint32
	size   uint32
}

// errNoArchive says that a file is none of ours, or damaged.
var errNoArchive = errors.New("it is no copy that mem made, or it is damaged")

// openArchive opens a copy: its head and the list of its blocks.
func openArchive(path string) (*archive, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return newArchive(f)
}

// newArchive reads a copy, and closes the file where it is none.
func newArchive(f *os.File) (*archive, error) {
	a := &archive{file: f}
	for i := range a.cached {
		a.cached[i].block = -1
	}
	if err := a.open(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return a, nil
}

func (a *archive) open() error {
	info, err := a.file.Stat()
	if err != nil {
		return err
	}
	field, next, err := a.member(0, subHead)
	if err != nil {
		return err
	}
	if json.Unmarshal(field, &a.Head) != nil || a.Head.Version < 1 || a.Head.Size < 0 || a.Head.Size > MaxArchived {
		return errNoArchive
	}
	if a.Head.Version > archiveVersion {
		return fmt.Errorf("a later version of mem made it (format %d): use that one", a.Head.Version)
	}
	for at := next; at < info.Size(); {
		field, _, err := a.member(at, subBlock)
		if err != nil {
			return err
		}
		b := archivedBlock{offset: at, start: a.size, packed: binary.LittleEndian.Uint32(field), size: binary.LittleEndian.Uint32(field[4:])}
		at += int64(b.packed)
		if b.packed < gzipFixed || b.packed > maxMember || b.size == 0 || b.size > archiveBlock || at > info.Size() {
			return errNoArchive
		}
		if n := len(a.blocks); n > 0 && a.blocks[n-1].size != archiveBlock {
			return errNoArchive // blocks are found by dividing
		}
		a.blocks = append(a.blocks, b)
		a.size += int64(b.size)
	}
	if a.size != a.Head.Size {
		return errNoArchive
	}
	return nil
}

// member reads the header of the member at an offset and gives its field of this
// name. Of the head, which is an empty member, it gives the offset of what follows, too.
func (a *archive) member(at int64, name [2]byte) (field []byte, next int64, err error) {
	var fixed [gzipFixed + 4]byte
	if _, err := a.file.ReadAt(fixed[:], at); err != nil {
		if errors.Is(err, io.EOF) {
			err = errNoArchive
		}
		return nil, 0, err
	}
	const hasExtra = 4
	length := int64(binary.LittleEndian.Uint16(fixed[gzipFixed+2:]))
	if fixed[0] != 0x1f || fixed[1] != 0x8b || fixed[2] != 8 || fixed[3] != hasExtra || [2]byte(fixed[gzipFixed:]) != name ||
		int64(binary.LittleEndian.Uint16(fixed[gzipFixed-2:])) != length+4 || name == subBlock && length != 8 {
		return nil, 0, errNoArchive
	}
	field = make([]byte, length)
	if _, err := a.file.ReadAt(field, at+gzipFixed+4); err != nil {
		return nil, 0, errNoArchive
	}
	if name == subBlock {
		return field, 0, nil
	}
	from := &counted{r: io.NewSectionReader(a.file, at, maxMember)}
	z, err := gzip.NewReader(from)
	if err != nil {
		return nil, 0, errNoArchive
	}
	z.Multistream(false)
	if n, err := io.Copy(io.Discard, io.LimitReader(z, 1)); err != nil || n != 0 {
		return nil, 0, errNoArchive
	}
	return field, at + from.n, nil
}

// counted counts what is read, byte by byte, so that gzip takes no more than a member.
type counted struct {
	r io.Reader
	n int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

func (c *counted) ReadByte() (byte, error) {
	var b [1]byte
	_, err := io.ReadFull(c.r, b[:])
	if err == nil {
		c.n++
	}
	return b[0], err
}

// ReadAt reads the transcript.
func (a *archive) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 {
		return 0, errors.New("reading before the start")
	}
	for n < len(p) {
		if off >= a.size {
			return n, io.EOF
		}
		part, err := a.copyFrom(p[n:], int(off/archiveBlock), int(off%archiveBlock))
		if err != nil {
			return n, err
		}
		n += part
		off += int64(part)
	}
	return n, nil
}

// copyFrom copies what a block holds from a position on.
func (a *archive) copyFrom(p []byte, block, from int) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.clock++
	oldest := 0
	for i := range a.cached {
		c := &a.cached[i]
		if c.block == block {
			c.used = a.clock
			return copy(p, c.data[from:]), nil
		}
		if c.used < a.cached[oldest].used {
			oldest = i
		}
	}
	c := &a.cached[oldest]
	c.block = -1
	data, err := a.unpack(c.data, a.blocks[block])
	if err != nil {
		return 0, fmt.Errorf("block %d: %w", block, err)
	}
	c.block, c.data, c.used = block, data, a.clock
	return copy(p, data[from:]), nil
}

func (a *archive) unpack(buf []byte, b archivedBlock) ([]byte, error) {
	z, err := gzip.NewReader(io.NewSectionReader(a.file, b.offset, int64(b.packed)))
	if err != nil {
		return nil, errNoArchive
	}
	if cap(buf) < int(b.size)+1 {
		buf = make([]byte, archiveBlock+1)
	}
	buf = buf[:b.size+1] // one more, so that a block that says too little is noticed
	n, err := io.ReadFull(z, buf)
	if !errors.Is(err, io.ErrUnexpectedEOF) || n != int(b.size) {
		return nil, errNoArchive
	}
	return buf[:n], nil
}

// Size is the length of the transcript.
func (a *archive) Size() int64 { return a.size }

// Close closes the file.
func (a *archive) Close() error { return a.file.Close() }
