package stage

import (
	"strings"
	"testing"
)

// TestEntriesComeBackWhereTheyWere: what an agent took out of the index and may not, a
// pinned topic's entry and that of one whose deletion is refused, stands where it stood.
func TestEntriesComeBackWhereTheyWere(t *testing.T) {
	const index = "# Memory\n\n## Work\n\n- [alpha](alpha.md) — about alpha\n- [kept](kept.md) — pinned\n  and this says why\n- [gamma](gamma.md) — about gamma\n\n## Home\n\n- [beta](sub/beta.md) — about beta\n"
	for name, c := range map[string]struct{ took, want string }{
		"pinned": {strings.Replace(index, "- [kept](kept.md) — pinned\n  and this says why\n", "", 1), index},
		"with those near": {"# Memory\n\n## Work\n\n## Home\n\n- [beta](sub/beta.md) — about beta\n- [alpha](alpha.md) — about alpha\n- [gamma](gamma.md) — about gamma\n",
			"# Memory\n\n## Work\n\n- [kept](kept.md) — pinned\n  and this says why\n\n## Home\n\n- [beta](sub/beta.md) — about beta\n- [alpha](alpha.md) — about alpha\n- [gamma](gamma.md) — about gamma\n"},
	} {
		t.Run(name, func(t *testing.T) {
			files := some()
			files["MEMORY.md"] = index
			w := newWorld(t, files)
			s := w.make(Options{})
			write(t, s.Dir()+"/MEMORY.md", c.took)
			r := result(t, s)
			if len(r.Refused) != 1 || !strings.Contains(r.Refused[0].Reason, "pinned") {
				t.Errorf("refused: %+v", r.Refused)
			}
			if _, err := w.m.Apply(t.Context(), r.Change); err != nil {
				t.Fatal(err)
			}
			if got := w.files()["MEMORY.md"]; got != c.want {
				t.Errorf("the index is\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}
