//go:build race

package dream

// RaceEnabled says that everything takes ten times as long.
const RaceEnabled = true
