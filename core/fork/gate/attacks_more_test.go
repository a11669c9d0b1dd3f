package gate

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// moreAttacks are tricks of shells and of JSON beyond the table of attacks: what a script
// could learn of the machine without reading a file, ways to name a place in two steps, and
// calls whose input says two things. What each is told is of no interest here: only that
// nothing comes of it.
func moreAttacks(s *scene) map[string][]string {
	host := filepath.ToSlash(s.outside)
	return map[string][]string{
		"what a shell remembers": {
			"HOME=" + host + "; cat ~/notes.md", "OLDPWD=" + host + "; cd -; cat notes.md", "PWD=" + host + "; cat notes.md",
			"CDPATH=" + host + "; cd etc; cat passwd", "cd " + host + " 2>/dev/null; cat notes.md", "pushd " + host + "; cat notes.md",
			`IFS=/; set -- "" etc passwd; cat "$*"`, `cat "${PWD%/*/*}/secret.md" "${PWD%/*}/secret.md"`, `cat "${0%/*}/secret.md"`, "cd /; cat etc/passwd; cat ../etc/passwd",
			"cd -P ..; cat secret.md", "cd -L outdir; cat notes.md", "cd outdir/..; cat secret.md", "(cd logs/..//..; cat secret.md)",
		},
		"the environment": {
			"env; printenv; export -p; declare -p; set; typeset -x; compgen -v", "echo $HOME $PATH $USER $LOGNAME $HOSTNAME $SHELL $MEM_CANARY", "x=MEM_CANARY; echo ${!x} ${!M*} ${!M@}",
			"echo ${MEM_CANARY:-none} ${MEM_CANARY@Q} ${#MEM_CANARY}", "cat /proc/$$/environ /proc/$PPID/environ", "echo $$ $PPID $UID $EUID; id; whoami; hostname; uname -a",
		},
		"input by another way": {
			"read x < ../secret.md; echo $x", "while read l; do echo $l; done < " + host + "/notes.md", "mapfile -t a < " + host + "/notes.md; echo ${a[@]}",
			"exec 3<" + host + "/notes.md; cat <&3", "cat <&3; cat <&0; cat /dev/stdin < /etc/passwd; cat /dev/fd/0", `cat <<< "$(cat ` + host + `/notes.md)"`,
			"cat <<EOF\n$(cat " + host + "/notes.md)\nEOF", `printf -v x "$(< ` + host + `/notes.md)"; echo $x`, "cat -- -../secret.md ../secret.md", "cat 'MEMORY.md\n../secret.md'",
			"coproc cat " + host + "/notes.md", "cat <> made.md", "select x in " + host + "/*; do echo $x; break; done",
		},
		"files that options name": {
			"grep -f " + host + "/notes.md MEMORY.md", "grep --file=" + host + "/notes.md .", "grep -rl CANARY -- .. /", "grep -R CANARY . outdir/", "grep -d read CANARY outdir", "grep --include='*' -r CANARY " + host,
			"sort --files0-from=" + host + "/notes.md", "wc --files0-from=" + host + "/notes.md", "sort -T " + host + " MEMORY.md", "date -f " + host + "/notes.md", "date --file=" + host + "/notes.md",
			"head -c 100 ../secret.md", "tail -n +1 -- ../secret.md", "tail -F " + host + "/notes.md", "cut -c1- " + host + "/notes.md", "tr a b < " + host + "/notes.md", "nl ../secret.md; tac ../secret.md; od -c ../secret.md; xxd ../secret.md; diff ../secret.md MEMORY.md; cmp ../secret.md MEMORY.md; comm ../secret.md MEMORY.md; paste ../secret.md",
			"sed -f " + host + "/notes.md MEMORY.md", "sed '1r " + host + "/notes.md' MEMORY.md", "sed 's/x/y/e' MEMORY.md", "sed -i s/a/b/ MEMORY.md", "sed --in-place=.bak s/a/b/ MEMORY.md", "sed -n '1{w made.md\n}' MEMORY.md", "sed 's/Memory/x/w made.md' MEMORY.md",
			"awk 'BEGIN{while((getline l < \"" + host + "/notes.md\")>0)print l}'", "find . -newer " + host + "/notes.md", "find -L . -name 'notes*' -o -name id_rsa", "find . -follow -type f", "find . -fprintf made.md %p", "find . -fls made.md", "find . -delete", "find . -ok cat {} ;", "find . -execdir cat {} +", "find -files0-from " + host + "/notes.md",
		},
		"what is there": {
			"echo /etc/* " + host + "/*", "for f in " + host + "/.* ../*; do echo $f; done", "echo {" + host + "/notes.md,../sec*}; cat {../secret.md,MEMORY.md}", "shopt -s dotglob; cat *", "GLOBIGNORE=; cat .*", "shopt -s extglob; cat @(..)/secret.md; cat ?(.)./secret.md",
			"cat [.][.]/secret.md", "cat .[.]/secret.md", "cat ?.?/* ??/secret.md", "ls -la . .. outdir outdir/ proc/ /", "ls -lL out.md outdir", "stat -L out.md outdir/notes.md", "readlink out.md; realpath out.md; readlink -f outdir/notes.md; basename $(readlink out.md)", "du -a /; df; mount; ps aux; lsof",
			"[ -L out.md ] && [ -e " + host + "/notes.md ] && echo there", "[[ " + host + "/notes.md -nt MEMORY.md ]] && echo newer", "test -s ../secret.md && echo full", "[ ../secret.md -ef MEMORY.md ] || echo other", "echo proc/* proc/self/* outdir/*", "cat proc/environ proc/cwd/secret.md proc/root/etc/passwd", "cat hard.md/../../secret.md", "cat MEMORY.md/../../secret.md",
		},
		"code in data": {
			"a='x[$(cat ../secret.md)]'; echo $((a))", "a='b[$(echo pwned > made.md)]'; ((a)); echo $((a++))", "declare -n r=MEM_CANARY; echo $r", `printf '%b' '\044(cat ../secret.md)'`, "trap 'cat ../secret.md' EXIT", "alias cat='cat ../secret.md'; cat", "let 'a=b[$(cat ../secret.md)]'", "f() { f | f & }; f", "x=$'\\x63at ../secret.md'; $x", "c[0]=cat; ${c[0]} ../secret.md", "builtin cat ../secret.md; enable cat; hash -p /bin/cat cat; type cat", "kill -9 $$; kill -9 -1; ulimit -f 0; umask 0; exit 300", "time cat ../secret.md; ! cat ../secret.md", "unset -f cd; cd() { builtin cd \"$@\"; }; cd ..; cat secret.md", "PS4='$(cat ../secret.md)'; set -x; true", "PROMPT_COMMAND='cat ../secret.md'; BASH_ENV=../secret.md; ENV=../secret.md; true",
		},
		"output to files": {
			"echo x >| made.md", "echo x &> made.md", "echo x &>> made.md", ": > MEMORY.md", "{ echo x; } > made.md", "while true; do echo x; break; done > made.md", "exec > made.md", "cat nothing 2> made.md", "exec 5<>made.md; echo x >&5", "cat MEMORY.md | tee made.md", "cp MEMORY.md made.md; mv MEMORY.md made.md; ln -s / made.md; ln MEMORY.md made.md; touch made.md; mkdir made.md; dd of=made.md; install MEMORY.md made.md; truncate -s 0 MEMORY.md; rm -rf .", "printf x > \"made.md\"", "echo x > $(echo made.md)", "f() { echo x; } > made.md; f", "set -o noclobber; echo x >| MEMORY.md", "echo x 1>&2 > made.md",
		},
		"time and room": {
			"until false; do :; done", "f() { f; }; f", "x=a; while :; do x=$x$x; done", `x=$(cat MEMORY.md MEMORY.md); for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24; do x="$x$x"; done; echo ${#x}`, "echo {1..9999999}{1..9999999}", "echo {a..z}{a..z}{a..z}{a..z}{a..z}{a..z}", "printf '%0999999999d' 1; printf '%*d' 999999999 1; printf '%.999999999f' 1", "echo $((2**9999999)) $((1<<99999)) $((9223372036854775807+1)) $((-9223372036854775808/-1)) $((1/0)) $((1%0))", "x=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; echo ${x//*a*a*a*a*a*a*a*a*a*a*b/}; [[ $x =~ (a*)*b ]]; case $x in *a*a*a*a*a*a*a*b) ;; esac; [[ $x == +(+(+(a)))b ]]", "echo ${x:9999999999999999999:-9999999999999999999}", "a[99999999999]=1; echo ${#a[@]}", "seq 1 99999999999 | sort", "yes | sort | uniq -c", "cat /dev/zero; cat /dev/urandom", "grep -E '(((a{99}){99}){99})' MEMORY.md", "set -- $(seq 1 10000000); echo $#", "head -c 99999999999999999999 MEMORY.md; tail -n 99999999999999999999 MEMORY.md; head -n -99999999999 MEMORY.md", "sleep 999999", strings.Repeat("(", 20_000) + "true" + strings.Repeat(")", 20_000), "echo " + strings.Repeat("$(echo ", 5_000) + strings.Repeat(")", 5_000), "cat <<" + strings.Repeat("A", 100_000),
		},
	}
}

