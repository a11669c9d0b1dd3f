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

// scripts are held to what bash and the GNU tools give.
// Where ours differ, differs says why.
var scripts = []struct{ script, want, differs string }{
	{`cat a.md`, "name: a\nalpha\nbeta\ngamma\n", ""},
	{`cat -n a.md | head -2`, "     1\tname: a\n     2\talpha\n", ""},
	{`cd logs && pwd && ls && cd - >/dev/null && pwd`, "/memory/logs\nsub\nx.md\n/memory\n", ""},
	{`ls`, "MEMORY.md\na.md\nb.md\nlogs\nsp ace.md\n", ""},
	{`ls -t *.md | head -1`, "sp ace.md\n", ""},
	{`ls -1 -r [ab].md`, "b.md\na.md\n", ""},
	{`ls -la a.md`, "-rw-r--r-- 1 agent agent       25 2026-11-30 10:00 a.md\n", "owners are not shown"},
	{`ls -R logs`, "logs:\nsub\nx.md\n\nlogs/sub:\ny.md\n", ""},
	{`echo *.md; echo "*.md" '*'; echo nothing*`, "MEMORY.md a.md b.md sp ace.md\n*.md *\nnothing*\n", ""},
	{`echo /memory/*/*.md logs/*/y.md ~/a*`, "/memory/logs/x.md logs/sub/y.md /memory/a.md\n", ""},
	{`grep -rn Memory; grep -rn beta . --include='*.md' | sort`, "MEMORY.md:1:# Memory\n./a.md:3:beta\n./b.md:2:beta\n", ""},
	{`grep -c -i beta a.md b.md`, "a.md:1\nb.md:2\n", ""},
	{`grep -l beta *.md`, "a.md\nb.md\n", ""},
	{`grep -rniE 'al(pha|ph)' /memory`, "/memory/a.md:2:alpha\n", ""},
	{`grep -A1 -B1 -n beta a.md`, "2-alpha\n3:beta\n4-gamma\n", ""},
	{`grep -o 'b.t' a.md b.md`, "a.md:bet\nb.md:bet\n", ""},
	{`grep -v a a.md; echo $?`, "1\n", ""},
	{`grep 'a\|g' a.md | wc -l`, "4\n", ""},
	{`grep -w 'bet' a.md || echo none`, "none\n", ""},
	{`grep -q alpha a.md && echo yes`, "yes\n", ""},
	{`cat a.md | grep -e alpha -e gamma`, "alpha\ngamma\n", ""},
	{`grep -L beta *.md`, "MEMORY.md\nsp ace.md\n", ""},
	{`grep -m1 name a.md b.md -h`, "name: a\nname: b\n", ""},
	{`find . -name '*.md' -type f | sort`, "./MEMORY.md\n./a.md\n./b.md\n./logs/sub/y.md\n./logs/x.md\n./sp ace.md\n", ""},
	{`find /memory -maxdepth 1 -type d`, "/memory\n/memory/logs\n", ""},
	{`find logs -newer a.md -name 'x*' -print`, "logs/x.md\n", ""},
	{`find . -type f -mtime +1`, "./b.md\n", ""},
	{`find . \( -name a.md -o -name b.md \) ! -name b.md`, "./a.md\n", ""},
	{`find . -name '*.md' -mmin -90 | xargs -d '\n' grep -l spaced`, "./sp ace.md\n", "the clock of the test"},
	{`find . -name '?.md' -print0 | xargs -0 wc -l`, "4 ./a.md\n3 ./b.md\n1 ./logs/sub/y.md\n5 ./logs/x.md\n13 total\n", "columns are not padded, folders are in order"},
	{`sort logs/x.md`, "1 a\n1 a\n10 d\n2 b\n3 c\n", ""},
	{`sort -rn logs/x.md | head -n 1`, "10 d\n", ""},
	{`sort -u -k2 logs/x.md`, "1 a\n2 b\n3 c\n10 d\n", ""},
	{`sort logs/x.md | uniq -c | sort -rn | head -1`, "      2 1 a\n", ""},
	{`cut -d' ' -f2 logs/x.md | tr a-z A-Z | tr '\n' ' '`, "C A B A D ", ""},
	{`head -c 4 a.md; echo; tail -n 1 a.md; tail -n +4 a.md; tail -2 a.md; head -n -3 a.md`, "name\ngamma\ngamma\nbeta\ngamma\nname: a\n", ""},
	{`wc -l < a.md; wc a.md`, "4\n4 5 25 a.md\n", "columns are not padded"},
	{`sed -n '2,3p' a.md; sed -n '/be/p' a.md; sed -n '$p' a.md; sed 2,4d a.md; sed 1q a.md`, "alpha\nbeta\nbeta\ngamma\nname: a\nname: a\n", ""},
	{`stat -c '%n %s %F' a.md logs`, "a.md 25 regular file\nlogs 0 directory\n", "folders have no size"},
	{`date -u +%Y-%m-%d`, "2026-11-30\n", ""},
	{`basename /x/y.md .md; dirname /x/y.md`, "y\n/x\n", ""},
	{`nl a.md | tail -1; seq 3 | tac | tr '\n' ,`, "     4\tgamma\n3,2,1,", ""},
	{`for f in a b; do echo "$f: $(wc -l < $f.md)"; done`, "a: 4\nb: 3\n", ""},
	{`while read -r k v; do echo "$v=$k"; done < logs/x.md | head -2`, "c=3\na=1\n", ""},
	{`cat logs/x.md | while IFS=' ' read -r n _; do t=$((t+n)); echo $t; done | tail -1`, "17\n", ""},
	{`i=0; while [ $i -lt 3 ]; do i=$((i+1)); [ $i -eq 2 ] && continue; echo $i; done`, "1\n3\n", ""},
	{`until false; do echo once; break; done; for ((i=0;i<2;i++)); do echo $i; done`, "once\n0\n1\n", ""},
	{`if [ -f a.md ] && [[ a.md == *.md ]]; then echo file; elif true; then echo no; else echo no; fi`, "file\n", ""},
	{`[[ "x12" =~ ^x([0-9]+)$ ]] && echo ${BASH_REMATCH[1]}`, "12\n", ""},
	{`case b.md in a*) echo a;; b*|c*) echo b;; *) echo other;; esac`, "b\n", ""},
	{`f() { local x=in; echo "$x $1 $#"; return 3; }; x=out; f one two; echo $? $x`, "in one 2\n3 out\n", ""},
	{`x=abc; echo ${x#a} ${x%c} ${x/b/X} ${#x} ${x:1:1} ${y:-none} ${x^^}`, "bc ab aXc 3 b none ABC\n", ""},
	{`a=(1 "2 3" 4); a+=(5); echo ${#a[@]} "${a[1]}"; for i in "${a[@]}"; do echo "<$i>"; done`, "4 2 3\n<1>\n<2 3>\n<4>\n<5>\n", ""},
	{"cat <<EOF\nhi $(echo there) ${HOME}\nEOF\ncat <<'EOF'\n$x\nEOF\ncat <<< word", "hi there /memory\n$x\nword\n", ""},
	{`(cd logs; pwd); pwd; { echo a; echo b; } | wc -l`, "/memory/logs\n/memory\n2\n", ""},
	{`cat nothere 2>/dev/null || echo missing; cat nothere 2>&1 | head -1`, "missing\ncat: /memory/nothere: No such file or directory\n", "paths are told in full"},
	{`printf '%s-%d\n' a 1 b 2; printf '%05d|%-3s|\n' 42 x`, "a-1\nb-2\n00042|x  |\n", ""},
	{`set -euo pipefail; false | true || echo failed; echo on; false; echo never`, "failed\non\n", ""},
	{`set -u; echo $nope; echo never`, "nope: unbound variable\n", "the name of the shell is left out"},
	{`! true; echo $?; true && false || echo or`, "1\nor\n", ""},
	{`echo {a,b}{1..2} $((2**10 % 7)) $'t\tx'`, "a1 a2 b1 b2 2 t\tx\n", ""},
	{`x=$(<a.md); echo "${x%%$'\n'*}"; echo $(cat sp*)`, "name: a\nspaced\n", ""},
	{`echo ~root ~/a.md; test -d ~/logs && echo dir; [ -e nope ] || echo gone`, "~root /memory/a.md\ndir\ngone\n", "no user is looked up"},
	{`yes=1; echo $yes; env=2; echo $env; export Z=3; echo $Z; unset Z; echo "[$Z]"`, "1\n2\n3\n[]\n", ""},
	{`set -- a b c; shift; echo $1 $# "$@"`, "b 2 b c\n", ""},
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
