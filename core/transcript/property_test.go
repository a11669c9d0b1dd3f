package transcript

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"mem/core/transcript/transcripttest"
	"pgregory.net/rapid"
)

// compare reads data both ways and says where they differ, "" when they agree.
func compare(data []byte, o Options) string {
	want := readOracle(data, int(o.MaxRecord))
	got, err := Read(context.Background(), bytes.NewReader(data), int64(len(data)), o)
	if err != nil && got == nil {
		return err.Error()
	}
	if got.Lines != want.lines {
		return fmt.Sprintf("%d lines, want %d", got.Lines, want.lines)
	}
	if fmt.Sprint(got.Types) != fmt.Sprint(want.types) {
		return fmt.Sprintf("types %v, want %v", got.Types, want.types)
	}
	for kind, p := range map[string]Problem{
		"malformed": got.Problems.Malformed, "truncated": got.Problems.Truncated, "nul": got.Problems.NUL,
		"long": got.Problems.TooLong, "foreign": got.Problems.Foreign, "duplicate": got.Problems.Duplicate,
		"dangling": got.Problems.Dangling, "cycle": got.Problems.Cycle,
	} {
		lines := want.problems[kind]
		if p.Count != len(lines) || fmt.Sprint(p.Lines) != fmt.Sprint(lines[:min(len(lines), maxProblemLines)]) {
			return fmt.Sprintf("%s: %d in lines %v, want %v", kind, p.Count, p.Lines, lines)
		}
	}
	if got.Rows.Len() != len(want.rows) {
		return fmt.Sprintf("%d rows, want %d", got.Rows.Len(), len(want.rows))
	}
	for i, r := range got.Rows.All() {
		w := want.rows[i]
		if int(r.Line) != w.line || r.Kind != w.kind || !w.marker && r.UUID != ParseUUID(w.uuid) || r.Parent != ParseUUID(w.parentID) {
			return fmt.Sprintf("row %d is %+v, want %+v", i, r, *w)
		}
	}
	rows, by := want.choose()
	c := got.Chain(UUID{})
	if c.By != by || fmt.Sprint(lineNumbers(got, c)) != fmt.Sprint(oracleLines(rows)) {
		return fmt.Sprintf("chain %s %v, want %s %v", c.By, lineNumbers(got, c), by, oracleLines(rows))
	}
	if v := c.Coverage; v.Messages != v.OnChain+v.Compacted+v.Sidechain+v.Unreachable || v.OnChain != len(c.Rows) {
		return fmt.Sprintf("coverage %+v of %d rows does not add up", v, len(c.Rows))
	}
	// Any other leaf.
	for i := range got.Rows.Len() {
		if i%7 != 3 {
			continue
		}
		rows, dropped := want.chain(want.rows[i])
		c := got.Chain(got.Rows.At(i).UUID)
		if fmt.Sprint(lineNumbers(got, c)) != fmt.Sprint(oracleLines(rows)) {
			return fmt.Sprintf("chain from line %d %v, want %v", got.Rows.At(i).Line, lineNumbers(got, c), oracleLines(rows))
		}
		if c.Coverage.Compacted != len(dropped) {
			return fmt.Sprintf("%d rows compacted from line %d, want %d", c.Coverage.Compacted, got.Rows.At(i).Line, len(dropped))
		}
	}
	return ""
}

func lineNumbers(t *Transcript, c *Chain) []int {
	var out []int
	for _, i := range c.Rows {
		out = append(out, int(t.Rows.At(i).Line))
	}
	return out
}

func oracleLines(rows []*oracleRow) []int {
	var out []int
	for _, r := range rows {
		out = append(out, r.line)
	}
	return out
}

