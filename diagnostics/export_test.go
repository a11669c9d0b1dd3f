package diagnostics

// Found gives what a rule has reported, and takes it out.
func Found(p *Pass) []Finding {
	f := p.found
	p.found = nil
	return f
}
