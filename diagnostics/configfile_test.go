package diagnostics_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/santhosh-tekuri/jsonschema/v5"
	"go.yaml.in/yaml/v4"

	"mem/diagnostics"
	"mem/diagnostics/rules"
	"mem/internal/cputime"
)

func parse(src string) *diagnostics.Config {
	return diagnostics.ParseConfig(diagnostics.ConfigName, src, rules.All(), diagnostics.DefaultConfig())
}

// told gives the problems as "what they stand at: what they say".
func told(c *diagnostics.Config) []string {
	var out []string
	for _, p := range c.Problems {
		out = append(out, fmt.Sprintf("%s: %s", p.Text.Slice(p.Span), p.Message))
	}
	return out
}

func TestConfigFile(t *testing.T) {
	c := parse("# ours\nversion: 1\nrules:\n  broken-link: warning\n  'entry-too-long': off\n  instruction-text: error\n  configuration: hint\nlimits:\n  index_lines: 150\n  index_bytes: 20000\n" +
		"  entry_length: 120\n  description_length: 100\n  scan_lines: 20\n  topics: 100\n  stale_days: 30\n  reference_bytes: 2048\n  near_percent: 80\nclient: claude-code\n")
	want := &diagnostics.Config{
		Severities: map[string]diagnostics.Severity{"broken-link": diagnostics.Warning, "entry-too-long": diagnostics.Off, "instruction-text": diagnostics.Error, "configuration": diagnostics.Hint},
		Limits: diagnostics.Limits{IndexLines: 150, IndexSize: 20000, NearPercent: 80, EntryLength: 120, ScanLines: 20, Topics: 100,
			DescriptionLength: 100, StaleDays: 30, ReferenceBytes: 2048},
		Client: diagnostics.ClaudeCode,
	}
	if d := cmp.Diff(want, c); d != "" {
		t.Errorf("config (-want +got):\n%s", d)
	}
	for _, empty := range []string{"", "# only a comment\n", "---\n", "rules:\nlimits: {}\n", "~\n", "version: 1", "\ufeff# marked\r\nversion: 1\r\n", "--- {version: 1}\n...\n"} {
		if d := cmp.Diff(diagnostics.DefaultConfig(), parse(empty), cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%q says something (-want +got):\n%s", empty, d)
		}
	}
}

// TestConfigOverConfig: the file that is read later wins, key by key, and leaves the
// earlier configuration alone.
func TestConfigOverConfig(t *testing.T) {
	base := diagnostics.DefaultConfig()
	outer := diagnostics.ParseConfig("/p/.mem.yaml", "rules: {broken-link: hint, orphan-topic: off, no-rule: off}\nlimits: {index_lines: 100, topics: 50}\nclient: seed\n", rules.All(), base)
	inner := diagnostics.ParseConfig(".mem.yaml", "rules: {broken-link: error}\nlimits: {topics: 60}\nno: 1\n", rules.All(), outer)
	if inner.Limits.IndexLines != 100 || inner.Limits.Topics != 60 || inner.Client != diagnostics.SeedClient || inner.Severities["broken-link"] != diagnostics.Error {
		t.Errorf("config = %+v", inner)
	}
	if s, ok := inner.Severities["orphan-topic"]; !ok || s != diagnostics.Off {
		t.Errorf("severities = %v", inner.Severities)
	}
	if len(inner.Problems) != 2 || inner.Problems[0].Path != "/p/.mem.yaml" || inner.Problems[1].Path != ".mem.yaml" {
		t.Errorf("problems = %+v", inner.Problems)
	}
	if len(outer.Problems) != 1 || outer.Severities["broken-link"] != diagnostics.Hint || outer.Limits.Topics != 50 || base.Severities != nil || len(base.Problems) > 0 {
		t.Error("an earlier configuration was changed")
	}
}

