package index

import (
	"fmt"
	"io"
	"path/filepath"

	"mem/core/guard"
	"mem/core/recall"
	"mem/core/settings"
	"mem/core/transcript"
)

// Schema is the version of the tables. It is part of the name of the file, as
// the version of the tokeniser is, so that two versions of mem that run side by
// side do not rebuild each other's index for ever.
const Schema = 1

// FileName is the name of the index in its directory.
var FileName = fmt.Sprintf("transcripts-%d.%d.db", Schema, recall.TokenizerVersion)

// Bounds of memory, time and disk.
const (
	// DefaultMaxBytes is how large an index grows. An index takes 2 to 3 % of its
	// transcripts, so this is 20 GB of them: more than a month of heavy use, after
	// which the client deletes them.
	DefaultMaxBytes = 512 << 20
	// MinMaxBytes is the smallest limit that is taken; less is no index.
	MinMaxBytes = 1 << 20

	// MaxRecordBytes is the longest record that is indexed. Longer ones are counted
	// as skipped.
	MaxRecordBytes = 16 << 20
	// MaxEntryBytes is how much of a prompt, an answer or a summary is indexed.
	MaxEntryBytes = 64 << 10

	callBytes     = 2 << 10 // of one tool call
	argumentBytes = 512     // of one string in its arguments
	resultHead    = 256     // of a tool result, from its beginning
	resultTail    = 512     // and from its end
	failedEnds    = 1 << 10 // both of a failed one
)

// File is an opened transcript.
type File interface {
	io.ReaderAt
	io.Closer
	Size() int64 // in bytes of transcript, which may be more than it takes on disk
}

// Options of an index.
type Options struct {
	// Dir is the directory of the index, for example "transcripts" in the cache
	// directory of mem. It is made where it is missing.
	Dir string
	// MaxBytes bounds the file; 0 is DefaultMaxBytes. Over it the sessions that
	// were written to longest ago are left out.
	MaxBytes int64
	// Guard redacts secrets; nil is one without exceptions.
	Guard *guard.Scanner
	// Open opens a transcript by its path, for those that lie compressed. nil
	// opens files as they are.
	Open func(path string) (File, error)
	// Workers parse transcripts side by side; 0 is one for each processor.
	Workers int
}

// Dir returns the directory of the index of a user; "" without a cache directory.
func Dir(env settings.Env) string {
	if env.CacheDir == "" {
		return ""
	}
	return filepath.Join(env.CacheDir, "transcripts")
}

// Source is one transcript to be indexed.
type Source struct {
	Path    string // of the file; names the source
	Session string // id of the session; for the file of a subagent that of its session
	Project string // key of the project, as the caller will filter by it
}

// Role says what an entry is.
type Role uint8

const (
	Prompt     Role = iota // by a person
	Answer                 // text of the model
	ToolCall               // a tool call
	ToolResult             // its result, shortened
	Summary                // what compaction made of the conversation before
	Task                   // a prompt that an agent wrote for its subagent
	numRoles
)

var roleNames = [numRoles]string{"prompt", "answer", "call", "result", "summary", "task"}

func (r Role) String() string {
	if r < numRoles {
		return roleNames[r]
	}
	return "unknown"
}

// MarshalText writes the name of the role, which JSON results use.
func (r Role) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads the name of a role.
func (r *Role) UnmarshalText(text []byte) error {
	for i, name := range roleNames {
		if name == string(text) {
			*r = Role(i)
			return nil
		}
	}
	return fmt.Errorf("%q is no role of an entry; there are %v", text, roleNames)
}

// plainFile is a transcript that lies as its client wrote it.
type plainFile struct{ *transcript.File }

func (f plainFile) Size() int64 { return f.File.Size }

func openPlain(path string) (File, error) {
	f, err := transcript.OpenFile(path)
	if err != nil {
		return nil, err
	}
	return plainFile{f}, nil
}
