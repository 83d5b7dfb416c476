//go:build cuda && cgo && linux

package cuda

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/device"
	"github.com/gramengine/gram/sparse"
)

// BenchmarkKeep measures the Gram matrix of the diffusion kernel on synthetic documents of about 140 distinct terms, whole on the device, against what the device reaches
// in the same run: multiply-adds in registers, bytes read of shared memory as panels are read, bytes copied in its memory. Rates count pairs i < j; head multiply-adds are those
// that are done, 4 bytes of shared memory each. Wants a GPU: GRAM_CUDA=real.
func BenchmarkKeep(b *testing.B) {
	for _, docs := range []int{10_000, 30_000, 100_000} {
		b.Run(fmt.Sprintf("docs=%d/kernel=diffusion", docs), func(b *testing.B) {
			if !onRealDevice() {
				b.Skip("no GPU: the fake one has no speed")
			}
			d, err := Open(Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer closing(b, d.Close)
			corpus, err := sparse.Read(b.Context(), fmt.Sprintf("synthetic:docs=%d,terms=50000,length=300,seed=1", docs), sparse.Options{})
			if err != nil {
				b.Fatal(err)
			}
			x, err := sparse.Sphere.Fit(corpus.Documents).Transform(corpus.Documents)
			if err != nil {
				b.Fatal(err)
			}
			cols, err := d.Load(b.Context(), x)
			if err != nil {
				b.Fatal(err)
			}
			defer closing(b, cols.Close)
			peak, err := d.peaks()
			if err != nil {
				b.Fatal(err)
			}
			p := engine.ProgramOf(engine.MustParseKernel("diffusion:t=0.5"))
			keep := func() {
				k, err := cols.Keep(b.Context(), p)
				if err == nil {
					err = k.Close()
				}
				if err != nil {
					b.Fatal(err)
				}
			}
			holdKept(b, cols, p, docs) // the first use of a kernel takes longer
			madds := float64(cols.layout.headMadds(x, docs))
			var times []float64
			for b.Loop() {
				begin := time.Now()
				keep()
				times = append(times, time.Since(begin).Seconds())
			}
			slices.Sort(times)
			seconds, n := times[len(times)/2], float64(docs)
			b.ReportMetric(n*(n-1)/2/seconds, "pairs/s")
			b.ReportMetric(float64(x.NNZ())/n, "values/doc")
			b.ReportMetric(100*madds/seconds/peak.madds, "%madd-peak")
			b.ReportMetric(100*4*madds/seconds/peak.shared, "%shared-peak")
			b.ReportMetric(100*4*n*n/seconds/peak.copied, "%copy-peak")
			b.ReportMetric(peak.madds, "peak-madds/s")
			b.ReportMetric(peak.shared, "peak-shared-B/s")
			b.ReportMetric(peak.copied, "peak-copy-B/s")
		})
	}
}

// holdKept holds rows of the whole matrix, and with them the half that is mirrored, against the same rows computed alone, to the bit: the only check where places in the
// matrix take more than 32 bits.
func holdKept(b testing.TB, cols *Columns, p *device.Program, n int) {
	k, err := cols.Keep(b.Context(), p)
	if err != nil {
		b.Fatal(err)
	}
	defer closing(b, k.Close)
	docs := []int{0, 1, n / 3, n / 2, n - 2, n - 1}
	row := make([]float32, n)
	// Rows holds the device while it visits, so that what it found is held against the matrix afterwards.
	want := make([][]float32, len(docs))
	err = cols.Rows(b.Context(), &device.Request{Program: p, Docs: docs, Hi: n}, func(t *device.Block) error {
		for i := range t.Rows {
			want[t.First+i] = slices.Clone(t.Row(i))
		}
		return nil
	})
	for i, doc := range docs {
		if err == nil {
			err = k.Row(doc, row)
		}
		if err != nil {
			b.Fatal(err)
		}
		for j, v := range row {
			if math.Float32bits(v) != math.Float32bits(want[i][j]) {
				b.Fatalf("(%d, %d) of %d documents: found %v, expected %v", doc, j, n, v, want[i][j])
			}
		}
	}
}

func closing(b testing.TB, f func() error) {
	if err := f(); err != nil {
		b.Error(err)
	}
}

// headMadds counts the multiply-adds of the head for the rows and columns that Keep computes.
func (l *layout) headMadds(x *sparse.Embedded, n int) (sum int64) {
	for i := range n {
		cols := int64(padded(min((i/keptRows+1)*keptRows, n)))
		terms, _ := x.Row(i)
		for _, t := range terms {
			if int(l.rank[t]) < l.head {
				sum += cols
			}
		}
	}
	return sum
}

// peaks are what a device reaches.
type peaks struct{ madds, shared, copied float64 } // a second

// peaks measures the device: the best of five.
func (d *Device) peaks() (best peaks, err error) {
	const rounds = 4096
	blocks := 32 * d.info.Multiprocessors
	err = d.do(func() (err error) {
		k, err := d.load()
		if err != nil {
			return err
		}
		p := pool{d: d}
		defer func() { err = errors.Join(err, p.close()) }()
		const bytes = 1 << 30
		from, err := p.alloc(bytes)
		if err != nil {
			return err
		}
		to, err := p.alloc(bytes)
		if err != nil {
			return err
		}
		s, err := cu.MakeStream(cu.NonBlocking)
		if err != nil {
			return failed("cuStreamCreate", err)
		}
		defer func() { err = errors.Join(err, failed("cuStreamDestroy", s.Destroy())) }()
		threads := float64(blocks * peakThreads)
		for range 5 {
			for _, m := range []struct {
				rate *float64
				work float64
				run  func() error
			}{
				{&best.madds, 8 * rounds * threads, func() error {
					return launch("peakMadd", k.peakMadd, blocks, 1, peakThreads, 0, s, uint64(from.at), 0x3f7fffff, 0x33000000, rounds)
				}},
				{&best.shared, 8 * 16 * rounds * threads, func() error {
					return launch("peakShared", k.peakShared, blocks, 1, peakThreads, 0, s, uint64(from.at), 7*32, rounds)
				}},
				{&best.copied, 2 * bytes, func() error { return failed("cuMemcpyDtoDAsync", cu.MemcpyDtoDAsync(to.at, from.at, bytes, s)) }},
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
		err = launch("peakShared", k.peakShared, 2, 1, peakThreads, 0, s, uint64(out.at), 7*32, 1)
		if err = errors.Join(err, s.Synchronize(), read(got, out)); err != nil {
			return err
		}
		// Lane 3 reads places 3, 3+224, … 3+7·224, four numbers each.
		if want := float32(4 * (8*3 + 28*224)); got[3] != want || got[peakThreads+3] != want {
			t.Errorf("peakShared: found %v and %v, expected %v", got[3], got[peakThreads+3], want)
		}
		err = launch("peakMadd", k.peakMadd, 2, 1, peakThreads, 0, s, uint64(out.at), 0x40000000, 0x3f800000, 2) // x = 2, y = 1
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
