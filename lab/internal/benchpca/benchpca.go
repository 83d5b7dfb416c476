// Package benchpca is gramlab bench pca, which measures gram pca against KernelPCA of
// scikit-learn, on the same digits in the same run.
//
//	make bench-pca                                    with what is installed
//	make bench-pca DATA=corpora PYTHON=venv/bin/python ARGS='-components 300'
//
// Both find the leading components of the 10,000 test digits of MNIST by the Gaussian kernel, with the
// same number of threads: scikit-learn by its dense solver, and by its randomised one, which is fast
// and stops early. Seconds are those from the documents in memory to the components; gram's have
// reading and writing, too. Errors are the greatest of the eigenvalues relative to the dense solver's.
// It fails where gram's is above 10⁻⁵: values of its matrix are float32.
package benchpca

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"math"
	"strconv"

	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/lab/internal/peers"
)

//go:embed pca.py
var script string

// bench is one run.
type bench struct {
	peers.Bench
	components int
	gamma      float64
}

// Program is the comparison.
var Program = peers.Program{
	Name: "pca", Summary: "pca against scikit-learn's KernelPCA (minutes)", New: setup,
}

func setup() (*peers.Bench, peers.Command) {
	b := &bench{}
	return &b.Bench, peers.Command{
		Rounds: 1,
		Flags: func(set *flag.FlagSet) {
			set.IntVar(&b.components, "components", 300, "how many to find")
			set.Float64Var(&b.gamma, "gamma", 0.02, "of the kernel")
		},
		Valid:    func() bool { return b.components >= 1 && b.gamma > 0 },
		Expected: "-components of at least 1 and a -gamma above 0",
		Measure:  b.all,
	}
}

// way is one way to find components.
type way struct {
	name   string
	solver string // of scikit-learn; "" for gram
	values []float64
	runs   peers.Runs
}

func (b *bench) all(ctx context.Context) error {
	digits := b.Find("MNIST", "mnist", "t10k-images-idx3-ubyte.gz")
	if digits == "" {
		return nil
	}
	b.NeedPython(ctx, "sklearn")
	ways := []*way{{}}
	if b.Python != "" {
		ways = append(ways, &way{solver: "dense"}, &way{solver: "randomized"})
	}
	gamma, count := report.Float(b.gamma), strconv.Itoa(b.components)
	for range b.Rounds {
		for _, w := range ways {
			if err := b.once(ctx, w, digits, gamma, count); err != nil {
				return err
			}
		}
	}
	fmt.Fprintf(b.Out, "%s, %s components of 10,000 digits, rbf:gamma=%s, median of %d runs (least to most)\n\n", b.Head(),
		count, gamma, b.Rounds)
	t := report.NewTable("program", ">seconds", ">least", ">most", ">processor seconds", ">times as long",
		">error of eigenvalues")
	own, _, _, _ := ways[0].runs.Median()
	for _, w := range ways {
		seconds, least, most, cores := w.runs.Median()
		t.Add(w.name, report.Seconds(seconds), report.Seconds(least), report.Seconds(most), report.Seconds(cores*seconds),
			fmt.Sprintf("%.1f", seconds/own), report.Error(worst(w.values, ways)))
	}
	t.Write(b.Out)
	if off := worst(ways[0].values, ways); b.Python != "" && !(off <= 1e-5) {
		return fmt.Errorf("an eigenvalue is off by %v, expected 1e-5 at most", off)
	}
	return nil
}

// worst returns the greatest difference of eigenvalues from the dense solver's, NaN where there are none.
func worst(values []float64, ways []*way) (off float64) {
	if len(ways) < 2 || len(values) != len(ways[1].values) {
		return math.NaN()
	}
	for i, v := range ways[1].values {
		off = max(off, math.Abs(values[i]-v)/v)
	}
	return off
}

// once finds the components one way.
func (b *bench) once(ctx context.Context, w *way, digits, gamma, count string) error {
	var said struct {
		ISA         string
		Seconds     float64
		Eigenvalues []float64
		Rows        []struct{ Eigenvalue float64 }
	}
	if w.solver != "" {
		r, err := b.Script(ctx, &said, script, digits, gamma, count, w.solver)
		w.name, w.values, w.runs = "scikit-learn "+r.Version+", "+w.solver, said.Eigenvalues, append(w.runs, r)
		return err
	}
	r, err := b.Own(ctx, &said, "pca", "-in", digits, "-kernel", "rbf:gamma="+gamma, "-components", count, "-o",
		b.File("Z.npy"))
	r.Seconds, r.Cores = said.Seconds, r.Cores*r.Seconds/said.Seconds
	w.name, w.values, w.runs = "gram pca, "+said.ISA, nil, append(w.runs, r)
	for _, row := range said.Rows {
		w.values = append(w.values, row.Eigenvalue)
	}
	return err
}
