package agentmem

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"mem/core/change"
	"mem/core/memfile"
	"mem/core/project"
	"mem/core/text"
)

// maxMerged is the size of a file, in bytes, past which git is told that it cannot be merged.
const maxMerged = 64 << 20

// DriverResult says what the merge driver did.
type DriverResult struct {
	Path      string   `json:"path"`
	Conflicts []string `json:"conflicts,omitempty"` // parts that both changed differently; the file holds git's marks there
}

// MergeDriver merges one file of a snapshot for git, which hands over three files and the
// path: base (%O), ours (%A, which gets the result), theirs (%B) and the name (%P). Topics
// are merged by sections and frontmatter by key, an index by entry, snapshot.json by its
// meaning. Where both changed a part differently, the result has git's marks around it.
func MergeDriver(base, ours, theirs, name string) (*DriverResult, error) {
	var in [3]string
	for i, f := range []string{base, ours, theirs} {
		b, err := project.ReadFile(f, maxMerged)
		if err != nil {
			return nil, fmt.Errorf("merging %s: reading %s: %w", name, f, project.Reason(err))
		}
		in[i] = string(b)
	}
	out, conflicts := MergeTexts(name, in[0], in[1], in[2])
	info, err := os.Stat(ours)
	if err != nil {
		return nil, fmt.Errorf("merging %s: %w", name, err)
	}
	if err := os.WriteFile(ours, []byte(out), info.Mode().Perm()); err != nil {
		return nil, fmt.Errorf("merging %s: writing %s: %w", name, ours, project.Reason(err))
	}
	return &DriverResult{Path: name, Conflicts: conflicts}, nil
}

// MergeTexts merges one file of a snapshot. conflicts names the parts that have marks.
func MergeTexts(name, base, ours, theirs string) (merged string, conflicts []string) {
	name = strings.ReplaceAll(name, `\`, "/")
	file := path.Base(name)
	switch {
	case ours == theirs || theirs == base:
		return ours, nil
	case isManifest(name):
		if out, err := mergeManifests(base, ours, theirs); err == nil {
			return out, nil
		}
		return marked(ours, theirs), []string{"all of " + ManifestName}
	case ours == base:
		return theirs, nil
	case !memfile.IsMarkdown(file): // somebody's .gitattributes names this driver for it
		return marked(ours, theirs), []string{"the file, which is no memory"}
	case max(len(base), len(ours), len(theirs)) > MaxFile:
		return marked(ours, theirs), []string{"the file, which is larger than a memory"}
	case !utf8.ValidString(base) || !utf8.ValidString(ours) || !utf8.ValidString(theirs):
		return marked(ours, theirs), []string{"the file, which is not text"}
	}
	merged, _ = change.Resolve(file, base, ours, theirs, func(p change.Part) change.Decision {
		if !p.Conflict {
			return change.Decision{}
		}
		conflicts = append(conflicts, p.Name)
		return change.Decision{Choice: change.Instead, Text: marked(p.Ours, p.Theirs)}
	})
	return merged, conflicts
}

// isManifest tells snapshot.json of a snapshot from other files of that name.
func isManifest(name string) bool {
	dir := path.Dir(name)
	return path.Base(name) == ManifestName && (dir == "." || path.Base(path.Dir(dir)) == path.Base(SnapshotsDir))
}

// marked puts git's marks around two versions of a part. The lines that both begin and end
// with stay outside.
func marked(ours, theirs string) string {
	eol := text.EOL(ours + theirs)
	lines := func(s string) []string {
		if s == "" {
			return nil
		}
		return strings.SplitAfter(strings.TrimSuffix(s, eol)+eol, eol)[:strings.Count(strings.TrimSuffix(s, eol)+eol, eol)]
	}
	o, t := lines(ours), lines(theirs)
	head := 0
	for head < len(o) && head < len(t) && o[head] == t[head] {
		head++
	}
	tail := 0
	for tail < len(o)-head && tail < len(t)-head && o[len(o)-1-tail] == t[len(t)-1-tail] {
		tail++
	}
	var b strings.Builder
	b.WriteString(strings.Join(o[:head], ""))
	b.WriteString("<<<<<<< ours" + eol + strings.Join(o[head:len(o)-tail], ""))
	b.WriteString("=======" + eol + strings.Join(t[head:len(t)-tail], ""))
	b.WriteString(">>>>>>> theirs" + eol)
	b.WriteString(strings.Join(o[len(o)-tail:], ""))
	return b.String()
}

// mergeManifests merges snapshot.json: the newest time, the hashes that both sides agree on,
// and word that there was a merge; other keys by key, of a conflict the newer side's.
func mergeManifests(base, ours, theirs string) (string, error) {
	read := func(s string) (map[string]any, time.Time, error) {
		m := map[string]any{}
		if strings.TrimSpace(s) == "" {
			return m, time.Time{}, nil
		}
		if err := json.Unmarshal([]byte(strings.TrimPrefix(s, text.BOM)), &m); err != nil {
			return nil, time.Time{}, err
		}
		at, _ := m["updatedAt"].(string)
		when, err := time.Parse(time.RFC3339, at)
		if err != nil {
			return m, time.Time{}, nil // the other side's counts
		}
		return m, when, nil
	}
	b, _, err := read(base)
	if err != nil {
		b = map[string]any{}
	}
	o, oAt, err := read(ours)
	if err != nil {
		return "", err
	}
	t, tAt, err := read(theirs)
	if err != nil {
		return "", err
	}
	newer, older := o, t
	if tAt.After(oAt) {
		newer, older = t, o
	}
	out := merge3(b, newer, older)
	if at, ok := newer["updatedAt"]; ok {
		out["updatedAt"] = at
	}
	// What is the same on both sides is so after the merge as well. Of the rest only git knows
	// what becomes: it also follows renames.
	nf, ok1 := newer["files"].(map[string]any)
	of, ok2 := older["files"].(map[string]any)
	delete(out, "files")
	if ok1 && ok2 {
		same := map[string]any{}
		for p, sum := range nf {
			if sum != "" && of[p] == sum {
				same[p] = sum
			}
		}
		out["files"] = same
	}
	// Every merge makes another text, the same in every clone: were it that of the common
	// version, git would take the next publish's list for that of what it merged with it.
	sides := []string{sumOf(ours), sumOf(theirs)}
	slices.Sort(sides)
	out["merged"] = sumOf(strings.Join(sides, " "))[:16]
	if !reflect.DeepEqual(nf, of) {
		delete(out, "author") // it is nobody's alone
		if a, ok := newer["author"]; ok && a == older["author"] {
			out["author"] = a
		}
	}
	var buf strings.Builder
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(out); err != nil {
		return "", err
	}
	return buf.String(), nil
}

// merge3 merges two objects by key; what both changed differently is as in a.
func merge3(base, a, b map[string]any) map[string]any {
	out := map[string]any{}
	keys := map[string]bool{}
	for _, m := range []map[string]any{a, b} {
		for k := range m {
			keys[k] = true
		}
	}
	for k := range keys {
		av, inA := a[k]
		bv, inB := b[k]
		ov, inO := base[k]
		sameAs := func(v any, in bool) bool { return in == inO && reflect.DeepEqual(v, ov) }
		switch {
		case inA == inB && reflect.DeepEqual(av, bv), sameAs(bv, inB):
			if inA {
				out[k] = av
			}
		case sameAs(av, inA):
			if inB {
				out[k] = bv
			}
		case inA:
			out[k] = av
		default:
			out[k] = bv
		}
	}
	return out
}
