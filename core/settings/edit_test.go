package settings

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestEditConfig(t *testing.T) {
	engine := []Setting{{"engine", "provider"}}
	url := []Setting{{"engines.provider.base_url", "http://127.0.0.1:8080/v1"}}
	for name, c := range map[string]struct {
		before string
		set    []Setting
		want   string // "!" and words of the error
	}{
		"empty":            {"", engine, "engine: provider\n"},
		"comments alone":   {"# mine\n", engine, "# mine\nengine: provider\n"},
		"no line end":      {"engine: auto", engine, "engine: provider"},
		"replaced":         {"# a\nengine: auto   # why\n\nlimits:\n  index_lines: 100\n", engine, "# a\nengine: provider   # why\n\nlimits:\n  index_lines: 100\n"},
		"quoted":           {"engine: \"auto\" # x\n", engine, "engine: provider # x\n"},
		"single quotes":    {"engine: 'auto'\n", engine, "engine: provider\n"},
		"appended":         {"limits:\n  index_lines: 100 # n\n", engine, "limits:\n  index_lines: 100 # n\nengine: provider\n"},
		"CRLF":             {"limits:\r\n  index_lines: 100\r\n", engine, "limits:\r\n  index_lines: 100\r\nengine: provider\r\n"},
		"CRLF replaced":    {"engine: auto\r\n", engine, "engine: provider\r\n"},
		"a whole path":     {"engine: auto\n", url, "engine: auto\nengines:\n  provider:\n    base_url: http://127.0.0.1:8080/v1\n"},
		"into a section":   {"engines:\n    # the model\n    provider:\n        model: m # mine\n", url, "engines:\n    # the model\n    provider:\n        base_url: http://127.0.0.1:8080/v1\n        model: m # mine\n"},
		"into another":     {"engines:\n  command:\n    name: claude\n", url, "engines:\n  provider:\n    base_url: http://127.0.0.1:8080/v1\n  command:\n    name: claude\n"},
		"an empty section": {"engines:\nengine: auto\n", url, "engines:\n  provider:\n    base_url: http://127.0.0.1:8080/v1\nengine: auto\n"},
		"a value alike":    {"engines:\n  provider:\n    model: base_url\n", url, "engines:\n  provider:\n    base_url: http://127.0.0.1:8080/v1\n    model: base_url\n"},
		"needs quotes":     {"", []Setting{{"engines.provider.key_command", `security find -s "x: #1"`}}, "engines:\n  provider:\n    key_command: \"security find -s \\\"x: #1\\\"\"\n"},
		"emptied":          {"engines:\n  provider:\n    base_url: http://x\n", []Setting{{"engines.provider.base_url", ""}}, "engines:\n  provider:\n    base_url: \"\"\n"},
		"empty braces":     {"engines: {}\n", url, "!in braces"},
		"flow":             {"engines: {provider: {model: m}}\n", url, "!in braces"},
		"broken":           {"engine: [\n", engine, "!mend them first"},
		"unknown keys":     {"enigne: auto\n", engine, "!mend them first"},
		"several lines":    {"engine: >\n  auto\n", engine, "!"},
		"another line":     {"engine:\n  auto\n", engine, "!another line"},
		"not allowed":      {"", []Setting{{"engine", "magic"}}, "!magic"},
		"no key":           {"", []Setting{{"engin", "auto"}}, "!no such key"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := EditConfig("config.yaml", []byte(c.before), c.set)
			if words, fails := strings.CutPrefix(c.want, "!"); fails {
				if err == nil || !strings.Contains(err.Error(), words) {
					t.Errorf("%q, %v", got, err)
				}
				return
			}
			if err != nil || string(got) != c.want {
				t.Errorf("%v\n%s", err, got)
			}
		})
	}
}

// TestEditConfigKeepsTheRest sets random keys in the example with all keys, and in what
// came of that.
func TestEditConfigKeepsTheRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(rapid.SampledFrom([]string{"", "# mine\n", Example(), strings.ReplaceAll(Example(), "\n", "\r\n")}).Draw(t, "begin"))
		for range rapid.IntRange(1, 5).Draw(t, "edits") {
			key := rapid.SampledFrom([]string{"engines.provider.model", "engines.provider.key_command", "engines.command.path"}).Draw(t, "key")
			value := rapid.StringMatching(`[ -~äß漢]{0,20}`).Draw(t, "value")
			got, err := EditConfig("c", text, []Setting{{key, value}})
			if err != nil {
				t.Fatalf("%s = %q: %v\n%s", key, value, err, text)
			}
			if before := others(text); strings.Contains(before, "  command:") && strings.Contains(before, "  provider:") && before != others(got) {
				t.Fatalf("%s = %q changed other lines:\n%s\n%s", key, value, text, got)
			}
			text = got
		}
	})
}

// others gives the lines in which none of the keys stands that the test sets.
func others(text []byte) string {
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 0 && (f[0] == "model:" || f[0] == "key_command:" || f[0] == "path:") {
			continue
		}
		b.WriteString(line)
	}
	return b.String()
}
