package shell

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestBombs: scripts that would run for ever or eat memory end at a limit, soon and
// without much memory. What was measured is logged.
func TestBombs(t *testing.T) {
	for _, script := range []string{
		`while true; do :; done`,
		`while :; do echo x; done`,
		`while :; do echo x; done >/dev/null`,
		`x=$(while :; do echo xxxxxxxxxxxxxxxx; done)`,
		`f() { f; }; f`,
		`f() { f | f; }; f`,
		`f() { (f); }; f`,
		`f() { x=$(f); }; f`,
		`:() { : | : ; }; f() { f | f | f; }; f`,
		`x=aaaaaaaaaaaaaaaa; while :; do x=$x$x; done`,
		`x=aaaaaaaaaaaaaaaa; for i in {1..60}; do x="$x$x"; done; echo ${#x}`,
		`a=(x x x x); while :; do a+=("${a[@]}"); done`,
		`set -- a b; while :; do set -- "$@" "$@"; done`,
		`x=$(printf '%999s' a); x=$x$x$x$x$x$x$x$x$x$x$x$x; y=${x//a/$x}; x=${x// /$x}; x=${x// /$x}`,
		`: ${a:=xxxxxxxxxxxxxxxx} ${b:=$a$a$a$a$a$a$a$a} ${c:=$b$b$b$b$b$b$b$b} ${d:=$c$c$c$c$c$c$c$c} ${e:=$d$d$d$d$d$d$d$d} ${f:=$e$e$e$e$e$e$e$e} ${g:=$f$f$f$f$f$f$f$f}`,
		`echo {1..100000000}`,
		`echo {1..9999}{1..9999}{1..9999}`,
		`echo {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}`,
		`printf '%1000000000s' x`,
		`printf "%999s%999s%999s" $(seq 20000)`,
		`echo $((2**9223372036854775807)) $((1<<99999999))`,
		`for ((;;)); do :; done`,
		`for ((i=0;;i++)); do x=$i; done`,
		`seq 1 1000000000 | sort`,
		`seq 1 1000000000 | tac`,
		`seq 1 1000000000 | tail -n 100000000`,
		`while :; do cat a.md; done | sort`,
		`while :; do printf x; done | read y`,
		`while :; do printf x; done | tr -d y | grep x`,
		`seq 100000 | xargs -n 1 echo`,
		`seq 100000 | xargs -I{} echo {}{}{}{}{}{}{}{}`,
		`cat | cat | cat | head -1; cat - - -`,
		`while :; do grep -r . .; done`,
		`while :; do find .; done | wc`,
		`echo */../*/../*/../*/../*/../*/../*/../*/../*/../*/../*/../*/../*`,
		`[[ aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa =~ (a*)*(a*)*(a*)*b ]]; echo $?; while :; do :; done`,
		`for ((;;)); do x=1; done | cat -n; while :; do cat a.md a.md a.md a.md; done | grep -B 1000000000 zzz`,
		`g() { while :; do cat a.md a.md a.md a.md a.md a.md a.md a.md a.md a.md a.md a.md; done | tail -c 999999999; }; g | g | g | g | g | g`,
		`x=$(seq 1 30000); echo $x | tr -d '\n' | xargs -I{} echo {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}`,
		`seq 1 999999999 | tr '\n' ' ' | cut -d' ' -f2-; seq 9 | tr 'a-\uffffa-\uffffa-\uffff' x`,
		`seq 1 999999999 | tr '\n' ' ' | sed -n 1p; seq 1 300000 | sort -k 3,3n -k 2nr -k 1V | wc`,
		`set -x; while :; do :; done`,
		`while :; do cd /nowhere; done 2>/dev/null`,
		`x=$(while :; do cd "$HOME/nothing-of-this-name"; done 2>&1)`,
		`while read -r x; do :; done < <(yes)`,
	} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		start := time.Now()
		stop := make(chan struct{})
		peak := make(chan uint64)
		go func() {
			var most uint64
			for {
				select {
				case <-stop:
					peak <- most
					return
				case <-time.After(10 * time.Millisecond):
					runtime.ReadMemStats(&after)
					most = max(most, after.HeapAlloc)
				}
			}
		}()
		done := make(chan struct{})
		out, err := Run(context.Background(), testFiles(), script, Options{
			Cwd: "/memory", Home: "/memory", Limits: Limits{Wall: 150 * time.Millisecond}, Done: func() { close(done) },
		})
		took := time.Since(start)
		<-done
		close(stop)
		grown := int64(<-peak) - int64(before.HeapAlloc)
		if len(out.Text) > MaxOutput {
			t.Errorf("%.70s gives %d bytes", script, len(out.Text))
		}
		if took > 3*time.Second {
			t.Errorf("%.70s took %v", script, took)
		}
		if late := time.Since(start) - took; late > 3*time.Second {
			t.Errorf("%.70s went on for %v", script, late)
		}
		if grown > 200<<20 {
			t.Errorf("%.70s held %d MB", script, grown>>20)
		}
		t.Logf("%6.0f ms %4d MB status %d %v %v: %.70s", took.Seconds()*1000, grown>>20, out.Status, out.Notes, err, script)
	}
	if n := runtime.NumGoroutine(); n > 20 {
		t.Errorf("%d goroutines are left", n)
	}
}

