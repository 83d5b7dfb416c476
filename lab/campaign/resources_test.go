//go:build campaign

package campaign

import (
	"fmt"
	"math"
	"strings"
	"time"
)

var memoryPart = part{
	name: "memory", short: 12 * time.Second, long: 30 * time.Minute, prepare: prepareMemory,
	about: "random commands, documents, kernels and -m; the peak memory must be below -m; also under ulimit -v",
}

// commands lists gram commands. D stands for random documents, K for a random kernel.
var commands = []string{
	"corpus -in D", "matrix -in D -kernel K -o out.npy", "matrix -in D -kernel K -o out.svm",
	"train -in D -kernel K -c 1 -o out",
	"train -in D -type landmark:m=64 -o out", "train -in D -type logistic -c 1 -o out", "train -in D -type linear -o out",
	"train -in D -type knn -o out", "train -in D -o out", "cv -in D -kernel K -c 1 -folds 3",
	"neighbours -in D -o out.tsv",
	"duplicates -in D -o out.tsv", "spectrum -in D -kernel K", "pca -in D -kernel K -o out.npy",
	"grid -in D -kernel K -grid C=1,10",
}

// Peak memory may exceed -m by 25%, and in two of five runs by more (a busy CPU delays the GC).
const (
	slow     = 1.25
	slowRuns = 2
)

func prepareMemory(t *trial) func(number int64) bool {
	program := t.build("./cmd/gram")
	kernels := strings.Fields("diffusion:t=0.5 ngd rbf:gamma=1 linear arccos:n=1,layers=3 bhattacharyya chi2")
	return func(number int64) bool {
		limit := 64 << t.r.IntN(3)
		documents := fmt.Sprintf("synthetic:docs=%d,terms=%d,length=%d,classes=%d,seed=%d",
			int(math.Exp2(4+8*t.r.Float64())), int(math.Exp2(4+13*t.r.Float64())), int(math.Exp2(2+6*t.r.Float64())),
			2+t.r.IntN(6), number)
		args := strings.NewReplacer("D", documents, "K", kernels[t.r.IntN(len(kernels))]).Replace(
			commands[t.r.IntN(len(commands))])
		argv := append([]string{program}, strings.Fields(args)...)
		if number%4 == 3 {
			t.refused(argv, limit)
		} else {
			t.within(append(argv, "-m", fmt.Sprintf("%dM", limit)), limit)
		}
		return true
	}
}

// within checks the peak memory of a run, and that a failing run mentions memory.
func (t *trial) within(argv []string, limit int) {
	t.count("settings", 1)
	above := 0
	for runs := 0; runs == 0 || above > 0 && runs < 5; runs++ {
		r := t.start(job{folder: t.folder(nil), argv: argv, within: 5 * time.Minute, alone: true})
		share := float64(r.peak) / float64(limit<<20)
		if runs == 0 {
			t.raise("largest peak memory divided by -m", share)
			t.count("settings refused", int64(min(max(r.status, 0), 1)))
		}
		if r.crashed() || r.status != 0 && !strings.Contains(r.stderr, "memory") {
			t.find("%q: %s", argv[1:], r.said())
			return
		}
		if share > 1 {
			above++
		}
		if above > slowRuns || share > slow {
			t.find("%q: peak %.1f MiB, run %d", argv[1:], float64(r.peak)/(1<<20), runs+1)
			return
		}
	}
}

// refused runs a command in a limited address space. The command must succeed or report the limit.
func (t *trial) refused(argv []string, limit int) {
	space := 1<<10*1300 + limit<<10*t.r.IntN(4) // KiB; Go's runtime reserves about 1.2 GiB
	argv = append([]string{"bash", "-c", fmt.Sprintf(`ulimit -v %d && exec "$@"`, space), "bash"}, argv...)
	r := t.start(job{folder: t.folder(nil), argv: argv, within: 5 * time.Minute})
	t.count("runs under ulimit -v", 1)
	if r.crashed() && !strings.Contains(r.stderr, "main.main") && !r.hung {
		t.count("runs under ulimit -v that Go's runtime ended at startup", 1)
		return
	}
	if r.crashed() || r.status != 0 && !strings.Contains(r.stderr, "ulimit") && !strings.Contains(r.stderr, "memory") {
		t.find("ulimit -v %d, %q: %s", space, argv[5:], r.said())
	}
}

var growthPart = part{
	name: "growth", short: 10 * time.Second, long: 30 * time.Minute, prepare: prepareGrowth,
	about: "one dimension is doubled at a time; fitted exponents of CPU time and memory are limited",
}

// dimension is a command whose size N is doubled repeatedly.
type dimension struct {
	name, args string
	from       int     // the first of five sizes
	promised   float64 // maximum exponent of time and of memory
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

// more is the tolerance of measured exponents, because caches and other processes affect the
// measurements.
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

// smallest runs a command up to three times, and returns the minimum time and memory.
func (t *trial) smallest(argv []string) (best ran) {
	for i := range 3 {
		r := t.succeed(job{folder: t.folder(nil), argv: argv, within: 5 * time.Minute, alone: true})
		if i == 0 {
			best = r
		}
		best.cpu, best.peak = min(best.cpu, r.cpu), min(best.peak, r.peak)
		if r.cpu > 2*time.Second { // long enough for an accurate measurement
			break
		}
	}
	return best
}

// exponent fits y = a·2^(p·i) to the last three values by least squares on the logarithms, and
// returns p. The first values are ignored, because terms that grow slowly can dominate them.
func exponent(y []float64) float64 {
	n := len(y)
	return (math.Log2(y[n-1]) - math.Log2(y[n-3])) / 2
}