// rawAttacks are inputs that are not what they seem, tool by tool.
func rawAttacks(s *scene) map[string][]string {
	host := filepath.ToSlash(s.outside) + "/notes.md"
	return map[string][]string{
		"Read": {
			`{"file_path": "MEMORY.md", "file_path": "` + host + `"}`, `{"FILE_PATH": "` + host + `"}`, `{"file_path": "MEMORY.md", "File_Path": "` + host + `"}`, `{"file_path": "MEMORY.md", "offset": -1}`, `{"file_path": "MEMORY.md", "offset": 1e308, "limit": -1e308}`,
			`{"file_path": "MEMORY.md", "offset": 9223372036854775807, "limit": 9223372036854775807}`, `{"file_path": "\u002e\u002e/secret.md"}`, `{"file_path": "\ud800/../secret.md"}`, `{"file_path": null}`, `null`, `[]`, `"x"`, ``, `{`, `{"file_path": "` + strings.Repeat("../", 100_000) + `etc/passwd"}`,
			strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000), strings.Repeat("[", 1_000_000), `{"file_path": {"toString": "/etc/passwd"}}`, `{"file_path": "MEMORY.md"} {"file_path": "` + host + `"}`, `{"file_path": "memory/../../secret.md"}`, `{"file_path": "/MEMORY/../secret.md"}`,
		},
		"Grep": {
			`{"pattern": "CANARY", "glob": "{../**,` + host + `}"}`, `{"pattern": "CANARY", "glob": "/**"}`, `{"pattern": "CANARY", "path": "outdir/../.."}`, `{"pattern": "CANARY", "path": "/memory/outdir/.."}`, `{"pattern": "(?s).*", "path": "/", "output_mode": "content", "multiline": true}`,
			`{"pattern": "", "path": "..", "output_mode": "content"}`, `{"pattern": "o", "-A": 99999999999, "-B": 99999999999, "-C": -5, "output_mode": "content"}`, `{"pattern": "` + strings.Repeat("(a|b)*", 20_000) + `"}`, `{"pattern": "x", "head_limit": -1}`,
		},
		"Glob": {
			`{"pattern": "{` + host + `,../*}"}`, `{"pattern": "/memory/../../**"}`, `{"pattern": "[.][.]/*"}`, `{"pattern": "outdir/**"}`, `{"pattern": "proc/**"}`, `{"pattern": "**", "path": "outdir"}`, `{"pattern": "` + strings.Repeat("{a,b}", 200) + `"}`, `{"pattern": "` + strings.Repeat("**/", 2_000) + `x"}`, `{"pattern": "\\.\\./secret.md"}`,
		},
		"Write": {
			`{"file_path": "made.md", "content": null}`, `{"file_path": "../made.md", "content": "x"}`, `{"file_path": "/made.md", "content": "x"}`, `{"file_path": "made.MD", "content": 1}`, `{"file_path": "made.md\u0000.md", "content": "x"}`, `{"file_path": "proc/cwd/made.md", "content": "x"}`, `{"file_path": "made.md", "FILE_PATH": "` + host + `", "content": "x"}`,
			`{"file_path": "` + strings.Repeat("n", 300) + `.md", "content": "x"}`, `{"file_path": "MEMORY.md/made.md", "content": "x"}`,
		},
		"Edit": {
			`{"file_path": "MEMORY.md", "old_string": "", "new_string": "x"}`, `{"file_path": "MEMORY.md", "old_string": "", "new_string": "x", "replace_all": true}`, `{"file_path": "MEMORY.md", "old_string": "o", "new_string": "` + strings.Repeat("o", 900_000) + `", "replace_all": true}`, `{"file_path": "inside.md", "old_string": "Memory", "new_string": "x"}`, `{"file_path": "hard.md", "old_string": "shared", "new_string": "x"}`,
		},
		"Bash": {`{"command": "cat ../secret.md", "timeout": -1}`, `{"command": "while :; do :; done", "timeout": 99999999}`, `{"command": "true", "command": "cat ../secret.md"}`, `{"command": "echo \u0000; cat ../secret.md"}`, `{"command": ["cat", "/etc/passwd"]}`, `{"command": "cat MEMORY.md", "run_in_background": true}`, `{"command": "true", "dangerouslyDisableSandbox": true}`},
	}
}

