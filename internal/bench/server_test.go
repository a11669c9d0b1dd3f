// Package bench measures mem-mcp as a process, from outside: what a client
// waits for. make bench runs it; docs/benchmarks.md keeps the figures.
package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

var binary string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "mem-bench")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	binary = filepath.Join(dir, "mem-mcp")
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	code := 1
	if out, err := exec.Command("go", "build", "-o", binary, "mem/cmd/mem-mcp").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "%v\n%s", err, out)
	} else {
		code = m.Run()
	}
	if err := os.RemoveAll(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

// process is a running server.
type process struct {
	tb    testing.TB
	cmd   *exec.Cmd
	in    io.WriteCloser
	out   *bufio.Reader
	ready time.Duration // from start to the reply to initialize
}

const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}` + "\n" +
	`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n"

// start starts a server on a memory directory; everything it keeps lies beside
// that.
func start(tb testing.TB, dir string) *process {
	tb.Helper()
	base := filepath.Dir(dir)
	cmd := exec.Command(binary, "serve", "--memory-dir", dir)
	cmd.Dir = base
	cmd.Env = []string{"HOME=" + filepath.Join(base, "home"), "XDG_STATE_HOME=" + filepath.Join(base, "state"), "XDG_CONFIG_HOME=" + filepath.Join(base, "config"), "PATH=" + os.Getenv("PATH")}
	in, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	p := &process{tb: tb, cmd: cmd, in: in, out: bufio.NewReaderSize(out, 1<<20)}
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	p.send(hello)
	p.line()
	p.ready = time.Since(begin)
	return p
}

func (p *process) send(s string) {
	if _, err := io.WriteString(p.in, s); err != nil {
		p.tb.Fatal(err)
	}
}

func (p *process) line() []byte {
	b, err := p.out.ReadBytes('\n')
	if err != nil {
		p.tb.Fatal(err)
	}
	return b
}

