package shell

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/pattern"
	"mvdan.cc/sh/v3/syntax"
)

// mayGlob tells words that can be expanded twice, and may name files by a pattern.
func mayGlob(w *syntax.Word) bool {
	glob := false
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			glob = glob || strings.ContainsAny(p.Value, "*?[")
		case *syntax.ParamExp:
			glob = true
			if p.Exp != nil || p.Slice != nil || p.Index != nil {
				return false
			}
		case *syntax.SglQuoted:
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				switch q := q.(type) {
				case *syntax.Lit:
				case *syntax.ParamExp:
					if q.Exp != nil || q.Slice != nil || q.Index != nil {
						return false
					}
				default:
					return false
				}
			}
		default:
			return false
		}
	}
	return glob
}

// glob gives the names that a pattern fits, in order.
func (r *runner) glob(ctx context.Context, pat string) ([]string, error) {
	parts := strings.Split(pat, "/")
	matches := []string{""}
	for i, part := range parts {
		var next []string
		for _, m := range matches {
			prefix := m
			if i > 0 {
				prefix += "/"
			}
			if !pattern.HasMeta(part, 0) {
				next = append(next, prefix+unescape(part))
				continue
			}
			names, err := r.match(ctx, prefix, part, i+1 < len(parts))
			if err != nil {
				return nil, err
			}
			for _, n := range names {
				next = append(next, prefix+n)
			}
		}
		if len(next) > maxListed/10 {
			return nil, r.stop(errors.New("stopped: a pattern fits too many names"))
		}
		matches = next
	}
	if !pattern.HasMeta(parts[len(parts)-1], 0) { // what follows the last pattern has to be there
		matches = slices.DeleteFunc(matches, func(m string) bool { _, err := r.stat(m); return err != nil })
	}
	return matches, nil
}

func (r *runner) match(ctx context.Context, dir, part string, folders bool) ([]string, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	expr, err := pattern.Regexp(part, pattern.EntireString)
	if err != nil {
		return nil, nil // as in a shell, a broken pattern fits nothing
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		return nil, nil
	}
	if dir == "" {
		dir = "."
	}
	list, err := r.readDir(dir)
	if err != nil {
		return nil, ctx.Err()
	}
	var names []string
	for _, info := range list {
		if re.MatchString(info.Name()) && (!folders || info.IsDir()) {
			names = append(names, info.Name())
		}
	}
	return names, nil
}

func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func (r *runner) resolve(p string) (string, error) {
	abs, err := r.files.Resolve(r.dir, p)
	r.note(err)
	return abs, err
}

func (r *runner) stat(p string) (fs.FileInfo, error) {
	abs, err := r.resolve(p)
	if err != nil {
		return nil, err
	}
	info, err := r.files.Stat(abs)
	r.note(err)
	return info, err
}

func (r *runner) readDir(p string) ([]fs.FileInfo, error) {
	abs, err := r.resolve(p)
	if err != nil {
		return nil, err
	}
	list, left, err := r.files.ReadDir(abs)
	r.left += left
	r.note(err)
	if err == nil {
		err = r.count(&r.state.listed, len(list)+1, maxListed, fmt.Sprintf("more than %d entries of folders were listed", maxListed))
	}
	return list, err
}

func (r *runner) readFile(p string) ([]byte, error) {
	abs, err := r.resolve(p)
	if err != nil {
		return nil, err
	}
	text, err := r.files.ReadFile(abs)
	r.note(err)
	if err == nil {
		err = r.count(&r.state.read, len(text)+1, maxRead, fmt.Sprintf("more than %d MB of files were read", maxRead>>20))
	}
	return text, err
}

func join(dir, name string) string {
	if dir == "." {
		return "./" + name
	}
	if dir == "" || strings.HasSuffix(dir, "/") {
		return dir + name
	}
	return dir + "/" + name
}

// words gives an error as commands print it.
func words(err error) string {
	var p *fs.PathError
	switch {
	case !errors.As(err, &p):
		return err.Error()
	case errors.Is(p.Err, fs.ErrNotExist):
		return path.Clean(p.Path) + ": No such file or directory"
	case errors.Is(p.Err, fs.ErrPermission):
		return p.Path + ": Permission denied"
	}
	return p.Path + ": " + p.Err.Error()
}
