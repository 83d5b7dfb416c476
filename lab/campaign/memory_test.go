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
	about: "random commands, documents, kernels and -m; the system counts the peak. Also under ulimit -v",
}

// commands have D for random documents, and K for a random kernel.
var commands = []string{
	"corpus -in D", "matrix -in D -kernel K -o out.npy", "matrix -in D -kernel K -o out.svm",
	"train -in D -kernel K -c 1 -o out",
	"train -in D -type landmark:m=64 -o out", "train -in D -type logistic -c 1 -o out", "train -in D -type linear -o out",
	"train -in D -type knn -o out", "train -in D -o out", "cv -in D -kernel K -c 1 -folds 3",
	"neighbours -in D -o out.tsv",
	"duplicates -in D -o out.tsv", "spectrum -in D -kernel K", "pca -in D -kernel K -o out.npy",
	"grid -in D -kernel K -grid C=1,10",
}

// A run may be above -m by a quarter, and two of five runs may be above, because a busy machine delays the collector.
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

// within checks the peak of a run, and that a run which fails names memory.
func (t *trial) within(argv []string, limit int) {
	t.count("settings", 1)
	above := 0
	for runs := 0; runs == 0 || above > 0 && runs < 5; runs++ {
		r := t.start(job{folder: t.folder(nil), argv: argv, within: 5 * time.Minute, alone: true})
		share := float64(r.peak) / float64(limit<<20)
		if runs == 0 {
			t.raise("largest peak as a share of -m", share)
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

// refused runs a command in an address space that may be too small, which it must report itself.
func (t *trial) refused(argv []string, limit int) {
	space := 1<<10*1300 + limit<<10*t.r.IntN(4) // KiB; Go's runtime reserves some 1.2 GiB
	argv = append([]string{"bash", "-c", fmt.Sprintf(`ulimit -v %d && exec "$@"`, space), "bash"}, argv...)
	r := t.start(job{folder: t.folder(nil), argv: argv, within: 5 * time.Minute})
	t.count("runs under ulimit -v", 1)
	if r.crashed() && !strings.Contains(r.stderr, "main.main") && !r.hung {
		t.count("runs under ulimit -v that Go's runtime ended before the program began", 1)
		return
	}
	if r.crashed() || r.status != 0 && !strings.Contains(r.stderr, "ulimit") && !strings.Contains(r.stderr, "memory") {
		t.find("ulimit -v %d, %q: %s", space, argv[5:], r.said())
	}
}
