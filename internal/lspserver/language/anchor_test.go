package language

import (
	"slices"
	"testing"

	"mem/core/memfile"
)

func TestSlugs(t *testing.T) {
	var hs []memfile.Heading
	var want []string
	for _, c := range [][2]string{
		{"Why", "why"},
		{"How to apply it?", "how-to-apply-it"},
		{"Why", "why-1"},
		{"why 1", "why-1-1"},
		{"Why", "why-2"},
		{"C++ & `go vet`", "c--go-vet"},
		{"snake_case and kebab-case", "snake_case-and-kebab-case"},
		{"为什么 😀 重要", "为什么--重要"},
		{"[Style](style.md#x) and [[name]]", "style-and-name"},
		{"v1.2.3", "v123"},
		{"Élan vital", "élan-vital"},
		{"!!!", ""},
		{"", "-1"},
	} {
		hs = append(hs, memfile.Heading{Text: c[0]})
		want = append(want, c[1])
	}
	if got := slugsOf(hs); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestSlugsOfManyAlike has time linear in the number of headings.
func TestSlugsOfManyAlike(t *testing.T) {
	hs := make([]memfile.Heading, 100_000)
	for i := range hs {
		hs[i].Text = "Same"
	}
	if got := slugsOf(hs); got[99_999] != "same-99999" {
		t.Error(got[99_999])
	}
}
