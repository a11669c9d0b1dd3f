package settings

import "mem/core/project"

// Planted returns the place that a repository sets a variable of this process from, nil
// where none does. The client puts the `env` of a project's settings into everything that
// it starts, so a variable that names an endpoint, a key or a program counts only if this
// gives nil.
func (c Client) Planted(name string) *EnvValue {
	here := c.process.Getenv(name)
	if here == "" {
		return nil
	}
	for _, v := range c.Environ(name) {
		if !v.Process && v.Value == here {
			if v.Trusted {
				return nil // a trusted file says the same
			}
			return &v
		}
	}
	return nil
}

// ClientOf reads the client's settings for the project that this process runs in: the one
// that the client names, else that of the working directory.
func ClientOf(env Env) Client {
	dir := env.Getenv("CLAUDE_PROJECT_DIR")
	if dir == "" {
		dir = env.Cwd
	}
	p, err := project.Find(dir, env.ProjectOptions())
	if err != nil {
		p = project.Project{} // the user's own settings apply anywhere
	}
	return LoadClient(env, p)
}
