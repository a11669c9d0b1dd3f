package settings

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// MaxStores bounds the folders that can be named: each is looked at when a
// conversation starts.
const MaxStores = 20

// folderName is the form of a name under which a folder is addressed.
var folderName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`) })

// checkFolder says why a name or its folder cannot be taken. Whether the folder is
// there is seen when it is opened.
func checkFolder(name, folder string) error {
	switch {
	case !folderName().MatchString(name):
		return errors.New("is no name of a folder: it has up to 64 small letters, digits, dashes and underscores")
	case strings.ContainsFunc(folder, unicode.IsControl):
		return errors.New("holds a control character")
	case strings.HasPrefix(folder, `\\`) || strings.HasPrefix(folder, "//"):
		return errors.New("is a network path, and asking for it would send credentials")
	case strings.HasPrefix(folder, "~/"), strings.HasPrefix(folder, `~\`), strings.HasPrefix(folder, "/"), filepath.IsAbs(folder),
		len(folder) > 3 && folder[1] == ':' && (folder[2] == '\\' || folder[2] == '/'):
		return nil
	}
	return fmt.Errorf("is %q, which is not absolute", folder)
}

func foldersOf(pairs [][2]string) (map[string]string, error) {
	if len(pairs) > MaxStores {
		return nil, fmt.Errorf("names %d folders; at most %d are looked at", len(pairs), MaxStores)
	}
	var out map[string]string
	for _, p := range pairs {
		if err := checkFolder(p[0], p[1]); err != nil {
			return nil, fmt.Errorf("%s %w", p[0], err)
		}
		if out == nil {
			out = map[string]string{}
		}
		out[p[0]] = p[1]
	}
	return out, nil
}

// foldersText writes folders as one would in the file, by name.
func foldersText(folders map[string]string) string {
	v := value{isMap: true}
	for _, name := range slices.Sorted(maps.Keys(folders)) {
		v.pairs = append(v.pairs, [2]string{name, strconv.Quote(folders[name])})
	}
	return v.String()
}
