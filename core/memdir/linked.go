package memdir

import (
	"context"
	"io/fs"
	"path"
	"slices"
	"strings"

	"mem/core/memfile"
)

// readLinked adds the topics of an index at the root of a repository: the files
// that it links. The rest of the repository is not looked at.
func (v *View) readLinked(ctx context.Context) error {
	if info, err := lstat(v.src, LogsDir); err == nil && info.IsDir() {
		v.readLogs()
	}
	seen := map[string]bool{}
	for i, l := range v.Index.Links {
		if i%256 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		p := l.Path()
		if seen[p] || !fs.ValidPath(p) || !isTopicName(p) || strings.HasPrefix(p, LogsDir+"/") || strings.HasPrefix("/"+p, "/.") || strings.Contains(p, "/.") {
			continue
		}
		seen[p] = true
		if !v.inPlainFolder(p) {
			continue
		}
		info, err := lstat(v.src, p)
		switch {
		case isNotExist(err): // a broken link is the index's fault, not the file's
		case err != nil:
			v.problem(p, "cannot be read: %v. Check its permissions.", err)
		case notRegular(info) != "":
			v.problem(p, "%s. Put a plain file in its place.", notRegular(info))
		default:
			v.addTopic(p, func() (fs.FileInfo, error) { return info, nil })
		}
	}
	return nil
}

// inPlainFolder reports whether every folder above p is one, and no memory
// directory of its own.
func (v *View) inPlainFolder(p string) bool {
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		info, err := lstat(v.src, dir)
		if err != nil {
			return isNotExist(err)
		}
		if !info.IsDir() {
			v.problem(p, "lies behind %s, which %s. Put the folder itself there.", dir, notRegular(info))
			return false
		}
		if _, err := lstat(v.src, path.Join(dir, memfile.IndexName)); err == nil {
			if !slices.Contains(v.Nested, dir) {
				v.Nested = append(v.Nested, dir)
			}
			return false
		}
	}
	return true
}
