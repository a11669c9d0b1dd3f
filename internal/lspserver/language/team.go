package language

// Team says something about what a team shares: words of ours, then what git has.
func Team(lead, words string) string {
	if words == "" {
		return "**" + lead + "**"
	}
	return "**" + lead + "** " + escaped(words, 300)
}
