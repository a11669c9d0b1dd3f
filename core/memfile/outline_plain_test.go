package memfile

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mem/core/text"
)

// pieces are what Markdown is made of, and what makes it hard to read.
var pieces = []string{
	"# A", "## B b", "### C ##", "#no", "#", "####### seven", " # in", "- # item", "> # quote", "#\tt", "# `c`", "# \\#",
	"text", "more `code` text", "a ``b ` c`` d", "open `", "close ` it", "\\` no", "`\\` x", "\\\\`y`", "``", "[l](x.md)", "[[w]]", "文 `字`",
	"- a", "* b", "+ c", "1. d", "12) e", "123456789. f", "1234567890. g", "-", "- ", "*", "  cont", "   three", "    four", "- - n", "> - q", "- > r", "> > s", "* * *", "- - - -", "---", "***", "===", " ==", "--", "- ---",
	">", "> quote", ">     code", "-     code", "-    four", "  - nested", "   - deeper", "\tx", " \t", "-\tx", "> \tx",
	"```", "````", "``` go", "```  sh x ", "~~~", "~~~ `x`", "``` a`b", "``` ```", " ```", "- ```", "> ```", "  ```", "```x", "~~~~", "~~", "```\t", "``` \t", "\t```",
	"<b>x</b>", "<!-- c -->", "a <!-- b", "-->", "<div>", "- <p>", "x < y", "|a|`b`|", "[a]: b", "", "", "", "", " ", "\ufeff",
}

// TestPlainOutline: what is told line by line is what goldmark finds, in every order
// of the pieces.
func TestPlainOutline(t *testing.T) {
	rounds := 200_000
	if testing.Short() {
		rounds = 20_000
	}
	r := rand.New(rand.NewPCG(1, 2))
	plain := 0
	for range rounds {
		var b strings.Builder
		for range 1 + r.IntN(8) {
			b.WriteString(pieces[r.IntN(len(pieces))])
			if r.IntN(40) > 0 {
				b.WriteString("\n")
			}
		}
		if samePlain(t, b.String()) {
			plain++
		}
		if t.Failed() {
			return
		}
	}
	if plain < rounds/20 {
		t.Errorf("only %d of %d texts were plain", plain, rounds)
	}
}

// samePlain compares both ways to the outline of a text, and reports whether it is
// plain.
func samePlain(t *testing.T, src string) bool {
	tx := text.New(src)
	part := text.Span{End: tx.Len()}
	if tx.HasBOM() {
		part.Start = len(text.BOM)
	}
	got, ok := plainOutline(tx, part)
	if !ok {
		return false
	}
	if d := cmp.Diff(outlineByBlocks(tx, part), got); d != "" {
		t.Errorf("%q (-goldmark +plain):\n%s", src, d)
	}
	return true
}

func FuzzPlainOutline(f *testing.F) {
	for _, s := range pieces {
		f.Add("a\n" + s + "\nb\n")
	}
	f.Fuzz(func(t *testing.T, src string) { samePlain(t, src) })
}

// Memories as they are written are plain: that is what the speed rests on.
func TestMemoriesArePlain(t *testing.T) {
	for _, src := range []string{
		"# Memory\n\n## Build\n\n- [A](a.md) — `make` all\n- **[B](b.md)** — x\n  - nested\n\n1. one\n",
		"---\nname: a\n---\n\n**Why:** x.\n\n```go\nfunc f() {\n\treturn\n}\n```\n\n> quoted\n\n| a | b |\n|---|---|\n| `c` | d |\n",
	} {
		f := Parse(src)
		if _, ok := plainOutline(f.Text, f.Body); !ok {
			t.Errorf("%q is not plain", src)
		}
	}
}

func BenchmarkPlainOutline(b *testing.B) {
	src := "# Part\n\n" + strings.Repeat("Some words with `code` and [a link](a.md).\n\n- one\n- two\n\n```sh\nmake\n```\n\n## More\n\n", 20)
	tx := text.New(src)
	part := text.Span{End: len(src)}
	b.Run("plain", func(b *testing.B) {
		for b.Loop() {
			if _, ok := plainOutline(tx, part); !ok {
				b.Fatal("not plain")
			}
		}
	})
	b.Run("blocks", func(b *testing.B) {
		for b.Loop() {
			outlineByBlocks(tx, part)
		}
	})
}
