package job

import "time"

// NewID gives an id of the form that jobs have, for what is kept beside them: it sorts
// by time, and after last.
func NewID(now time.Time, last string) (string, error) { return newID(now, last) }

// ValidID reports whether s has the form of an id.
func ValidID(s string) bool { return validID(s) }
