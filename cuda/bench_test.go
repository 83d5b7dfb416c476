//go:build cuda && cgo && linux

package cuda

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/sparse"
)

// BenchmarkDigest measures the Gram matrix of the diffusion kernel on synthetic documents of about
// 140 distinct terms, of which a digest leaves the device, against what it reaches in the same run:
// multiply-adds in registers, bytes read of shared memory as panels are read, bytes copied in its
// memory. Rates count pairs i < j; head multiply-adds are those that are done, 4 bytes of shared
// memory each. Wants a GPU, GRAM_CUDA=real; on the fake one it is a trial of itself.
//
// With GRAM_CUDA_DOCUMENTS it writes the documents to a file of that name, in the end those of the
// last, for torch_compare.py.
func BenchmarkDigest(b *testing.B) {
	sizes := []int{10_000, 30_000, 100_000}
	if !onRealDevice() {
		sizes = []int{300}
	}
	for _, docs := range sizes {
		b.Run(fmt.Sprintf("docs=%d/kernel=diffusion", docs), func(b *testing.B) {
			m := texts(b, docs)
			benchmarkDigest(b, m, 0, func(cols *Columns, p *device.Program) error {
				if file := os.Getenv("GRAM_CUDA_DOCUMENTS"); file != "" {
					return writeDocuments(b, file, cols, p)
				}
				return nil
			})
		})
	}
}

