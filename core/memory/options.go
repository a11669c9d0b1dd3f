package memory

// OptionsFor gives the options that open another store of the same project on behalf of
// the same program.
func (m *Memory) OptionsFor(store string) Options {
	o := m.opt
	o.MemoryDir, o.Roots, o.Project, o.Store = "", nil, m.Location.Project.Dir, store
	return o
}
