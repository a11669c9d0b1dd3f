//go:build race

package guard

// raceEnabled: the race detector makes expressions 20 times as slow; tests of speed do not run with it.
const raceEnabled = true
