package dream

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"mem/core/memdir"
	"mem/core/memfile"
)

// apply makes units of what is applied: the index with the topics that take details of
// it, and each other topic that was mended. What somebody took back is left as it is.
func (p *plan) apply(index *part, why map[string][]string) {
	var mended []Item
	in := map[string]bool{} // with the index
	for _, path := range slices.Sorted(maps.Keys(why)) {
		words := strings.Join(compact(why[path]), "; ")
		item := Item{What: memdir.ShownName(path), Why: words}
		if _, with := index.now[path]; with {
			index.reasons = append(index.reasons, memdir.ShownName(path)+": "+words+".")
			in[path] = true
			mended = append(mended, item)
			continue
		}
		u := newPart("Mend " + memdir.ShownName(path))
		u.now[path], u.sources, u.reasons = p.texts[path], []string{path}, []string{words + "."}
		unit, ok := p.unit(u, p.disk)
		switch {
		case ok && p.undone != nil && p.undone(unit):
			p.asOnDisk(path)
			p.takenBack++
			continue
		case ok:
			p.out.Apply = append(p.out.Apply, unit)
		}
		mended = append(mended, item)
	}
	index.sources = slices.Sorted(maps.Keys(index.now))
	unit, ok := p.unit(index, p.disk)
	switch {
	case ok && p.undone != nil && p.undone(unit):
		for path := range index.now {
			p.asOnDisk(path)
		}
		p.takenBack++
		p.report.Corrected = slices.DeleteFunc(p.report.Corrected, func(i Item) bool { return i.What == memfile.IndexName })
		mended = slices.DeleteFunc(mended, func(i Item) bool {
			return slices.ContainsFunc(slices.Collect(maps.Keys(in)), func(path string) bool { return memdir.ShownName(path) == i.What })
		})
		p.report.After = p.report.Before
		p.report.Notes = append(p.report.Notes, fmt.Sprintf("%s stays as it is: an earlier dream put it in order, and somebody undid that.", memfile.IndexName))
	case ok:
		maps.Copy(p.texts, index.now)
		p.out.Apply = append(p.out.Apply, unit)
	}
	p.report.Corrected = append(p.report.Corrected, mended...)
}

// asOnDisk leaves a file as it is.
func (p *plan) asOnDisk(path string) {
	if src, ok := p.disk[path]; ok {
		p.texts[path] = src
	} else {
		delete(p.texts, path)
	}
}
