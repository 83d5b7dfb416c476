package instrument

import (
	"runtime"
	"sync"
	"time"

	"github.com/klauspost/cpuid/v2"

	"github.com/gramengine/gram/asm"
)

// Probe measures the computer's peak rates, for comparison with kernels. Each measurement runs for
// at least minProbeTime. Workers run concurrently, and their rates are added.
type Probe struct {
	BestKernels *asm.Kernels // kernels that read fastest; they measure bandwidth for all instruction sets
	Buffer      []float32    // buffer of length BufferLen, with every page touched
}

const (
	minProbeTime = 10 * time.Millisecond // minimum time of a measurement
	peakRounds   = 2000                  // rounds of multiply-adds between two checks of the clock
)

// BufferLen returns the length of a buffer with four times the size of the last-level cache, but at
// least 16 MiB and at most 256 MiB.
func BufferLen() int {
	l3 := cpuid.CPU.Cache.L3
	if l3 <= 0 {
		l3 = 32 << 20
	}
	return min(max(4*l3, 16<<20), 256<<20) / 4
}

// TouchPages writes to every page, because unwritten pages may share one page of zeros.
func TouchPages(s []float32) {
	for i := 0; i < len(s); i += 1024 {
		s[i] = 1
	}
}

// PeakMaddRate returns the peak rate of multiply-adds on values in registers, per second and summed
// over the workers.
func (m *Probe) PeakMaddRate(k *asm.Kernels, workers int) float64 {
	return measureRate(workers, func(int) func() float64 {
		sum := make([]float32, asm.PeakSums)
		return func() float64 {
			k.Peak(sum, 0.5, 1, peakRounds)
			return asm.PeakSums * peakRounds
		}
	})
}

// Bandwidth holds read and copy rates in bytes per second, summed over the workers. A copied byte
// counts twice.
type Bandwidth struct {
	Read float64 `json:"read_bytes_per_s"`
	Copy float64 `json:"copy_bytes_per_s"`
	L2   float64 `json:"l2_read_bytes_per_s"`
	L1   float64 `json:"l1_read_bytes_per_s"`
}

// Bandwidth measures memory bandwidth, and cache bandwidth with a buffer of half the cache size.
func (m *Probe) Bandwidth(workers int) Bandwidth {
	part := len(m.Buffer) / workers
	memory := func(w int) []float32 { return m.Buffer[w*part:][:part] }
	read := func(times int, data func(w int) []float32) float64 {
		return measureRate(workers, func(w int) func() float64 {
			s := data(w)
			return func() float64 {
				for range times {
					m.BestKernels.Read(s)
				}
				return float64(times) * 4 * float64(len(s))
			}
		})
	}
	cache := func(bytes int) float64 {
		return read(64, func(int) []float32 {
			s := make([]float32, bytes/4)
			TouchPages(s)
			return s
		})
	}
	return Bandwidth{
		Read: read(1, memory), // one pass between two checks of the clock
		Copy: measureRate(workers, func(w int) func() float64 {
			s := memory(w)
			half := len(s) / 2
			return func() float64 { copy(s[:half], s[half:]); return 2 * 4 * float64(half) }
		}),
		L2: cache(asm.DetectCaches().L2 / 2),
		L1: cache(asm.DetectCaches().L1 / 2),
	}
}

// measureRate calls work on each of workers goroutines: once to warm up, then for at least
// minProbeTime. It returns the sum of the rates. setup prepares worker w and returns the function
// work, which returns the amount of work done. measureRate runs at most one worker per CPU, because
// the rates of more workers wouldn't add up.
func measureRate(workers int, setup func(w int) func() float64) (sum float64) {
	workers = min(workers, runtime.GOMAXPROCS(0))
	rates := make([]float64, workers)
	var ready, done sync.WaitGroup
	ready.Add(workers)
	for w := range workers {
		done.Go(func() {
			work := setup(w)
			work()
			ready.Done()
			ready.Wait()
			begin := time.Now()
			total, elapsed := 0.0, time.Duration(0)
			for elapsed < minProbeTime {
				total += work()
				elapsed = time.Since(begin)
			}
			rates[w] = total / elapsed.Seconds()
		})
	}
	done.Wait()
	for _, r := range rates {
		sum += r
	}
	return sum
}
