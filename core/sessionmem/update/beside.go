package update

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"mem/core/job"
	"mem/core/memdir"
	"mem/core/sessionmem"
)

// maxBeside is how many files beside the summary are named.
const maxBeside = 50

// beside gives, as refused, what an agent left beside the summary, and removes it: the gate
// lets none of it be written, but a command line of its own works on the folder itself.
func beside(dir string) (refused []job.Refused, err error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	names, err := f.Readdirnames(0)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	more := 0
	for _, name := range names {
		if name == sessionmem.Name {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return nil, err
		}
		if len(refused) == maxBeside {
			more++
			continue
		}
		refused = append(refused, job.Refused{What: memdir.ShownName(name), Reason: onlySummary(name).Error() + ", so it was left out"})
	}
	if more > 0 {
		refused = append(refused, job.Refused{What: fmt.Sprintf("%d more files", more), Reason: "left out as well"})
	}
	return refused, nil
}
