package workspace

import (
	"os"
	"path/filepath"

	"mem/core/memdir"
)

// maxAbove bounds the folders between a memory and the root of its project.
const maxAbove = 40

// beside gives the memory of the same agent and scope that lies nearest to the root of
// the project, as a path from there: the store that the directory, which lies in a subdirectory, belongs to.
func (d *Directory) beside() string {
	if p := memdir.PlaceOf(d.path); p != memdir.PlaceAgent && p != memdir.PlaceLocal || d.project == "" {
		return ""
	}
	mine, err := os.Stat(d.path)
	if err != nil {
		return ""
	}
	below, err := filepath.Rel(above(d.path, 3), d.path)
	if err != nil {
		return ""
	}
	found, top := "", real(above(d.path, 3))
	for n := 0; n < maxAbove && top != d.project && top != filepath.Dir(top); n++ {
		top = filepath.Dir(top)
		other := filepath.Join(top, below)
		if info, err := os.Stat(other); err == nil && info.IsDir() && !os.SameFile(info, mine) {
			found = other
		}
	}
	if top != d.project {
		return "" // it lies in no folder of the project
	}
	rel, err := filepath.Rel(d.project, found)
	if found == "" || err != nil {
		return ""
	}
	return filepath.ToSlash(rel)
}

func above(p string, n int) string {
	for range n {
		p = filepath.Dir(p)
	}
	return p
}