// compareLoose reads data without checking what is no conversation: the rows and
// the chain have to be the same.
func compareLoose(data []byte, o Options) string {
	strict, err := Read(context.Background(), bytes.NewReader(data), int64(len(data)), o)
	if strict == nil {
		return err.Error()
	}
	o.Strict = false
	loose, err := Read(context.Background(), bytes.NewReader(data), int64(len(data)), o)
	if loose == nil {
		return err.Error()
	}
	if !SameRows(strict, loose) || strict.Lines != loose.Lines || strict.Title != loose.Title || strict.LastPrompt != loose.LastPrompt {
		return "reading loosely gives other rows"
	}
	if a, b := strict.Problems.Malformed.Count, loose.Problems.Malformed.Count; b > a {
		return fmt.Sprintf("reading loosely finds %d malformed lines where there are %d", b, a)
	}
	if a, b := lineNumbers(strict, strict.Chain(UUID{})), lineNumbers(loose, loose.Chain(UUID{})); !slices.Equal(a, b) {
		return fmt.Sprintf("reading loosely gives chain %v, want %v", b, a)
	}
	return ""
}

// drawOptions draws sizes small enough that lines cross windows and parts.
func drawOptions(t *rapid.T) Options {
	o := Options{MaxRecord: 1 << 20, Workers: rapid.IntRange(1, 3).Draw(t, "workers"), Strict: true}
	if rapid.Bool().Draw(t, "small parts") {
		o.part = rapid.Int64Range(4, 4000).Draw(t, "part") // a byte order mark fits
		o.window = rapid.Int64Range(4, 3000).Draw(t, "window")
	}
	if rapid.IntRange(0, 3).Draw(t, "limited") == 0 {
		o.MaxRecord = rapid.Int64Range(40, 900).Draw(t, "max record")
	}
	return o
}

// drawRow draws a record with ids from a small pool, so that all shapes of
// trees arise, impossible ones too.
func drawRow(t *rapid.T) string {
	n := func(label string, max int) int { return rapid.IntRange(0, max).Draw(t, label) }
	id := func(label string) string { return fmt.Sprintf(`"r%d"`, n(label, 25)) }
	parent := `null`
	if n("has parent", 9) > 0 {
		parent = id("parent")
	}
	side := "false"
	if n("side", 9) == 0 {
		side = "true"
	}
	head := `"parentUuid":` + parent + `,"isSidechain":` + side
	list := func() string {
		var out []string
		for range n("listed", 3) {
			out = append(out, id("item"))
		}
		return "[" + strings.Join(out, ",") + "]"
	}
	switch n("type", 15) {
	case 0, 1, 2:
		return `{` + head + `,"type":"user","message":{"role":"user","content":"hello \"you\" \\"},"uuid":` + id("uuid") + `}`
	case 3, 4:
		return `{` + head + `,"type":"user","message":{"role":"user","content":[{"tool_use_id":"t","type":"tool_result","content":[{"type":"text","text":"{\"uuid\":\"x\"}"}]}]},"uuid":` + id("uuid") + `,"sourceToolAssistantUUID":` + id("source") + `}`
	case 5:
		return `{` + head + `,"type":"user","message":{"content":[{"type":"tool_result"}]},"uuid":` + id("uuid") + `}`
	case 6, 7, 8:
		return fmt.Sprintf(`{%s,"message":{"id":"m%d","content":[{"type":"tool_use"}],"type":"message"},"type":"assistant","uuid":%s}`, head, n("message", 6), id("uuid"))
	case 9:
		return `{` + head + `,"type":"progress","data":{"uuid":"r1","type":"user"},"uuid":` + id("uuid") + `}`
	case 10:
		meta := `"preservedMessages":{"anchorUuid":` + id("anchor") + `,"uuids":` + list() + `,"allUuids":` + list() + `}`
		if n("segment only", 2) == 0 {
			meta = `"preservedSegment":{"headUuid":` + id("head") + `,"anchorUuid":` + id("anchor") + `,"tailUuid":` + id("tail") + `}`
		}
		return `{` + head + `,"logicalParentUuid":` + id("logical") + `,"type":"system","subtype":"compact_boundary","uuid":` + id("uuid") + `,"compactMetadata":{` + meta + `}}`
	case 11:
		return `{` + head + `,"type":"user","isCompactSummary":true,"message":{"content":"summary"},"uuid":` + id("uuid") + `}`
	case 12:
		return `{"type":"last-prompt","leafUuid":` + id("leaf") + `}`
	case 13:
		return rapid.SampledFrom([]string{
			`{"type":"context_collapse_snapshot","content":"what was"}`, `{"type":"context_collapse_snapshot","state":1}`,
			`{"type":"summary","summary":"s","leafUuid":"r1"}`, `{"type":"mode","mode":"x"}`, `[1,2]`, `{"a":1}`, `"text"`, ``, `  `,
			`{"type":"user"`, `garbage`, `{"type":"user","uuid":5,"parentUuid":{}}`, `{"type":"api-request","x":1}`,
			`{"type":"user","type":"assistant","uuid":"r1","uuid":"r2","message":{"id":"m1"},"message":null}`,
			`{"\u0074ype":"us\u0065r","uuid":"r\u0031"}`, `{"type":"newer","uuid":"r3","parentUuid":"r4"}`,
			"{\"type\":\"user\",\"uuid\":\"r5\",\"x\":\"\x01\"}", `{"type":"user","uuid":"r6","x":01}`, `{"type":"user","uuid":"r6","x":"\q"}`,
		}).Draw(t, "odd")
	default:
		return `{` + head + `,"type":"attachment","attachment":{"type":"file"},"uuid":` + id("uuid") + `}`
	}
}

