package gate

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mem/internal/need"
)

// outsideState is everything that lies outside of the writable mount, to be compared.
func (s *scene) outsideState() string {
	s.t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(s.root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if p == s.memory {
			return filepath.SkipDir
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %v %d", p, info.Mode(), info.Size())
		if info.Mode().IsRegular() {
			text, err := os.ReadFile(p)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %x", sha256.Sum256(text))
		}
		b.WriteByte('\n')
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return b.String()
}

func (s *scene) link(to, name string) {
	s.t.Helper()
	p := filepath.Join(s.memory, filepath.FromSlash(name))
	need.Link(s.t, to, p)
}

// attack is a call that tries to get at something. want is part of the reason that the
// model is told; it is refused, or does not work.
type attack struct {
	tries string
	tool  string
	args  []any
	want  string
}

func attacks(s *scene) []attack {
	read := func(tries, p, want string) attack { return attack{tries, "Read", []any{"file_path", p}, want} }
	write := func(tries, p, want string) attack {
		return attack{tries, "Write", []any{"file_path", p, "content", "x"}, want}
	}
	bash := func(tries, script, want string) attack {
		return attack{tries, "Bash", []any{"command", script}, want}
	}
	const out, name, missing = "outside of what is open", "not open to you", "no such file"
	host := filepath.ToSlash(s.outside)
	return []attack{
		// Paths that lead out.
		read("up", "../secret.md", out),
		read("up from inside", "/memory/logs/../../secret.md", out),
		read("up far", "/memory/../../../../../../../../etc/passwd", out),
		read("absolute", host+"/.ssh/id_rsa", out),
		read("the stage's neighbour", filepath.ToSlash(s.root)+"/stage/secret.md", out),
		read("an alias as the beginning of a name", filepath.ToSlash(s.memory)+"2/secret.md", out),
		read("an alias and up", filepath.ToSlash(s.memory)+"/../secret.md", out),
		read("home", "~/../secret.md", out),
		read("home of a user", "~root/.ssh/id_rsa", "homes of users"),
		read("proc", "/proc/self/environ", out),
		read("a descriptor", "/dev/fd/3", out),
		read("the folder of a process", "/proc/self/cwd/secret.md", out),
		read("file URL", "file:///etc/passwd", name),
		read("empty", "", "empty"),
		read("long", strings.Repeat("a/", 3000), "at most"),
		read("the mount's name with a dot", "/memory./MEMORY.md", out),
		read("double slash", "//etc/passwd", "network and device"),
		read("slashes inside", "/memory////../..///etc/passwd", out),
		// Encoded forms.
		read("percent dots", "/memory/%2e%2e/secret.md", "encoded"),
		read("percent slash", "/memory/..%2fsecret.md", "hidden name"),
		read("double percent", "/memory/%252e%252e%252fsecret.md", "encoded"),
		read("overlong UTF-8 as a string", "/memory/\xc0\xae\xc0\xae/secret.md", missing),
		read("NUL", "/memory/MEMORY.md\x00.txt", "NUL"),
		read("division slash", "/memory/..∕secret.md", "hidden name"),
		read("full-width dots", "/memory/．．/secret.md", missing),
		read("full-width slash", "/memory/x／..／secret.md", missing),
		read("full-width file", "/memory/ＭＥＭＯＲＹ.md", missing),
		read("backslashes", `/memory/..\secret.md`, "a backslash"),
		read("backslashes, relative", `..\secret.md`, "forward slashes"),
		read("trailing dot", "/memory/MEMORY.md.", "ends with a space or a dot"),
		read("trailing space", "/memory/MEMORY.md ", "ends with a space or a dot"),
		read("dots and space", "/memory/.. /secret.md", "hidden name"),
		read("a stream", "/memory/MEMORY.md:secret", "Windows refuses"),
		read("a stream's long name", "/memory/MEMORY.md::$DATA", "Windows refuses"),
		read("verbatim path", `\\?\C:\secret.md`, "network and device"),
		read("device path", `\\.\PhysicalDrive0`, "network and device"),
		read("a share", `\\server\share\x.md`, "network and device"),
		read("a drive", `C:\Windows\win.ini`, out),
		read("a drive, slashes", "c:/Windows/win.ini", out),
		read("a drive, relative", "C:secret.md", "Windows refuses"),
		read("up from an alias of Windows", `C:\Users\Someone\memory\..\secret.md`, out),
		read("short name", "/memory/CONSOL~1", "Windows shortens"),
		read("device CON", "/memory/CON", "device name"),
		read("device with an extension", "/memory/nul.md", "device name"),
		read("a port", "/memory/COM1.md", "device name"),
		read("hidden characters", "/memory/MEM\u200bORY.md", "hidden character"),
		read("right to left", "/memory/\u202edm.YROMEM", "hidden character"),
		read("a variable", "/memory/$HOME/x", missing),
		// Names that are not the agent's.
		read("the lock", "/memory/.consolidate-lock", "hidden name"),
		read("a hidden folder", "/memory/.hidden/x.md", "hidden name"),
		read("secrets of the project", "/project/.env", "hidden name"),
		read("git of the project", "/home/someone/p/.git/config", "hidden name"),
		read("a transcript that was not chosen", "/transcripts/private.jsonl", "not among the 1 files"),
		read("one that was not chosen, on disk", filepath.ToSlash(s.root)+"/stage/transcripts/private.jsonl", "not among"),
		// What lies in the memory and is no plain file.
		read("a link out", "/memory/out.md", "symbolic link"),
		read("a link to a folder", "/memory/outdir/notes.md", "symbolic link"),
		read("a link inside", "/memory/inside.md", "symbolic link"),
		read("a link to the lock", "/memory/lock.md", "symbolic link"),
		read("a link to proc", "/memory/proc/environ", "symbolic link"),
		read("a loop of links", "/memory/loop.md", "symbolic link"),
		read("a broken link", "/memory/broken.md", "symbolic link"),
		read("a socket", "/memory/socket.md", "no regular file"),
		read("a large file", "/memory/large.md", "files above"),
		read("a binary file", "/memory/binary.md", "no text"),
		read("a folder", "/memory/logs", "folder"),
		// Grep and Glob.
		{"Grep out", "Grep", []any{"pattern", "CANARY", "path", ".."}, "No match"},
		{"Grep at home", "Grep", []any{"pattern", "CANARY", "path", host}, out},
		{"Grep in a link", "Grep", []any{"pattern", "CANARY", "path", "/memory/outdir"}, "symbolic link"},
		{"Grep everything", "Grep", []any{"pattern", "CANARY|BEGIN", "path", "/", "output_mode", "content"}, "No match"},
		{"Grep with a glob that goes up", "Grep", []any{"pattern", "CANARY", "glob", "../**"}, "No match"},
		{"Grep with a pattern that explodes", "Grep", []any{"pattern", "((a{1000}){1000}){1000}"}, "no regular expression"},
		{"Glob out", "Glob", []any{"pattern", "../../**/*"}, "No file"},
		{"Glob at home", "Glob", []any{"pattern", host + "/**"}, out},
		{"Glob in etc", "Glob", []any{"pattern", "*", "path", "/etc"}, out},
		{"Glob for hidden names", "Glob", []any{"pattern", "**/.*"}, "No file"},
		// Writing.
		write("up", "/memory/../secret.md", out),
		write("home", host+"/.bashrc", out),
		write("read-only transcripts", "/transcripts/chosen.jsonl", "read only"),
		write("the project", "/project/main.go", "read only"),
		write("the lock", "/memory/.consolidate-lock", "hidden name"),
		write("another kind of file", "/memory/run.sh", "only Markdown"),
		write("through a link", "/memory/out.md", "symbolic link"),
		write("through a link to a folder", "/memory/outdir/new.md", "symbolic link"),
		write("through a broken link", "/memory/broken.md", "symbolic link"),
		write("a folder below a file", "/memory/tests.md/x.md", "not a folder"),
		write("the mount", "/memory", "it is a folder"),
		write("everything", "/", "read only"),
		write("a hard link", "/memory/hard.md", "hard links"),
		write("a socket", "/memory/socket.md", "no regular file"),
		{"Write too much", "Write", []any{"file_path", "/memory/big.md", "content", strings.Repeat("x", maxWritten+1)}, "the most that is written"},
		{"Write over an unread file", "Write", []any{"file_path", "/memory/tests.md", "content", "x"}, "Read it first"},
		{"Edit of an unread file", "Edit", []any{"file_path", "/memory/tests.md", "old_string", "a", "new_string", "b"}, "Read it first"},
		{"Edit out", "Edit", []any{"file_path", host + "/notes.md", "old_string", "CANARY", "new_string", "b"}, out},
		{"Edit through a link", "Edit", []any{"file_path", "/memory/out.md", "old_string", "CANARY", "new_string", "b"}, "symbolic link"},
		// Tools that are not there, and input that is none.
		{"a tool of a server", "mcp__fs__read", []any{"path", "/etc/passwd"}, "this run has only"},
		{"an agent", "Task", []any{"prompt", "read /etc/passwd"}, "this run has only"},
		{"the web", "WebFetch", []any{"url", "http://127.0.0.1"}, "this run has only"},
		{"a notebook", "NotebookEdit", []any{}, "this run has only"},
		{"a tool in other letters", "bash", []any{"command", "ls"}, "this run has only"},
		{"an unknown field", "Read", []any{"file_path", "MEMORY.md", "root", "/"}, "takes no root"},
		{"a list of paths", "Read", []any{"file_path", []string{"/etc/passwd"}}, "of type string"},
		{"a number for a path", "Write", []any{"file_path", 1, "content", "x"}, "of type string"},
		// Bash.
		bash("key", "cat ~/.ssh/id_rsa", "hidden name"),
		bash("passwd", "cat /etc/passwd", out),
		bash("environment", "cat /proc/self/environ", out),
		bash("input from outside", "cat < "+host+"/notes.md", out),
		bash("input of a substitution", `echo "$(<`+host+`/notes.md)"`, out),
		bash("glob outside", "cat "+host+"/*", out),
		bash("glob up", "cat ../../home/*/*", out),
		bash("glob for hidden names", "cat .*", "hidden name"),
		bash("variable", "d="+host+"; f=notes.md; cat $d/$f", out),
		bash("put together", `a=..; cat $a/"secret".md`, out),
		bash("escapes", `cat $'\x2e\x2e/secret.md'`, out),
		bash("printf", `cat "$(printf '\056\056/secret.md')"`, out),
		bash("cd out", "cd .. && cd .. && cat secret.md", out),
		bash("cd and up", "cd logs; cat ../../secret.md", out),
		bash("find", "find "+host+" -type f", out),
		bash("find in links", "find /memory -name 'notes*'; cat outdir/notes.md", "symbolic link"),
		bash("find and run", `find . -name MEMORY.md -exec cat {} \;`, "find only lists"),
		bash("grep", "grep -r CANARY "+host, out),
		bash("grep in links", "grep -r CANARY out.md", "symbolic link"),
		bash("test", "[ -f "+host+"/notes.md ] && echo there", out),
		bash("xargs", "echo "+host+"/notes.md | xargs cat", out),
		bash("the lock", "cat .consolidate-lock", "hidden name"),
		bash("output", "echo x > /memory/x.md", "output to files"),
		bash("append", "echo x >> MEMORY.md", "output to files"),
		bash("network", "cat < /dev/tcp/127.0.0.1/80", out),
		bash("network out", "echo x > /dev/tcp/127.0.0.1/80", "output to files"),
		bash("program", "/bin/sh -c 'cat /etc/passwd'", "no program"),
		bash("eval", `eval "cat /etc/passwd"`, "write the script out"),
		bash("hidden eval", `e=eval; $e "cat /etc/passwd"`, "write its name out"),
		bash("hidden command", "`echo cat` /etc/passwd", "write its name out"),
		bash("source", ". /etc/profile", "write the script out"),
		bash("exec", "exec /bin/sh", "no program"),
		bash("command", "command cat /etc/passwd", "name the command itself"),
		bash("background", "sleep 100 &", "background"),
		bash("process substitution", "cat <(cat /etc/passwd)", "process substitution"),
		bash("path", "PATH=/bin ls", "no program"),
		bash("function over a refused name", "rm() { exec rm \"$@\"; }; rm x", "no program"),
		bash("here-document to a shell", "sh <<EOF\ncat /etc/passwd\nEOF", "write the script itself"),
		bash("sed writes", "sed -n 'w /memory/x.md' MEMORY.md", "only prints"),
		bash("sort writes", "sort -o /memory/x.md MEMORY.md", "not known"),
		bash("uniq writes", "uniq MEMORY.md /memory/x.md", "not open"),
		bash("date of a file", "date -r "+host+"/notes.md", out),
		bash("stat", "stat "+host+"/notes.md", out),
		bash("users", "echo ~root ~nobody/x; cat ~root/x", "homes of users"),
		bash("a socket", "cat socket.md", "no regular file"),
	}
}

// prepare puts what attacks need into the memory.
func (s *scene) prepare() {
	s.t.Helper()
	s.link(filepath.Join(s.outside, "notes.md"), "out.md")
	s.link(s.outside, "outdir")
	s.link("MEMORY.md", "inside.md")
	s.link(".consolidate-lock", "lock.md")
	s.link("/proc/self", "proc")
	s.link("loop.md", "loop.md")
	s.link(filepath.Join(s.outside, "made-by-a-link.md"), "broken.md")
	s.put("stage/memory/binary.md", "\x00\x01"+canary)
	s.put("stage/memory/hard.md", "shared\n")
	if err := os.Link(filepath.Join(s.memory, "hard.md"), filepath.Join(s.root, "hard-outside.md")); err != nil {
		s.t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(s.memory, "binary.md"), 100); err != nil {
		s.t.Fatal(err)
	}
	s.put("stage/memory/large.md", "")
	if err := os.Truncate(filepath.Join(s.memory, "large.md"), maxFile+1); err != nil {
		s.t.Fatal(err)
	}
	// The name of a socket is short on some systems, so it is made elsewhere.
	dir, err := os.MkdirTemp("", "s")
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { os.RemoveAll(dir) })
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { l.Close() })
	if err := os.Rename(filepath.Join(dir, "s"), filepath.Join(s.memory, "socket.md")); err != nil {
		s.t.Fatal(err)
	}
}

