package dream

import (
	"fmt"
	"slices"
	"strings"

	"mem/core/memdir"
	"mem/core/proposal"
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
			rarestFirst(*list)
			if r.More == nil {
				r.More = map[string]int{}
			}
			r.More[name] += n
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

// likes is how many items of one reason a list keeps at least before others of that reason
// make room for other reasons.
const likes = 20

// rarestFirst puts items whose reason many others have behind the rest, so that a list that
// is cut still has something of everything.
func rarestFirst(list []Item) {
	n := map[string]int{}
	late := make([]bool, len(list))
	for i, x := range list {
		n[x.Why]++
		late[i] = n[x.Why] > likes
	}
	var first, rest []Item
	for i, x := range list {
		if late[i] {
			rest = append(rest, x)
		} else {
			first = append(first, x)
		}
	}
	copy(list, append(first, rest...))
}

// waits moves what units do, which wait, to what is proposed.
func (r *Report) waits(units []proposal.Unit) {
	held := map[string]bool{}
	for _, u := range units {
		for _, f := range u.Change.Files {
			held[memdir.ShownName(f.Path)] = true
		}
	}
	var proposed, done []Item
	for _, x := range r.Corrected {
		if held[x.What] {
			proposed = append(proposed, x)
		} else {
			done = append(done, x)
		}
	}
	r.Corrected, r.Proposed = done, append(proposed, r.Proposed...)
	r.bound()
}

// told says in the report what of the outcome waits under a policy.
func (o *Outcome) told(policy proposal.Policy) {
	if policy != proposal.Apply { // what would be merged waits with the rest
		o.Report.Proposed = append(slices.Clone(o.Report.Merged), o.Report.Proposed...)
		o.Report.Merged, o.Report.Dropped = []Item{}, []Item{}
		if n := o.Report.More["merged"]; n > 0 {
			o.Report.More["proposed"] += n
		}
		delete(o.Report.More, "merged")
		delete(o.Report.More, "dropped")
	}
	var held []proposal.Unit
	for _, u := range o.Apply {
		if policy == proposal.Review || policy == proposal.HoldDeletions && u.Deletes {
			held = append(held, u)
		}
	}
	o.Report.waits(held)
}

// gathered gives items of one reason as one, for people: the same said of forty files is
// read once.
func gathered(items []Item) (out []Item) {
	at := map[string]int{}
	names := map[int][]string{}
	for _, x := range items {
		i, known := at[x.Why]
		if !known || x.Why == "" || len(x.Sources) > 0 || len(out[i].Sources) > 0 {
			at[x.Why] = len(out)
			i = len(out)
			out = append(out, x)
		}
		names[i] = append(names[i], x.What)
	}
	for i := range out {
		all := names[i]
		out[i].What = strings.Join(all[:min(len(all), maxNames)], ", ")
		if n := len(all) - maxNames; n > 0 {
			out[i].What += fmt.Sprintf(" and %d more", n)
		}
	}
	return out
}

// maxNames is how many places are named that one thing is said of.
const maxNames = 20

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
		for _, x := range gathered(part.items) {
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
