package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"mem/internal/bench/corpus"
)

// rumdl is the peer that checks Markdown fastest, as scripts/node-clients.sh installs it.
const rumdl = "../../e2e/clients/node_modules/@rumdl/cli-linux-x64/rumdl"

// spent is what a command cost.
type spent struct {
	wall, cpu time.Duration
	rss       float64 // MB, 0 where the system does not tell
}

// command runs a program to its end. Findings are no failure.
func command(b *testing.B, home, name string, args ...string) spent {
	b.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = home
	cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH")}
	var errs strings.Builder
	cmd.Stderr = &errs
	begin := time.Now()
	err := cmd.Run()
	s := spent{wall: time.Since(begin)}
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() > 1 {
		b.Fatalf("%s: %v\n%s", name, err, errs.String())
	}
	s.cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	s.rss = peak(cmd.ProcessState)
	return s
}

func buildLSP(b *testing.B) string {
	b.Helper()
	exe := filepath.Join(b.TempDir(), "mem-lsp")
	if runtime.GOOS == "windows" {
		exe += ".exe"
	}
	if out, err := exec.Command("go", "build", "-o", exe, "mem/cmd/mem-lsp").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	return exe
}

// quietest gives the run with the least time: on a shared machine all others tell
// of the others.
func quietest(all []spent) spent {
	best := all[0]
	for _, s := range all[1:] {
		best.wall, best.cpu, best.rss = min(best.wall, s.wall), min(best.cpu, s.cpu), max(best.rss, s.rss)
	}
	return best
}

func report(b *testing.B, name string, s spent) {
	b.ReportMetric(s.wall.Seconds(), "s-"+name)
	b.ReportMetric(s.cpu.Seconds(), "cpu-s-"+name)
	if s.rss > 0 {
		b.ReportMetric(s.rss, "MB-"+name)
	}
}

// inTurn measures ours, without and with the search for secrets, and rumdl, three
// times in turn, and reports the quietest run of each.
func inTurn(b *testing.B, dir string, secrets bool) {
	home := b.TempDir()
	exe := buildLSP(b)
	theirExe, err := filepath.Abs(rumdl)
	if err != nil {
		b.Fatal(err)
	}
	_, err = os.Stat(theirExe)
	peer := err == nil
	var ours, late, theirs []spent
	for b.Loop() {
		for range 3 {
			ours = append(ours, command(b, home, exe, "check", "--no-secrets", dir))
			if secrets {
				late = append(late, command(b, home, exe, "check", dir))
			}
			if peer {
				theirs = append(theirs, command(b, home, theirExe, "check", "--no-cache", dir))
			}
		}
	}
	report(b, "ours", quietest(ours))
	if secrets {
		report(b, "secrets", quietest(late))
	}
	if !peer {
		fmt.Println("NOT MEASURED: rumdl is not installed; scripts/node-clients.sh installs it on Linux x64")
		return
	}
	report(b, "rumdl", quietest(theirs))
	b.ReportMetric(quietest(theirs).wall.Seconds()/quietest(ours).wall.Seconds(), "times-rumdl")
	b.ReportMetric(quietest(theirs).cpu.Seconds()/quietest(ours).cpu.Seconds(), "times-rumdl-cpu")
}

// BenchmarkCheckTopics checks 10,000 topics, 22 MB.
func BenchmarkCheckTopics(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "memory")
	if err := corpus.Write(dir, corpus.Files(10_000)); err != nil {
		b.Fatal(err)
	}
	inTurn(b, dir, true)
}

// BenchmarkCheckIndex checks an index of 10,000 lines, most of which lead nowhere.
func BenchmarkCheckIndex(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "memory")
	if err := corpus.Write(dir, corpus.IndexFiles(10_000)); err != nil {
		b.Fatal(err)
	}
	inTurn(b, dir, false)
}
