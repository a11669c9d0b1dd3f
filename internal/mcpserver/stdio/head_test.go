package stdio

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestParseHead(t *testing.T) {
	for _, tc := range []struct {
		in, id, method string
		answer         bool
		err            error
	}{
		{in: `{}`},
		{in: `{"jsonrpc":"2.0","id":1,"method":"ping"}`, id: "1", method: "ping"},
		{in: ` {"method" :"a\"b\\","params":{"id":2,"method":"x","s":"}\\\""},"id": "x\\" }` + "\r\n", id: `"x\\"`, method: `a"b\`},
		{in: `{"id":1,"result":{"a":[1,{"id":7}]}}`, id: "1", answer: true},
		{in: `{"id":1,"error":{"code":1}}`, id: "1", answer: true},
		{in: `{"m\u0065thod":"x","\u0069d":-1.5e3}`, id: "-1.5e3", method: "x"},
		{in: `[{"id":1}]`, err: errBatch},
		{in: ``, err: errNotObject},
		{in: `null`, err: errNotObject},
		{in: `{"id":1`, id: "1", err: errSyntax},
		{in: `{"id":1,}`, id: "1", err: errSyntax},
		{in: `{"id"}`, err: errSyntax},
		{in: `{"id":}`, err: errSyntax},
		{in: `{"a":"\"}`, err: errSyntax},
		{in: `{"a":[[}`, err: errSyntax},
		{in: `{"id":1}x`, id: "1", err: errSyntax},
		{in: `{"id":01}`, err: errSyntax},
		{in: `{"id":"\x"}`, err: errSyntax},
		{in: `{"id":null}`, err: errID},
		{in: `{"id":[1]}`, err: errID},
		{in: `{"id":1,"id":1}`, id: "1", err: errTwice},
		{in: `{"method":"a","method":"a"}`, method: "a", err: errTwice},
		{in: `{"Id":1}`, err: errFold},
		{in: `{"re\u017fult":1}`, err: errFold},
		{in: `{"method":{}}`, err: errMethod},
	} {
		h, err := parseHead([]byte(tc.in))
		if string(h.id) != tc.id || h.method != tc.method || h.answer != tc.answer || !errors.Is(err, tc.err) || (err != nil) != (tc.err != nil) {
			t.Errorf("parseHead(%q) = %q, %q, %v, %v", tc.in, h.id, h.method, h.answer, err)
		}
	}
}

func TestIDKey(t *testing.T) {
	for _, same := range [][2]string{{`1`, `1.0`}, {`1`, `10e-1`}, {`"a"`, `"\u0061"`}, {`"\\"`, `"\u005c"`}, {`0`, `0e5`}} {
		if idKey(json.RawMessage(same[0])) != idKey(json.RawMessage(same[1])) {
			t.Errorf("%s and %s are one id", same[0], same[1])
		}
	}
	seen := map[string]string{}
	for _, id := range []string{``, `9`, `"9"`, `9.5`, `-9`, `"a"`, `"\"a\""`, `9007199254740993`, `9007199254740992`, `1e300`, `""`} {
		key := idKey(json.RawMessage(id))
		if other, ok := seen[key]; ok {
			t.Errorf("%s and %s are two ids", id, other)
		}
		seen[key] = id
	}
}

func TestLines(t *testing.T) {
	const max = 10
	in := "\xef\xbb\xbfshort\n\n" + strings.Repeat("x", max) + "\r\n" + strings.Repeat("y", max+1) + "\n" +
		`{"id":1,"method":"` + strings.Repeat("z", 3*readBuffer) + `"}` + "\nlast"
	l := newLines(strings.NewReader(in), max)
	for _, want := range []string{"short", "", strings.Repeat("x", max), "!", "!1", "last"} {
		line, long, err := l.next()
		got := string(line)
		if long != nil {
			got = "!" + string(long.foundID())
		}
		if err != nil || got != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
	if _, _, err := l.next(); !endOfInput(err) {
		t.Errorf("the end is %v", err)
	}
}

// FuzzParseHead compares with encoding/json, which mcp-go decodes the same message with.
func FuzzParseHead(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{"id":"a\"","result":{"x":[{"id":2}]}}`, `{"m\u0065thod":"x","\u0069d":-1.5e3}`,
		`[{}]`, `{"id":1,"ID":2}`, `{"a":"\\","id":3}`, "{\"id\":\"\xff\"}", `{"id":1,"method":"ſ"}`, ` { } `, `{"id":1}x`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, msg []byte) {
		h, err := parseHead(msg)
		var long passedOver
		long.feed(msg)
		if err != nil {
			if json.Valid(msg) && errors.Is(err, errSyntax) {
				t.Fatalf("%q is valid JSON", msg)
			}
			return
		}
		if h.id != nil && !json.Valid(h.id) {
			t.Fatalf("the id %q of %q is not JSON", h.id, msg)
		}
		if !json.Valid(msg) || !utf8.Valid(msg) {
			return // refused elsewhere
		}
		var want struct {
			ID     json.RawMessage
			Method string
			Result json.RawMessage
			Error  json.RawMessage
		}
		if err := json.Unmarshal(msg, &want); err != nil {
			t.Fatalf("%q: %v", msg, err)
		}
		if !bytes.Equal(h.id, want.ID) || h.method != want.Method || h.answer != (want.Result != nil || want.Error != nil) {
			t.Fatalf("%q: got %q %q %v, encoding/json has %q %q", msg, h.id, h.method, h.answer, want.ID, want.Method)
		}
		if id := long.foundID(); id != nil && !bytes.ContainsAny(msg, "\\") && !bytes.Equal(id, h.id) {
			t.Fatalf("%q: the long way finds id %q", msg, id)
		}
	})
}
