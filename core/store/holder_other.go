//go:build !linux && !windows

package store

func kernelHolder(string) string { return "" }
