//go:build race

package wire_test

// cutStep is how far cuts stand apart: the race detector makes each ten times as slow.
const cutStep = 7
