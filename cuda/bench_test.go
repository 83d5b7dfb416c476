//go:build cuda && cgo && linux

package cuda

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/cuda/internal/timemodel"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/sparse"
)

// onDevice returns the size of a benchmark: docs on a GPU (GRAM_CUDA=real), and trial on the fake
// device, which only tests the benchmark.
func onDevice(docs, trial int) int {
	if onRealDevice() {
		return docs
	}
	return trial
}

// BenchmarkDigest measures the Gram matrix of the diffusion kernel on synthetic documents of about
// 140 distinct terms; only a digest is copied to the host. Rates count pairs i < j.
//
// If GRAM_CUDA_DOCUMENTS names a file, each benchmark overwrites it with its documents, for
// torch_compare.py.
func BenchmarkDigest(b *testing.B) {
	for _, docs := range slices.Compact([]int{onDevice(10_000, 300), onDevice(30_000, 300), onDevice(100_000, 300)}) {
		b.Run(fmt.Sprintf("docs=%d/kernel=diffusion", docs), func(b *testing.B) {
			cols := benchmarkDigest(b, texts(b, docs), func(*Device) {})
			if file := os.Getenv("GRAM_CUDA_DOCUMENTS"); file != "" {
				musttest.NoError(b, writeDocuments(b, file, cols))
			}
		})
	}
}

// BenchmarkTensor is BenchmarkDigest for texts and images: without tensor cores, with the model's
// dense terms (share=-1), and with terms in at least one of share documents dense.
func BenchmarkTensor(b *testing.B) {
	docs := onDevice(30_000, 150)
	for _, corpus := range []struct {
		name   string
		make   func(b *testing.B, docs int) *sparse.CSR
		shares []int64
	}{{"images", images, []int64{0, timemodel.ByModel, 2, 4, 8}},
		{"texts", texts, []int64{0, timemodel.ByModel, 6, 16}}} {
		for _, share := range corpus.shares {
			b.Run(fmt.Sprintf("corpus=%s/docs=%d/share=%d", corpus.name, docs, share), func(b *testing.B) {
				cols := benchmarkDigest(b, corpus.make(b, docs), func(d *Device) { d.denseShare = share })
				b.ReportMetric(float64(cols.layout.dense), "dense-terms")
			})
		}
	}
}

// BenchmarkSweep measures digests for several tails and tile heights, with synthetic documents and
// the corpus that GRAM_CUDA_CORPUS names.
func BenchmarkSweep(b *testing.B) {
	corpora := []string{"synthetic"}
	source := os.Getenv("GRAM_CUDA_CORPUS")
	if source != "" {
		corpora = append(corpora, "named")
	}
	for _, corpus := range corpora {
		for _, c := range []struct {
			tail int64
			rows int
		}{{4, computedRows}, {8, computedRows}, {16, computedRows}, {28, computedRows}, {64, computedRows},
			{0, computedRows}, {0, 256}, {0, 512}, {0, 1024}} {
			b.Run(fmt.Sprintf("corpus=%s/tail=%d/rows=%d", corpus, c.tail, c.rows), func(b *testing.B) {
				counts := texts(b, onDevice(30_000, 150))
				if corpus == "named" {
					counts = read(b, source)
				}
				benchmarkDigest(b, counts, func(d *Device) { d.tailShare, d.tileRows = c.tail, c.rows })
			})
		}
	}
}

// BenchmarkRows measures rows that are copied to the host, limited by the bus.
func BenchmarkRows(b *testing.B) {
	docs, some := onDevice(30_000, 150), onDevice(8192, 70)
	cols := loadBench(b, texts(b, docs), func(*Device) {})
	r := &device.Request{RowIndices: run.Range(0, some), Hi: docs}
	seconds := measure(b, cols, func() error {
		return cols.ComputeRows(b.Context(), r, func(*device.Tile) error { return nil })
	})
	b.ReportMetric(4*float64(some)*float64(docs)/seconds, "copied-B/s")
}

// texts makes synthetic documents.
func texts(b *testing.B, docs int) *sparse.CSR {
	return read(b, fmt.Sprintf("synthetic:docs=%d,terms=50000,length=160,seed=1", docs))
}

func read(b *testing.B, source string) *sparse.CSR {
	c := musttest.Get(corpus.Read(b.Context(), source, corpus.Options{}))(b)
	return c.Documents
}

