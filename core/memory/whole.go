package memory

import "context"

// ListAll lists all topics, whatever pages a result would take: for people and
// pipes, which have no limit.
func (m *Memory) ListAll(ctx context.Context, o ListOptions) (*List, error) {
	o.Cursor, o.Limit, o.whole = "", 0, true
	l, err := m.List(ctx, o)
	for err == nil && l.NextCursor != "" {
		o.Cursor = l.NextCursor
		var next *List
		if next, err = m.List(ctx, o); err != nil {
			break
		}
		l.Topics = append(l.Topics, next.Topics...)
		l.NextCursor = next.NextCursor
		l.lose(next.Vanished...)
	}
	return l, err
}

// ReadAll reads a memory file whole, as the bytes stand in it.
func (m *Memory) ReadAll(ctx context.Context, ref string) (*Read, error) {
	r, err := m.Read(ctx, ref, "")
	if err != nil {
		return nil, err
	}
	b, err := m.store.Load(r.Path)
	if err != nil {
		return nil, err
	}
	r.Text, r.Hash, r.NextCursor = b.File.Text.String(), b.Hash, ""
	return r, nil
}
