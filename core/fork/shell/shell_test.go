package shell

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// mapFiles is a world of one folder, /memory.
type mapFiles struct{ fstest.MapFS }

func (m mapFiles) Resolve(cwd, p string) (string, error) {
	if strings.HasPrefix(p, "~") {
		p = "/memory" + p[1:]
	}
	if !path.IsAbs(p) {
		p = path.Join(cwd, p)
	}
	p = path.Clean(p)
	if p != "/memory" && !strings.HasPrefix(p, "/memory/") {
		return "", &RefusedError{What: p, Reason: "outside"}
	}
	return p, nil
}

func (m mapFiles) name(p string) string {
	if p == "/memory" {
		return "."
	}
	return strings.TrimPrefix(p, "/memory/")
}

func wrap(p string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &fs.PathError{Op: "open", Path: p, Err: fs.ErrNotExist}
	}
	return err
}

func (m mapFiles) Stat(p string) (fs.FileInfo, error) {
	info, err := m.MapFS.Stat(m.name(p))
	return info, wrap(p, err)
}

func (m mapFiles) ReadFile(p string) ([]byte, error) {
	b, err := m.MapFS.ReadFile(m.name(p))
	return b, wrap(p, err)
}

func (m mapFiles) ReadDir(p string) (out []fs.FileInfo, left int, err error) {
	list, err := m.MapFS.ReadDir(m.name(p))
	if err != nil {
		return nil, 0, wrap(p, err)
	}
	for _, e := range list {
		info, err := e.Info()
		if err != nil {
			return nil, 0, err
		}
		if strings.HasPrefix(e.Name(), ".") {
			left++
			continue
		}
		out = append(out, info)
	}
	return out, left, nil
}

var now = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func testFiles() mapFiles {
	old := now.Add(-72 * time.Hour)
	return mapFiles{fstest.MapFS{
		"MEMORY.md":     {Data: []byte("# Memory\n- [A](a.md) — first\n- [B](b.md) — second\n"), ModTime: now.Add(-time.Hour), Mode: 0o644},
		"a.md":          {Data: []byte("name: a\nalpha\nbeta\ngamma\n"), ModTime: now.Add(-2 * time.Hour), Mode: 0o644},
		"b.md":          {Data: []byte("name: b\nbeta\nBETA 2\n"), ModTime: old, Mode: 0o644},
		"logs/x.md":     {Data: []byte("3 c\n1 a\n2 b\n1 a\n10 d\n"), ModTime: now, Mode: 0o644},
		"logs/sub/y.md": {Data: []byte("deep\n"), ModTime: now, Mode: 0o644},
		"sp ace.md":     {Data: []byte("spaced\n"), ModTime: now, Mode: 0o644},
	}}
}

func run(t testing.TB, script string) (Output, error) {
	t.Helper()
	return Run(context.Background(), testFiles(), script, Options{Cwd: "/memory", Home: "/memory", Now: func() time.Time { return now }})
}

func TestScripts(t *testing.T) {
	for _, c := range scripts {
		out, err := run(t, c.script)
		if err != nil {
			t.Errorf("%s\n%v", c.script, err)
			continue
		}
		if out.Text != c.want || len(out.Notes) > 0 {
			t.Errorf("%s\ngives %q %v\n want %q", c.script, out.Text, out.Notes, c.want)
		}
	}
}

// TestUnshown: whoever looks for everything is told of what is not shown.
func TestUnshown(t *testing.T) {
	files := testFiles()
	files.MapFS["hid/seen.md"] = &fstest.MapFile{Data: []byte("x\n")}
	files.MapFS["hid/.lock"] = &fstest.MapFile{Data: []byte("x\n")}
	out, err := Run(context.Background(), files, `ls -a hid; ls hid; find hid; grep -r x hid`, Options{Cwd: "/memory", Home: "/memory"})
	const word = ": 1 entries are not shown: hidden names, links, or not chosen for this run\n"
	want := "seen.md\nls" + word + "seen.md\nhid\nhid/seen.md\nfind" + word + "hid/seen.md:x\ngrep" + word
	if err != nil || out.Text != want {
		t.Errorf("%v %q\nwant %q", err, out.Text, want)
	}
}

