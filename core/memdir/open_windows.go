package memdir

// NoWait is a flag to open files with, elsewhere: pipes have no names in folders here.
const NoWait = 0
