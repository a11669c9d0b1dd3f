package wire

import (
	"fmt"
	"net/http"
	"strings"
)

// failed says what an error of an API means and what to do about it.
func (w words) failed(code int, kind, message string) *Failure {
	f := &Failure{Status: code, Kind: w.clean(kind)}
	said := w.quote(message)
	low := strings.ToLower(message)
	tell := func(format string, args ...any) *Failure {
		f.Words = fmt.Sprintf(format, args...)
		return f
	}
	switch {
	case code == http.StatusPaymentRequired, kind == "billing_error", kind == "insufficient_quota",
		strings.Contains(low, "credit balance"), strings.Contains(low, "insufficient_quota"), strings.Contains(low, "exceeded your current quota"):
		return tell("%s says that there is no credit left (%d)%s; add credit there, or choose another engine", w.host, code, said)
	case code == http.StatusUnauthorized && w.key == "":
		return tell("%s wants a key (401)%s; set %s, or engines.provider.key_command", w.host, said, w.keyName)
	case code == http.StatusUnauthorized:
		return tell("%s does not accept the key from %s (401)%s; check it, and that engines.provider.base_url is where it is from", w.host, w.keyName, said)
	case code == http.StatusForbidden:
		return tell("%s does not allow this (403)%s; the key from %s may not use the model %s, or not from here", w.host, said, w.keyName, w.model)
	case code == http.StatusNotFound:
		return tell("%s knows no model %s, or the address is wrong (404)%s; check engines.provider.model, engines.provider.base_url, and whether engines.provider.api is what that server speaks", w.host, w.model, said)
	case code == http.StatusMethodNotAllowed:
		return tell("%s takes no such request (405)%s; engines.provider.base_url does not lead to the %s API", w.host, said, w.api.Name)
	case code == http.StatusRequestEntityTooLarge, strings.Contains(low, "prompt is too long"), strings.Contains(low, "context length"), strings.Contains(low, "context_length"),
		strings.Contains(low, "context size"), strings.Contains(low, "context window"):
		return tell("the request is too long for %s (%d)%s; choose a model with a larger context in engines.provider.model", w.model, code, said)
	case code == http.StatusRequestTimeout, code == http.StatusConflict, code == http.StatusTooEarly:
		f.Again = true
		return tell("%s could not take the request now (%d)%s", w.host, code, said)
	case code == http.StatusTooManyRequests:
		f.Again = true
		return tell("%s has had too many requests (429)%s; try again later, or raise the limits of the account", w.host, said)
	case code == http.StatusNotImplemented, code == http.StatusHTTPVersionNotSupported:
		return tell("%s cannot do this (%d)%s; check engines.provider.api", w.host, code, said)
	case code == 529:
		f.Again = true
		return tell("%s is overloaded (529)%s; try again later", w.host, said)
	case code >= 500:
		f.Again = true
		return tell("%s has trouble (%d)%s; try again later", w.host, code, said)
	}
	return tell("%s does not take the request (%d)%s; check engines.provider.model and engines.provider.api", w.host, code, said)
}
