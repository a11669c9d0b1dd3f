package main

// ignoreBrokenPipe does nothing: Windows has no such signal.
func ignoreBrokenPipe() {}
