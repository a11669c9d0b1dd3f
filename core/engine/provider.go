package engine

import (
	"fmt"
	"net/url"
	"strings"

	"mem/core/model"
	"mem/core/model/anthropic"
	"mem/core/model/openai"
	"mem/core/model/wire"
	"mem/core/settings"
)

// provider gives the model API of the configuration, or why it cannot be used.
func provider(env settings.Env, p settings.ProviderConfig) (model.Model, string) {
	local := onThisMachine(p.BaseURL)
	name := p.Model
	if name == "" && p.API == "anthropic" {
		name = anthropic.DefaultModel
	}
	if name == "" {
		return nil, "no model is named; set engines.provider.model"
	}
	if base := strings.TrimSpace(p.BaseURL); base != "" {
		if u, err := url.Parse(base); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
			return nil, "engines.provider.base_url is no address of a model API; write one such as http://127.0.0.1:8080/v1, without a key in it"
		}
	}
	keyName := model.KeyName(p)
	if strings.TrimSpace(p.KeyCommand) == "" {
		if v := settings.ClientOf(env).Planted(keyName); v != nil {
			return nil, fmt.Sprintf("%s comes from %s, and a repository may not name a key; set another variable with engines.provider.key_env, or engines.provider.key_command", keyName, v.Source)
		}
	}
	key, err := model.Key(p, env)
	switch {
	case err != nil:
		return nil, err.Error()
	case key == "" && !local:
		return nil, fmt.Sprintf("there is no key: %s is not set; set it, or engines.provider.key_command", keyName)
	}
	o := wire.Options{BaseURL: p.BaseURL, Key: key, KeyName: keyName, Model: name, Prices: model.PricesOf(p)}
	if p.API == "openai" {
		return openai.New(o), ""
	}
	return anthropic.New(o), ""
}

// onThisMachine reports whether an address is a server of this machine, which needs no key.
func onThisMachine(base string) bool {
	u, err := url.Parse(strings.TrimSpace(base))
	return err == nil && wire.Loopback(u.Hostname())
}