func TestConfigProblems(t *testing.T) {
	for _, tc := range []struct{ src, want string }{
		{"ruls: {}\n", "ruls: There is no key ruls, so this has no effect. Did you mean rules?"},
		{"engine: none\n", "engine: There is no key engine, so this has no effect. The keys are version, rules, limits, client."},
		{"rules: {brokn-link: off}\n", "brokn-link: There is no rule brokn-link, so this has no effect. Did you mean broken-link?"},
		{"rules: {nothing-like-it: off}\n", "nothing-like-it: There is no rule nothing-like-it, so this has no effect. \"mem-lsp rules\" lists the rules."},
		{"limits: {index_lnies: 3}\n", "index_lnies: There is no limit index_lnies, so this has no effect. Did you mean index_lines?"},
		{"rules:\n  \"a\\tb `c`\": off\n", "\"a\\tb `c`\": There is no rule \"a\\tb `c`\", so this has no effect. \"mem-lsp rules\" lists the rules."},
		{"rules: {broken-link: warn}\n", "warn: warn is no severity, so broken-link stays error. Write off, hint, information, warning or error."},
		{"rules: {broken-link: 'Off'}\n", "'Off': Off is no severity, so broken-link stays error. Write off, hint, information, warning or error."},
		{"rules: {broken-link: false}\n", "false: false is no severity, so broken-link stays error. Write off, hint, information, warning or error."},
		{"rules: {broken-link: }\n", "broken-link: broken-link has no value. Write off, hint, information, warning or error, or remove the line."},
		{"rules: {broken-link: [off]}\n", "[off]: broken-link is a list. Write off, hint, information, warning or error, or remove it."},
		{"rules:\n  broken-link:\n    severity: off\n", "severity: off: broken-link is a mapping. Write off, hint, information, warning or error, or remove it."},
		{"rules: {secret: warning}\n", "warning: secret is a safety rule, which a file that comes with the memory cannot make less than error. To accept one finding, put its fingerprint into guard.allow of your own config.yaml."},
		{"rules: {hidden-character: off}\n", "off: hidden-character is a safety rule, which a file that comes with the memory cannot make less than warning. To accept one finding, put its fingerprint into guard.allow of your own config.yaml."},
		{"rules: {configuration: off}\n", "off: configuration tells what is wrong with this file, so the file cannot switch it off. Remove this line."},
		{"rules: off\n", "off: rules is a single value; it has to hold lines \"rule: value\". \"mem-lsp rules\" lists the rules."},
		{"rules:\n- a\n- b # c\n", "- a\n- b: rules is a list; it has to hold lines \"rule: value\". \"mem-lsp rules\" lists the rules."},
		{"- a\n", "- a: The file is a list; it has to hold lines \"key: value\". The keys are version, rules, limits, client."},
		{"hello\n", "hello: The file is a single value; it has to hold lines \"key: value\". The keys are version, rules, limits, client."},
		{"limits: {topics: many}\n", "many: topics is many; it needs a whole number from 1 to 100000 in plain digits, unquoted, so 200 stays."},
		{"limits: {topics: '5'}\n", "'5': topics is 5; it needs a whole number from 1 to 100000 in plain digits, unquoted, so 200 stays."},
		{"limits: {topics: 1.5}\n", "1.5: topics is 1.5; it needs a whole number from 1 to 100000 in plain digits, unquoted, so 200 stays."},
		{"limits: {topics: 0x10}\n", "0x10: topics is 0x10; it needs a whole number from 1 to 100000 in plain digits, unquoted, so 200 stays."},
		{"limits: {topics: 010}\n", "010: topics is 010; it needs a whole number from 1 to 100000 in plain digits, unquoted, so 200 stays."},
		{"limits: {topics: 0}\n", "0: topics is 0; it has to be from 1 to 100000, so 200 stays."},
		{"limits: {topics: -1}\n", "-1: topics is -1; it has to be from 1 to 100000, so 200 stays."},
		{"limits: {near_percent: 101}\n", "101: near_percent is 101; it has to be from 1 to 100, so 70 stays."},
		{"limits: {topics: 99999999999999999}\n", "99999999999999999: topics is 99999999999999999; it has to be from 1 to 100000, so 200 stays."},
		{"limits: {topics: null}\n", "topics: topics has no value. Write a whole number from 1 to 100000, or remove the line."},
		{"limits: [1, 2]\n", "[1, 2]: limits is a list; it has to hold lines \"limit: value\". The limits are index_lines, index_bytes, entry_length, scan_lines, topics, description_length, stale_days, reference_bytes, near_percent."},
		{"client: vim\n", "vim: vim is no client that mem knows, so any stays. Write one of any, claude-code, seed."},
		{"version: 2\n", "2: The version is 2; this mem reads version 1, and obeys the keys that it knows. Write 1, or remove the line."},
		{"version: '1'\n", "'1': The version is 1; this mem reads version 1, and obeys the keys that it knows. Write 1, or remove the line."},
		{"client: seed\nclient: any\n", "client: client is set twice; line 1 counts. Remove one of them."},
		{"? [a]\n: b\n", "[a]: This key is a list, not a name. The keys are version, rules, limits, client."},
		{"client: any\n---\nclient: seed\n", "---: Here a second YAML document starts; only the first one is obeyed. Keep one."},
		{"rules: {broken-link: &x hint, encoding: *x}\n", "*x: encoding is an alias, which .mem.yaml does not take. Write off, hint, information, warning or error itself."},
		{"limits: *gone\n", "*gone: This is not valid YAML (unknown anchor 'gone' referenced), so nothing of this file is obeyed. Write one \"key: value\" a line, indented with spaces."},
		{"<<: {client: seed}\n", "<<: There is no key \"<<\", so this has no effect. The keys are version, rules, limits, client."},
		{"client: any\n\trules:\n", "\trules:: This line is indented with a tab, which YAML does not allow, so nothing of this file is obeyed. Indent with spaces."},
		{"client: any\n  rules: x\n", ": x: This is not valid YAML (mapping values are not allowed in this context), so nothing of this file is obeyed. Write one \"key: value\" a line, indented with spaces."},
		{"rules: {secret: error\n", "{secret: error: This is not valid YAML (did not find expected ',' or '}'), so nothing of this file is obeyed. Write one \"key: value\" a line, indented with spaces."},
		{"client: \"any\n", "\"any: This is not valid YAML (found unexpected end of stream), so nothing of this file is obeyed. Write one \"key: value\" a line, indented with spaces."},
		{"client: any\n---\nx: 1\na: b: c\n", ": c: This is not valid YAML (mapping values are not allowed in this context), so only what stands before is obeyed. Write one \"key: value\" a line, indented with spaces."},
		{"client: a\x00ny\n", "\x00: This is not valid YAML (it holds the character U+0000), so nothing of this file is obeyed. Write one \"key: value\" a line, indented with spaces."},
		{"client: caf\xe9\n", "\xe9: Here the file is not UTF-8, so nothing of it is obeyed. Save it as UTF-8."},
		{"\xff\xfec\x00", "\xff: Here the file is not UTF-8, so nothing of it is obeyed. Save it as UTF-8."},
		// Places behind characters of several bytes, other line ends and marks.
		{"\ufeff日本: 1\r\n\"😀\": 2 # ü\r\nclient: 漢字 # ü\r\n", "日本: There is no key 日本, so this has no effect. The keys are version, rules, limits, client.|" +
			"\"😀\": There is no key \"😀\", so this has no effect. The keys are version, rules, limits, client.|漢字: 漢字 is no client that mem knows, so any stays. Write one of any, claude-code, seed."},
		{"# a\rrules: {ü: off}\u2028limits: {é: 1}\u0085client: ö\n", "ü: There is no rule ü, so this has no effect. \"mem-lsp rules\" lists the rules.|" +
			"é: There is no limit é, so this has no effect. The limits are index_lines, index_bytes, entry_length, scan_lines, topics, description_length, stale_days, reference_bytes, near_percent.|" +
			"ö: ö is no client that mem knows, so any stays. Write one of any, claude-code, seed."},
		{"client: 'it''s'\n", "'it''s': \"it's\" is no client that mem knows, so any stays. Write one of any, claude-code, seed."},
		{"client: !x any\nversion: &a 3\n", "&a 3: The version is 3; this mem reads version 1, and obeys the keys that it knows. Write 1, or remove the line."},
		{"client: >\n  folded\n  text\n", ">: \"folded text\\n\" is no client that mem knows, so any stays. Write one of any, claude-code, seed."},
		{"client: two\n  lines\n", "two: \"two lines\" is no client that mem knows, so any stays. Write one of any, claude-code, seed."},
	} {
		if got := strings.Join(told(parse(tc.src)), "|"); got != tc.want {
			t.Errorf("%q\n got %s\nwant %s", tc.src, got, tc.want)
		}
	}
}

