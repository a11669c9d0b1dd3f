package memdir

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"mem/core/memfile"
)

func (v *View) walk(ctx context.Context, dir string, depth int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if info, err := fs.Stat(v.src, dir); err == nil {
		v.dirs[dir] = info.ModTime()
	}
	entries, err := fs.ReadDir(v.src, dir)
	if err != nil {
		if dir == "." {
			return fmt.Errorf("reading the memory directory: %w", err)
		}
		v.problem(dir, "cannot be read: %v. Check its permissions.", err)
		return nil
	}
	if v.seen += len(entries) + 1; v.seen > maxNames {
		return fmt.Errorf("more than %d files and folders below the memory directory; is it the right one? Move %s to a folder of its own, or choose another with --memory-dir", maxNames, memfile.IndexName)
	}
	if dir != "." && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == memfile.IndexName }) {
		v.Nested = append(v.Nested, dir)
		return nil
	}
	for i, e := range entries {
		if i%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		p := e.Name()
		if dir != "." {
			p = dir + "/" + p
		}
		switch {
		case strings.HasPrefix(e.Name(), "."):
		case e.IsDir():
			if err := v.visitDir(ctx, p, depth); err != nil {
				return err
			}
		case isLink(e) && !memfile.IsMarkdown(p):
			v.linkedDir(p)
		case !isTopicName(p):
		case !utf8.ValidString(e.Name()):
			v.problem(p, "has a name that is not valid UTF-8, so no call can name it. Rename the file.")
		case isLink(e):
			v.problem(p, "is a symbolic link, which mem does not follow. Put the file itself here.")
		case !e.Type().IsRegular():
			v.problem(p, "is not a regular file. Put a plain file in its place.")
		default:
			v.addTopic(p, e.Info)
		}
		if len(v.Topics) > maxFiles {
			return fmt.Errorf("more than %d Markdown files below the memory directory; is it the right one? Choose another with --memory-dir", maxFiles)
		}
	}
	return nil
}

func isLink(e fs.DirEntry) bool { return e.Type()&fs.ModeSymlink != 0 }

func isTopicName(p string) bool {
	return memfile.IsMarkdown(p) && p != memfile.IndexName && !isNotTopic(path.Base(p))
}

// linkedDir reports a link to a folder, whose memories are not seen; a link to
// any other file is none of ours.
func (v *View) linkedDir(p string) {
	info, err := fs.Stat(v.src, p)
	if err == nil && !info.IsDir() || isNotExist(err) {
		return
	}
	v.problem(p, "is a symbolic link to a folder, which mem does not follow. Put the folder itself here.")
}

func (v *View) visitDir(ctx context.Context, p string, depth int) error {
	switch {
	case p == LogsDir:
		v.readLogs()
	case p == memfile.IndexName: // told as what is wrong with the index
	case memfile.IsMarkdown(p):
		v.problem(p, "is a folder with the name of a memory file. Rename it.")
	case depth >= maxDepth:
		v.problem(p, "lies deeper than %d folders and is not read. Move it up.", maxDepth)
	default:
		return v.walk(ctx, p, depth+1)
	}
	return nil
}

func (v *View) addTopic(p string, stat func() (fs.FileInfo, error)) {
	info, err := stat()
	if err != nil {
		if !isNotExist(err) { // a file that just vanished is no problem
			v.problem(p, "cannot be read: %v.", err)
		}
		return
	}
	if info.Size() > v.limits.topicBytes() {
		v.problem(p, "has %d bytes; files over %d are not read as memory. Split it, or raise limits.topic_bytes in the configuration.", info.Size(), v.limits.topicBytes())
		return
	}
	t := v.cache.head(p, info)
	if t == nil {
		v.unread = append(v.unread, unread{at: len(v.Topics), path: p, info: info})
	}
	v.Topics = append(v.Topics, t)
}
