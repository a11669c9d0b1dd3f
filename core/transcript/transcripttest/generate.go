// Package transcripttest makes transcripts for tests and benchmarks: of any size,
// shaped like those that a client writes, with what is known about them.
package transcripttest

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"time"
)

// Options say what to make. The same options give the same bytes.
type Options struct {
	Seed  uint64
	Bytes int64 // about how large; at least one turn is written
	// CompactEvery puts a boundary after about so many bytes; 0 for none.
	CompactEvery int64
	// Noise is the share of bytes in records that are no conversation, from 0 to
	// 1; real sessions have about 0.8.
	Noise float64
	// LongLines adds records of one to two and a half megabytes, as real sessions
	// have.
	LongLines bool
	// ShortTexts keeps texts to a few words, for tests that read many small
	// transcripts.
	ShortTexts bool
}

// Made tells what a transcript holds.
type Made struct {
	Bytes    int64
	Lines    int
	Rows     int // records that take part in the tree
	Messages int // of these, user, assistant, system and attachment rows
	// Chain are the uuids of the chain that a client would resume, in order.
	Chain []string
	// Boundary is the offset of the last boundary's line, -1 without one.
	Boundary int64
	Types    map[string]int
}

// Write writes a transcript to w.
func Write(w io.Writer, o Options) (Made, error) {
	g := &generator{
		o: o, rand: rand.New(rand.NewPCG(o.Seed, 20261130)), out: bufio.NewWriterSize(w, 1<<20),
		clock: time.Date(2026, 7, 1, 9, 0, 0, 0, time.UTC),
		made:  Made{Boundary: -1, Types: map[string]int{}},
	}
	g.pool = words(g.rand, 1<<20)
	g.session = g.uuid()
	next := o.CompactEvery
	for {
		g.turn()
		if g.made.Bytes >= o.Bytes || g.err != nil {
			break
		}
		if next > 0 && g.made.Bytes >= next {
			g.compact()
			next += o.CompactEvery
		}
	}
	if err := g.out.Flush(); g.err == nil {
		g.err = err
	}
	return g.made, g.err
}

// generator writes one transcript.
type generator struct {
	o       Options
	rand    *rand.Rand
	out     *bufio.Writer
	err     error
	clock   time.Time
	session string
	pool    string
	parent  string // of the next row
	talk    int64  // bytes of the conversation
	made    Made
}

// words makes a text that has what makes JSON slow: quotes, backslashes, tabs,
// line ends, and letters beyond ASCII.
func words(r *rand.Rand, n int) string {
	list := strings.Fields(`the a of to in module server index reads writes lock file line while until every request
		answer if err != nil return func (s *Store) { } := range map[string]int64 "quoted" 'single' C:\temp\x
		— naïve Größe 記憶 会議 ✓ 🙂 0x1F 3.14159 path/to/file.go <html> & https://example.com/?q=1`)
	seps := []string{" ", " ", " ", " ", " ", " ", " ", "\n", "\n\t", "\n\t\t"}
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(list[r.IntN(len(list))])
		b.WriteString(seps[r.IntN(len(seps))])
	}
	return b.String()
}

// text is a JSON string of about n bytes of text.
func (g *generator) text(n int) string {
	if g.o.ShortTexts {
		n = min(n, 12)
	}
	var b strings.Builder
	b.WriteByte('"')
	for n > 0 {
		from := g.rand.IntN(len(g.pool))
		part := g.pool[from:min(len(g.pool), from+n)]
		n -= len(part)
		escape(&b, strings.ToValidUTF8(part, ""))
	}
	b.WriteByte('"')
	return b.String()
}

func escape(b *strings.Builder, s string) {
	from := 0
	for i := range len(s) {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		b.WriteString(s[from:i])
		from = i + 1
		switch c {
		case '"', '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case '\n':
			b.WriteString(`\n`)
		case '\t':
			b.WriteString(`\t`)
		default:
			fmt.Fprintf(b, `\u%04x`, c)
		}
	}
	b.WriteString(s[from:])
}

// length scatters around a typical length, with a long tail.
func (g *generator) length(typical int) int {
	return 10 + int(float64(typical)*(0.2+g.rand.ExpFloat64()*g.rand.ExpFloat64()))
}

