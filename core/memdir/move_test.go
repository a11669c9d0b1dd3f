package memdir

import "testing"

func TestRelative(t *testing.T) {
	for _, c := range [][3]string{
		{".", "a.md", "a.md"},
		{".", "b/a.md", "b/a.md"},
		{"b", "b/a.md", "a.md"},
		{"b", "a.md", "../a.md"},
		{"b/c", "b/d/a.md", "../d/a.md"},
		{"b", "bc/a.md", "../bc/a.md"},
	} {
		if got := Relative(c[0], c[1]); got != c[2] {
			t.Errorf("%s seen from %s is %s, want %s", c[1], c[0], got, c[2])
		}
	}
}

// TestMoveFollows: everything that leads to a topic, and everything in it that leads
// elsewhere, follows it.
func TestMoveFollows(t *testing.T) {
	fsys := files(map[string]string{
		"MEMORY.md": "- [a](a.md) — it\n\nSee [it][1] and <a href=\"a.md#x\">it</a>.\n\n[1]: a.md \"title\"\n[other]: b.md\n[words]: about a.md\n",
		"b.md":      "See [it][a], <a href='./a.md'>x</a>, <a href=a.md>y</a>.\n\n[a]: <a.md#top>\n[^1]: a.md\n\n```\n[a]: a.md\n```\n\n`<a href=\"a.md\">`\n",
		"sub/c.md":  "> [a]: ../a.md\n\n<img src=\"../a.md\"> ![p](../a.md)\n",
		"a.md":      "[b]: b.md\n[self]: a.md#here\n[note]: words of prose\n[u]: https://example.com/b.md\n\n![p](img/p.png) <a href=\"b.md\">b</a> <a href=\"#here\">h</a> <img src=\"img/p.png\">\n",
		"img/p.png": "x",
	})
	v := read(t, fsys, nil)
	c, notes, err := v.Move(t.Context(), v.Topic("a.md"), "sub/new name.md")
	if err != nil || len(notes) > 0 {
		t.Fatal(notes, err)
	}
	texts := map[string]string{}
	for p, f := range fsys {
		texts[p] = string(f.Data)
	}
	got, err := c.Apply(texts)
	if err != nil {
		t.Fatal(err)
	}
	for p, want := range map[string]string{
		"MEMORY.md":       "- [a](<sub/new name.md>) — it\n\nSee [it][1] and <a href=\"sub/new%20name.md#x\">it</a>.\n\n[1]: <sub/new name.md> \"title\"\n[other]: b.md\n[words]: about a.md\n",
		"b.md":            "See [it][a], <a href='sub/new%20name.md'>x</a>, <a href=sub/new%20name.md>y</a>.\n\n[a]: <sub/new name.md#top>\n[^1]: a.md\n\n```\n[a]: a.md\n```\n\n`<a href=\"a.md\">`\n",
		"sub/c.md":        "> [a]: <new name.md>\n\n<img src=\"new%20name.md\"> ![p](<new name.md>)\n",
		"sub/new name.md": "[b]: ../b.md\n[self]: <new name.md#here>\n[note]: words of prose\n[u]: https://example.com/b.md\n\n![p](../img/p.png) <a href=\"../b.md\">b</a> <a href=\"#here\">h</a> <img src=\"../img/p.png\">\n",
	} {
		if got[p] != want {
			t.Errorf("%s:\n%s\nwant:\n%s", p, got[p], want)
		}
	}
}
