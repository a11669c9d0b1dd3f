package fixes

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestFirstSentence(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"one sentence", "Run the tests.\n", "Run the tests"},
		{"the first of two", "Run the tests. Then push.", "Run the tests"},
		{"over lines", "Run the\ntests first. Then\npush.", "Run the tests first"},
		{"question", "Who deploys? Anna.", "Who deploys?"},
		{"cry", "Never push! Ask.", "Never push!"},
		{"ellipsis", "And so on... Then more.", "And so on..."},
		{"no end", "Run the tests\n\nThen push.", "Run the tests"},
		{"version and file", "Use go1.26.8 and main.go here. Not 1.25.", "Use go1.26.8 and main.go here"},
		{"abbreviations", "Use e.g. Make, i.e. GNU Make, etc. for this. Yes.", "Use e.g. Make, i.e. GNU Make, etc. for this"},
		{"abbreviation before a capital", "Ask Dr. Who first. Then push.", "Ask Dr. Who first"},
		{"initials", "J. Doe of the U.S. Office decides. Ask first.", "J. Doe of the U.S. Office decides"},
		{"small letter after a dot", "The .env file is no. secret here. Ok.", "The .env file is no. secret here"},
		{"quotes", "He said \"run it.\" Then left.", "He said \"run it.\""},
		{"brackets", "Run it (all of it.) Then push.", "Run it (all of it.)"},
		{"code", "Run `a. B` first. Then push.", "Run `a. B` first"},
		{"an abbreviation ends it", "Tests, docs, etc.", "Tests, docs, etc."},
		{"chinese", "先跑测试。再推送。", "先跑测试"},
		{"chinese question", "谁部署？问她。", "谁部署？"},
		{"chinese quotes", "他说“先跑测试。”再推送。", "他说“先跑测试。”"},
		{"chinese over lines", "先跑测试，\n再推送。", "先跑测试，再推送"},
		{"chinese and english over lines", "先跑\ngo test\n再推送。", "先跑 go test 再推送"},
		{"heading", "# Title\n\nText.", "Text"},
		{"underlined heading", "Title\n=====\n\nText.", "Text"},
		{"underlined heading, dashes", "Title\n---\nText.", "Text"},
		{"rule", "---\n\n* * *\n\nText.", "Text"},
		{"hash is no heading", "#42 is the ticket.", "#42 is the ticket"},
		{"fence", "```sh\nmake\n```\nText.", "Text"},
		{"long fence", "````\n```\nmake\n```\n````\nText.", "Text"},
		{"tildes", "~~~\nmake\n~~~\n\nText.", "Text"},
		{"open fence", "```\nmake\n", ""},
		{"indented code", "\n    make\n\nText.", "Text"},
		{"comment", "<!-- a\n\nb -->\nText.", "Text"},
		{"open comment", "<!-- a\n\nText.", ""},
		{"comment in a line", "Text <!-- not --> here.", "Text here"},
		{"tag", "<details>\n\nText.", "Text"},
		{"table", "| a |\n|---|\n| b |\n\nText.", "Text"},
		{"item", "- Run the tests\n- push", "Run the tests"},
		{"item, number", "1) Run the tests", "Run the tests"},
		{"item, box", "* [x] Run the tests", "Run the tests"},
		{"item goes on", "- Run the\n  tests. Push.", "Run the tests"},
		{"quote", "> Run the tests.\n> Push.", "Run the tests"},
		{"quoted heading", "> # Title\n> Text.", "Text"},
		{"bold", "**Why:** it broke. Twice.", "Why: it broke"},
		{"emphasis", "Run *all* the _slow_ tests of a_b_c.", "Run all the slow tests of a_b_c"},
		{"strike", "Run ~~no~~ tests.", "Run no tests"},
		{"link", "See [the [old] tests](a(b).md \"t\") here.", "See the [old] tests here"},
		{"angle link", "See [tests](<a b.md>) here.", "See tests here"},
		{"wiki", "See [[run-tests]] and [[a|the b]].", "See run-tests and the b"},
		{"address", "See <https://example.org/a.b> there.", "See https://example.org/a.b there"},
		{"image", "![x](y.png)\n\nText.", "Text"},
		{"badge", "[![x](y.png)](z)\n\nText.", "Text"},
		{"colon", "Steps:\n\n1. test\n2. push", "Steps: test"},
		{"colon alone", "Steps:", "Steps"},
		{"hidden characters", "Run\u200b the\u202e tests.", "Run the tests"},
		{"joined emoji", "The 👩‍💻 decides.", "The 👩‍💻 decides"},
		{"not UTF-8", "Run \xff tests.", ""},
		{"NUL", "Run\x00 it.", "Run it"},
		{"marks alone", "- - -\n***\n!!!", ""},
		{"empty", "", ""},
		{"blank", " \r\n\t\n", ""},
		{"CRLF", "# T\r\n\r\nRun the\r\ntests. Push.\r\n", "Run the tests"},
		{"word", strings.Repeat("word ", 40), strings.Repeat("word ", 29) + "word…"},
		{"no spaces", strings.Repeat("测", 200), strings.Repeat("测", 149) + "…"},
		{"chinese comma", strings.Repeat("测", 140) + "，" + strings.Repeat("试", 60), strings.Repeat("测", 140) + "…"},
	} {
		if got := FirstSentence(c.body); got != c.want {
			t.Errorf("%s: %q gives %q, want %q", c.name, c.body, got, c.want)
		}
	}
}

// A description is one line of at most 150 characters, whatever a body holds.
func TestFirstSentenceIsALine(t *testing.T) {
	piece := rapid.SampledFrom([]string{"a", "Word ", ". ", "。", "! ", ": ", "\n", "\n\n", "# ", "- ", "> ", "`", "```\n", "<!--", "-->", "[a](b)", "[[", "]]",
		"**", "_", "    ", "\t", "\r\n", "测试", "🧪", "👩‍💻", "e\u0301", "\u200b", "\xff", "---\n", "| ", "e.g. "})
	rapid.Check(t, func(t *rapid.T) {
		got := FirstSentence(strings.Join(rapid.SliceOfN(piece, 0, 120).Draw(t, "body"), ""))
		if strings.ContainsAny(got, "\r\n") || utf8.RuneCountInString(got) > sentenceLength || !utf8.ValidString(got) || strings.TrimSpace(got) != got {
			t.Fatalf("%q", got)
		}
	})
}

// Text without an end, or with nothing but what is passed over, takes linear time.
func TestFirstSentenceIsLinear(t *testing.T) {
	for _, piece := range []string{"a:\n\n", "[a](", "- \n", "# a\n", "<!--", "* a", "[[a", "`", "a. ", "**a", "![", "<a>\n", "e.g. "} {
		FirstSentence(strings.Repeat(piece, 1<<20/len(piece)))
	}
}
