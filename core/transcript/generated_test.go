package transcript_test

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"mem/core/transcript"
	"mem/core/transcript/transcripttest"
)

// chainUUIDs are the uuids of a chain as the records spell them.
func chainUUIDs(t *testing.T, data []byte, tr *transcript.Transcript, c *transcript.Chain) []string {
	t.Helper()
	var out []string
	for m, err := range transcript.Load(context.Background(), bytes.NewReader(data), tr, c.Rows) {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, m.UUID)
	}
	return out
}

func TestGenerated(t *testing.T) {
	for _, o := range []transcripttest.Options{
		{Seed: 1, Bytes: 1},
		{Seed: 2, Bytes: 300_000},
		{Seed: 3, Bytes: 2_000_000, Noise: 0.8},
		{Seed: 4, Bytes: 3_000_000, CompactEvery: 700_000, Noise: 0.5},
		{Seed: 5, Bytes: 40_000_000, CompactEvery: 9_000_000, Noise: 0.8, LongLines: true},
	} {
		var b bytes.Buffer
		made, err := transcripttest.Write(&b, o)
		if err != nil {
			t.Fatal(err)
		}
		data := b.Bytes()
		tr, err := transcript.Read(context.Background(), bytes.NewReader(data), int64(len(data)), transcript.Options{Workers: 3})
		if err != nil {
			t.Fatal(err)
		}
		if n := tr.Problems.Total(); n != 0 {
			t.Errorf("%+v: problems: %s", o, tr.Problems)
		}
		if tr.Lines != made.Lines || tr.Rows.Len() != made.Rows || tr.Size != made.Bytes {
			t.Errorf("%+v: %d lines, %d rows, %d bytes, want %d, %d, %d", o, tr.Lines, tr.Rows.Len(), tr.Size, made.Lines, made.Rows, made.Bytes)
		}
		for typ, n := range made.Types {
			if tr.Types[typ] != n {
				t.Errorf("%+v: %d records of type %s, want %d", o, tr.Types[typ], typ, n)
			}
		}
		c := tr.Chain(transcript.UUID{})
		if got := chainUUIDs(t, data, tr, c); !slices.Equal(got, made.Chain) {
			t.Errorf("%+v: a chain of %d rows that is not the one of %d", o, len(got), len(made.Chain))
		}
		if c.Coverage.Messages != made.Messages || c.Coverage.Unreachable != 0 {
			t.Errorf("%+v: coverage %+v of %d messages", o, c.Coverage, made.Messages)
		}

		tail, err := transcript.ReadTail(context.Background(), bytes.NewReader(data), int64(len(data)), transcript.Options{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		if got := chainUUIDs(t, data, tail, tail.Chain(transcript.UUID{})); !slices.Equal(got, made.Chain) {
			t.Errorf("%+v: the tail's chain of %d rows is not the one of %d", o, len(got), len(made.Chain))
		}
		if (tail.Base > 0) != tail.Chain(transcript.UUID{}).Coverage.Pending {
			t.Error("pending is not told")
		}
		whole, err := tail.Complete(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if whole.Lines != made.Lines || whole.Rows.Len() != made.Rows || !transcript.SameRows(whole, tr) {
			t.Errorf("%+v: completing the tail from byte %d gives another transcript", o, tail.Base)
		}
		if o.Seed == 5 && tail.Base == 0 {
			t.Error("the tail was the whole file")
		}
	}
}
