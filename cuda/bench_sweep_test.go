//go:build cuda && cgo && linux

package cuda

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/sparse"
)

// loadBench copies documents to a device whose tail begins at a share, for a benchmark.
func loadBench(b *testing.B, counts *sparse.CSR, share int64) *Columns {
	d, err := Open(Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { closing(b, d.Close) })
	d.tailShare = share
	x, err := sparse.Sphere.Fit(counts).Transform(counts)
	if err != nil {
		b.Fatal(err)
	}
	cols, err := d.Load(b.Context(), x)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { closing(b, cols.Close) })
	return cols
}

// BenchmarkSweep measures digests of matrices for tails and heights of a computed tile, of synthetic
// documents and of those that GRAM_CUDA_CORPUS names, as sparse.Read takes it.
func BenchmarkSweep(b *testing.B) {
	docs := 30_000
	if !onRealDevice() {
		docs = 150
	}
	corpora := map[string]func(b *testing.B) *sparse.CSR{
		"synthetic": func(b *testing.B) *sparse.CSR { return texts(b, docs) },
	}
	if source := os.Getenv("GRAM_CUDA_CORPUS"); source != "" {
		corpora["named"] = func(b *testing.B) *sparse.CSR {
			corpus, err := sparse.Read(b.Context(), source, sparse.Options{})
			if err != nil {
				b.Fatal(err)
			}
			return corpus.Documents
		}
	}
	p := engine.ProgramOf(engine.MustParseKernel("diffusion:t=0.5"))
	for _, corpus := range []string{"synthetic", "named"} {
		if corpora[corpus] == nil {
			continue
		}
		for _, c := range []struct {
			tail int64
			rows int
		}{{4, computedRows}, {8, computedRows}, {16, computedRows}, {28, computedRows}, {64, computedRows},
			{0, computedRows}, {0, 256}, {0, 512}, {0, 1024}} {
			b.Run(fmt.Sprintf("corpus=%s/tail=%d/rows=%d", corpus, c.tail, c.rows), func(b *testing.B) {
				cols := loadBench(b, corpora[corpus](b), c.tail)
				cols.d.rows = c.rows
				n := cols.x.Rows()
				half := &device.Request{Program: p, Docs: sequence(n), Hi: n, Half: true}
				var times []float64
				for begin := time.Now(); b.Loop(); begin = time.Now() {
					if _, err := cols.Digest(b.Context(), half); err != nil {
						b.Fatal(err)
					}
					times = append(times, time.Since(begin).Seconds())
				}
				slices.Sort(times)
				b.ReportMetric(float64(n)*float64(n-1)/2/times[len(times)/2], "pairs/s")
				b.ReportMetric(float64(cols.layout.chunks()), "chunks")
				reportKernels(b, cols.d, nil, len(times))
			})
		}
	}
}

// BenchmarkRows measures rows that are copied to the machine, which the bus bounds.
func BenchmarkRows(b *testing.B) {
	docs, some := 30_000, 8192
	if !onRealDevice() {
		docs, some = 150, 70
	}
	cols := loadBench(b, texts(b, docs), 0)
	r := &device.Request{Docs: sequence(some), Hi: docs}
	var seconds []float64
	for begin := time.Now(); b.Loop(); begin = time.Now() {
		if err := cols.Rows(b.Context(), r, func(*device.Tile) error { return nil }); err != nil {
			b.Fatal(err)
		}
		seconds = append(seconds, time.Since(begin).Seconds())
	}
	slices.Sort(seconds)
	b.ReportMetric(4*float64(some)*float64(docs)/seconds[len(seconds)/2], "copied-B/s")
	reportKernels(b, cols.d, nil, len(seconds))
}

// reportKernels reports what kernels took since some times of before, where GRAM_CUDA_TIMES=1.
func reportKernels(b *testing.B, d *Device, before []KernelTime, times int) {
	for _, t := range d.KernelTimes() {
		took := t.Seconds
		for _, o := range before {
			if o.Kernel == t.Kernel {
				took -= o.Seconds
			}
		}
		if took > 0 {
			b.ReportMetric(1e3*took/float64(times), t.Kernel+"-ms/op")
		}
	}
}
