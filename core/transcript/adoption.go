package transcript

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"mem/core/atomicfile"
	"mem/core/project"
	"mem/core/settings"
)

// adoptionsDir holds, in the state of the memory directory that took something
// over, a record of each adoption.
const (
	adoptionsDir    = "adoptions"
	adoptionVersion = 1
	maxAdoption     = 16 << 20
)

// Adoption records that the memory and the sessions of a project were taken over
// into another one.
type Adoption struct {
	Version  int       `json:"v"`
	ID       string    `json:"id"`
	Time     time.Time `json:"time"`
	From     string    `json:"from"`             // the directory of the old project
	To       string    `json:"to"`               // the root of the new one
	Change   string    `json:"change,omitempty"` // of the memory; "" where there was none to take over
	Sessions []string  `json:"sessions"`
	// Files are those of the old memory that came, by their path in it.
	Files map[string]Arrived `json:"files,omitempty"`
	// Undone is when the adoption was taken back. The copies of the sessions stay in the
	// archive then, as sessions of the old project.
	Undone time.Time `json:"undone,omitzero"`
}

// Arrived is where a file of an old memory came to, and the hash of what it was there.
type Arrived struct {
	To   string `json:"to"`
	Hash string `json:"hash"`
}

// adoptions are all that are recorded, by id.
type adoptions map[string]*Adoption

func readAdoptions(env settings.Env) adoptions {
	all := adoptions{}
	if env.StateDir == "" {
		return all
	}
	keys, _ := folders(env.StateDir)
	for _, key := range keys {
		dir := filepath.Join(env.StateDir, key, adoptionsDir)
		list, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range list {
			if id, ok := strings.CutSuffix(e.Name(), ".json"); ok && !strings.HasPrefix(id, ".") {
				if a, err := readAdoption(filepath.Join(dir, e.Name())); err == nil && a.ID == id {
					all[id] = a
				}
			}
		}
	}
	return all
}

func readAdoption(path string) (*Adoption, error) {
	data, err := project.ReadFile(path, maxAdoption)
	if err != nil {
		return nil, err
	}
	var a Adoption
	if err := json.Unmarshal(data, &a); err != nil {
		return nil, err
	}
	if a.Version < 1 || a.Version > adoptionVersion {
		return nil, fmt.Errorf("it has format %d, which this version of mem does not know", a.Version)
	}
	return &a, nil
}

func (a *Adoption) write(path string) error {
	data, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		return err
	}
	return replaceFile(path, func(f *os.File) error {
		_, err := f.Write(append(data, '\n'))
		return err
	}, atomicfile.Durable)
}

// of gives the adoption that a copy belongs to, nil where there is none or it was
// taken back.
func (all adoptions) of(h *ArchiveHead) *Adoption {
	if h.Adopted == "" {
		return nil
	}
	a := all[h.Adopted]
	if a == nil || a.Undone.IsZero() {
		return a
	}
	for _, other := range all { // an earlier one of the same project may have brought it as well
		if other.Undone.IsZero() && other.From == a.From && other.To == a.To && slices.Contains(other.Sessions, h.Session) {
			return other
		}
	}
	return nil
}

// between gives the adoptions of one project into another that hold, the newest last.
func (all adoptions) between(env settings.Env, old, new string) []*Adoption {
	var list []*Adoption
	for _, a := range all {
		if a.Undone.IsZero() && project.SamePath(env.GOOS, a.From, old) && project.SamePath(env.GOOS, a.To, new) {
			list = append(list, a)
		}
	}
	slices.SortFunc(list, func(a, b *Adoption) int {
		if c := a.Time.Compare(b.Time); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return list
}

func adoptionPath(env settings.Env, directory, id string) (string, error) {
	state, err := StateOf(env, directory)
	if err != nil {
		return "", err
	}
	if err := ValidID(id); err != nil {
		return "", err
	}
	return filepath.Join(state, adoptionsDir, id+".json"), nil
}

// Reinstate takes the sessions of an adoption back, or has them again: the counterpart of
// undoing, or making again, the change of the memory. It returns the adoption as
// it is then, and nil where there is none with this id.
func Reinstate(env settings.Env, directory, id string, holds bool) (*Adoption, error) {
	path, err := adoptionPath(env, directory, id)
	if err != nil {
		return nil, err
	}
	a, err := readAdoption(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the adoption %s: %w", id, err)
	}
	if holds == a.Undone.IsZero() {
		return a, nil
	}
	a.Undone = time.Time{}
	if !holds {
		a.Undone = env.Time().UTC()
	}
	return a, a.write(path)
}

// newID names an adoption that changes no memory.
func newID() string {
	var b [10]byte
	_, _ = rand.Read(b[:]) // never fails
	return "sessions-" + hex.EncodeToString(b[:])
}
