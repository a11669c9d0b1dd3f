package lspcli

import (
	"context"
	"errors"

	"mem/core/change"
	"mem/core/guard"
	"mem/core/memdir"
	"mem/core/memory"
	"mem/core/settings"
	"mem/core/store"
)

// apply makes a change in a memory directory on disk: with its lock, its journal
// and the merge with what others wrote meanwhile.
func (a *app) apply(ctx context.Context, dir string, c change.Change) (*store.Result, error) {
	config, _ := settings.LoadConfig(a.env) // what is wrong with it was said when the directory was opened
	scanner, err := guard.New(guard.Options{Allow: config.Guard.Allow})
	if err != nil {
		return nil, err
	}
	bases := config.Bases.MaxCount
	if bases == 0 {
		bases = -1 // keep none; 0 is the default
	}
	s, err := store.New(store.Options{
		Directory: dir, StateDir: a.env.StateDir, Guard: scanner, Now: a.env.Now,
		Origin: memory.Origin(a.env), Actor: "mem-lsp " + a.version,
		Limits:   memdir.Limits{TopicBytes: config.Limits.TopicBytes, ScanLines: config.Limits.ScanLines, EntryLength: config.Limits.EntryLength},
		LockWait: config.Lock.Wait, JournalAge: config.Journal.MaxAge, JournalSize: config.Journal.MaxSize,
		Bases: bases, BaseSize: config.Bases.MaxSize,
	})
	if err != nil {
		return nil, err
	}
	res, err := s.Apply(ctx, c, store.How{})
	return res, errors.Join(err, s.Close())
}
