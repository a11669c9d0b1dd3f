package fixes

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestCutSummary(t *testing.T) {
	for _, c := range []struct{ s, short, rest string }{ // room 40
		{"short enough", "short enough", ""},
		{"Use tabs for indentation. Spaces break the formatter.", "Use tabs for indentation.", "Spaces break the formatter."},
		{"Use tabs, e.g. In Go files and makefiles; spaces break it.", "Use tabs, e.g. In Go files and makefiles", "Use tabs, e.g. In Go files and makefiles; spaces break it."},
		{"One. Two is a sentence that goes on and on, with clauses, to the end", "One. Two is a sentence that goes on and…", "Two is a sentence that goes on and on, with clauses, to the end"},
		{"First the plan is made, then it is carried out by all", "First the plan is made", "First the plan is made, then it is carried out by all"},
		{"No, this is a line without anything to cut at but words", "No, this is a line without anything to…", "No, this is a line without anything to cut at but words"},
		{"see `a, b; c. D, e and f, and much more of it` for it", "see…", "see `a, b; c. D, e and f, and much more of it` for it"},
		{"see [the page, of which. There are many](x.md) for it", "see…", "see [the page, of which. There are many](x.md) for it"},
		{"**all of this is strong, and may not. Be cut** at all", "", "**all of this is strong, and may not. Be cut** at all"},
		{"the build (make, then test, then lint, then push) is slow", "the build (make, then test, then lint…", "the build (make, then test, then lint, then push) is slow"},
		{"先在测试环境部署。再检查日志，确认没有错误之后才能部署到生产环境，否则要回滚。请不要跳过这一步。", "先在测试环境部署。再检查日志，确认没有错误之后才能部署到生产环境，否则要回滚。", "请不要跳过这一步。"},
		{"先在测试环境部署再检查日志确认没有错误之后才能部署到生产环境否则要回滚请不要跳过这一步骤", "先在测试环境部署再检查日志确认没有错误之后才能部署到生产环境否则要回滚请不要跳…", "先在测试环境部署再检查日志确认没有错误之后才能部署到生产环境否则要回滚请不要跳过这一步骤"},
		{"https://example.com/a/very/long/path/that/has/no/place/to/cut/it", "", "https://example.com/a/very/long/path/that/has/no/place/to/cut/it"},
		{"a_b_c and snake_case_names stay — as they are in the code", "a_b_c and snake_case_names stay", "a_b_c and snake_case_names stay — as they are in the code"},
	} {
		short, rest := cutSummary(c.s, 40, 0)
		if short != c.short || rest != c.rest {
			t.Errorf("%q:\n got %q | %q\nwant %q | %q", c.s, short, rest, c.short, c.rest)
		}
	}
	if short, rest := cutSummary("a, [B](b.md), [C](c.md) and what they all say of the one thing that counts", 30, 23); short != "a, [B](b.md), [C](c.md) and…" || !strings.HasPrefix(rest, "a, ") {
		t.Errorf("%q | %q", short, rest)
	}
}

// TestCutSummaryLosesNothing: the short text is a start of the whole one that ends
// between words, and the two together say all of it.
func TestCutSummaryLosesNothing(t *testing.T) {
	piece := rapid.OneOf(rapid.SampledFrom([]string{" ", ". ", ", ", "; ", " — ", "。", "，", "`", "**", "_", "[", "](a.md)", "[[x]]", "(", ")", "\"", "e.g. ", "部署", "测试", "👩‍👧", "\xff", "\\", "…"}),
		rapid.StringMatching(`[A-Za-z0-9]{1,12}`))
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(strings.Fields(strings.Join(rapid.SliceOfN(piece, 0, 60).Draw(t, "s"), "")), " ")
		room := rapid.IntRange(1, 80).Draw(t, "room")
		short, rest := cutSummary(s, room, 0)
		if utf8.RuneCountInString(short) > room {
			t.Fatalf("%q has more than %d characters", short, room)
		}
		head := strings.TrimSuffix(short, "…")
		if !strings.HasPrefix(s, head) && short != s {
			t.Fatalf("%q does not start %q", short, s)
		}
		if rest == "" && short != s {
			t.Fatalf("%q lost the rest of %q", short, s)
		}
		if !strings.HasSuffix(s, rest) {
			t.Fatalf("%q does not end %q", rest, s)
		}
		if short != s && strings.TrimSpace(s[len(head):len(s)-min(len(rest), len(s)-len(head))]) != "" {
			t.Fatalf("%q and %q do not say all of %q", short, rest, s)
		}
		if short != s && head != "" {
			a, _ := utf8.DecodeLastRuneInString(head)
			b, _ := utf8.DecodeRuneInString(s[len(head):])
			if a < 0x80 && b < 0x80 && wordRune(a) && wordRune(b) {
				t.Fatalf("%q cuts a word of %q", short, s)
			}
		}
	})
}
