package main

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"
)

var memoryPart = part{
	name: "memory", short: 12 * time.Second, long: 30 * time.Minute, prepare: prepareMemory,
	about: "random commands, documents, kernels and -m; the system counts the peak. Also under ulimit -v",
}

// commands are what random settings are drawn for: D stands for documents, K for a kernel.
var commands = []string{
	"corpus -in D", "matrix -in D -kernel K -o out.npy", "matrix -in D -kernel K -o out.svm",
	"train -in D -kernel K -c 1 -o out",
	"train -in D -type landmark:m=64 -o out", "train -in D -type logistic -c 1 -o out", "train -in D -type linear -o out",
	"train -in D -type knn -o out", "train -in D -o out", "cv -in D -kernel K -c 1 -folds 3",
	"neighbours -in D -o out.tsv",
	"duplicates -in D -o out.tsv", "spectrum -in D -kernel K", "pca -in D -kernel K -o out.npy",
	"grid -in D -kernel K -grid C=1,10",
}

// slow is how far above -m a run may be whose collector came late, and how many runs of five may be, as in
// TestHostileFilesStayWithinMemory: other processes share the machine.
const (
	slow     = 1.25
	slowRuns = 2
)

func prepareMemory(ctx context.Context, t *trial) (func(ctx context.Context, number int64) error, error) {
	program, err := t.build(ctx, ".", "./cmd/gram")
	if err != nil {
		return nil, err
	}
	kernels := strings.Fields("diffusion:t=0.5 ngd rbf:gamma=1 linear arccos:n=1,layers=3 bhattacharyya chi2")
	return func(ctx context.Context, number int64) error {
		limit := 64 << t.r.IntN(3)
		documents := fmt.Sprintf("synthetic:docs=%d,terms=%d,length=%d,classes=%d,seed=%d",
			int(math.Exp2(4+8*t.r.Float64())), int(math.Exp2(4+13*t.r.Float64())), int(math.Exp2(2+6*t.r.Float64())),
			2+t.r.IntN(6), number)
		args := strings.NewReplacer("D", documents, "K", kernels[t.r.IntN(len(kernels))]).Replace(
			commands[t.r.IntN(len(commands))])
		folder, err := t.folder(map[string][]byte{"x": nil})
		if err != nil {
			return err
		}
		argv := append([]string{program}, strings.Fields(args)...)
		if number%4 == 3 { // requests of memory that the system refuses
			return t.refused(ctx, folder, argv, limit)
		}
		argv = append(argv, "-m", fmt.Sprintf("%dM", limit))
		return t.within(ctx, folder, argv, limit)
	}, nil
}

// within checks the peak of a run, and that a run which fails names memory.
func (t *trial) within(ctx context.Context, folder string, argv []string, limit int) error {
	above := 0
	for runs := 0; runs == 0 || above > 0 && runs < 5; runs++ {
		r, err := t.start(ctx, job{folder: folder, argv: argv, within: 5 * time.Minute, alone: true})
		if err != nil {
			return err
		}
		if runs == 0 {
			t.count("settings", 1)
			t.raise("peak as a share of -m", float64(r.peak)/float64(limit<<20))
		}
		if r.status != 0 {
			t.count("settings refused", 1)
		}
		if r.crashed() || r.status != 0 && !strings.Contains(r.stderr, "memory") {
			t.find("%q: %s", argv[1:], r.said())
			return nil
		}
		if r.peak > int64(limit)<<20 {
			above++
		}
		if above > slowRuns || float64(r.peak) > slow*float64(limit<<20) {
			t.find("%q: peak %.1f MiB, run %d", argv[1:], float64(r.peak)/(1<<20), runs+1)
			return nil
		}
	}
	if above > 0 {
		t.count("settings with a run above -m in five, by less than a quarter", 1)
	}
	return nil
}

// refused runs a command in an address space that may be too small: it must say so itself.
func (t *trial) refused(ctx context.Context, folder string, argv []string, limit int) error {
	space := 1<<10*1300 + limit<<10*t.r.IntN(4) // KiB; Go's runtime reserves some 1.2 GiB
	argv = append([]string{"bash", "-c", fmt.Sprintf(`ulimit -v %d && exec "$@"`, space), "bash"}, argv...)
	r, err := t.start(ctx, job{folder: folder, argv: argv, within: 5 * time.Minute})
	if err != nil {
		return err
	}
	t.count("runs under ulimit -v", 1)
	if r.status != 0 {
		t.count("runs refused under ulimit -v", 1)
	}
	if r.crashed() && !strings.Contains(r.stderr, "main.main") && !r.hung {
		t.count("runs under ulimit -v that Go's runtime ended before the program began", 1)
		return nil
	}
	if r.crashed() || r.status != 0 && !strings.Contains(r.stderr, "ulimit") && !strings.Contains(r.stderr, "memory") {
		t.find("ulimit -v %d, %q: %s", space, argv[5:], r.said())
	}
	return nil
}
