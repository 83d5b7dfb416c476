package mkm

import (
	"fmt"

	"github.com/gramengine/gram/engine"
)

// check checks options.
func (o Options) check() error {
	if o.Workers < 0 || o.MemoryBytes < 0 {
		return fmt.Errorf("mkm: %d workers and %d bytes, expected at least 0", o.Workers, o.MemoryBytes)
	}
	return nil
}

// tell reports progress.
func (o Options) tell(stage string, level int, done, total int64) {
	if o.Progress != nil {
		o.Progress(Progress{Stage: stage, Level: level, Done: done, Total: total})
	}
}

func (t *training) tell(stage string, level int, done, total int64) {
	t.o.tell(stage, level, done, total)
}

// chosen hands a choice over.
func (t *training) chosen(c Choice) {
	if t.o.Chosen != nil {
		t.o.Chosen(c)
	}
}

// bytes is what a training takes beside documents, components and classifier.
func (t *training) bytes() int64 {
	n, p := int64(len(t.y)), int64(t.s.widest())
	b := min(n, int64(t.s.Base))
	values := t.c.Documents.NNZ()
	first := engine.NewBytes(int(b), t.c.Documents.Cols, values*b/max(n, 1))
	return 2*t.c.Documents.Bytes() + max(24*n*p+16*b*p+engine.NewBytes(int(b), int(p), b*p), first)
}

// left is what is left for a part of the work, of the bound: 0 where there is none.
func (t *training) left(held int64) int64 {
	if t.o.MemoryBytes == 0 {
		return 0
	}
	held += 2*t.c.Documents.Bytes() + 4*int64(len(t.y))*int64(t.s.Components)
	for _, m := range t.models {
		held += m.Bytes() // of the same layers, but for one
	}
	return max(t.o.MemoryBytes-held, 1)
}
