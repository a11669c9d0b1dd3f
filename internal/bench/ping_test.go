package bench

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkPing is the floor of every call: a message there and back.
func BenchmarkPing(b *testing.B) {
	p := start(b, fill(b, 1))
	defer p.stop()
	var all []time.Duration
	for i := 1; b.Loop(); i++ {
		begin := time.Now()
		p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"ping"}`+"\n", i))
		p.line()
		all = append(all, time.Since(begin))
	}
	b.ReportMetric(micros(median(all)), "us-median")
}
