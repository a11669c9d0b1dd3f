package project

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// ObjectName gives how many bytes the names of objects have in the repository whose common
// git directory is given: 20 of SHA-1, or 32 of SHA-256. Other hashes, and a configuration
// that cannot be read, are an error.
func ObjectName(commonDir string) (int, error) {
	file := filepath.Join(commonDir, "config")
	data, err := ReadFile(file, maxGitConfig)
	if errors.Is(err, fs.ErrNotExist) {
		return 20, nil
	}
	if err != nil {
		return 0, fmt.Errorf("reading %s: %w", file, Reason(err))
	}
	switch v := GitConfig(string(data), "extensions", "objectformat"); strings.ToLower(v) {
	case "", "sha1":
		return 20, nil
	case "sha256":
		return 32, nil
	default:
		return 0, fmt.Errorf("the repository names its objects by %.40q, and sha1 and sha256 are read here", v)
	}
}

// GitConfig gives a value of a git config file, the last one where there are several;
// "" where it is not set. Includes are not followed. subsection may be part of section, as
// in `merge "mem"`.
func GitConfig(data, section, key string) string {
	in, value := false, ""
	for _, line := range strings.Split(data, "\n") {
		s := strings.TrimSpace(line)
		if strings.HasPrefix(s, "[") {
			name, rest, ok := strings.Cut(s[1:], "]")
			if !ok {
				continue
			}
			in = sameSection(name, section)
			if s = strings.TrimSpace(rest); s == "" {
				continue
			}
		}
		if !in || strings.HasPrefix(s, "#") || strings.HasPrefix(s, ";") {
			continue
		}
		k, v, ok := strings.Cut(s, "=")
		if ok && strings.EqualFold(strings.TrimSpace(k), key) {
			value = unquoteGit(strings.TrimSpace(v))
		}
	}
	return value
}

func sameSection(a, b string) bool {
	an, asub, _ := strings.Cut(strings.TrimSpace(a), " ")
	bn, bsub, _ := strings.Cut(b, " ")
	return strings.EqualFold(an, bn) && strings.TrimSpace(asub) == bsub
}

// unquoteGit reads a value as git does: quotes may stand anywhere, a comment ends it.
func unquoteGit(v string) string {
	var b strings.Builder
	quoted := false
	for i := 0; i < len(v); i++ {
		switch c := v[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && i+1 < len(v):
			i++
			b.WriteByte(v[i])
		case (c == '#' || c == ';') && !quoted:
			return strings.TrimSpace(b.String())
		default:
			b.WriteByte(c)
		}
	}
	return strings.TrimSpace(b.String())
}
