package language

import (
	"fmt"
	"slices"
	"strings"

	"mem/core/text"
	"mem/diagnostics"
	"mem/diagnostics/rules"
)

// ConfigHover says what stands at offset of a .mem.yaml: what a key or a client
// profile means.
func ConfigHover(t *text.Text, offset int) (Tip, bool) {
	w := writingAt(t, min(max(offset, 0), t.Len()))
	line := w.before + w.after
	key, indent, colon := keyOn(line)
	if colon < 0 || len(w.before) < indent {
		return Tip{}, false
	}
	section, name := w.section(indent), text.Span{Start: w.line.Start + indent, End: w.line.Start + colon}
	if len(w.before) > colon {
		value := strings.TrimSpace(line[colon+1:])
		at := strings.Index(line[colon+1:], value) + colon + 1
		words, ok := clientWords[diagnostics.Client(value)]
		if section != "" || key != "client" || !ok || len(w.before) < at || len(w.before) > at+len(value) {
			return Tip{}, false
		}
		return Tip{"**" + value + "**\n\n" + words, text.Span{Start: w.line.Start + at, End: w.line.Start + at + len(value)}}, true
	}
	for _, s := range settingsIn(section) {
		if s.key == key {
			return Tip{"**" + key + "**\n\n" + s.words, name}, true
		}
	}
	return Tip{}, false
}

// ConfigComplete gives what could be written at offset of a .mem.yaml: keys that are
// not there yet, and the values that a key may have.
func ConfigComplete(t *text.Text, offset int) []Item {
	w := writingAt(t, min(max(offset, 0), t.Len()))
	key, indent, colon := keyOn(w.before + w.after)
	if colon >= 0 && colon < len(w.before) {
		return w.configValues(w.section(indent), key, colon+1)
	}
	typed := w.before[min(indent, len(w.before)):]
	tail := strings.TrimLeft(w.after, keyLetters)
	if colon >= 0 || indent > len(w.before) || strings.Trim(typed, keyLetters) != "" || strings.TrimSpace(tail) != "" {
		return nil
	}
	span := w.from(indent)
	span.End += len(w.after) - len(tail)
	section := w.section(indent)
	has := w.keysIn(section)
	var items []Item
	for _, s := range settingsIn(section) {
		if !slices.Contains(has, s.key) && rank(typed, s.key) >= 0 {
			items = append(items, Item{Label: s.key, Detail: s.detail, Documentation: s.plain, Insert: s.key + s.behind, Filter: s.key, Replace: span, Kind: s.kind})
		}
	}
	slices.SortStableFunc(items, func(a, b Item) int { return rank(typed, a.Label) - rank(typed, b.Label) })
	return items
}

// configValues gives the values of a key whose colon ends at an offset in w.before.
func (w *writing) configValues(section, key string, colon int) []Item {
	typed := strings.TrimLeft(w.before[colon:], " \t")
	if strings.ContainsAny(typed, " \t#{[") {
		return nil
	}
	span := w.from(len(w.before) - len(typed))
	span.End += len(w.after) - len(strings.TrimLeft(w.after, keyLetters))
	space := ""
	if len(w.before) == colon {
		space = " "
	}
	var items []Item
	for _, s := range valuesOf(section, key) {
		if rank(typed, s.key) == 0 {
			items = append(items, Item{Label: s.key, Detail: s.detail, Documentation: s.plain, Insert: space + s.key, Filter: s.key, Replace: span, Kind: ConfigValue})
		}
	}
	return items
}

// section gives the key at the top level below which a line with that indent stands,
// "" where it stands at the top itself.
func (w *writing) section(indent int) string {
	if indent == 0 {
		return ""
	}
	for i := lineAt(w.t, w.offset) - 1; i >= 0; i-- {
		if key, in, colon := keyOn(w.textOf(i)); colon >= 0 && in == 0 {
			return key
		}
	}
	return ""
}

// keysIn gives the keys of a section, or of the top level, but for that on the line
// of the place.
func (w *writing) keysIn(section string) []string {
	var keys []string
	here, in := lineAt(w.t, w.offset), ""
	for i := range w.t.Lines() {
		key, indent, colon := keyOn(w.textOf(i))
		if colon < 0 {
			continue
		}
		if indent == 0 {
			in = key
		}
		if i != here && (section == "" && indent == 0 || section != "" && indent > 0 && in == section) {
			keys = append(keys, key)
		}
	}
	return keys
}

func (w *writing) textOf(line int) string {
	l := w.t.Slice(w.t.Line(line))
	if line == 0 {
		l = strings.TrimPrefix(l, text.BOM)
	}
	return l
}

// setting is a key of .mem.yaml, or a value of one.
type setting struct {
	key    string
	detail string
	words  string // Markdown
	plain  string // the same as plain text
	behind string // what is written behind it
	kind   ItemKind
}

// settingsIn gives the keys of a section, or of the top level.
func settingsIn(section string) []setting {
	var all []setting
	switch section {
	case "":
		for _, s := range []setting{
			{key: "rules", plain: "How severe the findings of each rule are: off, hint, information, warning or error. Safety rules can only be made stricter.", behind: ":"},
			{key: "limits", plain: "The numbers that rules go by.", behind: ":"},
			{key: "client", plain: "Whose limits hold for the index.", behind: ": "},
			{key: "version", plain: "The version of this format. It may be left out.", behind: ": 1"},
		} {
			s.words, s.kind = s.plain, ConfigKey
			all = append(all, s)
		}
	case "rules":
		for _, r := range rules.All() {
			words := r.Summary + fmt.Sprintf("\n\nUnless set: %s.", r.Severity)
			if r.Safety {
				words += " This rule guards safety, so it can only be made stricter."
			}
			all = append(all, setting{key: r.ID, detail: r.Severity.String(), words: words, plain: r.Summary, behind: ": ", kind: RuleID})
		}
	case "limits":
		for _, l := range diagnostics.ConfigLimits() {
			bounds := fmt.Sprintf("From %s to %s %s; unless set, %s.", thousands(l.Min), thousands(l.Max), l.Unit, thousands(l.Default()))
			all = append(all, setting{key: l.Key, detail: fmt.Sprint(l.Default()), words: l.Doc + "\n\n" + bounds, plain: l.Doc + " " + bounds, behind: ": ", kind: ConfigKey})
		}
	}
	return all
}

// valuesOf gives the values of a key that has a closed set of them.
func valuesOf(section, key string) []setting {
	var all []setting
	switch {
	case section == "" && key == "client":
		for _, c := range diagnostics.Clients() {
			all = append(all, setting{key: string(c), plain: clientWords[c]})
		}
	case section == "rules":
		for _, r := range rules.All() {
			for level := diagnostics.Off; r.ID == key && level <= diagnostics.Error; level++ {
				detail := ""
				if level == r.Severity {
					detail = "unless set"
				}
				if r.Admits(level) {
					all = append(all, setting{key: level.String(), detail: detail})
				}
			}
		}
	}
	return all
}

// clientWords says of each client profile what it counts.
var clientWords = map[diagnostics.Client]string{
	diagnostics.AnyClient:  "What every known reader drops of the index is an error, what only some drop a warning.",
	diagnostics.ClaudeCode: "The index is measured as Claude Code does: in lines and UTF-16 units.",
	diagnostics.SeedClient: "The index is measured in lines and bytes.",
}
