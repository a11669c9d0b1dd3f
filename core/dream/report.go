package dream

import (
	"fmt"
	"strings"

	"mem/core/memdir"
)

// Item is one thing that a dream did, or proposes.
type Item struct {
	What    string   `json:"what"`
	Why     string   `json:"why"`
	Sources []string `json:"sources,omitempty"`
}

// Report says what a dream came to: why, and from which source.
type Report struct {
	Engine string `json:"engine"`
	// Merged, Corrected and Dropped are done where the policy lets them; Proposed waits for a
	// person in any case.
	Merged    []Item `json:"merged"`
	Corrected []Item `json:"corrected"`
	Dropped   []Item `json:"dropped"`
	Proposed  []Item `json:"proposed"`
	// Left is what a model or a person has to look at.
	Left []Item `json:"left"`
	// Notes say what was not looked at, and why.
	Notes []string `json:"notes,omitempty"`
	// Before and After tell how full the index was, and will be.
	Before memdir.Fill `json:"indexBefore"`
	After  memdir.Fill `json:"indexAfter"`
	// More counts items that the lists leave out, by list.
	More map[string]int `json:"more,omitempty"`
}

// maxItems bounds each list of a report.
const maxItems = 100

// maxItemText bounds what and why of an item, in characters.
const maxItemText = 400

func (r *Report) bound() {
	for name, list := range map[string]*[]Item{"merged": &r.Merged, "corrected": &r.Corrected, "dropped": &r.Dropped, "proposed": &r.Proposed, "left": &r.Left} {
		if *list == nil {
			*list = []Item{}
		}
		if n := len(*list) - maxItems; n > 0 {
			if r.More == nil {
				r.More = map[string]int{}
			}
			r.More[name] = n
			*list = (*list)[:maxItems]
		}
		for i := range *list {
			x := &(*list)[i]
			x.What, x.Why = memdir.Shortened(x.What, maxItemText), memdir.Shortened(x.Why, maxItemText)
			x.Sources = x.Sources[:min(len(x.Sources), 20)]
		}
	}
	if n := len(r.Notes) - maxItems; n > 0 {
		r.Notes = append(r.Notes[:maxItems:maxItems], fmt.Sprintf("And %d more notes.", n))
	}
}

// Empty reports whether there is nothing to do.
func (r *Report) Empty() bool {
	return len(r.Merged)+len(r.Corrected)+len(r.Dropped)+len(r.Proposed) == 0
}

// Markdown is the report for people.
func (r *Report) Markdown() string {
	var b strings.Builder
	b.WriteString("# Dream\n\n")
	switch {
	case r.Engine == "none":
		b.WriteString("Without a model: what rules and comparison can tell.\n")
	case r.Engine != "":
		fmt.Fprintf(&b, "Engine: %s.\n", memdir.ShownName(r.Engine))
	}
	if r.Empty() {
		b.WriteString("\nThere is nothing to do.\n")
	}
	for _, part := range []struct {
		title, key string
		items      []Item
	}{
		{"Merged", "merged", r.Merged}, {"Corrected", "corrected", r.Corrected}, {"Dropped", "dropped", r.Dropped},
		{"Proposed, for you to decide", "proposed", r.Proposed}, {"Left for you or a model", "left", r.Left},
	} {
		if len(part.items) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n\n", part.title)
		for _, x := range part.items {
			fmt.Fprintf(&b, "- %s", x.What)
			if x.Why != "" {
				fmt.Fprintf(&b, ": %s", x.Why)
			}
			if len(x.Sources) > 0 {
				names := make([]string, len(x.Sources))
				for i, s := range x.Sources {
					names[i] = memdir.ShownName(s)
				}
				fmt.Fprintf(&b, " (from %s)", strings.Join(names, ", "))
			}
			b.WriteByte('\n')
		}
		if n := r.More[part.key]; n > 0 {
			fmt.Fprintf(&b, "- and %d more\n", n)
		}
	}
	if r.After.MaxLines > 0 {
		fmt.Fprintf(&b, "\n## Index\n\n%s before, %s after; readers load %d lines and %d %s.\n", size(r.Before), size(r.After), r.After.MaxLines, r.After.MaxSize, r.After.Unit)
	}
	if len(r.Notes) > 0 {
		b.WriteString("\n## Notes\n\n")
		for _, n := range r.Notes {
			fmt.Fprintf(&b, "- %s\n", n)
		}
	}
	return b.String()
}

func size(f memdir.Fill) string { return fmt.Sprintf("%d lines and %d %s", f.Lines, f.Size, f.Unit) }