// texts makes synthetic documents.
func texts(b *testing.B, docs int) *sparse.CSR {
	source := fmt.Sprintf("synthetic:docs=%d,terms=50000,length=160,seed=1", docs)
	corpus, err := sparse.Read(b.Context(), source, sparse.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return corpus.Documents
}

// benchmarkDigest measures the matrix of documents, with a dense end of terms that one in share of
// them has, 0 for none; after runs at the end.
func benchmarkDigest(
	b *testing.B, counts *sparse.CSR, share int64, after func(cols *Columns, p *device.Program) error,
) {
	measure := peakWork{bytes: 1 << 30, blocks: 32, rounds: 4096, times: 5}
	if !onRealDevice() {
		measure = littleWork
	}
	d, err := Open(Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer closing(b, d.Close)
	d.denseShare = share
	x, err := sparse.Sphere.Fit(counts).Transform(counts)
	if err != nil {
		b.Fatal(err)
	}
	cols, err := d.Load(b.Context(), x)
	if err != nil {
		b.Fatal(err)
	}
	defer closing(b, cols.Close)
	peak, err := d.peaks(measure)
	if err != nil {
		b.Fatal(err)
	}
	p := engine.ProgramOf(engine.MustParseKernel("diffusion:t=0.5"))
	docs := x.Rows()
	// The first use of a kernel takes longer.
	holdReduced(b, cols, &device.Request{Program: p, Docs: []int{0, docs / 2, docs - 1}, Hi: docs})
	half := &device.Request{Program: p, Docs: sequence(docs), Hi: docs, Half: true}
	before := d.KernelTimes()
	madds, products := cols.layout.work(x, docs)
	var times []float64
	for b.Loop() {
		begin := time.Now()
		if _, err := cols.Digest(b.Context(), half); err != nil {
			b.Fatal(err)
		}
		times = append(times, time.Since(begin).Seconds())
	}
	slices.Sort(times)
	seconds, n := times[len(times)/2], float64(docs)
	b.ReportMetric(n*(n-1)/2/seconds, "pairs/s")
	b.ReportMetric(float64(x.NNZ())/n, "values/doc")
	b.ReportMetric(100*madds/seconds/peak.madds, "%madd-peak")
	b.ReportMetric(100*4*madds/seconds/peak.shared, "%shared-peak")
	b.ReportMetric(peak.madds, "peak-madds/s")
	b.ReportMetric(peak.shared, "peak-shared-B/s")
	b.ReportMetric(peak.copied, "peak-copy-B/s")
	reportKernels(b, d, before, len(times))
	if share > 0 {
		b.ReportMetric(float64(cols.layout.dense), "dense-terms")
		b.ReportMetric(100*products/seconds/peak.tensor, "%tensor-peak")
		b.ReportMetric(peak.tensor, "peak-products/s")
	}
	if err := after(cols, p); err != nil {
		b.Fatal(err)
	}
}

func closing(b testing.TB, f func() error) {
	if err := f(); err != nil {
		b.Error(err)
	}
}

// writeDocuments writes documents and some rows of their matrix, little-endian: the numbers of
// documents, terms, values and rows (int64), offsets (int64), terms (int32), values of unit vectors
// (float32), and the numbers of the rows (int64) and their values (float32).
func writeDocuments(b *testing.B, file string, cols *Columns, p *device.Program) error {
	x, n := cols.x, cols.x.Rows()
	values := make([]float32, 0, x.NNZ())
	for i := range n {
		for _, v := range x.Unit64(i, nil) {
			values = append(values, float32(v))
		}
	}
	docs := []int{0, n / 2, n - 1}
	var rows []float32
	err := cols.Rows(b.Context(), &device.Request{Program: p, Docs: docs, Hi: n}, func(t *device.Tile) error {
		for i := range t.Rows {
			rows = append(rows, t.Row(i)...)
		}
		return nil
	})
	if err != nil {
		return err
	}
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

// work counts the multiply-adds of the head and the products of bytes of the dense end for half of
// the matrix: a tile has the columns from its first row on.
func (l *layout) work(x *sparse.Embedded, n int) (madds, products float64) {
	for i := range n {
		last := n - i/computedRows*computedRows
		terms, _ := x.Row(i)
		for _, t := range terms {
			if r := int(l.rank[t]); r >= l.dense && r < l.head {
				madds += float64(padded(last))
			}
		}
		products += 10 * 4 * float64(l.quads()) * float64((last+tensorColumns-1)/tensorColumns*tensorColumns)
	}
	return madds, products
}

// peaks are what a device reaches.
type peaks struct{ madds, shared, copied, tensor float64 } // a second

// peakWork is what is measured of it: bytes copied, blocks of threads for each multiprocessor,
// rounds of a thread, and how many times of which the best counts.
type peakWork struct {
	bytes                 int64
	blocks, rounds, times int
}

// littleWork suits the fake device.
var littleWork = peakWork{bytes: 1 << 20, blocks: 1, rounds: 2, times: 1}

// peaks measures the device.
func (d *Device) peaks(w peakWork) (best peaks, err error) {
	blocks := w.blocks * d.info.Multiprocessors
	err = d.do(func() (err error) {
		k, err := d.load()
		if err != nil {
			return err
		}
		p := pool{d: d}
		defer func() { err = errors.Join(err, p.close()) }()
		from, err := p.alloc(w.bytes)
		if err != nil {
			return err
		}
		to, err := p.alloc(w.bytes)
		if err != nil {
			return err
		}
		s, err := cu.MakeStream(cu.NonBlocking)
		if err != nil {
			return failed("cuStreamCreate", err)
		}
		defer func() { err = errors.Join(err, failed("cuStreamDestroy", s.Destroy())) }()
		threads := float64(blocks * peakThreads)
		for range w.times {
			for _, m := range []struct {
				rate *float64
				work float64
				run  func() error
			}{
				{&best.madds, 8 * float64(w.rounds) * threads, func() error {
					return d.launch("peakMadd", k.peakMadd, blocks, 1, peakThreads, 0, s,
						uint64(from.at), 0x3f7fffff, 0x33000000, uint64(w.rounds))
				}},
				{&best.shared, 8 * 16 * float64(w.rounds) * threads, func() error {
					return d.launch("peakShared", k.peakShared, blocks, 1, peakThreads, 0, s,
						uint64(from.at), 7*32, uint64(w.rounds))
				}},
				{&best.tensor, 8 * float64(w.rounds) * threads / 32 * (16 * 8 * 32), func() error {
					return d.launch("peakTensor", k.peakTensor, blocks, 1, peakThreads, 0, s,
						uint64(from.at), uint64(w.rounds))
				}},
				{&best.copied, 2 * float64(w.bytes), func() error {
					return failed("cuMemcpyDtoDAsync", cu.MemcpyDtoDAsync(to.at, from.at, w.bytes, s))
				}},
			} {
				begin := time.Now()
				if err := errors.Join(m.run(), failed("cuStreamSynchronize", s.Synchronize())); err != nil {
					return err
				}
				*m.rate = max(*m.rate, m.work/time.Since(begin).Seconds())
			}
		}
		return nil
	})
	return best, err
}

// The kernels that measure do what they are said to, as far as a machine without a GPU can tell.
func TestPeaks(t *testing.T) {
	noLeaks(t)
	d := open(t, Options{})
	err := d.do(func() error {
		k, err := d.load()
		if err != nil {
			return err
		}
		p := pool{d: d}
		out, err := p.alloc(4 * 2 * peakThreads)
		if err != nil {
			return err
		}
		s, err := cu.MakeStream(cu.NonBlocking)
		if err != nil {
			return err
		}
		got := make([]float32, 2*peakThreads)
		err = d.launch("peakShared", k.peakShared, 2, 1, peakThreads, 0, s, uint64(out.at), 7*32, 1)
		if err = errors.Join(err, s.Synchronize(), read(got, out)); err != nil {
			return err
		}
		// Lane 3 reads places 3, 3+224, … 3+7·224, four numbers each.
		if want := float32(4 * (8*3 + 28*224)); got[3] != want || got[peakThreads+3] != want {
			t.Errorf("peakShared: found %v and %v, expected %v", got[3], got[peakThreads+3], want)
		}
		// x = 2, y = 1
		err = d.launch("peakMadd", k.peakMadd, 2, 1, peakThreads, 0, s, uint64(out.at), 0x40000000, 0x3f800000, 2)
		if err = errors.Join(err, s.Synchronize(), read(got, out)); err != nil {
			return err
		}
		if want := float32(8*(4*5+3) + 4*28); got[5] != want { // Σ 4(5+i) + 3
			t.Errorf("peakMadd: found %v, expected %v", got[5], want)
		}
		return errors.Join(s.Destroy(), p.close())
	})
	if err = errors.Join(err, d.Close()); err != nil {
		t.Error(err)
	}
}

func read(dst []float32, from memory) error {
	return cu.MemcpyDtoH(unsafe.Pointer(&dst[0]), from.at, int64(4*len(dst)))
}
