package need

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestTold runs each way of leaving a test out in a process of its own, since it ends that test.
func TestTold(t *testing.T) {
	for name, c := range map[string]struct {
		require       string
		failed        bool
		says, untests string
	}{
		"missing":          {"", false, "NOT TESTED: needs a thing: it is not here", "TestWay: needs a thing: it is not here\n"},
		"missing required": {"all", true, "needs a thing: it is not here", ""},
		"system":           {"all", false, "no such thing", "no such thing\n"},
		"asked":            {"all", false, "ask for it", ""},
		"busy":             {"all", false, "others run", "TestWay: others run\n"},
		"there":            {"all", false, "--- PASS: TestWay", ""},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "untested")
			cmd := exec.Command(os.Args[0], "-test.v", "-test.run=^TestWay$")
			cmd.Env = append(os.Environ(), requireEnv+"="+c.require, untestedEnv+"="+file, "TEST_WAY="+strings.Fields(name)[0])
			out, err := cmd.CombinedOutput()
			if (err != nil) != c.failed || !strings.Contains(string(out), c.says) {
				t.Errorf("%v\n%s", err, out)
			}
			b, err := os.ReadFile(file)
			if err != nil && c.untests != "" || !strings.HasSuffix(string(b), c.untests) || c.untests == "" && len(b) > 0 {
				t.Errorf("told: %q, %v", b, err)
			}
		})
	}
}

// TestWay is one of those processes.
func TestWay(t *testing.T) {
	way := os.Getenv("TEST_WAY")
	Asked(t, way != "", "part of TestTold")
	switch way {
	case "missing":
		That(t, "a thing", errors.New("it is not here"))
	case "system":
		System(t, false, "no such thing")
	case "asked":
		Asked(t, false, "ask for it")
	case "busy":
		Quiet(t, false, "others run")
	default:
		That(t, "a thing", nil)
		System(t, true, "")
		Quiet(t, true, "")
		return
	}
	t.Error("it goes on")
}

// TestNobody: modes bind, in a part of a test, too.
func TestNobody(t *testing.T) {
	t.Run("a part (1)", func(t *testing.T) {
		if AsNobody(t) {
			return
		}
		p := filepath.Join(t.TempDir(), "shut")
		if err := os.WriteFile(p, nil, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := os.ReadFile(p); !errors.Is(err, os.ErrPermission) {
			t.Errorf("%v", err)
		}
	})
}
