package store

// instant is called before each operation on disk, with what it does and to
// which file. It is nil but in tests, where it returns the error that the
// operation is to fail with, changes files as another program would, or panics
// as a crash does.
type instant func(op, name string) error

func (i instant) at(op, name string) error {
	if i == nil {
		return nil
	}
	return i(op, name)
}
