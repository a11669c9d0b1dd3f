package settings

// EnginesConfig says how the engines are reached.
type EnginesConfig struct {
	Provider ProviderConfig
	Command  CommandConfig
}

// ProviderConfig is a model API.
type ProviderConfig struct {
	API        string // anthropic or openai
	BaseURL    string // "" is the API's own
	Model      string // "" is the default of the API, where there is one
	KeyEnv     string // variable that holds the key; "" is the API's usual one
	KeyCommand string // that prints the key
	// Prices in US dollars for a million tokens; 0 is not known.
	PriceInput, PriceOutput, PriceCacheRead, PriceCacheWrite float64
}

// CommandConfig is a headless agent on this machine.
type CommandConfig struct {
	Name  string // auto, or one of those that are known
	Path  string // of its program; "" looks in PATH
	Model string // "" is its own default
}

// engineKeys say who thinks for a job. They come from the file alone: what a
// repository suggests to a client as a variable may not spend money or send memory
// somewhere.
func engineKeys() []Key {
	keys := []Key{
		choice("engine", "auto", []string{"auto", "provider", "command", "sampling", "host", "none"}, func(c *Config) any { return &c.Engine },
			"Who thinks for a job: a model API, a command line, the client's model, the calling agent, or nobody. auto takes the first that is there; what runs by itself then takes none that costs money."),
		choice("engines.provider.api", "anthropic", []string{"anthropic", "openai"}, func(c *Config) any { return &c.Engines.Provider.API },
			"The API that the provider speaks. openai is also what local model servers speak."),
		plain("engines.provider.base_url", func(c *Config) any { return &c.Engines.Provider.BaseURL },
			"Where the API is, such as http://127.0.0.1:8080/v1; empty is the API's own address."),
		plain("engines.provider.model", func(c *Config) any { return &c.Engines.Provider.Model },
			"The model; empty is claude-haiku-4-5 for anthropic, and has to be set for openai."),
		plain("engines.provider.key_env", func(c *Config) any { return &c.Engines.Provider.KeyEnv },
			"The environment variable that holds the key; empty is ANTHROPIC_API_KEY or OPENAI_API_KEY."),
		plain("engines.provider.key_command", func(c *Config) any { return &c.Engines.Provider.KeyCommand },
			"A command that prints the key, such as one that asks the keychain; it comes before the variable."),
	}
	for _, p := range []struct {
		name, of string
		get      func(*Config) *float64
	}{
		{"input", "what the model reads", func(c *Config) *float64 { return &c.Engines.Provider.PriceInput }},
		{"output", "what it writes", func(c *Config) *float64 { return &c.Engines.Provider.PriceOutput }},
		{"cache_read", "what it reads from its cache", func(c *Config) *float64 { return &c.Engines.Provider.PriceCacheRead }},
		{"cache_write", "what it puts into its cache", func(c *Config) *float64 { return &c.Engines.Provider.PriceCacheWrite }},
	} {
		keys = append(keys, Key{Path: "engines.provider.price_" + p.name, Type: TypeNumber, Unit: "US dollars for a million tokens", Default: "0",
			field: func(c *Config) any { return p.get(c) }, Doc: "Price of " + p.of + "; 0 is not known."})
	}
	keys = append(keys,
		choice("engines.command.name", "auto", []string{"auto", "claude", "codex"}, func(c *Config) any { return &c.Engines.Command.Name },
			"The headless agent that the command engine starts; auto takes the first that is installed."),
		plain("engines.command.path", func(c *Config) any { return &c.Engines.Command.Path },
			"Its program; empty looks in PATH."),
		plain("engines.command.model", func(c *Config) any { return &c.Engines.Command.Model },
			"The model that it uses; empty is its own default."),
	)
	for i := range keys {
		keys[i] = fileOnly(keys[i])
	}
	return keys
}
