package term

// CatchBrokenPipe does nothing: Windows has no such signal.
func CatchBrokenPipe() {}
