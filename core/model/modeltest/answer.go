package modeltest

import (
	"encoding/json"
	"errors"
	"net/http"
	"time"
)

// piece is how much text one event of a stream holds, in bytes.
const piece = 24

// answer sends what a step says and reports whether the client stayed for all of it.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, req *Request, step Step) bool {
	if !s.wait(r, step.Wait) {
		return false
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Request-Id", "req_scripted")
	var chunks [][]byte
	switch {
	case step.Body != "":
		chunks = [][]byte{[]byte(step.Body)}
	case step.Status != 0:
		chunks = [][]byte{errorBody(req.API, step.Status, step.Text)}
	case req.Stream:
		h.Set("Content-Type", "text/event-stream")
		chunks = Stream(*req, step)
	default:
		chunks = [][]byte{whole(req, step)}
	}
	for k, v := range step.Header {
		h.Set(k, v)
	}
	if step.Status != 0 {
		w.WriteHeader(step.Status)
	}
	return s.send(w, r, step, chunks)
}

// send sends the events one by one, up to where the step breaks off.
func (s *Server) send(w http.ResponseWriter, r *http.Request, step Step, chunks [][]byte) bool {
	flush := http.NewResponseController(w).Flush
	sent := 0
	for i, c := range chunks {
		if i > 0 && !s.wait(r, step.Pause) {
			return false
		}
		for _, at := range []int{step.cut, step.end, step.stall} {
			if left := at - 1 - sent; at > 0 && left < len(c) {
				if _, err := w.Write(c[:max(left, 0)]); err != nil {
					return false
				}
				if err := flush(); err != nil {
					return false
				}
				switch at {
				case step.end:
					return true
				case step.cut:
					panic(http.ErrAbortHandler)
				}
				s.wait(r, time.Hour)
				return false
			}
		}
		if _, err := w.Write(c); err != nil {
			return false
		}
		if err := flush(); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return false
		}
		sent += len(c)
	}
	return true
}

// wait waits unless the client leaves or the server ends.
func (s *Server) wait(r *http.Request, d time.Duration) bool {
	if d <= 0 {
		return r.Context().Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-r.Context().Done():
	case <-s.closed:
	}
	return false
}

// Stream gives the events of a streamed answer, as they are sent. Of the request it
// takes API, Model, N and AskedUsage.
func Stream(req Request, step Step) [][]byte {
	if req.API == OpenAI {
		return streamOpenAI(&req, step)
	}
	return streamAnthropic(&req, step)
}

// whole gives an answer that is not streamed.
func whole(req *Request, step Step) []byte {
	if req.API == OpenAI {
		return marshal(wholeOpenAI(req, step))
	}
	return marshal(wholeAnthropic(req, step))
}

// object is a JSON object; keys come out sorted.
type object = map[string]any

func marshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // only strings, numbers and JSON of the test's own
	}
	return b
}

// used is what the step used.
func used(req *Request, step Step) Usage {
	if step.Usage != nil {
		return *step.Usage
	}
	u := req.usage
	u.Output = int64(len(step.Text) + len(step.Thinking))
	for _, c := range step.Calls {
		u.Output += int64(len(c.Name) + len(c.input()))
	}
	u.Output = max(u.Output/bytesPerToken, 1)
	return u
}

func modelOf(req *Request, step Step) string {
	if step.Model != "" {
		return step.Model
	}
	return req.Model
}

// pieces cuts a text as models stream it; a cut never falls into a character.
func pieces(s string) []string {
	var out []string
	for start := 0; start < len(s); {
		end := min(start+piece, len(s))
		for end < len(s) && s[end]&0xC0 == 0x80 {
			end++
		}
		out = append(out, s[start:end])
		start = end
	}
	return out
}
