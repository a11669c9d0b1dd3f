package stage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mem/core/job"
	"mem/core/memdir"
	"mem/core/memfile"
)

// tree is what stands in a stage now.
type tree struct {
	files   map[string]string
	refused []job.Refused
	// blocked are names that could not be looked at as files: what the base has there
	// stays as it was.
	blocked map[string]bool
	size    int
	folders int
}

// mostNew is MaxNew; tests lower it, since files are slow to make on some disks.
var mostNew = MaxNew

// maxGrowth is how much larger than the base a stage may become, in bytes.
const maxGrowth = 32 << 20

// maxDepth bounds the folders of a stage, as memory does.
const maxDepth = 32

// unusable ends the look at a stage that cannot be taken at all.
type unusable struct{ reason string }

func (e *unusable) Error() string { return e.reason }

// walk reads the stage. Nothing in it is trusted: a command may have left links, pipes
// and folders without end.
func (s *Stage) walk(ctx context.Context) (*tree, error) {
	t := &tree{files: map[string]string{}, blocked: map[string]bool{}}
	if info, err := os.Lstat(s.Dir()); err != nil || !info.IsDir() {
		return nil, &unusable{"the staged folder is gone or no folder any more"}
	}
	root, err := os.OpenRoot(s.Dir())
	if err != nil {
		return nil, fmt.Errorf("reading a stage: %w", err)
	}
	err = s.walkFolder(ctx, root, ".", 0, t)
	return t, errors.Join(err, root.Close())
}

func (t *tree) refuse(p, reason string) {
	t.refused = append(t.refused, job.Refused{What: p, Reason: reason})
	t.blocked[p] = true
}

// keeps reports whether a file of the base must stay as it is, since what stands in
// its place, or in that of a folder it lies in, is none of ours.
func (t *tree) keeps(p string) bool {
	return slices.ContainsFunc(prefixes(p), func(x string) bool { return t.blocked[x] }) || t.blocked["."]
}

func (s *Stage) walkFolder(ctx context.Context, root *os.Root, dir string, depth int, t *tree) error {
	if depth > maxDepth {
		t.refuse(dir, fmt.Sprintf("lies deeper than %d folders", maxDepth))
		return nil
	}
	if t.folders++; t.folders > len(s.folded)+mostNew {
		return &unusable{fmt.Sprintf("it has more than %d new folders", mostNew)}
	}
	d, err := root.Open(filepath.FromSlash(dir))
	if err != nil {
		t.refuse(dir, "the folder cannot be read: "+err.Error())
		return nil
	}
	defer d.Close()
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		entries, err := d.ReadDir(1000)
		for _, e := range entries {
			if err := s.walkEntry(ctx, root, path.Join(dir, e.Name()), e, depth, t); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			t.refuse(dir, "the folder cannot be read: "+err.Error())
			return nil
		}
	}
}

func (s *Stage) walkEntry(ctx context.Context, root *os.Root, p string, e fs.DirEntry, depth int, t *tree) error {
	if len(t.files)+len(t.refused) > len(s.base)+mostNew {
		return &unusable{fmt.Sprintf("it has more than %d new files", mostNew)}
	}
	_, known := s.base[p]
	switch {
	case strings.HasPrefix(e.Name(), "."):
		t.refuse(p, "has a hidden name, and is no memory")
	case e.Type()&fs.ModeSymlink != 0:
		t.refuse(p, "is a symbolic link, and is not followed")
	case e.IsDir():
		return s.walkFolder(ctx, root, p, depth+1, t)
	case !e.Type().IsRegular():
		t.refuse(p, "is no regular file")
	case !known && !memfile.IsMarkdown(p):
		t.refuse(p, "is no Markdown file; memory is Markdown alone")
	default:
		return s.readFile(root, p, t)
	}
	return nil
}

// readFile reads one file, as far as one may be large.
func (s *Stage) readFile(root *os.Root, p string, t *tree) error {
	base, known := s.base[p]
	most := MaxText
	if known {
		most = max(most, len(base))
	}
	f, err := root.OpenFile(filepath.FromSlash(p), openFlags, 0)
	if err != nil {
		t.refuse(p, "cannot be read: "+err.Error())
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		t.refuse(p, "cannot be read: "+err.Error())
		return nil
	case !info.Mode().IsRegular():
		t.refuse(p, "is no regular file")
		return nil
	case links(f) > 1:
		t.refuse(p, "has another name outside (a hard link), whose text would come in")
		return nil
	case info.Size() > int64(most):
		t.refuse(p, fmt.Sprintf("has %d bytes, more than the %d that a memory file may have", info.Size(), most))
		return nil
	}
	buf := make([]byte, info.Size())
	n, err := io.ReadFull(f, buf)
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		t.refuse(p, "cannot be read: "+err.Error())
		return nil
	}
	if t.size += n; t.size > MaxBytes+maxGrowth {
		return &unusable{fmt.Sprintf("its files have more than %d bytes together", MaxBytes+maxGrowth)}
	}
	if got := string(buf[:n]); known && got == base {
		t.files[p] = base // one copy of the text is enough
	} else {
		t.files[p] = got
	}
	return nil
}

// shownRefusals bounds what was refused, and shows names as words of ours do.
func shownRefusals(all []job.Refused) []job.Refused {
	slices.SortStableFunc(all, func(a, b job.Refused) int { return strings.Compare(a.What, b.What) })
	const most = 100
	out := make([]job.Refused, 0, min(len(all), most+1))
	for i, r := range all {
		if i == most {
			return append(out, job.Refused{What: fmt.Sprintf("%d more files", len(all)-most), Reason: "were refused as well and are not listed"})
		}
		out = append(out, job.Refused{What: memdir.ShownName(r.What), Reason: memdir.Shown(r.Reason, 600)})
	}
	return out
}