// TestConfigGoesOn: what is wrong does not hold up what is right.
func TestConfigGoesOn(t *testing.T) {
	c := parse("client: vim\nrules:\n  secret: off\n  gone: off\n  broken-link: hint\nlimits:\n  topics: x\n  index_lines: 10\nclient: seed\nmore: 1\n")
	if len(c.Problems) != 6 || c.Severities["broken-link"] != diagnostics.Hint || len(c.Severities) != 1 || c.Limits.IndexLines != 10 || c.Limits.Topics != 200 || c.Client != diagnostics.AnyClient {
		t.Errorf("config = %+v", c)
	}
}

func TestConfigThatIsHostile(t *testing.T) {
	var many, bomb strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&many, "  key%d: off\n", i)
	}
	bomb.WriteString("a0: &a0 [x, x]\n")
	for i := range 60 {
		fmt.Fprintf(&bomb, "a%d: &a%d [*a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d, *a%d]\n", i+1, i+1, i, i, i, i, i, i, i, i)
	}
	for name, src := range map[string]string{
		"many problems": "rules:\n" + many.String(), "aliases": bomb.String(), "aliases in a limit": bomb.String() + "limits: {topics: *a60}\n",
		"open lists": strings.Repeat("[", diagnostics.MaxConfigFile), "open mappings": strings.Repeat("{a: ", 16000), "dashes": strings.Repeat("- ", 32000),
		"questions": strings.Repeat("? ", 32000), "spaces": strings.Repeat(" ", 65000) + "@", "one long key": strings.Repeat("k", 60000) + ": 1\n",
		"huge": strings.Repeat("#\n", diagnostics.MaxConfigFile), "a cycle": "rules: &r {secret: *r}\n",
	} {
		var c *diagnostics.Config
		if took := cputime.Of(t, func() { c = parse(src) }); took > 5*time.Second {
			t.Errorf("%s takes %v", name, took)
		}
		if n := len(c.Problems); n == 0 || n > 51 {
			t.Errorf("%s: %d problems", name, n)
		}
		checkConfig(t, c)
	}
	c := parse("rules:\n" + many.String())
	if last := c.Problems[len(c.Problems)-1]; last.Message != "From here on, 1950 more things cannot be obeyed. Mend the first ones." || last.Text.Slice(last.Span) != "key50" {
		t.Errorf("last = %q at %q", last.Message, last.Text.Slice(last.Span))
	}
}