// breakIt damages a transcript the way that crashes and several writers do.
func breakIt(t *rapid.T, data []byte) []byte {
	for range rapid.IntRange(0, 4).Draw(t, "breaks") {
		if len(data) == 0 {
			return data
		}
		at := func(label string) int { return rapid.IntRange(0, len(data)).Draw(t, label) }
		lines := func() [][]byte { return bytes.SplitAfter(data, []byte("\n")) }
		switch rapid.IntRange(0, 10).Draw(t, "break") {
		case 0: // a cut, within a line or over several
			i, j := at("from"), at("to")
			if i > j {
				i, j = j, i
			}
			if rapid.Bool().Draw(t, "small cut") {
				j = min(j, i+rapid.IntRange(0, 30).Draw(t, "cut"))
			}
			data = append(slices.Clone(data[:i]), data[j:]...)
		case 1: // the end is missing
			data = data[:at("end")]
		case 2: // two writers
			i, j, k := at("a"), at("b"), at("c")
			p := []int{i, j, k}
			slices.Sort(p)
			data = slices.Concat(data[:p[0]], data[p[1]:p[2]], data[p[0]:p[1]], data[p[2]:])
		case 3: // lines change places
			l := lines()
			i, j := rapid.IntRange(0, len(l)-1).Draw(t, "line"), rapid.IntRange(0, len(l)-1).Draw(t, "line")
			l[i], l[j] = l[j], l[i]
			data = bytes.Join(l, nil)
		case 4: // lines are written twice
			l := lines()
			i := rapid.IntRange(0, len(l)-1).Draw(t, "line")
			j := rapid.IntRange(0, len(l)).Draw(t, "place")
			data = bytes.Join(slices.Insert(slices.Clone(l), j, l[i]), nil)
		case 5:
			data = bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n"))
		case 6:
			i := at("place")
			data = slices.Concat(data[:i], make([]byte, rapid.IntRange(1, 20).Draw(t, "nuls")), data[i:])
		case 7:
			data = slices.Concat([]byte("\xef\xbb\xbf"), data)
		case 8: // no final newline
			data = bytes.TrimRight(data, "\n")
		case 9: // a line end is lost
			if i := bytes.IndexByte(data[min(at("after"), len(data)-1):], '\n'); i >= 0 {
				data = slices.Delete(slices.Clone(data), i, i+1)
			}
		case 10:
			data = slices.Clone(data)
			data[min(at("byte"), len(data)-1)] = rapid.Byte().Draw(t, "value")
		}
	}
	return data
}

func TestAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var lines []string
		for range rapid.IntRange(0, 40).Draw(t, "rows") {
			lines = append(lines, drawRow(t))
		}
		data := []byte(strings.Join(lines, "\n") + "\n")
		data = breakIt(t, data)
		o := drawOptions(t)
		for _, differs := range []func([]byte, Options) string{compare, compareLoose} {
			if diff := differs(data, o); diff != "" {
				t.Fatalf("%s\n%s", diff, describe(data))
			}
		}
	})
}

