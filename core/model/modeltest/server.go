// Package modeltest is a scripted model server for tests. It speaks the wire formats of
// the Anthropic Messages API and of the OpenAI chat completions API, streamed or not, on a
// loopback address, and keeps every request, so that a test sees what left the process:
//
//	s := modeltest.Start(t,
//		modeltest.Call("Read", modeltest.In{"file_path": "/memory/a.md"}).And("Grep", modeltest.In{"pattern": "x"}),
//		modeltest.Fail(529, "overloaded"),
//		modeltest.Say("done").Using(modeltest.Usage{Input: 10, Output: 2}),
//	)
//	… engines.provider.base_url = s.URL, or s.OpenAI() …
//	if got := s.Requests()[1].Results()[0].Text; …
//
// Each request takes the next step. Where several jobs ask at once, StartFunc chooses by
// what a request says. A request for which the script has no step is an error of the test.
package modeltest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"
)

// Names of the two APIs, as engines.provider.api has them.
const (
	Anthropic = "anthropic"
	OpenAI    = "openai"
)

// maxRequest bounds the body of a request, in bytes.
const maxRequest = 64 << 20

// Server is a running server.
type Server struct {
	// URL is the base URL for the Anthropic API, such as http://127.0.0.1:4711.
	URL string

	t      testing.TB
	http   *httptest.Server
	closed chan struct{}

	mu       sync.Mutex
	steps    []Step
	choose   func(Request) Step
	requests []Request
	others   []string
	gone     int
	over     bool
	cache    cache
}

// Start starts a server whose requests take the steps in order. It ends with the test.
func Start(t testing.TB, script ...Step) *Server {
	t.Helper()
	return start(t, &Server{steps: script})
}

// StartFunc starts a server that asks f for the answer to each request. f may be called
// by several requests at once. It ends with the test.
func StartFunc(t testing.TB, f func(Request) Step) *Server {
	t.Helper()
	return start(t, &Server{choose: f})
}

func start(t testing.TB, s *Server) *Server {
	s.t, s.closed = t, make(chan struct{})
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	s.URL = s.http.URL
	t.Cleanup(s.Close)
	return s
}

// OpenAI is the base URL for the OpenAI API.
func (s *Server) OpenAI() string { return s.URL + "/v1" }

// BaseURL is the base URL for one of the two APIs.
func (s *Server) BaseURL(api string) string {
	if api == OpenAI {
		return s.OpenAI()
	}
	return s.URL
}

// Then adds steps to the script.
func (s *Server) Then(steps ...Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.steps = append(s.steps, steps...)
}

// Left is how many steps nobody took yet; a step that stays for ever is not counted.
func (s *Server) Left() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.steps)
	if n > 0 && s.steps[n-1].Always {
		n--
	}
	return n
}

// Requests are the requests for an answer so far, in the order in which they came.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Last is the last request. It ends the test where there is none.
func (s *Server) Last() Request {
	s.t.Helper()
	all := s.Requests()
	if len(all) == 0 {
		s.t.Fatal("modeltest: nobody asked the model")
	}
	return all[len(all)-1]
}

// Await waits until n requests came, at most 10 s.
func (s *Server) Await(n int) []Request {
	s.t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(2 * time.Millisecond) {
		all := s.Requests()
		if len(all) >= n {
			return all
		}
		if time.Now().After(end) {
			s.t.Fatalf("modeltest: %d of %d requests came within 10 s", len(all), n)
		}
	}
}

// Others are the requests for something else, such as "HEAD /".
func (s *Server) Others() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.others...)
}

// Gone is how many clients left before their answer was over.
func (s *Server) Gone() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gone
}

// Close ends the server and all that it is answering. It can be called again.
func (s *Server) Close() {
	s.mu.Lock()
	first := !s.over
	s.over = true
	s.mu.Unlock()
	if first {
		close(s.closed)
		s.http.Close()
	}
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	api := ""
	switch p := r.URL.Path; {
	case r.Method == http.MethodPost && strings.HasSuffix(p, "/messages"):
		api = Anthropic
	case r.Method == http.MethodPost && strings.HasSuffix(p, "/chat/completions"):
		api = OpenAI
	default:
		s.other(w, r)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		return // the client left, or sent too much, which it is told
	}
	req := Request{API: api, Path: r.URL.Path, Header: r.Header.Clone(), Raw: body, Time: time.Now()}
	if err := req.decode(); err != nil {
		s.complain("request is no request of the %s API: %v\n%.2000s", api, err, body)
		s.fail(w, api, http.StatusBadRequest, err.Error())
		return
	}
	s.mu.Lock()
	req.N = len(s.requests) + 1
	req.usage = s.cache.usage(&req)
	s.requests = append(s.requests, req)
	step, ok := s.take()
	choose := s.choose
	s.mu.Unlock()
	switch {
	case choose != nil:
		step = choose(req)
	case !ok:
		s.complain("the script has no step for request %d; what it asks last: %.300s", req.N, req.Prompt())
		s.fail(w, api, http.StatusBadRequest, fmt.Sprintf("the script of the test has no step for request %d", req.N))
		return
	}
	if !s.answer(w, r, &req, step) {
		s.mu.Lock()
		s.gone++
		s.mu.Unlock()
	}
}

// take gives the next step of the script.
func (s *Server) take() (Step, bool) {
	if len(s.steps) == 0 {
		return Step{}, false
	}
	step := s.steps[0]
	if !step.Always {
		s.steps = s.steps[1:]
	}
	return step, true
}

// complain fails the test, unless it is over.
func (s *Server) complain(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.over {
		s.t.Errorf("modeltest: "+format, args...)
	}
}

// other answers what real clients ask besides.
func (s *Server) other(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.others = append(s.others, r.Method+" "+r.URL.Path)
	s.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	switch {
	case strings.HasSuffix(r.URL.Path, "/messages/count_tokens"):
		n, _ := io.Copy(io.Discard, r.Body) // what was counted is what came
		fmt.Fprintf(w, `{"input_tokens":%d}`, n/bytesPerToken)
	case r.Method == http.MethodGet && strings.HasSuffix(r.URL.Path, "/models"):
		fmt.Fprint(w, `{"object":"list","data":[{"id":"scripted","object":"model","type":"model","display_name":"scripted"}],"has_more":false}`)
	default:
		w.WriteHeader(http.StatusNotFound)
		fmt.Fprint(w, `{"type":"error","error":{"type":"not_found_error","message":"not found"}}`)
	}
}

// fail sends an error as the API words it.
func (s *Server) fail(w http.ResponseWriter, api string, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(errorBody(api, status, message)) // who left does not read it
}

// errorBody is an error as each API words it.
func errorBody(api string, status int, message string) []byte {
	kinds := map[int]string{400: "invalid_request_error", 401: "authentication_error", 402: "billing_error", 403: "permission_error",
		404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error", 500: "api_error", 529: "overloaded_error"}
	kind := kinds[status]
	if kind == "" {
		kind = "api_error"
	}
	type inner struct {
		Type    string  `json:"type"`
		Message string  `json:"message"`
		Code    *string `json:"code,omitempty"`
	}
	var b []byte
	var err error
	if api == OpenAI {
		b, err = json.Marshal(struct {
			Error inner `json:"error"`
		}{inner{Type: kind, Message: message}})
	} else {
		b, err = json.Marshal(struct {
			Type  string `json:"type"`
			Error inner  `json:"error"`
		}{"error", inner{Type: kind, Message: message}})
	}
	if err != nil {
		panic(err) // strings always marshal
	}
	return b
}
