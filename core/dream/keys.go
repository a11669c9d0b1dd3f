package dream

import (
	"fmt"
	"strings"

	"mem/core/memdir"
	"mem/core/memfile"
	"mem/core/text"
)

// mergeKeys gives a text the frontmatter keys of d that it lacks, and the later of their
// times. rest is what frontmatter has no place for, as a block for the body: another value
// of a key that is there, lists, comments. "" where nothing is left.
func mergeKeys(src string, d *memfile.File) (after, rest string, err error) {
	if d.Front == nil {
		return src, "", nil
	}
	taken := map[int]bool{} // lines of d that are taken care of
	for _, key := range d.Front.Keys {
		after, ok, err := mergeKey(src, d, key)
		if err != nil {
			return "", "", err
		}
		src = after
		if ok {
			for i := d.Text.LineAt(key.Span.Start); i < d.Text.Lines() && d.Text.Line(i).Start < key.Span.End; i++ {
				taken[i] = true
			}
		}
	}
	return src, restOf(src, d, taken), nil
}

// mergeKey brings one key into a text; ok is false where its lines say more than that text.
func mergeKey(src string, d *memfile.File, key memfile.Key) (after string, ok bool, err error) {
	f := memfile.Parse(src)
	have := f.Value(key.Name)
	switch key.Name {
	case memfile.MetadataKey:
		return src, false, nil // its keys come one by one
	case "name", "originSessionId", "node_type":
		return src, true, nil // of the file that goes
	case "modified":
		if f.Front == nil || have == "" || have >= key.Value {
			return src, true, nil // a topic without the stamp does not get one by mending
		}
	default:
		line := strings.TrimSpace(d.Text.Slice(key.Span))
		plain := !strings.Contains(line, "\n") && !strings.Contains(line, "#")
		if have != "" || key.Value == "" || f.Front == nil {
			return src, key.Value != "" && plain && says(folded(src), folded(key.Value)) && (have == key.Value || key.Name == "description" || key.Name == "type"), nil
		}
		ok = plain
	}
	edits, err := f.SetKey(key.Name, key.Value, d.Form())
	if err != nil {
		return "", false, fmt.Errorf("the key %s cannot be taken over: %w", memdir.ShownName(key.Name), err)
	}
	after, made := text.Apply(src, edits)
	if !made {
		return "", false, fmt.Errorf("the key %s cannot be taken over", memdir.ShownName(key.Name))
	}
	return after, ok || key.Name == "modified", nil
}

// restOf gives the lines of a frontmatter that are not taken care of and that a text does
// not have.
func restOf(src string, d *memfile.File, taken map[int]bool) string {
	known := folded(src)
	var lines []string
	for i := d.Text.LineAt(d.Front.YAML.Start); i < d.Text.Lines() && d.Text.Line(i).Start < d.Front.YAML.End; i++ {
		line := strings.TrimRight(d.Text.Slice(d.Text.Line(i)), " \t\r")
		said := strings.TrimSpace(line)
		if taken[i] || said == "" || said == memfile.MetadataKey+":" || says(known, folded(said)) {
			continue
		}
		lines = append(lines, line)
	}
	if len(lines) == 1 {
		if one := strings.TrimSpace(lines[0]); !strings.HasPrefix(one, "#") {
			return one
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return "```yaml\n" + strings.Join(lines, "\n") + "\n```"
}
