//go:build !race

package wire_test

// cutStep is how far cuts stand apart, in bytes.
const cutStep = 1