func TestMoreAttacks(t *testing.T) {
	t.Setenv("MEM_CANARY", canary)
	s := newScene(t)
	s.prepare()
	_ = s.ok("Read", "file_path", "MEMORY.md") // so that an Edit is no matter of that
	outside, memory := s.outsideState(), s.listing()
	n := 0
	try := func(what, tool string, raw string) {
		n++
		began := time.Now()
		c := s.gate.Call(context.Background(), tool, json.RawMessage(raw))
		if strings.Contains(c.Text+c.Refused, canary) || strings.Contains(c.Text, "root:") {
			t.Errorf("%s: %s %.200s read what it may not:\n%.300s", what, tool, raw, c.Text)
		}
		if took := time.Since(began); took > 8*time.Second {
			t.Errorf("%s: %s %.200s took %s", what, tool, raw, took)
		}
		if len(c.Text) > 80<<10 {
			t.Errorf("%s: %s %.200s gives %d bytes", what, tool, raw, len(c.Text))
		}
		if strings.Contains(c.Text, s.root) && !strings.Contains(raw, filepath.ToSlash(s.root)) {
			t.Errorf("%s: %s %.200s tells a path of this machine:\n%.300s", what, tool, raw, c.Text)
		}
		if len(c.Touched) > 0 {
			t.Errorf("%s: %s %.200s changed %v", what, tool, raw, c.Touched)
		}
		if os.Getenv("MEM_ATTACKS") != "" {
			t.Logf("%s %.150s\n→ %.400s", tool, raw, c.Text)
		}
	}
	for what, scripts := range moreAttacks(s) {
		for _, script := range scripts {
			raw, err := json.Marshal(map[string]any{"command": script, "timeout": 700})
			if err != nil {
				t.Fatal(err)
			}
			try(what, "Bash", string(raw))
		}
	}
	for tool, inputs := range rawAttacks(s) {
		for _, raw := range inputs {
			try("input", tool, raw)
		}
	}
	if after := s.outsideState(); after != outside {
		t.Errorf("something outside has changed:\n%s\n---\n%s", outside, after)
	}
	if after := s.listing(); after != memory {
		t.Errorf("the memory has changed:\n%s\n---\n%s", memory, after)
	}
	t.Logf("%d attacks", n)
}

// listing is what lies in the memory, with sizes.
func (s *scene) listing() string {
	s.t.Helper()
	was := s.memory
	defer func() { s.memory = was }()
	s.memory = "" // outsideState leaves it out
	return s.outsideState()
}