// TestRefusedScripts: what syntax tells is refused before anything runs.
func TestRefusedScripts(t *testing.T) {
	for _, script := range []string{
		`echo x > a.md`, `echo x >> a.md`, `echo x >| a.md`, `echo x &> a.md`, `echo x &>> a.md`, `cat <> a.md`, `echo x 2> e`, `echo > /dev/tcp/1.2.3.4/80`, `echo > "$x"`, `echo >& file`,
		`cat 3< a.md`, `exec cat`, `exec 3<&0`, `eval "cat a.md"`, `source a.md`, `. a.md`, `command cat a.md`, `builtin echo`, `trap 'echo' EXIT`, `wait`, `sleep 1 & echo`, `coproc cat`,
		`cat <(ls)`, `ls >(cat)`, `/bin/cat a.md`, `./a.md`, `$cmd`, `"$x" y`, "`echo ls`", `c\at a.md`, `PATH=/bin ls`, `LD_PRELOAD=x ls`, `export PATH=/bin`, `sudo ls`, `bash -c ls`, `python3 -c 1`,
		`rm a.md`, `tee a.md`, `git log`, `curl x`, `declare -n x=y`, `echo ${!x}`, `echo ${x@P}`, `echo $$`, `select x in a; do :; done`, `time ls`, `alias x=y`, `env`, `set | cat; printenv`,
		`a[0]=1`, `${x//a/$(ls)}`, `x=${a//b/${c//d/e}}`, `f() { rm x; }`, `echo $(rm x)`, `[[ -N a ]]`, `dd if=a`, `x=1 ls; nohup ls`, "ls\x00", strings.Repeat("(", 3000), "cat '" + strings.Repeat("x", 20000) + "'", ``, `if`,
	} {
		out, err := run(t, script)
		if err == nil {
			t.Errorf("%.60q runs: %+v", script, out)
			continue
		}
		if len(err.Error()) > 1000 {
			t.Errorf("%.60q is refused in %d bytes", script, len(err.Error()))
		}
	}
}

// TestWithin: commands that are known do not know what would get around the gate.
func TestWithin(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{`cat /etc/passwd`, "outside"},
		{`cat < /etc/passwd`, "outside"},
		{`echo /etc/*; cat /etc/*`, "outside"},
		{`cd /etc`, "outside"},
		{`cat ../x`, "outside"},
		{`x=/etc; cat $x/passwd`, "outside"},
		{`echo "$(</etc/passwd)"`, "outside"},
		{`find / -name x`, "outside"},
		{`[ -f /etc/passwd ]; [[ -e /etc ]]; grep -r x /proc`, "outside"},
		{`find . -exec cat {} \;`, "not open to you"},
		{`find . -delete`, "not open to you"},
		{`sed -i s/a/b/ a.md`, "not open to you"},
		{`sed -n 'w x' a.md`, "only prints"},
		{`uniq a.md out`, "not open to you"},
		{`echo a.md | xargs rm`, "cannot be run"},
		{`ls --color=auto`, "--color is not known"},
		{`sort -o x a.md`, "-o is not known"},
		{`date -d yesterday`, "not known"},
		{`x=1; read -p q y`, "not known"},
		{`readonly r=1; r=2; echo $r`, "readonly variable"},
	} {
		out, err := run(t, c.script)
		got := out.Text + strings.Join(out.Refused, " ")
		if err != nil {
			got += err.Error()
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s\ngives %q %v, want %q", c.script, got, err, c.want)
		}
	}
}

func TestCommandsAreSorted(t *testing.T) {
	if list := Commands(); !slices.IsSorted(list) || len(list) < 30 {
		t.Errorf("%v", list)
	}
}
