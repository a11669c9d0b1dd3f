// Package need says what a test needs of the machine it runs on. Nothing is left out in
// silence: what is missing is told at the end of make test, and with MEM_REQUIRE=all it
// is a failure. Only this package calls Skip; a test of internal/fences keeps it so.
package need

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"testing"
)

const (
	// requireEnv set to "all" makes a failure of what is missing.
	requireEnv = "MEM_REQUIRE"
	// untestedEnv names a file to which what was not tested is appended, since go test shows
	// nothing of a package that passed.
	untestedEnv = "MEM_UNTESTED"
)

// That skips a test, loudly, where what it needs is missing; with MEM_REQUIRE=all it fails.
// why says what is wrong, and how to get it; nil where everything is there.
func That(t testing.TB, what string, why error) {
	t.Helper()
	if why == nil {
		return
	}
	if os.Getenv(requireEnv) == "all" {
		t.Fatalf("needs %s: %v (%s=all)", what, why, requireEnv)
	}
	untested(t, fmt.Sprintf("needs %s: %v", what, why))
}

// System skips a test, loudly, on a system that cannot have what it is about: there it is no
// failure, whatever is required, since nothing could be installed. why says what is missing.
func System(t testing.TB, has bool, why string) {
	t.Helper()
	if !has {
		untested(t, runtime.GOOS+": "+why)
	}
}

// Asked skips a test that is only run when somebody asks for it, and is no part of what is
// to be green: soaks, samples of one's own, what -short leaves out, and processes that
// another test starts. how says how to ask.
func Asked(t testing.TB, asked bool, how string) {
	t.Helper()
	if !asked {
		t.Skip(how)
	}
}

// Quiet skips a test, loudly, of which the result says nothing since other programs use the
// machine. That is no failure, whatever is required: nothing is missing.
func Quiet(t testing.TB, quiet bool, why string) {
	t.Helper()
	if !quiet {
		untested(t, why)
	}
}

// Program gives the path of a program that a test drives.
func Program(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	That(t, name, err)
	return path
}

// Link makes a symbolic link. Windows lets only some accounts do so.
func Link(t testing.TB, to, at string) {
	t.Helper()
	made(t, "symbolic", os.Symlink(to, at))
}

// HardLink gives a file a second name.
func HardLink(t testing.TB, to, at string) {
	t.Helper()
	made(t, "hard", os.Link(to, at))
}

func made(t testing.TB, kind string, err error) {
	t.Helper()
	if err != nil && runtime.GOOS != "windows" {
		t.Fatal(err)
	}
	That(t, "an account and a file system for "+kind+" links", err)
}

// untested tells what is not tested, and skips.
func untested(t testing.TB, why string) {
	t.Helper()
	if name := os.Getenv(untestedEnv); name != "" {
		if err := appendTo(name, t.Name()+": "+why+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	t.Skip("NOT TESTED: " + why)
}

// appendTo adds a line by one write, so that those of packages tested at once do not mix.
func appendTo(name, line string) error {
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line)
	return errors.Join(err, f.Close())
}