// checkConfig checks what holds whatever a file says.
func checkConfig(t *testing.T, c *diagnostics.Config) {
	t.Helper()
	for _, p := range c.Problems {
		if p.Text == nil || p.Span.Start < 0 || p.Span.Start > p.Span.End || p.Span.End > p.Text.Len() {
			t.Errorf("%q stands at %v", p.Message, p.Span)
		}
		if len(p.Message) > 1200 || !utf8.ValidString(p.Message) || strings.ContainsAny(p.Message, "\n\r\x00") {
			t.Errorf("message %q", p.Message)
		}
	}
	for _, l := range diagnostics.ConfigLimits() {
		if n := l.Of(c); n < l.Min || n > l.Max {
			t.Errorf("%s is %d", l.Key, n)
		}
	}
	for _, r := range rules.All() {
		s, ok := c.Severities[r.ID]
		if ok && (r.Safety && s < r.Severity || r.ID == "configuration" && s == diagnostics.Off) {
			t.Errorf("%s was lowered to %v", r.ID, s)
		}
	}
}

func FuzzParseConfig(f *testing.F) {
	for _, s := range []string{"", "version: 1\nrules: {secret: off, broken-link: hint}\nlimits: {topics: 5}\nclient: seed\n", "a: &a [*a]", "? [a]\n: b", "--- \n--- ", "<<: {a: 1}",
		"\ufeffclient: 'ü'\r\n", "rules:\n\t- x", "client: \"\\", "limits: {index_lines: -0}", "a\rb: \u2028c", "client: >-\n  x", "{a: [}", "\xff\xfe", "client: !!int 'x'", "a: \x7f\ufeff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		checkConfig(t, parse(src))
	})
}

// TestSchemaAgrees holds the schema against the parser: what one takes, the other
// does.
func TestSchemaAgrees(t *testing.T) {
	src, err := diagnostics.ConfigSchema(rules.All())
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("mem:///mem.schema.json", bytes.NewReader(src)); err != nil {
		t.Fatal(err)
	}
	s, err := compiler.Compile("mem:///mem.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{"{}": true, "rules:\nlimits:\n": true, "version: 1\n": true, "version: 2\n": false, "version: '1'\n": false, "client: vim\n": false, "client: 3\n": false,
		"x: 1\n": false, "rules: []\n": false, "rules: {x: off}\n": false, "limits: {x: 1}\n": false, "limits: {topics: '5'}\n": false, "limits: {topics: 1.5}\n": false,
		"limits: {topics: null}\n": false, "client: null\n": false}
	for _, c := range diagnostics.Clients() {
		all["client: "+string(c)] = true
	}
	for _, l := range diagnostics.ConfigLimits() {
		for n, ok := range map[int]bool{l.Min: true, l.Max: true, l.Default(): true, l.Min - 1: false, l.Max + 1: false} {
			all[fmt.Sprintf("limits: {%s: %d}", l.Key, n)] = ok
		}
	}
	for _, r := range rules.All() {
		for _, sev := range []diagnostics.Severity{diagnostics.Off, diagnostics.Hint, diagnostics.Information, diagnostics.Warning, diagnostics.Error} {
			all[fmt.Sprintf("rules: {%s: %s}", r.ID, sev)] = !(r.Safety && sev < r.Severity || r.ID == "configuration" && sev == diagnostics.Off)
		}
		all["rules: {"+r.ID+": loud}"] = false
	}
	for src, want := range all {
		var v any
		if err := yaml.Unmarshal([]byte(src), &v); err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		d := json.NewDecoder(bytes.NewReader(b))
		d.UseNumber()
		var inst any
		if err := d.Decode(&inst); err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(inst); (err == nil) != want {
			t.Errorf("the schema on %q: %v, want %v", src, err, want)
		}
		if got := len(parse(src).Problems) == 0; got != want {
			t.Errorf("the parser on %q: %v, want %v", src, told(parse(src)), want)
		}
	}
}
