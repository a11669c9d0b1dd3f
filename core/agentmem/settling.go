package agentmem

// settling makes of what is noted about files the states that are saved.
type settling struct {
	*analysis
	files map[string]fileState
	git   *objects          // opened where it is needed
	head  map[string]string // the objects of the snapshot in the commit that is checked out
	asked bool
}

func (s *settling) close() {
	if s.git != nil {
		s.git.close()
	}
}

// uncommitted tells whether git knows the snapshot and the commit that is checked out has
// another text of a file, or none.
func (s *settling) uncommitted(p, sum string) bool {
	if !s.asked {
		s.asked = true
		o, head, rel, err := s.history()
		if err != nil || o == nil {
			return false
		}
		s.git, s.head = o, map[string]string{}
		tree, _, err := o.commit(head)
		if err == nil {
			tree, err = o.below(tree, rel)
		}
		if err == nil && tree != "" {
			s.st.Git = true
			err = o.paths(tree, "", 0, func(p, id string) error { s.head[p] = id; return nil })
		}
		if err != nil {
			s.head = nil
		}
	}
	if s.head == nil {
		return false
	}
	if s.head[p] == "" {
		return true
	}
	text, _, err := s.git.text(s.head[p])
	return err == nil && sumOf(text) != sum
}

// now gives what is saved of a file: what was known of it where nothing changed, else the
// new state, with the earlier ones behind it.
func (s *settling) now(it *item, f fileState, shared string, equal bool) fileState {
	from := it.base
	for _, p := range []string{it.theirs, it.mine} {
		if from == "" && s.st.dropped[p] {
			from = p
		}
	}
	old, known := s.st.stored[from]
	f.Shared, f.Before = shared, nil
	if !known {
		return f
	}
	effective := s.st.Files[from]
	if effective.Shared = shared; sameState(f, effective) && !equal && !s.st.dropped[from] {
		if old.Shared == none && shared == f.seen() {
			old.Shared = shared // what wrote it did not know of that yet
		}
		return old // nothing new was noted
	}
	if sameState(f, old) {
		return old
	}
	f.Before = s.before(from, old)
	return f
}

// before gives the earlier common texts of a file that gets a new one. A text that only a
// publish put into the checkout, and that no commit has, comes from nowhere again.
func (s *settling) before(p string, old fileState) []common {
	list := old.Before
	if old.Base == none || old.Shared == none {
		return list
	}
	if s.theirs.sum(p) == old.Shared && s.uncommitted(p, old.Shared) {
		return list
	}
	list = append([]common{{old.Base, old.Shared}}, list...)
	if n := len(list); n > maxBefore {
		list = append(list[:maxBefore-1:maxBefore-1], list[n-1])
	}
	return list
}

// keepDropped keeps what is known of files for which nothing counts as common now.
func (s *settling) keepDropped() {
	for p := range s.st.dropped {
		if _, ok := s.files[p]; !ok {
			s.files[p] = s.st.stored[p]
		}
	}
}
