package memdir

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// FileError is a file that cannot be used, with the reason and the way out.
type FileError struct {
	Path   string
	Reason string
	Hint   string
}

func (e *FileError) Error() string {
	return fmt.Sprintf("%s %s; %s", ShownName(e.Path), e.Reason, e.Hint)
}

// NotFoundError says that no topic is meant by a reference.
type NotFoundError struct {
	Ref  string
	Near []string
}

func (e *NotFoundError) Error() string {
	s := fmt.Sprintf("there is no topic %q", cutMark(e.Ref, MaxShown))
	if len(e.Near) > 0 {
		s += "; near it: " + strings.Join(shownNames(e.Near), ", ")
	}
	return s + ". memory_list gives all topics"
}

// AmbiguousError says that a reference means several topics.
type AmbiguousError struct {
	Ref   string
	Paths []string
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%q means %d topics: %s. Give the path of one", cutMark(e.Ref, MaxShown), len(e.Paths), strings.Join(shownNames(e.Paths), ", "))
}

// shownNames gives the first names of a list, and how many more there are.
func shownNames(names []string) []string {
	const most = 10
	var out []string
	for i, n := range names {
		if i == most {
			return append(out, fmt.Sprintf("and %d more", len(names)-most))
		}
		out = append(out, ShownName(n))
	}
	return out
}

func isNotExist(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// notRegular says what a file is when it is not a regular one.
func notRegular(info fs.FileInfo) string {
	switch m := info.Mode(); {
	case m.IsRegular():
		return ""
	case m&fs.ModeSymlink != 0:
		return "is a symbolic link, which mem does not follow"
	case m.IsDir():
		return "is a folder"
	default:
		return "is not a regular file"
	}
}

// notFolder says what a file is that stands where a folder has to be.
func notFolder(info fs.FileInfo) string {
	if why := notRegular(info); why != "" {
		return why
	}
	return "is a file"
}

// lstat looks at a name without following a link where the source can.
func lstat(src fs.FS, name string) (fs.FileInfo, error) {
	if l, ok := src.(fs.ReadLinkFS); ok {
		return l.Lstat(name)
	}
	return fs.Stat(src, name)
}
