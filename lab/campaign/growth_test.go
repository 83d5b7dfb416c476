//go:build campaign

package campaign

import (
	"fmt"
	"math"
	"strings"
	"time"
)

var growthPart = part{
	name: "growth", short: 10 * time.Second, long: 30 * time.Minute, prepare: prepareGrowth,
	about: "one dimension doubled at a time: the fitted exponents of CPU time and memory stay below the promised ones",
}

// dimension is a command whose size N grows.
type dimension struct {
	name, args string
	from       int     // the first of five sizes, each twice the one before
	promised   float64 // the largest exponent of time and of memory
}

var dimensions = []dimension{
	{"documents, corpus", "corpus -in synthetic:docs=N,terms=5000,length=50", 4000, 1},
	{"documents, matrix", "matrix -in synthetic:docs=N,terms=5000,length=50 -kernel diffusion -o k.npy", 500, 2},
	{"documents, neighbours", "neighbours -in synthetic:docs=N,terms=5000,length=50 -o n.tsv", 1000, 2},
	{"documents, linear", "train -in synthetic:docs=N,terms=5000,length=50,classes=4 -type linear -o m", 1000, 1},
	{"documents, landmarks", "train -in synthetic:docs=N,terms=5000,length=50 -type landmark:m=64 -c 1 -o m", 1000, 1},
	{"terms, matrix", "matrix -in synthetic:docs=1000,terms=N,length=100 -kernel diffusion -o k.npy", 2000, 1},
	{"length, matrix", "matrix -in synthetic:docs=1000,terms=20000,length=N -kernel diffusion -o k.npy", 50, 1},
	{"classes, train", "train -in synthetic:docs=1000,terms=2000,length=40,classes=N -kernel linear -c 1 -o m", 4, 2},
	{"classes, linear", "train -in synthetic:docs=2000,terms=2000,length=40,classes=N -type linear -o m", 4, 1},
	{"kernel depth", "matrix -in synthetic:docs=1000,terms=2000,length=40 -kernel arccos:n=1,layers=N -o k.npy", 1, 1},
	{"folds", "cv -in synthetic:docs=400,terms=2000,length=40,classes=2 -kernel linear -c 1 -folds N", 3, 1},
}

// more is how far above its promise an exponent may be, because of caches and of other processes.
const more = 0.35

func prepareGrowth(t *trial) func(number int64) bool {
	program := t.build("./cmd/gram")
	start := t.smallest([]string{program, "corpus", "-in", "synthetic:docs=2,terms=2,length=2"})
	return func(number int64) bool {
		if number >= int64(len(dimensions)) {
			return false
		}
		d := dimensions[number]
		var times, memory [5]float64
		for i := range times {
			args := strings.ReplaceAll(d.args, "N", fmt.Sprint(d.from<<i))
			r := t.smallest(append([]string{program}, strings.Fields(args+" -workers 1")...))
			times[i] = max((r.cpu - start.cpu).Seconds(), 1e-3)
			memory[i] = max(float64(r.peak-start.peak), 1<<20)
			t.count("sizes", 1)
		}
		byTime, byMemory := exponent(times[:]), exponent(memory[:])
		t.raise(fmt.Sprintf("exponent of time by %s, at most %.0f:", d.name, d.promised), byTime)
		if !(byTime <= d.promised+more && byMemory <= d.promised+more) {
			t.find("%s from %d to %d: time grows by the power %.2f, %v s; memory by %.2f; expected at most %v", d.name,
				d.from, d.from<<4, byTime, times, byMemory, d.promised)
		}
		return true
	}
}

// smallest runs a command three times, and returns the smallest time and memory.
func (t *trial) smallest(argv []string) (best ran) {
	for i := range 3 {
		r := t.succeed(job{folder: t.folder(nil), argv: argv, within: 5 * time.Minute, alone: true})
		if i == 0 {
			best = r
		}
		best.cpu, best.peak = min(best.cpu, r.cpu), min(best.peak, r.peak)
		if r.cpu > 2*time.Second { // long enough to be sure
			break
		}
	}
	return best
}

// exponent fits y = a·2^(p·i) to the last three values by least squares of logarithms, which is the slope between the
// ends, and returns p. In the first values what grows slower hides what grows faster.
func exponent(y []float64) float64 {
	n := len(y)
	return (math.Log2(y[n-1]) - math.Log2(y[n-3])) / 2
}
