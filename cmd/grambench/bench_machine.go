package main

import (
	"sync"
	"time"

	"github.com/klauspost/cpuid/v2"

	"github.com/gramengine/gram/asm"
)

// machine measures what the machine can do, for the kernels to be held against. Every measure takes some milliseconds on each worker; workers run at the same
// time and their rates are added.
type machine struct {
	best   *asm.Kernels // what reads fastest: the bandwidth of a memory is no matter of who uses it
	buffer []float32    // larger than all caches, every page touched
}

// How long a measure takes, and how much a peak does between two looks at the clock.
const (
	machineTime = 10 * time.Millisecond
	peakRounds  = 2000
)

// memoryFloats is the length of the buffer that stands for memory: four times the last-level cache, so that a quarter at most could be found there.
func memoryFloats() int {
	l3 := cpuid.CPU.Cache.L3
	if l3 <= 0 {
		l3 = 32 << 20
	}
	return min(max(4*l3, 16<<20), 256<<20) / 4
}

// newMachine makes a machine; buffer may be memory that serves for something else between measures, if it is large enough.
func newMachine(buffer []float32) *machine {
	n := memoryFloats()
	if len(buffer) < n {
		buffer = make([]float32, n)
	}
	m := &machine{best: asm.Best(), buffer: buffer[:n]}
	touch(m.buffer)
	return m
}

// touch writes to every page: those that nobody has written yet are all one page of zeros, or none.
func touch(s []float32) {
	for i := 0; i < len(s); i += 1024 {
		s[i] = 1
	}
}

// peak returns the multiply-adds per second that the workers do in registers.
func (m *machine) peak(k *asm.Kernels, workers int) float64 {
	return rateOf(workers, func(int) func() float64 {
		sum := make([]float32, asm.PeakSums)
		return func() float64 {
			k.Peak(sum, 0.5, 1, peakRounds)
			return asm.PeakSums * peakRounds
		}
	})
}

// bandwidth is what the workers read or copy, in bytes per second.
type bandwidth struct{ read, copy, l2, l1 float64 }

func (m *machine) bandwidth(workers int) bandwidth {
	part := len(m.buffer) / workers
	// A pass over a share of memory takes longer than machineTime by itself.
	memory := func(w int) []float32 { return m.buffer[w*part:][:part] }
	cache := func(bytes int) func(int) func() float64 {
		return func(int) func() float64 {
			s := make([]float32, bytes/4)
			touch(s)
			return func() float64 {
				const times = 64
				for range times {
					m.best.Read(s)
				}
				return times * 4 * float64(len(s))
			}
		}
	}
	return bandwidth{
		read: rateOf(workers, func(w int) func() float64 {
			s := memory(w)
			return func() float64 { m.best.Read(s); return 4 * float64(len(s)) }
		}),
		copy: rateOf(workers, func(w int) func() float64 {
			s := memory(w)
			half := len(s) / 2
			return func() float64 { copy(s[:half], s[half:]); return 2 * 4 * float64(half) }
		}),
		l2: rateOf(workers, cache(asm.L2Bytes()/2)),
		l1: rateOf(workers, cache(asm.L1Bytes()/2)),
	}
}

// rateOf runs work on workers goroutines at a time, again and again for at least machineTime and twice, the first time for nothing, and returns the sum of how
// much each did per second. setup prepares worker w; what it returns says how much a call did.
func rateOf(workers int, setup func(w int) func() float64) float64 {
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
			for elapsed < machineTime {
				total += work()
				elapsed = time.Since(begin)
			}
			rates[w] = total / elapsed.Seconds()
		})
	}
	done.Wait()
	sum := 0.0
	for _, r := range rates {
		sum += r
	}
	return sum
}
