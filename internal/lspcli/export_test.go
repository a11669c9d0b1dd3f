package lspcli

import "mem/internal/term"

// Page sets a page of Markdown for a coloured terminal of a width.
func Page(md string, width int) string {
	a := &app{Printer: term.Printer{Streams: term.Streams{Terminal: true, Width: width}, Colour: true}}
	return a.page(md)
}
