package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"
)

func TestWrite(t *testing.T) {
	p := filepath.Join(t.TempDir(), "a")
	for _, d := range []Durability{Quick, Durable} {
		for _, mode := range []fs.FileMode{0o600, 0o640} {
			text := []byte(time.Now().String())
			if err := Write(p, text, mode, d); err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(p)
			if err != nil || string(b) != string(text) {
				t.Errorf("read %q, %v; wrote %q", b, err, text)
			}
			if info, err := os.Stat(p); err != nil || runtime.GOOS != "windows" && info.Mode() != mode {
				t.Errorf("mode %v, %v; want %v", info.Mode(), err, mode)
			}
		}
	}
	onlyThatFile(t, p)
}

// A write that fails leaves the file as it was, and nothing else.
func TestWriteFails(t *testing.T) {
	p := filepath.Join(t.TempDir(), "a")
	if err := Write(p, []byte("old"), 0o600, Quick); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err := WriteFrom(p, 0o600, Durable, func(f *os.File) error {
		_, err := f.WriteString("half")
		return errors.Join(err, broken)
	})
	if !errors.Is(err, broken) {
		t.Errorf("the error is %v", err)
	}
	if b, err := os.ReadFile(p); err != nil || string(b) != "old" {
		t.Errorf("the file has %q, %v", b, err)
	}
	onlyThatFile(t, p)
	if err := Write(filepath.Join(filepath.Dir(p), "no", "b"), nil, 0o600, Quick); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that is missing: %v", err)
	}
	dir := filepath.Join(filepath.Dir(p), "d")
	if err := os.MkdirAll(filepath.Join(dir, "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := Write(dir, nil, 0o600, Quick); err == nil {
		t.Error("a folder was replaced by a file")
	}
}

// Readers that come all the time never see half a file, and never keep a writer out.
func TestReadersAndWriters(t *testing.T) {
	p := filepath.Join(t.TempDir(), "a")
	one, two := make([]byte, 50_000), make([]byte, 70_000)
	for i := range two {
		two[i] = 1
	}
	if err := Write(p, one, 0o600, Quick); err != nil {
		t.Fatal(err)
	}
	end := make(chan struct{})
	var all sync.WaitGroup
	readers, pause := 3, time.Duration(0)
	if runtime.GOOS == "windows" {
		readers, pause = 1, 5*time.Millisecond // a name that is always open is never free
	}
	for range readers {
		all.Go(func() {
			for {
				select {
				case <-end:
					return
				default:
				}
				time.Sleep(pause)
				b, err := os.ReadFile(p)
				if err != nil && runtime.GOOS == "windows" {
					continue // refused for as long as the name changes hands
				}
				if err != nil || len(b) != len(one) && len(b) != len(two) || b[0] != b[len(b)-1] {
					t.Errorf("%d bytes, %v", len(b), err)
					return
				}
			}
		})
	}
	for i := range 200 {
		if err := Write(p, [][]byte{one, two}[i%2], 0o600, Quick); err != nil {
			t.Error(err)
			break
		}
	}
	close(end)
	all.Wait()
	onlyThatFile(t, p)
}

// A name that is held open is waited for, and not for ever.
func TestPatience(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, name := range []string{"a", "b"} {
		if err := root.WriteFile(name, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	held, err := os.Open(filepath.Join(root.Name(), "b"))
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(100*time.Millisecond, func() { held.Close() })
	if err := RenameIn(root, "a", "b"); err != nil {
		t.Error(err)
	}
	if b, err := root.ReadFile("b"); err != nil || string(b) != "a" {
		t.Errorf("b has %q, %v", b, err)
	}
	if err := RemoveIn(root, "b"); err != nil {
		t.Error(err)
	}
	start := time.Now()
	if err := RemoveIn(root, "b"); !errors.Is(err, fs.ErrNotExist) || time.Since(start) > patience/2 {
		t.Errorf("removing what is gone took %v: %v", time.Since(start), err)
	}
}

func onlyThatFile(t *testing.T, p string) {
	t.Helper()
	list, err := os.ReadDir(filepath.Dir(p))
	if err != nil || len(list) != 1 {
		t.Errorf("the folder holds %v, %v", list, err)
	}
}
