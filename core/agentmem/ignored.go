package agentmem

import (
	"path"
	"slices"
	"strings"

	"mem/core/memdir"
	"mem/core/project"
)

// Bounds of what a checkout says that git ignores.
const (
	maxIgnoreFile  = 256 << 10 // bytes
	maxIgnoreRules = 2_000     // of one file
)

// ignoreRule is a line of a .gitignore.
type ignoreRule struct {
	negate   bool
	anchored bool     // it counts from the folder of the file, not at any depth
	parts    []string // what stands between slashes, as path.Match reads it
	literal  bool     // it has no wildcards
}

// ignoreRules are those of one file, with those that count where these say nothing. nil
// ignores nothing.
type ignoreRules struct {
	depth int // of the folder below the top
	rules []ignoreRule
	above *ignoreRules
}

// with adds the rules of a file that lies in a folder so deep below the top.
func (above *ignoreRules) with(file string, depth int) (*ignoreRules, []string) {
	data, err := project.ReadFile(file, maxIgnoreFile)
	if err != nil {
		return above, []string{memdir.ShownName(file) + " is not obeyed: " + project.Reason(err).Error()}
	}
	r := &ignoreRules{depth: depth, above: above}
	for line := range strings.Lines(string(data)) {
		rule, ok := parseIgnore(strings.TrimRight(line, "\r\n"))
		if !ok {
			continue
		}
		if len(r.rules) == maxIgnoreRules {
			return r, []string{memdir.ShownName(file) + " has so many lines that the last ones are not obeyed."}
		}
		r.rules = append(r.rules, rule)
	}
	if len(r.rules) == 0 {
		return above, nil
	}
	return r, nil
}

// parseIgnore reads a line as git does; ok is false where it says nothing.
func parseIgnore(line string) (r ignoreRule, ok bool) {
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	if line == "" || line[0] == '#' {
		return r, false
	}
	if line[0] == '!' {
		r.negate, line = true, line[1:]
	}
	line = strings.TrimSuffix(line, "/") // only folders are asked about
	r.anchored = strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if line == "" {
		return r, false
	}
	r.parts = splitPattern(line)
	r.literal = !strings.ContainsAny(line, `*?[\`)
	for _, p := range r.parts {
		if _, err := path.Match(p, ""); err != nil {
			return r, false // git takes it for what nothing is called
		}
	}
	return r, true
}

// splitPattern cuts a pattern at its slashes, but for those in a class, as in "[/ab]", and
// writes classes as path.Match reads them: git begins what one does not hold with ! as well
// as with ^. A class without an end takes in all that follows.
func splitPattern(line string) []string {
	var parts []string
	var part strings.Builder
	class, first := false, 0 // whether i is in a class, and where that has its first character
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case c == '\\' && i+1 < len(line):
			part.WriteByte(c)
			i++
			c = line[i]
		case class && c == '!' && i == first:
			c = '^'
		case class && c == ']' && i > first:
			class = false
		case !class && c == '[':
			class, first = true, i+1
		case !class && c == '/':
			parts = append(parts, part.String())
			part.Reset()
			continue
		}
		part.WriteByte(c)
	}
	return append(parts, part.String())
}

// ignores tells whether a folder is ignored, by the names on the way to it from the top.
func (r *ignoreRules) ignores(way []string) bool {
	for ; r != nil; r = r.above {
		for _, rule := range slices.Backward(r.rules) {
			if rule.matches(way[r.depth:]) {
				return !rule.negate
			}
		}
	}
	return false
}

func (r ignoreRule) matches(way []string) bool {
	switch {
	case !r.anchored && r.literal:
		return way[len(way)-1] == r.parts[0]
	case !r.anchored:
		return matchName(r.parts[0], way[len(way)-1])
	case r.literal:
		return slices.Equal(r.parts, way)
	}
	return matchWay(r.parts, way)
}

func matchName(pattern, name string) bool {
	if pattern == "**" {
		return true
	}
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// matchWay matches names with patterns, of which ** stands for any number of names; at the
// end, where what is below is meant, for at least one. It takes as many steps as there are
// pairs at most.
func matchWay(parts, way []string) bool {
	// can[i] says that the first i names are matched by the parts so far.
	can := make([]bool, len(way)+1)
	can[0] = true
	for n, p := range parts {
		next := make([]bool, len(way)+1)
		if p == "**" {
			any := false
			for i := range next {
				if n == len(parts)-1 {
					next[i] = any
				}
				any = any || can[i]
				if n < len(parts)-1 {
					next[i] = any
				}
			}
		} else {
			for i := range way {
				next[i+1] = can[i] && matchName(p, way[i])
			}
		}
		can = next
	}
	return can[len(way)]
}