// images makes documents as dense as handwritten digits of 28 × 28 pixels. A pixel near the center
// is nonzero in three of four images, and a pixel near the edge hardly ever. An image has about 155
// nonzero pixels.
func images(_ *testing.B, docs int) *sparse.CSR {
	const side, width = 28, 5.8
	r := rand.New(rand.NewPCG(uint64(docs), 4))
	m := &sparse.CSR{Cols: side * side, Offsets: []int64{0}}
	for range docs {
		for i := range side * side {
			x, y := float64(i%side)-side/2, float64(i/side)-side/2
			if r.Float64() < 0.75*math.Exp(-(x*x+y*y)/(2*width*width)) {
				m.Terms, m.Values = append(m.Terms, uint32(i)), append(m.Values, float32(1+r.IntN(255)))
			}
		}
		m.Offsets = append(m.Offsets, int64(len(m.Terms)))
	}
	return m
}

// loadBench copies documents to a device that set configures.
func loadBench(b *testing.B, counts *sparse.CSR, set func(*Device)) *columns {
	d := musttest.Get(Open(Options{}))(b)
	set(d)
	return load(b, d, transformed(b, sparse.SphereEmbedding, counts))
}

// measure returns the median time in seconds of several runs, and reports kernel times if
// GRAM_CUDA_TIMES=1.
func measure(b *testing.B, cols *columns, work func() error) float64 {
	before := map[string]float64{}
	for _, t := range cols.d.KernelTimes() {
		before[t.Kernel] = t.Seconds
	}
	var times []float64
	for b.Loop() {
		begin := time.Now()
		musttest.NoError(b, work())
		times = append(times, time.Since(begin).Seconds())
	}
	for _, t := range cols.d.KernelTimes() {
		if took := t.Seconds - before[t.Kernel]; took > 0 {
			b.ReportMetric(1e3*took/float64(len(times)), t.Kernel+"-ms/op")
		}
	}
	slices.Sort(times)
	return times[len(times)/2]
}

// diffusion is the measured kernel.
var diffusion = kernel.ProgramOf(kernel.MustParse("diffusion:t=0.5"))

// benchmarkDigest measures the digest of a matrix; set configures the device.
func benchmarkDigest(b *testing.B, counts *sparse.CSR, set func(*Device)) *columns {
	cols := loadBench(b, counts, set)
	docs := cols.x.Rows()
	// The first use of a kernel takes longer.
	holdReduced(b, cols, &device.Request{Program: diffusion, RowIndices: []int{0, docs / 2, docs - 1}, Hi: docs})
	half := &device.Request{Program: diffusion, RowIndices: run.Range(0, docs), Hi: docs, UpperOnly: true}
	seconds := measure(b, cols, func() error {
		_, err := cols.Digest(b.Context(), half)
		return err
	})
	n := float64(docs)
	b.ReportMetric(n*(n-1)/2/seconds, "pairs/s")
	b.ReportMetric(float64(cols.x.NNZ())/n, "values/doc")
	b.ReportMetric(float64(cols.layout.chunks()), "chunks")
	return cols
}

// writeDocuments writes documents and some rows of their matrix, little-endian: the numbers of
// documents, terms, values and rows (int64), offsets (int64), terms (int32), values of unit vectors
// (float32), and the numbers of the rows (int64) and their values (float32).
func writeDocuments(b *testing.B, file string, cols *columns) error {
	x, n := cols.x, cols.x.Rows()
	values := make([]float32, 0, x.NNZ())
	for i := range n {
		for _, v := range x.UnitVector64(i, nil) {
			values = append(values, float32(v))
		}
	}
	docs := []int{0, n / 2, n - 1}
	rows := gather(b, cols, &device.Request{Program: diffusion, RowIndices: docs, Hi: n}, n)
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	numbers := []int64{int64(n), int64(x.Cols), int64(len(values)), int64(len(docs))}
	for _, part := range []any{numbers, x.Offsets, x.Terms, values, []int64{0, int64(n / 2), int64(n - 1)}, rows} {
		if err == nil {
			err = binary.Write(w, binary.LittleEndian, part)
		}
	}
	return errors.Join(err, w.Flush(), f.Close())
}
