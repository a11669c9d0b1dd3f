package diagnostics

// ConfigName is the name of the configuration, in the memory directory or at the
// root of the project.
const ConfigName = ".mem.yaml"

// MaxConfigFile bounds a .mem.yaml, in bytes.
const MaxConfigFile = 64 << 10

// ParseConfig reads the text of a configuration. What it says replaces what base
// says; what cannot be obeyed is left as base has it and listed in Problems. path
// is the file's, for these.
func ParseConfig(path, src string, rules []Rule, base *Config) *Config {
	c := *base
	return &c
}
