package transcript

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// redactText takes secrets out of a text, and invalid UTF-8 with them.
func (w *recorder) redactText(s string) (string, error) {
	if w.in.AllowSecrets {
		return s, nil
	}
	clean, found := w.in.Guard.Redact([]byte(s))
	if string(clean) == s {
		return s, nil
	}
	for _, f := range found {
		if f.Rule != "" && f.Redacted != "" && !slices.Contains(w.out.Redacted, f.Rule) {
			w.out.Redacted = append(w.out.Redacted, f.Rule)
			slices.Sort(w.out.Redacted)
		}
	}
	if !utf8.Valid(clean) {
		clean = bytes.ToValidUTF8(clean, []byte("\ufffd"))
	}
	return string(clean), nil
}

// redactBlock takes secrets out of a block: out of each of its texts, and out of what
// only a key beside it gives away.
func (w *recorder) redactBlock(b json.RawMessage) (json.RawMessage, error) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, b); err != nil {
		return nil, err
	}
	if w.in.AllowSecrets {
		return compact.Bytes(), nil
	}
	d := json.NewDecoder(bytes.NewReader(compact.Bytes()))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		return nil, err
	}
	changed := false
	value, err := w.redactValue(value, "", &changed)
	if err != nil || !changed {
		return compact.Bytes(), err
	}
	return marshal(value)
}

func (w *recorder) redactValue(v any, key string, changed *bool) (any, error) {
	switch v := v.(type) {
	case string:
		if w.text += len(v); w.text > MaxText {
			return nil, fmt.Errorf("the message has more than %d bytes of text, which is more than is searched for secrets; shorten it", MaxText)
		}
		clean, err := w.redactText(v)
		if err != nil {
			return nil, err
		}
		if clean == v && key != "" && len(v) < 4096 {
			// `api_key: …` tells a secret that nothing in it gives away.
			before := key + ": "
			both, err := w.redactText(before + v)
			if err != nil {
				return nil, err
			}
			if rest, ok := strings.CutPrefix(both, before); ok {
				clean = rest
			} else {
				clean = "[redacted]"
			}
		}
		*changed = *changed || clean != v
		return clean, nil
	case []any:
		for i := range v {
			var err error
			if v[i], err = w.redactValue(v[i], key, changed); err != nil {
				return nil, err
			}
		}
	case map[string]any:
		picture := v["type"] == "base64"
		for name, x := range v {
			if _, text := x.(string); text && picture && name == "data" || name == "signature" {
				continue // bytes, not words
			}
			var err error
			if v[name], err = w.redactValue(x, name, changed); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}
