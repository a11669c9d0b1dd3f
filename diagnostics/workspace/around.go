package workspace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"mem/core/memdir"
	"mem/core/project"
	"mem/core/text"
	"mem/diagnostics"
)

// around is what surrounds a memory directory, as it was last read. What rules find
// is kept under the pointers, so these stay the same while what they were made of
// does.
type around struct {
	config     *diagnostics.Config
	configFrom [2]content // of the project, of the directory
	guide      *diagnostics.Guide
	guideFrom  [len(guideNames)]content
	kept       map[string]kept // by name below the project's top
}

// guideNames are the files in which a project keeps instructions for agents.
var guideNames = [...]string{"CLAUDE.md", ".claude/CLAUDE.md", "AGENTS.md"}

// maxGuide bounds a file of instructions, in bytes. Ours: what an agent loads at
// every start has a few kilobytes.
const maxGuide = 256 << 10

// content is what a file was found to hold.
type content struct {
	text   string
	exists bool
	fault  string // why it cannot be used, "" normally
}

// kept is a file that was read, with what tells whether it is still the same.
type kept struct {
	info fs.FileInfo
	at   time.Time
	content
}

// settled is the age at which an equal modification time means an equal file, on
// file systems that keep every other second.
const settled = 2100 * time.Millisecond

// surroundings gives the configuration and the instructions that hold for the
// directory that src is the source of.
func (d *Directory) surroundings(src fs.FS) (*diagnostics.Config, *diagnostics.Guide) {
	d.mu.Lock()
	defer d.mu.Unlock()
	a := &d.around
	if a.kept == nil {
		a.kept = map[string]kept{}
	}
	var outer content
	guide := [len(guideNames)]content{}
	if d.project != "" {
		if top, err := os.OpenRoot(d.project); err == nil {
			if !d.isTop { // else it is the directory's own
				outer = a.read(top, diagnostics.ConfigName, diagnostics.MaxConfigFile, false)
			}
			for i, name := range guideNames {
				guide[i] = a.read(top, name, maxGuide, true)
			}
			top.Close()
		}
	}
	from := [2]content{outer, readConfig(src)}
	if a.config == nil || from != a.configFrom {
		a.configFrom = from
		a.config = d.base
		for i, path := range []string{filepath.Join(d.project, diagnostics.ConfigName), diagnostics.ConfigName} {
			a.config = d.obey(a.config, path, from[i])
		}
	}
	if guide != a.guideFrom {
		a.guideFrom, a.guide = guide, guideOf(guide)
	}
	return a.config, a.guide
}

// obey gives a configuration with what one file says in place of what base says.
func (d *Directory) obey(base *diagnostics.Config, path string, c content) *diagnostics.Config {
	switch {
	case c.fault != "":
		return base.WithProblem(diagnostics.ConfigProblem{Path: path, Message: c.fault, Text: text.New("")})
	case !c.exists:
		return base
	}
	return diagnostics.ParseConfig(path, c.text, d.Engine.Rules, base)
}

// read reads a file below the project's top. Links out of the project are not
// followed; those inside it are where follow is set.
func (a *around) read(top *os.Root, name string, limit int64, follow bool) content {
	look := top.Lstat
	if follow {
		look = top.Stat
	}
	info, err := look(name)
	if err != nil {
		delete(a.kept, name)
		if errors.Is(err, fs.ErrNotExist) || follow { // instructions that cannot be read are no instructions
			return content{}
		}
		return content{exists: true, fault: cannotRead(err)}
	}
	if k, ok := a.kept[name]; ok && os.SameFile(k.info, info) && k.info.Size() == info.Size() &&
		k.info.ModTime().Equal(info.ModTime()) && k.at.Sub(info.ModTime()) > settled {
		return k.content
	}
	now := time.Now()
	c := load(top.FS(), name, info, limit)
	if follow && c.fault != "" {
		c = content{}
	}
	a.kept[name] = kept{info, now, c}
	return c
}

// readConfig reads the .mem.yaml of a memory directory, an open buffer of it first.
func readConfig(src fs.FS) content {
	look := func(name string) (fs.FileInfo, error) { return fs.Lstat(src, name) }
	info, err := look(diagnostics.ConfigName)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return content{}
	case err != nil:
		return content{exists: true, fault: cannotRead(err)}
	}
	return load(src, diagnostics.ConfigName, info, diagnostics.MaxConfigFile)
}

// load reads a regular file of at most limit bytes.
func load(src fs.FS, name string, info fs.FileInfo, limit int64) content {
	switch m := info.Mode(); {
	case m&fs.ModeSymlink != 0:
		return content{exists: true, fault: fmt.Sprintf("%s is a symbolic link, which is not followed, so it is not obeyed. Put the file itself here.", name)}
	case !m.IsRegular():
		return content{exists: true, fault: fmt.Sprintf("%s is no plain file, so it is not obeyed. Put a plain file in its place, or remove it.", name)}
	}
	tooLarge := content{exists: true, fault: fmt.Sprintf("%s has more than %d bytes, so it is not obeyed. Keep only the keys that you change.", name, limit)}
	if info.Size() > limit {
		return tooLarge
	}
	f, err := src.Open(name)
	if errors.Is(err, fs.ErrNotExist) { // it vanished meanwhile
		return content{}
	}
	if err != nil {
		return content{exists: true, fault: cannotRead(err)}
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	switch {
	case err != nil:
		return content{exists: true, fault: cannotRead(err)}
	case int64(len(data)) > limit:
		return tooLarge
	}
	return content{exists: true, text: string(data)}
}

func cannotRead(err error) string {
	return fmt.Sprintf("%s cannot be read (%s), so it is not obeyed. Check its permissions.", diagnostics.ConfigName, memdir.Shown(project.Reason(err).Error(), memdir.MaxShown))
}

// guideOf chains the instructions of a project. One file may be another under a
// second name.
func guideOf(files [len(guideNames)]content) *diagnostics.Guide {
	var first *diagnostics.Guide
	end := &first
	seen := map[string]bool{"": true}
	for i, c := range files {
		if !seen[c.text] {
			seen[c.text] = true
			*end = &diagnostics.Guide{Path: guideNames[i], Text: c.text}
			end = &(*end).Next
		}
	}
	return first
}