// TestNoProgram: a program in PATH whose name is that of a command, or that a script
// names, is never started.
func TestNoProgram(t *testing.T) {
	dir := t.TempDir()
	mark := filepath.Join(dir, "mark")
	for _, name := range append(Commands(), "canary", "sh", "git") {
		if strings.ContainsAny(name, "[:") {
			continue
		}
		body := "#!/bin/sh\necho started >> " + mark + "\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	t.Chdir(dir)
	for _, name := range append(Commands(), "canary", "./canary", filepath.Join(dir, "canary"), "sh", "git") {
		_, _ = run(t, name+" </dev/null")
		_, _ = run(t, "echo a.md | xargs "+name)
		_, _ = run(t, "f() { "+name+" a; }; f")
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("a program was started")
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	time.AfterFunc(50*time.Millisecond, func() { cancel(errors.New("the user has had enough")) })
	start := time.Now()
	out, err := Run(ctx, testFiles(), `for ((;;)); do x=$((x+1)); done`, Options{Cwd: "/memory", Home: "/memory"})
	if err != nil || out.Status != 124 || len(out.Notes) != 1 || !strings.Contains(out.Notes[0], "had enough") {
		t.Errorf("%+v %v", out, err)
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("it took %v", took)
	}
}

func FuzzScript(f *testing.F) {
	for _, s := range []string{
		`cat a.md | grep -n a | sort -rn | head -3`, `for f in *.md; do echo "${f%.md}"; done`, `x=$(cat a.md); echo ${x//a/b} ${#x}`, `[[ $x == a* ]] && echo $((i++))`,
		"cat <<EOF\n$HOME\nEOF", `find . -name '*.md' -o -type d`, `f() { local a=1; f2; }; f`, `case x in (a|b) ;; *) ls;; esac`, `a=(1 2); echo "${a[@]:1}" ${a[5]} ${x:?no}`, `sed -n '/a/,/b/p' a.md`,
		`test ! -f a -a \( b = c \)`, `printf '%b\x41\u263a' '\n' | tr a-z A-Z`, `echo {a..z..3}{1,2} $'\xff'`, `cat /etc/passwd ../../x ~root`, `((a[0]++)); let x=y`, `xargs -I{} -n1 < a.md`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, script string) {
		done := make(chan struct{})
		out, err := Run(context.Background(), testFiles(), script, Options{
			Cwd: "/memory", Home: "/memory", Limits: Limits{Wall: 200 * time.Millisecond}, Done: func() { close(done) },
		})
		if err != nil {
			return
		}
		select {
		case <-done:
		case <-time.After(5 * time.Second):
			t.Fatal("it does not end")
		}
		if len(out.Text) > MaxOutput {
			t.Errorf("%d bytes of output", len(out.Text))
		}
		for _, n := range out.Notes {
			if strings.Contains(n, "fault in the shell") {
				t.Error(n)
			}
		}
	})
}

func BenchmarkPipeline(b *testing.B) {
	files := testFiles()
	for b.Loop() {
		out, err := Run(context.Background(), files, `grep -rn beta . | cut -d: -f1 | sort | uniq -c | sort -rn`, Options{Cwd: "/memory", Home: "/memory"})
		if err != nil || out.Status != 0 {
			b.Fatal(out, err)
		}
	}
}