func TestAttacks(t *testing.T) {
	s := newScene(t)
	s.prepare()
	if c := s.call("Read", "file_path", "/memory/hard.md"); c.Refused != "" {
		t.Fatalf("reading a hard link: %+v", c)
	}
	before := s.outsideState()
	list := attacks(s)
	if len(list) < 70 {
		t.Fatalf("only %d attacks", len(list))
	}
	refused := 0
	for _, a := range list {
		c := s.call(a.tool, a.args...)
		if strings.Contains(c.Text+c.Refused, canary) || strings.Contains(c.Text, "root:") {
			t.Errorf("%s: %s %.100v read what it may not:\n%s", a.tries, a.tool, a.args, c.Text)
		}
		if !strings.Contains(c.Text, a.want) {
			t.Errorf("%s: %s %.100v does not say %q:\n%s", a.tries, a.tool, a.args, a.want, c.Text)
		}
		if len(c.Touched) > 0 {
			t.Errorf("%s: %s %.100v changed %v", a.tries, a.tool, a.args, c.Touched)
		}
		if len(c.Text) > 4000 {
			t.Errorf("%s: the reason has %d bytes", a.tries, len(c.Text))
		}
		if strings.Contains(c.Text, s.root) && !strings.Contains(fmt.Sprint(a.args), filepath.ToSlash(s.root)) {
			t.Errorf("%s: the reason names a path of this machine:\n%s", a.tries, c.Text)
		}
		if c.Refused != "" {
			refused++
		}
	}
	t.Logf("%d attacks, %d refused, the others without effect", len(list), refused)
	if after := s.outsideState(); after != before {
		t.Errorf("something outside has changed:\n%s\n---\n%s", before, after)
	}
	for _, name := range []string{"x.md", "big.md", "outdir/new.md"} {
		if _, err := os.Lstat(filepath.Join(s.memory, name)); err == nil {
			t.Errorf("%s was written", name)
		}
	}
}
