package fences

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Whoever follows CONTRIBUTING.md finds what it names: files and folders, targets of
// make, packages, tests, and the lists and functions that it says are in a file.
func TestContributingNamesWhatThereIs(t *testing.T) {
	root := filepath.Join("..", "..")
	text := read(t, filepath.Join(root, "CONTRIBUTING.md"))
	makefile := read(t, filepath.Join(root, "Makefile"))
	quoted := regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(strings.Join(strings.Fields(text), " "), -1)
	if len(quoted) < 50 {
		t.Fatalf("only %d things are quoted; is this the file?", len(quoted))
	}
	there := func(name string) bool {
		found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(name)))
		return err == nil && len(found) > 0
	}
	counted := map[string]int{}
	for _, q := range quoted {
		said := q[1]
		words := strings.Fields(said)
		if len(words) > 0 && words[0] == "MEM_REQUIRE=all" {
			words = words[1:]
		}
		switch {
		case len(words) == 2 && words[0] == "make":
			counted["make"]++
			if !regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(words[1]) + `:`).MatchString(makefile) {
				t.Errorf("`%s`: the Makefile has no such target", said)
			}
		case len(words) > 2 && words[0] == "go" && words[1] == "test":
			counted["go test"]++
			checkTestCommand(t, root, said, words[2:], there)
		case len(words) == 1 && strings.Contains(said, "/") && !strings.HasPrefix(said, "fixed/"):
			counted["path"]++
			if name := regexp.MustCompile(`<[a-z]+>`).ReplaceAllString(said, "*"); !there(name) {
				t.Errorf("`%s` is not there", said)
			}
		}
	}
	for what, least := range map[string]int{"make": 4, "go test": 4, "path": 15} {
		if counted[what] < least {
			t.Errorf("%d quotations of the kind %q were looked at, want %d", counted[what], what, least)
		}
	}
	// What is said to stand in a file: "`Name` in `file`", and "to `Name` in `file`".
	in := regexp.MustCompile("`([A-Za-z]+)` in\\s+`([^`]+\\.go)`").FindAllStringSubmatch(text, -1)
	if len(in) < 3 {
		t.Errorf("only %v is said to be in files", in)
	}
	for _, m := range in {
		if !regexp.MustCompile(`(?m)^(func|var|type|const) (\([^)]*\) )?` + m[1] + `\b`).MatchString(read(t, filepath.Join(root, filepath.FromSlash(m[2])))) {
			t.Errorf("%s is not in %s", m[1], m[2])
		}
	}
	// The steps are five, as their headings say.
	for _, section := range strings.Split(text, "\n## ")[1:] {
		title, body, _ := strings.Cut(section, "\n")
		if n := len(regexp.MustCompile(`(?m)^\d\. \*\*`).FindAllString(body, -1)); strings.Contains(title, "five steps") && n != 5 {
			t.Errorf("%s: %d steps", title, n)
		}
	}
}

// checkTestCommand looks at the packages and the test that a command names.
func checkTestCommand(t *testing.T, root, said string, words []string, there func(string) bool) {
	t.Helper()
	var packages []string
	for i, w := range words {
		switch {
		case strings.HasPrefix(w, "./"):
			dir := strings.TrimSuffix(strings.TrimPrefix(w, "./"), "/...")
			if !there(dir + "/*.go") {
				t.Errorf("`%s`: %s has no Go files", said, w)
			}
			packages = append(packages, dir)
		case w == "-run":
			name, _, _ := strings.Cut(strings.Trim(words[i+1], "'"), "/")
			found := false
			for _, dir := range packages {
				files, _ := filepath.Glob(filepath.Join(root, filepath.FromSlash(dir), "*_test.go"))
				for _, f := range files {
					found = found || strings.Contains(read(t, f), "\nfunc "+name)
				}
			}
			if !found {
				t.Errorf("`%s`: there is no %s", said, name)
			}
		}
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(b), "\r\n", "\n")
}
