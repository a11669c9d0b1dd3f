package proposal

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mem/core/memfile"
)

// TestUnitsAreIndependent: a change is cut into units of which any go together, and of
// which all together are the change. What is compared of the index are its lines: new
// entries may stand in another order.
func TestUnitsAreIndependent(t *testing.T) {
	lines := func(s string) []string {
		var out []string
		for l := range strings.Lines(s) {
			if l = strings.TrimSpace(l); l != "" {
				out = append(out, l)
			}
		}
		slices.Sort(out)
		return out
	}
	rapid.Check(t, func(rt *rapid.T) {
		base := some()
		to := map[string]string{}
		index := strings.SplitAfter(base["MEMORY.md"], "\n")
		at := func() int { return rapid.IntRange(1, len(index)-1).Draw(rt, "at") }
		drop := func(name string) {
			index = slices.DeleteFunc(index, func(l string) bool { return strings.Contains(l, "]("+name+".md)") })
		}
		for i := range rapid.IntRange(1, 8).Draw(rt, "steps") {
			name := fmt.Sprintf("t%d", rapid.IntRange(0, 9).Draw(rt, "topic"))
			switch rapid.SampledFrom([]string{"create", "edit", "delete", "entry", "remark", "drop", "move"}).Draw(rt, "op") {
			case "create":
				p := fmt.Sprintf("n%d", i)
				to[p+".md"] = topic(p, "new")
				index = slices.Insert(index, at(), fmt.Sprintf("- [%s](%s.md) — new\n", p, p))
			case "edit":
				if _, gone := to[name+".md"]; !gone {
					to[name+".md"] = strings.Replace(base[name+".md"], "b of", "edited", 1)
				}
			case "delete":
				to[name+".md"] = ""
				drop(name)
			case "entry":
				for j, l := range index {
					index[j] = strings.Replace(l, "about "+name+"\n", "says more of "+name+"\n", 1)
				}
			case "remark":
				index = slices.Insert(index, at(), fmt.Sprintf("\nRemark %d.\n\n", i))
			case "drop":
				drop(name)
			case "move":
				j := at()
				l := index[j]
				index = slices.Delete(index, j, j+1)
				index = slices.Insert(index, min(at(), len(index)), l)
			}
			if len(index) < 3 {
				index = append(index, "\n", "\n")
			}
		}
		to["MEMORY.md"] = strings.Join(index, "")
		c := changeOf(to)
		want, err := c.Apply(base)
		if err != nil {
			rt.Fatal(err)
		}
		units := Split(c)
		for _, some := range []bool{false, true} {
			var chosen []*Unit
			for i := range units {
				if !some || rapid.Bool().Draw(rt, "chosen") {
					chosen = append(chosen, &units[i])
				}
			}
			joined, taken, clashes := join(chosen)
			if len(clashes) > 0 || len(taken) != len(chosen) {
				for u, v := range clashes {
					rt.Errorf("%s: %s", u.Title, v.note())
				}
				rt.FailNow()
			}
			got, err := joined.Apply(base)
			if err != nil {
				rt.Fatal(err)
			}
			if some {
				// What was not chosen is as it was.
				for _, u := range units {
					path := u.Change.Files[0].Path
					chose := slices.ContainsFunc(taken, func(t *Unit) bool { return t.ID == u.ID })
					if !chose && path != "MEMORY.md" && got[path] != base[path] {
						rt.Fatalf("%s was not chosen, and %s is %q", u.Title, path, got[path])
					}
				}
				continue
			}
			for p, s := range want {
				if p != "MEMORY.md" && got[p] != s {
					rt.Fatalf("%s is %q, want %q", p, got[p], s)
				}
			}
			if a, b := lines(got["MEMORY.md"]), lines(want["MEMORY.md"]); !slices.Equal(a, b) {
				rt.Fatalf("the index is\n%s\nwant\n%s", got["MEMORY.md"], want["MEMORY.md"])
			}
			x := memfile.ParseIndex(got["MEMORY.md"])
			for _, e := range memfile.ParseIndex(want["MEMORY.md"]).Entries {
				if x.Entry(e.Target) == nil {
					rt.Fatalf("the entry of %s is lost", e.Target)
				}
			}
		}
	})
}