func (g *generator) uuid() string {
	var b [16]byte
	for i := range b {
		b[i] = byte(g.rand.Uint32())
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func (g *generator) id(prefix string) string { return fmt.Sprintf("%s_%016x", prefix, g.rand.Uint64()) }

func (g *generator) now() string {
	g.clock = g.clock.Add(time.Duration(g.rand.IntN(4000)) * time.Millisecond)
	return g.clock.Format("2006-01-02T15:04:05.000Z")
}

// emit writes one record.
func (g *generator) emit(typ, record string) {
	n, err := g.out.WriteString(record)
	if err == nil {
		err = g.out.WriteByte('\n')
	}
	if g.err == nil {
		g.err = err
	}
	g.made.Bytes += int64(n) + 1
	g.made.Lines++
	g.made.Types[typ]++
}

// row writes a record of the tree.
func (g *generator) row(typ, record string, talk bool) {
	g.made.Rows++
	if typ != "progress" {
		g.made.Messages++
	}
	before := g.made.Bytes
	g.emit(typ, record)
	if talk {
		g.talk += g.made.Bytes - before
	}
}

func (g *generator) ref(uuid string) string {
	if uuid == "" {
		return "null"
	}
	return `"` + uuid + `"`
}

func (g *generator) end() string {
	return `"userType":"external","entrypoint":"cli","cwd":"/srv/work/garden","sessionId":"` + g.session +
		`","version":"2.1.332","gitBranch":"main"}`
}

func (g *generator) user(parent, uuid, content, more string) {
	g.row("user", `{"parentUuid":`+g.ref(parent)+`,"isSidechain":false,"promptId":"`+g.uuid()+`","type":"user","message":{"role":"user","content":`+
		content+`},`+more+`"uuid":"`+uuid+`","timestamp":"`+g.now()+`",`+g.end(), true)
}

// assistant writes one block of an answer. Type and uuid come after the message,
// as the client writes them.
func (g *generator) assistant(parent, uuid, message, request, block string) {
	g.row("assistant", `{"parentUuid":`+g.ref(parent)+`,"isSidechain":false,"message":{"id":"`+message+
		`","type":"message","role":"assistant","model":"claude-test-1","content":[`+block+
		`],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":100,"cache_read_input_tokens":0,"output_tokens":20,"service_tier":"standard"}},"requestId":"`+
		request+`","type":"assistant","uuid":"`+uuid+`","timestamp":"`+g.now()+`",`+g.end(), true)
}

func (g *generator) attachment(kind string, n int) {
	u := g.uuid()
	text := g.text(n)
	g.row("attachment", `{"parentUuid":`+g.ref(g.parent)+`,"isSidechain":false,"attachment":{"type":"`+kind+`","content":`+text+
		`},"type":"attachment","uuid":"`+u+`","timestamp":"`+g.now()+`","rendered":[{"content":`+text+`}],"renderedRole":"system",`+g.end(), false)
	g.on(u)
}

// on puts a row on the chain.
func (g *generator) on(uuid string) {
	g.parent = uuid
	g.made.Chain = append(g.made.Chain, uuid)
}

// progress writes a row of a tool at work. The message in it has a uuid of its
// own, which is not the row's.
func (g *generator) progress(parent, tool string, n int) string {
	u := g.uuid()
	g.row("progress", `{"parentUuid":`+g.ref(parent)+`,"isSidechain":false,"cwd":"/srv/work/garden","sessionId":"`+g.session+
		`","type":"progress","data":{"type":"agent_progress","message":{"type":"user","message":{"role":"user","content":[{"tool_use_id":"`+tool+
		`","type":"tool_result","content":`+g.text(n)+`}]},"uuid":"`+g.uuid()+`","timestamp":"`+g.now()+`"}},"toolUseID":"`+tool+
		`","uuid":"`+u+`","timestamp":"`+g.now()+`"}`, false)
	return u
}

// turn writes a prompt, the answers and tool calls that it leads to, and what the
// client notes besides.
func (g *generator) turn() {
	u := g.uuid()
	g.user(g.parent, u, g.text(g.length(120)), `"permissionMode":"default",`)
	g.on(u)
	g.emit("file-history-snapshot", `{"type":"file-history-snapshot","messageId":"`+u+`","snapshot":{"messageId":"`+u+
		`","trackedFileBackups":{},"timestamp":"`+g.now()+`"},"isSnapshotUpdate":false}`)
	g.attachment("environment", g.length(800))
	for range 1 + g.rand.IntN(5) {
		g.step()
	}
	a := g.uuid()
	g.assistant(g.parent, a, g.id("msg"), g.id("req"), `{"type":"text","text":`+g.text(g.length(1200))+`}`)
	g.on(a)
	s := g.uuid()
	g.row("system", `{"parentUuid":"`+g.parent+`","isSidechain":false,"type":"system","subtype":"turn_duration","durationMs":4200,"timestamp":"`+
		g.now()+`","uuid":"`+s+`","isMeta":false,`+g.end(), true)
	g.on(s)
	g.emit("last-prompt", `{"type":"last-prompt","lastPrompt":`+g.text(60)+`,"leafUuid":"`+s+`","sessionId":"`+g.session+`"}`)
	for g.o.Noise > 0 && g.err == nil && float64(g.made.Bytes-g.talk) < g.o.Noise*float64(g.made.Bytes) {
		g.noise()
	}
}

// step is one answer with thinking, text, and one to four tool calls whose
// results branch off.
func (g *generator) step() {
	message, request := g.id("msg"), g.id("req")
	add := func(block string) string {
		u := g.uuid()
		g.assistant(g.parent, u, message, request, block)
		g.on(u)
		return u
	}
	add(`{"type":"thinking","thinking":` + g.text(g.length(700)) + `,"signature":"` + strings.Repeat("Q2lw", 60) + `"}`)
	add(`{"type":"text","text":` + g.text(g.length(300)) + `}`)
	count := 1
	if g.rand.IntN(3) == 0 {
		count += 1 + g.rand.IntN(3)
	}
	calls, tools := make([]string, count), make([]string, count)
	for i := range calls {
		tools[i] = g.id("toolu")
		calls[i] = add(`{"type":"tool_use","id":"` + tools[i] + `","name":"Bash","input":{"command":` + g.text(g.length(120)) + `}}`)
	}
	// The results come in any order, and the line goes on from the last one. Where
	// that is not the last call's, the calls after it hang beside the line too. A
	// reader puts both back: all calls, then all results, in the order of the file.
	for _, i := range g.rand.Perm(count) {
		parent := calls[i]
		if g.rand.IntN(8) == 0 {
			parent = g.progress(parent, tools[i], g.length(500))
		}
		size := g.length(2000)
		if g.o.LongLines && g.rand.IntN(2000) == 0 {
			size = 1_200_000
		}
		text, u := g.text(size), g.uuid()
		g.user(parent, u, `[{"tool_use_id":"`+tools[i]+`","type":"tool_result","content":`+text+`,"is_error":false}]`,
			`"toolUseResult":{"stdout":`+text+`,"stderr":"","interrupted":false},"sourceToolAssistantUUID":"`+calls[i]+`",`)
		g.on(u)
	}
}

// noise writes one record that is no conversation, or a row that only links.
func (g *generator) noise() {
	switch k := g.rand.IntN(100); {
	case k < 50:
		n := g.length(9000)
		if g.o.LongLines && g.rand.IntN(60) == 0 {
			n = 1_000_000 + g.rand.IntN(1_500_000)
		}
		g.emit("api-request-blob", `{"type":"api-request-blob","sessionId":"`+g.session+`","hash":"`+g.id("h")+
			`","message":{"role":"user","content":[{"type":"text","text":`+g.text(n)+`}]}}`)
	case k < 55:
		g.emit("api-request-shape", `{"type":"api-request-shape","sessionId":"`+g.session+`","shapeHash":"`+g.id("h")+
			`","timestamp":"`+g.now()+`","shape":{"tools":[{"name":"Bash","description":`+g.text(30000)+`}]}}`)
	case k < 65:
		g.emit("api-request", `{"type":"api-request","sessionId":"`+g.session+`","id":"`+g.uuid()+`","timestamp":"`+g.now()+
			`","params":{"max_tokens":32000},"tail":["`+strings.Repeat(g.id("h")+`","`, 20)+`"]}`)
	case k < 80:
		g.attachment("file", g.length(3000))
	case k < 95:
		g.progress(g.parent, g.id("toolu"), g.length(4000))
	default:
		g.emit("queue-operation", `{"type":"queue-operation","operation":"enqueue","timestamp":"`+g.now()+`","sessionId":"`+g.session+`","content":`+g.text(40)+`}`)
	}
}

// compact writes a boundary that preserves the last rows of the chain.
func (g *generator) compact() {
	kept := g.made.Chain[max(0, len(g.made.Chain)-3):]
	boundary, summary := g.uuid(), g.uuid()
	g.made.Boundary = g.made.Bytes
	list := `"` + strings.Join(kept, `","`) + `"`
	g.row("system", `{"parentUuid":null,"logicalParentUuid":"`+g.parent+`","isSidechain":false,"type":"system","subtype":"compact_boundary","content":"Conversation compacted","isMeta":false,"timestamp":"`+
		g.now()+`","uuid":"`+boundary+`","level":"info","compactMetadata":{"trigger":"auto","preTokens":180000,"postTokens":9000,"preservedSegment":{"headUuid":"`+
		kept[0]+`","anchorUuid":"`+summary+`","tailUuid":"`+kept[len(kept)-1]+`"},"preservedMessages":{"anchorUuid":"`+summary+`","uuids":[`+list+`],"allUuids":[`+list+`]}},`+g.end(), true)
	g.user(boundary, summary, g.text(g.length(6000)), `"isVisibleInTranscriptOnly":true,"isCompactSummary":true,`)
	g.made.Chain = append([]string{boundary, summary}, kept...)
	g.parent = summary
}
