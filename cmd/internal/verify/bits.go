package verify

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"unsafe"

	"github.com/minio/sha256-simd"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/sparse"
	"github.com/gramengine/gram/tiles"
)

// Sizes of the matrices that are compared bit for bit.
const (
	sameBitsDocuments      = engine.MinTailBlockDocuments + 500
	sameBitsFewerDocuments = 1000      // for embeddings after the first; covers all block boundaries
	maxSameBitsValues      = 1_000_000 // maximum number of stored values, which limits recomputation in float64
	crossDocuments         = 300
)

// spacedDocuments returns up to limit evenly spaced documents of m. It returns fewer documents, but
// at least 2, if the documents have more than maxSameBitsValues values, or if comparing matrices
// would take more than room bytes. If room is 0, memory is unlimited.
func spacedDocuments(m *sparse.CSR, limit int, room int64) []int {
	n := m.Rows()
	for k := min(n, limit); ; k -= max(k/8, 1) {
		documents := make([]int, k)
		var values int64
		for d := range documents {
			i := d * n / k
			documents[d] = i
			values += m.Offsets[i+1] - m.Offsets[i]
		}
		// This estimates two matrices, the rows for test documents, and three copies of the
		// documents: original, embedded, and in an engine.
		need := 8*int64(k)*int64(k) + 4*int64(k)*crossDocuments + 60*(values+int64(k)) + 100*int64(k)
		if k <= 2 || values <= maxSameBitsValues && (room == 0 || need <= room) {
			return documents
		}
	}
}

// checkSameBits checks that the matrix of the kernel c on up to limit documents is bit-identical
// for 1, 2 and 7 workers. It also compares stripes, single rows, and rows of test documents.
func (v *verifier) checkSameBits(ctx context.Context, c kernel.Kernel, limit int) error {
	emb := c.Embedding()
	v.p.StartStage("workers, " + emb.String())
	var room int64
	if budget := v.Budget(); budget > 0 { // half of the free memory, because workers need scratch memory
		room = max((budget-backend.RuntimeBytes-v.corpus.Documents.Bytes())/2, 1)
	}
	corpus := v.corpus
	if documents := spacedDocuments(corpus.Documents, limit, room); len(documents) < corpus.Documents.Rows() {
		corpus = corpus.Select(documents)
	}
	x, err := source.Embed(ctx, corpus, emb, v.Workers)
	if err != nil {
		return err
	}
	// All matrices reuse this memory, because mapping new pages takes longer than computing some
	// matrices.
	first, again := newSymmetric(x.Rows()), newSymmetric(x.Rows())
	n := report.FormatDocuments(x.Rows())
	for _, isa := range v.Backends() {
		eng, differ, err := v.compareWorkers(ctx, x, isa, c, first, again)
		if err != nil {
			return err
		}
		var digest string
		var parallel sync.WaitGroup
		parallel.Go(func() { digest = digestOf(first.Data) })
		otherwise, err := compareMethods(ctx, corpus, x, eng, c, first.Data)
		parallel.Wait()
		if err = errors.Join(err, eng.Close()); err != nil {
			return err
		}
		v.addCheck(isa, emb, "bit-identical: 1, 2 and 7 workers", differ == "", "%s, sha256 %s%s", n, digest[:8], differ)
		v.addCheck(isa, emb, "bit-identical: matrix, strips, rows, test documents", otherwise == "", "%s%s",
			n, otherwise)
	}
	return nil
}

