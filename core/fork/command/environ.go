package command

import (
	"slices"
	"strings"

	"mem/core/fork"
	"mem/core/model"
	"mem/core/settings"
)

// Variables that a command gets from ours, where no repository planted them: what a
// program needs to run at all, how it reaches the network, and how it knows its user. All
// others stay with us, above all those by which a client tells its children what session
// they belong to.
var (
	passed = []string{
		"HOME", "USER", "LOGNAME", "PATH", "LANG", "LANGUAGE", "TZ", "TMPDIR",
		"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS",
		"USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "TEMP", "TMP", "PATHEXT", "COMSPEC", "USERNAME", "HOMEDRIVE", "HOMEPATH",
		"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
		"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
		settings.EnvConfigDir, "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY", "CLOUD_ML_REGION",
		"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS", "ANTHROPIC_MODEL",
		"ANTHROPIC_SMALL_FAST_MODEL", "ANTHROPIC_DEFAULT_HAIKU_MODEL", "ANTHROPIC_DEFAULT_SONNET_MODEL", "ANTHROPIC_DEFAULT_OPUS_MODEL",
		"ANTHROPIC_BEDROCK_BASE_URL", "ANTHROPIC_VERTEX_BASE_URL", "ANTHROPIC_VERTEX_PROJECT_ID", "ANTHROPIC_FOUNDRY_RESOURCE", "ANTHROPIC_FOUNDRY_BASE_URL", "ANTHROPIC_FOUNDRY_API_KEY",
		"AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE",
		"GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_PROJECT",
	}
	// secret are those of them whose values are never repeated, whatever the command prints.
	secret = []string{
		"CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_CUSTOM_HEADERS", "ANTHROPIC_FOUNDRY_API_KEY",
		"AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK",
	}
	// ours switch off what a run in the background has no use for.
	ours = []string{
		fork.EnvInside + "=1", settings.EnvDisable + "=1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1",
		"TERM=dumb", "NO_COLOR=1",
	}
)

// reduced is the environment of a command. left is told of each variable that a
// repository planted, which is left out.
func reduced(env settings.Env, left func(name, source string)) []string {
	client := settings.ClientOf(env)
	var out []string
	for _, name := range passed {
		if from := client.Planted(name); from != nil {
			if left != nil {
				left(name, from.Source)
			}
			continue
		}
		if v := env.Getenv(name); v != "" {
			out = append(out, name+"="+v)
		}
	}
	if env.Home != "" && !slices.ContainsFunc(out, func(kv string) bool { return strings.HasPrefix(kv, "HOME=") }) && env.GOOS != "windows" {
		out = append(out, "HOME="+env.Home)
	}
	return append(out, ours...)
}

// hushed removes the values of secret variables from what a command printed.
func hushed(env settings.Env, s string) string {
	for _, name := range secret {
		s = model.Veil(s, env.Getenv(name), "["+name+"]")
	}
	return s
}
