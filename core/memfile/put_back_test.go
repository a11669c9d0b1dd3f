package memfile

import (
	"testing"

	"mem/core/text"
)

func TestPutBack(t *testing.T) {
	const n = "- [N](n.md) — as it was\n  with a second line\n"
	const list = "# I\n\n- [A](a.md)\n" + n + "- [B](b.md)\n"
	const sections = "# I\n\n## One\n\n- [A](a.md)\n\n## Two\n\n- [B](b.md)\n" + n + "- [C](c.md)\n\n## Three\n\n- [D](d.md)\n"
	for _, c := range []struct{ name, earlier, src, want string }{
		{"behind the one before it", list, "# I\n\n- [A](a.md)\n- [B](b.md)\n", list},
		{"that was moved", list, "# I\n\n- [B](b.md)\n- [A](a.md)\n", "# I\n\n- [B](b.md)\n- [A](a.md)\n" + n},
		{"before the one behind it", list, "# I\n\n- [X](x.md)\n- [B](b.md)\n", "# I\n\n- [X](x.md)\n" + n + "- [B](b.md)\n"},
		{"the first", n + "- [A](a.md)\n", "- [A](a.md)\n", n + "- [A](a.md)\n"},
		{"the last", "- [A](a.md)\n" + n, "- [A](a.md)\n", "- [A](a.md)\n" + n},
		{"the last, no final newline", "- [A](a.md)\n- [N](n.md)", "- [A](a.md)", "- [A](a.md)\n- [N](n.md)\n"},
		{"CRLF", "- [A](a.md)\r\n- [N](n.md)\r\n- [B](b.md)\r\n", "- [A](a.md)\r\n- [B](b.md)\r\n", "- [A](a.md)\r\n- [N](n.md)\r\n- [B](b.md)\r\n"},
		{"BOM", bom + "- [N](n.md)\n- [B](b.md)\n", bom + "- [B](b.md)\n", bom + "- [N](n.md)\n- [B](b.md)\n"},
		{"nested", "- [A](a.md)\n  - [N](n.md)\n- [B](b.md)\n", "- [A](a.md)\n- [B](b.md)\n", "- [A](a.md)\n  - [N](n.md)\n- [B](b.md)\n"},
		{"behind the details of the one before it", "- [A](a.md)\n  - detail\n- [N](n.md)\n", "- [A](a.md)\n  - detail\n  - another\n", "- [A](a.md)\n  - detail\n  - another\n- [N](n.md)\n"},
		{"above one that stood below it", "- [A](a.md)\n- [N](n.md)\n  - [B](b.md)\n", "- [A](a.md)\n  - [B](b.md)\n", "- [A](a.md)\n- [N](n.md)\n  - [B](b.md)\n"},
		{"in its section", sections, "# I\n\n## One\n\n- [A](a.md)\n\n## Two\n\n- [B](b.md)\n- [C](c.md)\n\n## Three\n\n- [D](d.md)\n", sections},
		{"in its section, the one before it went elsewhere", sections, "# I\n\n## One\n\n- [A](a.md)\n- [B](b.md)\n\n## Two\n\n- [C](c.md)\n\n## Three\n\n- [D](d.md)\n",
			"# I\n\n## One\n\n- [A](a.md)\n- [B](b.md)\n\n## Two\n\n" + n + "- [C](c.md)\n\n## Three\n\n- [D](d.md)\n"},
		{"alone in its section", sections, "# I\n\n## One\n\n- [A](a.md)\n\n## Two\n\n## Three\n\n- [D](d.md)\n",
			"# I\n\n## One\n\n- [A](a.md)\n\n## Two\n\n" + n + "\n## Three\n\n- [D](d.md)\n"},
		{"first in its section, beside others", sections, "## One\n\n## Two\n\n- [X](x.md)\n", "## One\n\n## Two\n\n" + n + "- [X](x.md)\n"},
		{"alone in its section, without blank lines", sections, "## One\n## Two\n## Three\n", "## One\n## Two\n\n" + n + "\n## Three\n"},
		{"alone in its section at the end", sections, "## One\n## Two\n", "## One\n## Two\n\n" + n},
		{"its section went", sections, "# I\n\n- [A](a.md)\n- [D](d.md)\n", "# I\n\n- [A](a.md)\n" + n + "- [D](d.md)\n"},
		{"nothing before it is left", list, "# I\n\nIn a table: | [A](a.md) |\n\n# J\n\n- [X](x.md)\n", "# I\n\n" + n + "\nIn a table: | [A](a.md) |\n\n# J\n\n- [X](x.md)\n"},
		{"nothing of its text is left", list, "# J\n\n- [X](x.md)\n", "# J\n\n" + n + "- [X](x.md)\n"},
		{"there is no list", list, "# J\n", "# J\n\n" + n},
		{"empty", list, "", n},
	} {
		t.Run(c.name, func(t *testing.T) {
			earlier := ParseIndex(c.earlier)
			got, ok := text.Apply(c.src, ParseIndex(c.src).PutBack(earlier, *earlier.Entry("n.md")))
			if !ok || got != c.want {
				t.Errorf("got  %q (%v)\nwant %q", got, ok, c.want)
			}
		})
	}
}
