package sessions

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mem/core/sessionmem"
	"mem/core/transcript"
)

// When the client has deleted everything, the archive still has the conversation, the
// session memory with its time, and the copies of the user's files.
func TestArchiveHasEverything(t *testing.T) {
	d := newDesk(t)
	const hash = "0011223344556677"
	content := talk(first, d.env.Cwd, "Change two files", "Done.")
	for name, backup := range map[string]string{"same.txt": hash + "@v2", "changed.txt": hash[1:] + "8@v1", "lost.txt": hash[1:] + "9@v1"} {
		content += `{"type":"file-history-snapshot","messageId":"` + uuidOf(first, 0) + `","snapshot":{"messageId":"` + uuidOf(first, 0) +
			`","trackedFileBackups":{"` + name + `":{"backupFileName":"` + backup + `","version":1}}},"isSnapshotUpdate":true}` + "\n"
		d.write(filepath.Join(d.env.Cwd, name), "now", time.Minute)
	}
	path := d.put(first, content, 29*24*time.Hour)
	client := filepath.Join(d.env.Home, ".claude")
	history := filepath.Join(client, "file-history", first)
	d.write(filepath.Join(history, hash+"@v2"), "now", 29*24*time.Hour)
	d.write(filepath.Join(history, hash[1:]+"8@v1"), "was", 29*24*time.Hour)
	if err := os.Symlink("/etc/hostname", filepath.Join(history, "link")); err != nil {
		t.Log(err) // not every system lets everybody make links
	}
	s := d.open(Options{Version: "test"})
	x, err := s.pick(t.Context(), first, nil)
	if err != nil {
		t.Fatal(err)
	}
	m, err := sessionmem.Write(x.Session, "# Current State\nnearly done\n", "")
	if err != nil {
		t.Fatal(err)
	}
	written := d.now.Add(-28 * 24 * time.Hour)
	if err := os.Chtimes(m.Path, written, written); err != nil {
		t.Fatal(err)
	}
	before, err := s.Resume(t.Context(), ResumeOptions{Session: first})
	if err != nil {
		t.Fatal(err)
	}
	check := func(f *Files) {
		t.Helper()
		if f == nil || f.Unchanged != 1 || len(f.Differing) != 2 || f.Differing[0] != (File{Path: "changed.txt", State: transcript.FileChanged}) ||
			f.Differing[1] != (File{Path: "lost.txt", State: transcript.BackupMissing}) {
			t.Errorf("%+v", f)
		}
	}
	check(before.Files)
	for range 2 { // the second time it is all there
		a, err := s.Archive(t.Context(), ArchiveOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range a.Sessions {
			if o.Files != 4 {
				t.Errorf("%d files, skipped %v", o.Files, a.Skipped)
			}
		}
	}
	if err := os.RemoveAll(client); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resume(t.Context(), ResumeOptions{Session: first})
	if err != nil || r.Origin != transcript.OriginArchive {
		t.Fatalf("%+v %v", r, err)
	}
	check(r.Files)
	got, err := s.Summary(t.Context(), first, nil)
	if err != nil || got.From != FromMemory || !strings.Contains(got.Text, "nearly done") || got.Written != written.Format(time.RFC3339) {
		t.Errorf("%+v %v", got, err)
	}
	if x, err = s.pick(t.Context(), first, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := sessionmem.Write(x.Session, "# Current State\nover\n", got.Hash); err == nil {
		t.Error("the archive was written to")
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("something was made in the client's folder")
	}
}
