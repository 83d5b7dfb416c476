package main

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"
)

var growthPart = part{
	name: "growth", short: 10 * time.Second, long: 30 * time.Minute, prepare: prepareGrowth,
	about: "one dimension doubled at a time: the fitted exponents of processor time and memory beside what docs promise",
}

// dimension is what grows in a command; N in its words stands for how many there are.
type dimension struct {
	name, args string
	from       int     // the first of five sizes, each twice the one before
	promised   float64 // the exponent of time; of memory it is the same or less
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

// more is how far above its promise an exponent may be: of caches that grow too small, and of other work here.
const more = 0.35

func prepareGrowth(ctx context.Context, t *trial) (func(ctx context.Context, number int64) error, error) {
	program, err := t.build(ctx, ".", "./cmd/gram")
	if err != nil {
		return nil, err
	}
	start, err := t.least(ctx, []string{program, "corpus", "-in", "synthetic:docs=2,terms=2,length=2"})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, number int64) error {
		if number >= int64(len(dimensions)) {
			return errDone
		}
		d := dimensions[number]
		var times, memory [5]float64
		for i := range times {
			args := strings.ReplaceAll(d.args, "N", fmt.Sprint(d.from<<i))
			r, err := t.least(ctx, append([]string{program}, strings.Fields(args+" -workers 1")...))
			if err != nil {
				return err
			}
			times[i] = max((r.processor - start.processor).Seconds(), 1e-3)
			memory[i] = max(float64(r.peak-start.peak), 1<<20)
			t.count("sizes", 1)
		}
		byTime, byMemory := exponent(times[:]), exponent(memory[:])
		t.note(d.name, fmt.Sprintf("%d to %d | %.2f | %.2f | %.0f", d.from, d.from<<4, byTime, byMemory, d.promised))
		if !(byTime <= d.promised+more && byMemory <= d.promised+more) {
			t.find("%s from %d to %d: time grows by the power %.2f, %v s; memory by %.2f; expected at most %v", d.name,
				d.from, d.from<<4, byTime, times, byMemory, d.promised)
		}
		return nil
	}, nil
}

// least runs a command three times, and returns the least time and memory.
func (t *trial) least(ctx context.Context, argv []string) (best ran, err error) {
	for i := range 3 {
		folder, err := t.folder(map[string][]byte{"x": nil})
		if err != nil {
			return best, err
		}
		r, err := t.start(ctx, job{folder: folder, argv: argv, within: 5 * time.Minute, alone: true})
		if err != nil || r.status != 0 {
			return best, fmt.Errorf("%q: %w, %s", argv[1:], err, r.said())
		}
		if i == 0 {
			best = r
		}
		best.processor, best.peak = min(best.processor, r.processor), min(best.peak, r.peak)
		if r.processor > 2*time.Second { // long enough to be sure
			break
		}
	}
	return best, nil
}

// exponent fits y = a·2^(p·i) to the last three values, by least squares of logarithms, which is the slope between the
// ends, and returns p. In the first values what grows slower hides what grows faster.
func exponent(y []float64) float64 {
	n := len(y)
	return (math.Log2(y[n-1]) - math.Log2(y[n-3])) / 2
}
