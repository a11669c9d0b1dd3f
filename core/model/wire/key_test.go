package wire_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"mem/core/model/modeltest"
	"mem/core/model/wire"
)

// TestKeyRepeated: a server repeats the key, whole or shortened, in an error, in an error
// within the stream, and in an answer that it calls a success.
func TestKeyRepeated(t *testing.T) {
	const short = "sk-test-0123*******cdef"
	each(t, func(t *testing.T, api string) {
		for name, step := range map[string]modeltest.Step{
			"status":  modeltest.Fail(401, "Incorrect API key provided: "+short+" ("+key+")"),
			"answer":  modeltest.Say("You sent " + short + " and " + key + "."),
			"call":    modeltest.Call("Write", modeltest.In{"file_path": "a.md", "content": "the key " + key + ", or " + short}),
			"garbage": modeltest.Answer("application/json", `{"heard": "`+short+` `+key+`"}`),
		} {
			s := modeltest.Start(t, step)
			m, _ := make1(s, api, nil)
			got, err := m.Reply(t.Context(), request)
			text := fmt.Sprintf("%+v %#v", err, err)
			if got != nil {
				text += got.Model
				for _, b := range got.Blocks {
					text += b.Text
					if b.Call != nil {
						if !json.Valid(b.Call.Input) {
							t.Errorf("%s: the input is no JSON any more: %s", name, b.Call.Input)
						}
						text += b.Call.Name + string(b.Call.Input)
					}
				}
			}
			if strings.Contains(text, "sk-test-0") {
				t.Errorf("%s: the key, or its beginning, is in %s", name, text)
			}
			if !strings.Contains(text, "[key]") {
				t.Errorf("%s: nothing was heard of it: %s", name, text)
			}
		}
	})
}

// TestGivenUp: what was sent to a server that did not answer in time is counted, by its size;
// what never left is not.
func TestGivenUp(t *testing.T) {
	each(t, func(t *testing.T, api string) {
		s := modeltest.Start(t, modeltest.Say("x").After(time.Hour))
		m, _ := make1(s, api, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
		defer cancel()
		got, err := m.Reply(ctx, request)
		if !errors.Is(err, context.DeadlineExceeded) || got == nil || got.Usage.Requests != 1 || !got.Usage.Estimated || got.Usage.Input == 0 || got.Usage.Output != 0 || got.Usage.Cost == 0 {
			t.Errorf("%+v, %v", got, err)
		}
		nobody := &modeltest.Server{URL: "http://127.0.0.1:1"}
		m, _ = make1(nobody, api, nil)
		if got, err := m.Reply(t.Context(), request); err == nil || got.Usage.Requests != 0 {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

// TestKey: the key goes to the one address that was configured, and nowhere else: not
// into an error, not along with a redirect.
func TestKey(t *testing.T) {
	var stolen atomic.Int64
	thief := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(fmt.Sprint(r.Header), key) {
			stolen.Add(1)
		}
	}))
	defer thief.Close()
	const awkward = "sk/+&=%\"<\\key-9"
	for _, secret := range []string{key, awkward} {
		each(t, func(t *testing.T, api string) {
			for _, code := range []int{200, 400, 401, 403, 404, 422, 500, 301, 302, 307, 308} {
				echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					heard := r.Header.Get("X-Api-Key") + " " + r.Header.Get("Authorization")
					w.Header().Set("Location", thief.URL+"/"+strings.TrimPrefix(strings.TrimSpace(heard), "Bearer ")+"?k="+key)
					w.Header().Set("Content-Type", []string{"text/plain", "application/json", "text/event-stream"}[code%3])
					w.Header().Set("X-Should-Retry", "false")
					w.WriteHeader(code)
					fmt.Fprintf(w, `{"error":{"type":"x %s","message":%q}}`, key, "you sent "+heard)
				}))
				s := &modeltest.Server{URL: echo.URL}
				m, _ := make1(s, api, func(o *wire.Options) { o.Key = secret })
				_, err := m.Reply(t.Context(), request)
				echo.Close()
				if err == nil {
					t.Fatalf("%d: no error", code)
				}
				for e := err; e != nil; e = errors.Unwrap(e) {
					for _, text := range []string{e.Error(), fmt.Sprintf("%+v %#v", e, e)} {
						if strings.Contains(text, secret) || strings.Contains(text, "%2F%2B") {
							t.Errorf("%d: the key is in %s", code, text)
						}
					}
				}
			}
		})
	}
	if stolen.Load() > 0 {
		t.Error("the key went along with a redirect")
	}
}
