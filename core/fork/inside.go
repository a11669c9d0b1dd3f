package fork

import "mem/core/settings"

// EnvInside is set to 1 in the environment of every program that an engine starts, and
// so of everything that these start.
const EnvInside = "MEM_FORK"

// Inside reports whether this process runs inside of a forked agent. It must start no
// job then, nor serve: an agent whose memory is being written would write memory about
// that, and so on.
func Inside(env settings.Env) bool { return env.Getenv(EnvInside) != "" }