func call(id int, tool, args string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`+"\n", id, tool, args)
}

// do makes one call and fails the benchmark when it is an error.
func (p *process) do(id int, tool, args string) []byte {
	p.send(call(id, tool, args))
	b := p.line()
	if bytes.Contains(b, []byte(`"isError":true`)) || bytes.Contains(b, []byte(`"error":{`)) {
		p.tb.Fatalf("%s", b)
	}
	return b
}

func (p *process) stop() {
	if err := p.in.Close(); err != nil {
		p.tb.Error(err)
	}
	if err := p.cmd.Wait(); err != nil {
		p.tb.Error(err)
	}
}

// rss gives the resident memory in MB, 0 where the system does not tell.
func (p *process) rss() float64 {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	for l := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(l, "VmRSS:"); ok {
			if kb, err := strconv.Atoi(strings.Fields(rest)[0]); err == nil {
				return float64(kb) / 1024
			}
		}
	}
	return 0
}

// fill makes a memory directory of n topics of the usual 2 KB, as other
// programs would have written it.
func fill(tb testing.TB, n int) string {
	tb.Helper()
	dir := filepath.Join(tb.TempDir(), "memory")
	if err := os.Mkdir(dir, 0o755); err != nil {
		tb.Fatal(err)
	}
	var index strings.Builder
	index.WriteString("# Memory\n\n")
	old := time.Now().Add(-time.Hour)
	for i := range n {
		name := fmt.Sprintf("topic-%04d.md", i)
		body := fmt.Sprintf("---\nname: topic-%04d\ndescription: what was decided about part %d of the system\ntype: project\noriginSessionId: s\n---\n\n", i, i) +
			strings.Repeat(fmt.Sprintf("The part %d is deployed on Tuesdays by the release team, since the cache needs warming.\n", i), 22)
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(body), 0o644); err != nil {
			tb.Fatal(err)
		}
		if err := os.Chtimes(file, old, old); err != nil {
			tb.Fatal(err)
		}
		if i < 190 {
			fmt.Fprintf(&index, "- [topic %d](%s) — what was decided about part %d\n", i, name, i)
		}
	}
	file := filepath.Join(dir, "MEMORY.md")
	if err := os.WriteFile(file, []byte(index.String()), 0o644); err != nil {
		tb.Fatal(err)
	}
	if err := os.Chtimes(file, old, old); err != nil {
		tb.Fatal(err)
	}
	return dir
}

func median(ds []time.Duration) time.Duration {
	slices.Sort(ds)
	return ds[len(ds)/2]
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

func BenchmarkStart(b *testing.B) {
	dir := fill(b, 200)
	var all []time.Duration
	for b.Loop() {
		p := start(b, dir)
		all = append(all, p.ready)
		p.stop()
	}
	b.ReportMetric(micros(median(all))/1000, "ms-to-initialize")
}

func BenchmarkRead(b *testing.B) {
	p := start(b, fill(b, 200))
	defer p.stop()
	var all []time.Duration
	for i := 1; b.Loop(); i++ {
		begin := time.Now()
		p.do(i, "memory_read", fmt.Sprintf(`{"topic":"topic-%04d.md"}`, i%200))
		all = append(all, time.Since(begin))
	}
	b.ReportMetric(micros(median(all)), "us-median")
}

func BenchmarkReadByName(b *testing.B) {
	p := start(b, fill(b, 200))
	defer p.stop()
	var all []time.Duration
	for i := 1; b.Loop(); i++ {
		begin := time.Now()
		p.do(i, "memory_read", fmt.Sprintf(`{"topic":"topic-%04d"}`, i%200))
		all = append(all, time.Since(begin))
	}
	b.ReportMetric(micros(median(all)), "us-median")
}

// Benchmark32InFlight keeps 32 calls under way.
func Benchmark32InFlight(b *testing.B) {
	p := start(b, fill(b, 200))
	defer p.stop()
	slots := make(chan struct{}, 32)
	var reader sync.WaitGroup
	reader.Add(1)
	total := make(chan int, 1)
	go func() {
		defer reader.Done()
		n, want := 0, -1
		for want < 0 || n < want {
			select {
			case want = <-total:
				continue
			default:
			}
			p.line()
			n++
			<-slots
		}
	}()
	n := 0
	begin := time.Now()
	for b.Loop() {
		slots <- struct{}{}
		n++
		p.send(call(n, "memory_read", fmt.Sprintf(`{"topic":"topic-%04d.md"}`, n%200)))
	}
	// One call more wakes a reader that waits for a line.
	total <- n + 1
	slots <- struct{}{}
	p.send(call(n+1, "memory_read", `{"topic":"topic-0000.md"}`))
	reader.Wait()
	b.ReportMetric(float64(n)/time.Since(begin).Seconds(), "calls/s")
}

func BenchmarkSearch3000(b *testing.B) {
	p := start(b, fill(b, 3000))
	defer p.stop()
	begin := time.Now()
	p.do(1, "memory_search", `{"query":"deploy cache"}`)
	b.ReportMetric(micros(time.Since(begin))/1000, "ms-first")
	var all []time.Duration
	for i := 2; b.Loop(); i++ {
		begin := time.Now()
		p.do(i, "memory_search", fmt.Sprintf(`{"query":"part %d release"}`, i%3000))
		all = append(all, time.Since(begin))
	}
	b.ReportMetric(micros(median(all))/1000, "ms-median")
}

// BenchmarkDurable measures durable writes of the server in units of one write,
// fsync and rename, made in the same run on the same disk.
func BenchmarkDurable(b *testing.B) {
	dir := fill(b, 200)
	p := start(b, dir)
	defer p.stop()
	var unit, edits, writes []time.Duration
	scratch := filepath.Join(filepath.Dir(dir), "unit")
	content := bytes.Repeat([]byte("x"), 2048)
	for i := 0; b.Loop(); i++ {
		unit = append(unit, timed(func() { writeFsyncRename(b, scratch, content) }))
		edits = append(edits, timed(func() {
			p.do(3*i+1, "memory_edit", fmt.Sprintf(`{"topic":"topic-%04d.md","key":"description","value":"edited %d"}`, i%200, i))
		}))
		var r struct {
			Result struct{ StructuredContent struct{ Change string } }
		}
		var reply []byte
		writes = append(writes, timed(func() {
			reply = p.do(3*i+2, "memory_write", fmt.Sprintf(`{"name":"new-%d","description":"a new one","type":"project","body":"The body of a memory."}`, i))
		}))
		if err := json.Unmarshal(reply, &r); err != nil {
			b.Fatal(err)
		}
		p.do(3*i+3, "memory_undo", fmt.Sprintf(`{"change":%q}`, r.Result.StructuredContent.Change))
	}
	u := median(unit)
	b.ReportMetric(micros(u), "us-unit")
	b.ReportMetric(float64(median(edits))/float64(u), "edit/unit")
	b.ReportMetric(float64(median(writes))/float64(u), "write/unit")
}

func timed(f func()) time.Duration {
	begin := time.Now()
	f()
	return time.Since(begin)
}

func writeFsyncRename(b *testing.B, target string, content []byte) {
	f, err := os.Create(target + ".tmp")
	if err != nil {
		b.Fatal(err)
	}
	if _, err := f.Write(content); err != nil {
		b.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	if err := os.Rename(target+".tmp", target); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkMemory reports resident memory: idle with 200 topics read, and after
// the first secret scan.
func BenchmarkMemory(b *testing.B) {
	var idle, scanned float64
	for b.Loop() {
		p := start(b, fill(b, 200))
		p.do(1, "memory_context", `{}`)
		p.do(2, "memory_list", `{}`)
		time.Sleep(200 * time.Millisecond)
		idle = p.rss()
		p.do(3, "memory_write", `{"name":"n","description":"d","type":"project","body":"the key and the token and the password of nothing"}`)
		time.Sleep(200 * time.Millisecond)
		scanned = p.rss()
		p.stop()
	}
	b.ReportMetric(idle, "MB-idle")
	b.ReportMetric(scanned, "MB-after-scan")
}
