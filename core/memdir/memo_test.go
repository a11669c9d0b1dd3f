package memdir

import (
	"context"
	"testing"
	"testing/fstest"
)

// What is made of the heads of topics is made once for as long as these stay the same,
// whatever is typed in an index or a body, and again when one changes.
func TestMemo(t *testing.T) {
	topic := func(name string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("---\nname: " + name + "\ntype: user\n---\n\nbody\n")}
	}
	base := fstest.MapFS{"MEMORY.md": {Data: []byte("- [a](a.md) — a\n")}, "a.md": topic("alpha"), "b.md": topic("beta")}
	cache := NewCache()
	made := 0
	type key struct{}
	names := func(v *View) (out []string) {
		t.Helper()
		return v.Memo(key{}, func(topics []*Topic) any {
			made++
			var names []string
			for _, topic := range topics {
				names = append(names, topic.Name())
			}
			return names
		}).([]string)
	}
	read := func(index, b string) *View {
		t.Helper()
		buffers := map[string]Buffer{"MEMORY.md": {Text: index}, "b.md": {Text: b}}
		v, err := Read(context.Background(), Overlay(base, buffers), cache, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	v := read("- [a](a.md) — a\n", string(base["b.md"].Data))
	want := func(v *View, second string, times int) {
		t.Helper()
		if got := names(v); len(got) != 2 || got[1] != second || made != times {
			t.Errorf("%q, made %d times; want %q and %d", got, made, second, times)
		}
	}
	want(v, "beta", 1)
	want(v, "beta", 1)

	typed, ok := v.Typed(context.Background(), map[string]Buffer{"MEMORY.md": {Text: "- [a](a.md) — ab\n"}, "b.md": {Text: string(base["b.md"].Data)}})
	if !ok {
		t.Fatal("a whole Read is needed")
	}
	want(typed, "beta", 1)
	if got := typed.Nearest("betta", 1); len(got) != 1 || got[0].Name() != "beta" {
		t.Errorf("nearest: %v", got)
	}

	other, ok := typed.Typed(context.Background(), map[string]Buffer{"MEMORY.md": {Text: "- [a](a.md) — ab\n"}, "b.md": {Text: "---\nname: gamma\ntype: user\n---\n\nbody\n"}})
	if !ok {
		t.Fatal("a whole Read is needed")
	}
	want(other, "gamma", 2)
	if got := other.Nearest("betta", 1); len(got) != 0 {
		t.Errorf("nearest of a name that is no more: %v", got[0].Name())
	}
	if got := other.Lookup("gamma"); len(got) != 1 {
		t.Errorf("the new name is not known: %v", got)
	}
	// The views before are as they were.
	if got := typed.Lookup("beta"); len(got) != 1 || typed.Topic("b.md").Name() != "beta" {
		t.Errorf("the earlier View changed: %v", got)
	}
}