// TestTail compares the chain that is read from the end with that of the whole.
func TestTail(t *testing.T) {
	early := 0
	rapid.Check(t, func(t *rapid.T) {
		var b bytes.Buffer
		if _, err := transcripttest.Write(&b, transcripttest.Options{
			Seed: rapid.Uint64().Draw(t, "seed"), Bytes: rapid.Int64Range(20_000, 80_000).Draw(t, "bytes"), ShortTexts: true, Noise: 0.3,
			CompactEvery: rapid.Int64Range(5_000, 20_000).Draw(t, "compact"),
		}); err != nil {
			t.Fatal(err)
		}
		data := breakIt(t, b.Bytes())
		o := Options{Workers: rapid.IntRange(1, 2).Draw(t, "workers"), part: rapid.Int64Range(500, 20_000).Draw(t, "part")}
		whole, err := Read(context.Background(), bytes.NewReader(data), int64(len(data)), o)
		if err != nil {
			return // nothing to compare
		}
		tail, err := ReadTail(context.Background(), bytes.NewReader(data), int64(len(data)), o)
		if err != nil {
			t.Fatal(err)
		}
		if tail.Base > 0 && whole.Problems.Duplicate.Count == 0 {
			early++
			c, d := whole.Chain(UUID{}), tail.Chain(UUID{})
			if c.By != d.By || len(c.Rows) != len(d.Rows) || !d.Coverage.Pending {
				t.Fatalf("from byte %d: %s, %d rows, want %s, %d rows\n%s", tail.Base, d.By, len(d.Rows), c.By, len(c.Rows), describe(data))
			}
			for i := range c.Rows {
				if a, b := whole.Rows.At(c.Rows[i]), tail.Rows.At(d.Rows[i]); a.Offset != b.Offset || a.UUID != b.UUID {
					t.Fatalf("row %d is %v, want %v", i, b, a)
				}
			}
		}
		complete, err := tail.Complete(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if !SameRows(complete, whole) || complete.Lines != whole.Lines || fmt.Sprint(complete.Problems) != fmt.Sprint(whole.Problems) {
			t.Fatal("what was completed is not the whole")
		}
	})
	if early == 0 {
		t.Error("no chain was known before the whole file was read")
	}
}

// describe shows the rows that count, for people.
func describe(data []byte) string {
	var b strings.Builder
	o := readOracle(data, 1<<30)
	for _, r := range o.rows {
		fmt.Fprintf(&b, "%d %s %q<-%q side %v id %q source %q result %v", r.line, r.kind, r.uuid, r.parentID, r.side, r.message, r.source, r.result)
		if r.kind.IsBoundary() {
			fmt.Fprintf(&b, " logical %q anchor %q preserved %q all %q segment %q-%q", r.logical, r.anchor, r.preserved, r.all, r.head, r.tail)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestBrokenSessionsAgainstOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var b bytes.Buffer
		if _, err := transcripttest.Write(&b, transcripttest.Options{
			Seed: rapid.Uint64().Draw(t, "seed"), Bytes: rapid.Int64Range(0, 40_000).Draw(t, "bytes"), ShortTexts: true, Noise: 0.3,
			CompactEvery: rapid.Int64Range(0, 20_000).Draw(t, "compact"),
		}); err != nil {
			t.Fatal(err)
		}
		data := breakIt(t, b.Bytes())
		o := drawOptions(t)
		for _, differs := range []func([]byte, Options) string{compare, compareLoose} {
			if diff := differs(data, o); diff != "" {
				t.Fatalf("%s\n%s", diff, describe(data))
			}
		}
	})
}

// A row that says its type twice, as when two writers' rows run into one, is what it
// begins with, read strictly or not.
func TestTypeSaidTwice(t *testing.T) {
	data := []byte(`{"type":"user","uuid":"a","parentUuid":null,"message":{"role":"user","content":"x"}}` + "\n" +
		`{"type":"api-request-blob","x":1,"type":"user","uuid":"b","parentUuid":"a","message":{"role":"user","content":"y"}}` + "\n")
	for _, differs := range []func([]byte, Options) string{compare, compareLoose} {
		if diff := differs(data, Options{MaxRecord: 1 << 20, Workers: 1, Strict: true}); diff != "" {
			t.Error(diff)
		}
	}
}
