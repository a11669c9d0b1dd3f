package agentmem

// limitFiles limits nothing: Windows has no such limit for a process.
func limitFiles() {}
