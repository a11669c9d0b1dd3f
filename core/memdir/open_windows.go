package memdir

// doNotWait: pipes have no names in folders here.
const doNotWait = 0
