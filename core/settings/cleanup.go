package settings

import (
	"encoding/json"
	"fmt"
	"math"
	"time"
)

// DefaultCleanup is how long the client keeps a transcript that nobody touches,
// where its settings do not say (documentation of Claude Code, "cleanupPeriodDays").
const DefaultCleanup = 30 * 24 * time.Hour

// maxCleanupDays keeps the period within a time.Duration, and is a hundred years.
const maxCleanupDays = 36500

// Days returns the value as a number of days, a part of one included. A number that
// is larger than a hundred years counts as that.
func (v Value) Days() (time.Duration, error) {
	var n *float64
	if err := json.Unmarshal(v.raw, &n); err != nil || n == nil || *n < 0 || math.IsNaN(*n) {
		return 0, fmt.Errorf("is %s, not a number of days", abbreviate(v.raw))
	}
	return time.Duration(min(*n, maxCleanupDays) * float64(24*time.Hour)), nil
}

// Cleanup says after which time the client deletes a transcript that nobody
// touched, and which settings say so. The client deletes when it starts, in every
// project, by the settings of the project that it starts in: for another project
// than this one the period may be another. Whether the source is trusted makes no
// difference, as the client does not ask.
func (c Client) Cleanup() (period time.Duration, source string) {
	for _, v := range c.Values(KeyCleanup) {
		if d, err := v.Days(); err == nil { // LoadClient dropped the others and said so
			return d, v.Source.Label()
		}
	}
	return DefaultCleanup, "the client's default"
}
