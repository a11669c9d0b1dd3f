package memdir

import (
	"testing"

	"mem/core/memfile"
	"mem/core/text"
)

func TestRelink(t *testing.T) {
	for _, c := range []struct{ src, from, to, want string }{
		{"see [A](a.md#x) and [B](b/c.md)", "MEMORY.md", "b/d.md", "see [A](../a.md#x) and [B](c.md)"},
		{"see [A](a.md), [[a]], [w](https://x.y/a.md), [h](#a), `[A](a.md)`", "MEMORY.md", "b/d.md", "see [A](../a.md), [[a]], [w](https://x.y/a.md), [h](#a), `[A](a.md)`"},
		{"see [A](<a b.md>) and [B](a%20b.md)", "MEMORY.md", "部署/d.md", "see [A](<../a b.md>) and [B](../a%20b.md)"},
		{"see [A](a.md)", "MEMORY.md", "d.md", "see [A](a.md)"},
		{"see [A](../a.md)", "b/x.md", "MEMORY.md", "see [A](a.md)"},
		{"see [A](../../a.md)", "b/x.md", "c/d/e.md", "see [A](../../../a.md)"},
	} {
		tx := text.New(c.src)
		all := text.Span{End: tx.Len()}
		got, ok := text.Apply(c.src, Relink(tx, memfile.Links(tx, all, memfile.OutlineOf(tx, all)), c.from, c.to))
		if !ok || got != c.want {
			t.Errorf("%q from %s to %s: %q, want %q", c.src, c.from, c.to, got, c.want)
		}
	}
}
