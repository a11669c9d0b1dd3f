package report

import (
	"encoding/json"
	"io"
)

// JSON prints a Report as one JSON object.
func JSON(w io.Writer, r *Report) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(r)
}