// compareWorkers computes the matrix with 1, 2 and 7 workers. differ lists the worker counts whose
// matrix differs from the matrix of 1 worker. The caller must close the returned engine, which has
// 7 workers.
func (v *verifier) compareWorkers(
	ctx context.Context, x *sparse.Embedded, isa asm.ISA, c kernel.Kernel, first, again *engine.Symmetric,
) (eng *engine.Engine, differ string, err error) {
	compute := func(workers int, m *engine.Symmetric) (*engine.Engine, error) {
		opt := v.EngineOptions(isa, v.p)
		opt.Workers = workers
		eng, err := engine.New(x, opt)
		if err != nil {
			return nil, err
		}
		for i := range m.Data { // NaN reveals unwritten values
			m.Data[i] = float32(math.NaN())
		}
		if _, err := eng.Gram(ctx, c, m); err != nil {
			return nil, errors.Join(err, eng.Close())
		}
		return eng, nil
	}
	parallel := min(v.NumWorkers(), 2) // two engines at a time, because one worker leaves other CPUs idle
	if isa == backend.CUDA {
		parallel = 1
	}
	err = run.Tasks(ctx, parallel, 2, func(_ context.Context, _, i int) error {
		eng, err := compute(1+i, []*engine.Symmetric{first, again}[i])
		if err != nil {
			return err
		}
		return eng.Close()
	})
	if err != nil {
		return nil, "", err
	}
	if !sameFloats(first.Data, again.Data) {
		differ = ", 2 workers differ"
	}
	if eng, err = compute(7, again); err != nil {
		return nil, "", err
	}
	if !sameFloats(first.Data, again.Data) {
		differ += ", 7 workers differ"
	}
	return eng, differ, nil
}

// compareMethods computes the matrix again in stripes. It also computes four rows by index, and up
// to crossDocuments rows from test documents. differ lists the methods whose values differ from the
// matrix first.
func compareMethods(
	ctx context.Context, docs *corpus.Corpus, x *sparse.Embedded, eng *engine.Engine, c kernel.Kernel,
	first []float32,
) (differ string, err error) {
	n := x.Rows()
	for at := 0; at < n; at += crossDocuments {
		end := min(at+crossDocuments, n)
		stripe, err := eng.Rows(ctx, c, engine.Request{RowRange: [2]int{at, end}}, nil)
		if err != nil {
			return "", err
		}
		if !sameFloats(stripe.Data, first[at*n:end*n]) {
			differ = ", stripes differ"
		}
	}
	some := []int{n - 1, 0, n / 2, n / 3} // in arbitrary order, like a solver's working set
	dst, err := eng.Rows(ctx, c, engine.Request{RowIndices: some}, nil)
	if err != nil {
		return "", err
	}
	for r, i := range some {
		if !sameFloats(dst.Row(r), first[i*n:][:n]) {
			differ += fmt.Sprintf(", row %d differs", i)
		}
	}
	test := spacedDocuments(docs.Documents, crossDocuments, 0)
	slices.Reverse(test) // reversed, so that the documents are in other panels
	y, err := x.Embedder.Transform(docs.Documents.SelectRows(test))
	if err != nil {
		return "", err
	}
	cross, err := eng.Rows(ctx, c, engine.Request{TestDocuments: y}, nil)
	if err != nil {
		return "", err
	}
	for r, i := range test {
		if !sameFloats(cross.Row(r), first[i*n:][:n]) {
			return differ + fmt.Sprintf(", row of test document %d differs", i), nil
		}
	}
	return differ, nil
}

func newSymmetric(n int) *engine.Symmetric {
	return &engine.Symmetric{N: n, Data: tiles.MakeFloats(n * n)}
}

// sameFloats reports whether a and b are bit-identical.
func sameFloats(a, b []float32) bool { return bytes.Equal(bytesOf(a), bytesOf(b)) }

// bytesOf returns the bytes of v without a copy.
func bytesOf(v []float32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), 4*len(v))
}

// digestOf returns the SHA-256 of the little-endian bytes of values, in hexadecimal.
func digestOf(values []float32) string {
	h := sha256.New()
	var buf []byte
	for chunk := range slices.Chunk(values, 1024) {
		buf = appendBits(buf[:0], chunk)
		h.Write(buf)
	}
	return hex.EncodeToString(h.Sum(nil))
}

func appendBits(buf []byte, values []float32) []byte {
	for _, value := range values {
		buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(value))
	}
	return buf
}
