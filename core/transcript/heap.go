package transcript

import (
	"runtime/debug"
	"sync"
)

const (
	// headroom is about how much garbage there may be beside a large transcript, in bytes. The
	// collector by itself waits until there is as much garbage as memory in use.
	headroom = 16 << 20
	// minPercent keeps collections apart, however large a transcript is.
	minPercent = 4
)

// heap is how the collector works while large transcripts are held. That belongs to the
// process, whatever else runs in it.
var heap struct {
	sync.Mutex
	held    int64 // bytes of rows
	percent int   // as it was before
}

// HoldHeap keeps the garbage beside the rows of a large transcript small, until the function that
// it returns is called: for what decodes many of them. It lowers the percentage of garbage that the
// collector of this process tolerates, as GOGC does, so that a server's other work meets more
// collections meanwhile; they are cheap, since rows hold no pointers. Transcripts of less than a
// quarter of a million rows change nothing, nor does a percentage that is lower already.
func (t *Transcript) HoldHeap() (release func()) {
	bytes := int64(t.Rows.Len()) * 96
	if bytes < headroom*3/2 {
		return func() {}
	}
	holdHeap(bytes)
	return sync.OnceFunc(func() { holdHeap(-bytes) })
}

func holdHeap(bytes int64) {
	heap.Lock()
	defer heap.Unlock()
	if heap.held == 0 {
		heap.percent = debug.SetGCPercent(100)
	}
	heap.held += bytes
	percent := heap.percent
	if heap.held > 0 && percent > 0 { // a collector that is off stays off
		percent = min(percent, int(max(minPercent, 100*headroom/heap.held)))
	}
	debug.SetGCPercent(percent)
}
