package tools

import (
	"sync"
	"testing"
	"time"
)

// TestBeat: what counts nothing for a while still tells that it goes on, further each time and
// never more than there is; at its end it is silent.
func TestBeat(t *testing.T) {
	for name, tt := range map[string]struct{ done, total int64 }{"counts nothing": {}, "stopped counting": {4, 10}, "counted all": {10, 10}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var sent []map[string]any
			r := &reporter{token: "t", send: func(p map[string]any) {
				mu.Lock()
				defer mu.Unlock()
				sent = append(sent, p)
			}}
			if tt.total > 0 {
				r.tell("reading", tt.done, tt.total)
			}
			end, over := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(over)
				r.beat("searching", end)
			}()
			time.Sleep(quietFor + beatEvery + beatEvery/2)
			close(end)
			<-over
			mu.Lock()
			defer mu.Unlock()
			n, last := 0, int64(0)
			for _, p := range sent {
				told := p["progress"].(int64)
				total, has := p["total"].(int64)
				if told <= last || has && told > total || has != (tt.total > 0) {
					t.Errorf("%v after %d", p, last)
				}
				if last = told; p["message"] == "searching" {
					n++
				}
			}
			if (n == 2) != (tt.done == 0 || tt.done < tt.total) {
				t.Errorf("told %d times: %v", n, sent)
			}
		})
	}
}
