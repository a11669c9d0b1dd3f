package stage

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"sync"

	"mem/core/memdir"
	"mem/core/memfile"
)

// workers is how many files are read or written at a time: these wait for the system
// more than they compute.
func workers() int { return min(16, 4*runtime.GOMAXPROCS(0)) }

// each calls f for 0 to n-1, several at a time, until one fails or ctx ends.
func each(ctx context.Context, n int, f func(i int) error) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(workers(), n) {
		wg.Go(func() {
			for i := range next {
				if err := f(i); err != nil {
					stop(err)
				}
			}
		})
	}
	for i := range n {
		select {
		case next <- i:
			continue
		case <-ctx.Done():
		}
		break
	}
	close(next)
	wg.Wait()
	return context.Cause(ctx)
}

// read loads all that the View sees: index, topics, daily logs.
func (s *Stage) read(ctx context.Context) ([]file, error) {
	v := s.view
	s.Skipped = append(s.Skipped, v.Problems...)
	if len(v.Topics) > MaxFiles {
		return nil, fmt.Errorf("%s has %d topics; at most %d can be staged. Move some to another memory directory", s.m.Location.Directory, len(v.Topics), MaxFiles)
	}
	all := make([]file, 0, len(v.Topics)+len(v.Logs)+1)
	if v.Index.Exists {
		all = append(all, file{Path: memfile.IndexName, Hash: v.Index.Hash, text: v.Index.Text().String()})
	}
	for _, t := range v.Topics {
		all = append(all, file{Path: t.Path, modTime: t.ModTime})
	}
	for i, l := range v.Logs { // newest first
		if len(all) >= MaxFiles {
			s.Skipped = append(s.Skipped, memdir.Problem{Path: memdir.LogsDir, Message: fmt.Sprintf("the %d oldest daily logs are left out: a stage has at most %d files", len(v.Logs)-i, MaxFiles)})
			break
		}
		all = append(all, file{Path: l.Path, modTime: l.ModTime})
	}
	failed := make([]error, len(all))
	err := each(ctx, len(all), func(i int) error {
		f := &all[i]
		if f.Hash != "" {
			return nil
		}
		var b *memdir.Body
		if t := v.Topic(f.Path); t != nil {
			b, failed[i] = v.Load(t)
		} else {
			b, failed[i] = v.LoadPath(f.Path)
		}
		if failed[i] == nil {
			f.Hash, f.text, f.Pinned = b.Hash, b.File.Text.String(), b.File.Pinned()
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	kept, size := all[:0], 0
	for i, f := range all {
		if failed[i] != nil {
			s.Skipped = append(s.Skipped, memdir.Problem{Path: f.Path, Message: "cannot be read: " + failed[i].Error()})
			continue
		}
		f.Size = len(f.text)
		if size += f.Size; size > MaxBytes {
			return nil, fmt.Errorf("%s holds more than %d bytes, which is what can be staged. Move some of it to another memory directory", s.m.Location.Directory, MaxBytes)
		}
		kept = append(kept, f)
	}
	return kept, nil
}

// write makes the copy and saves the base.
func (s *Stage) write(ctx context.Context, files []file) error {
	root := s.Dir()
	if err := os.Mkdir(root, 0o700); err != nil {
		return err
	}
	made := map[string]bool{".": true}
	for _, f := range files {
		if dir := path.Dir(f.Path); !made[dir] {
			made[dir] = true
			if err := os.MkdirAll(filepath.Join(root, filepath.FromSlash(dir)), 0o700); err != nil {
				return err
			}
		}
	}
	err := each(ctx, len(files), func(i int) error {
		f := files[i]
		p := filepath.Join(root, filepath.FromSlash(f.Path))
		if err := os.WriteFile(p, []byte(f.text), 0o600); err != nil {
			return err
		}
		if !f.modTime.IsZero() {
			// Agents look at what is newest; a file system without times is no reason to stop.
			_ = os.Chtimes(p, f.modTime, f.modTime)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.save(files)
}
