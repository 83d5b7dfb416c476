package job

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/cluster/shards"
	"github.com/gramengine/gram/cluster/store"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/run"
)

// Host holds the store, limits and documents of a process that plans, runs or gathers jobs. Its
// methods may be called concurrently.
type Host struct {
	Store       *store.Store
	Cache       *store.Cache // local cache for inputs, or nil
	Workers     int          // number of goroutines per task, at least 1
	MemoryLimit int64        // memory limit of the process in bytes; 0 if unlimited

	mu     sync.Mutex
	digest string // digest of corpus
	corpus *corpus.Corpus
}

// Corpus returns the documents with the given digest. The documents stay in memory until other
// documents are requested. The caller must not change the documents.
func (h *Host) Corpus(ctx context.Context, digest string) (*corpus.Corpus, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.corpus != nil && h.digest == digest {
		return h.corpus, nil
	}
	h.corpus = nil // lets the old documents be freed before new documents are read
	c, err := shards.Read(ctx, h.readInput, digest, h.FreeMemory(nil))
	if memory := (*run.MemoryError)(nil); errors.As(err, &memory) {
		return nil, h.CheckMemory(nil, memory.NeedBytes, "reading the documents of %s", memory.Source)
	}
	if err != nil {
		return nil, err
	}
	h.corpus, h.digest = c, digest
	return c, nil
}

func (h *Host) readInput(ctx context.Context, name string) ([]byte, error) {
	var b []byte
	var err error
	if h.Cache == nil {
		b, err = h.Store.Get(ctx, name, nil)
	} else {
		b, err = h.Cache.Get(ctx, h.Store, name)
	}
	if err != nil {
		return nil, &readError{withPlanHint(err)}
	}
	return b, nil
}

type readError struct{ error }

func (u *readError) Unwrap() error { return u.error }

// IsReadError reports whether err is a failure to read an input from the store. A retry may succeed
// after a read error.
func IsReadError(err error) bool {
	u := (*readError)(nil)
	return errors.As(err, &u)
}

// withPlanHint adds a hint to the error for a missing or damaged object: `gramcluster plan`
// restores the object.
func withPlanHint(err error) error {
	if IsMissing(err) {
		return fmt.Errorf("%w (to restore it, run gramcluster plan with the same documents and flags)", err)
	}
	return err
}

// PutFile stores a local file and returns its digest.
func (h *Host) PutFile(ctx context.Context, path string) (digest string, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	digest = Digest(b)
	_, err = h.Store.Put(ctx, FilePrefix+digest, b)
	return digest, err
}

// FilePrefix is the object name prefix of inputs other than documents.
const FilePrefix = "files/"

// File returns the contents of a file stored by PutFile.
func (h *Host) File(ctx context.Context, digest string) ([]byte, error) {
	if !IsDigest(digest) {
		return nil, fmt.Errorf("job: file name must be a digest of 64 hexadecimal digits, got %q", digest)
	}
	b, err := h.readInput(ctx, FilePrefix+digest)
	if err != nil {
		return nil, err
	}
	if d := Digest(b); d != digest {
		return nil, fmt.Errorf("job: object %s is damaged: digest must match the name, got %s", FilePrefix+digest, d)
	}
	return b, nil
}

// CheckISA returns an error if this computer lacks the job's instruction set. Other instruction
// sets may give different results.
func (j *Job) CheckISA() error {
	if _, err := asm.KernelsFor(asm.ISA(j.ISA)); err != nil {
		return fmt.Errorf("job: the job needs instruction set %s, but this computer supports up to %s; plan it with -isa %s",
			j.ISA, asm.BestKernels().ISA, asm.BestKernels().ISA)
	}
	return nil
}

// Engine returns an engine for kernel k and all documents of the job. A subset of the documents
// isn't enough, because each kernel value may depend on all documents.
func (j *Job) Engine(ctx context.Context, k kernel.Kernel) (*engine.Engine, error) {
	c, err := j.Host.Corpus(ctx, j.CorpusDigest)
	if err != nil {
		return nil, err
	}
	embedder := corpus.Fit(k.Embedding(), c)
	values := c.Documents.NNZ() + int64(c.Documents.EmptyRowCount()) // a document without terms gets an extra term
	if err := j.Host.CheckMemory(c, engine.MaxEngineBytes(c.Documents.Rows(), embedder.Cols(), values),
		"the engine"); err != nil {
		return nil, err
	}
	x, err := embedder.TransformRows(ctx, c.Documents, nil, j.Host.Workers)
	if err != nil {
		return nil, fmt.Errorf("embedding %s: %w", k.Embedding(), err)
	}
	return engine.NewContext(ctx, x, engine.Options{
		ISA: j.ISA, Workers: j.Host.Workers, MemoryBytes: j.Host.FreeMemory(c),
	})
}
