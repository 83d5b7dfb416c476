// Command benchpca measures grambench pca against KernelPCA of scikit-learn, on the same digits in the
// same run.
//
//	make bench-pca                                    with what is installed
//	make bench-pca DATA=corpora PYTHON=venv/bin/python ARGS='-components 300'
//
// Both find the leading components of the 10,000 test digits of MNIST by the Gaussian kernel, with the
// same number of threads: scikit-learn by its dense solver, and by its randomised one, which is fast
// and stops early. Seconds are those from the documents in memory to the components; grambench's have
// writing them, too. Errors are the greatest of the eigenvalues relative to the dense solver's. It
// fails where grambench's is above 10⁻⁵: values of its matrix are float32.
package main

import (
	"context"
	_ "embed"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"

	"github.com/gramengine/gram/cmd/grambench/internal/beside"
	"github.com/gramengine/gram/cmd/grambench/internal/report"
)

//go:embed pca.py
var script string

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is the whole program; it returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	b := &bench{}
	return b.Run("benchpca", args, stderr, beside.Command{
		Flags: func(set *flag.FlagSet) {
			set.IntVar(&b.components, "components", 300, "how many to find")
			set.Float64Var(&b.gamma, "gamma", 0.02, "of the kernel")
		},
		Valid:    func() bool { return b.components >= 1 && b.gamma > 0 },
		Expected: "-components of at least 1 and a -gamma above 0",
		Measure:  func(ctx context.Context) error { return b.all(ctx, stdout) },
	})
}

// bench is one run.
type bench struct {
	beside.Bench
	components int
	gamma      float64
}

// own is what grambench reports, other what pca.py does.
type (
	own struct {
		Seconds float64 `json:"seconds"`
		ISA     string  `json:"isa"`
		Rows    []struct {
			Eigenvalue float64 `json:"eigenvalue"`
		} `json:"rows"`
	}
	other struct {
		Seconds     float64   `json:"seconds"`
		Version     string    `json:"version"`
		Eigenvalues []float64 `json:"eigenvalues"`
	}
)

func (b *bench) all(ctx context.Context, stdout io.Writer) error {
	digits := b.Find("MNIST", "mnist", "t10k-images-idx3-ubyte.gz")
	if digits == "" {
		return nil
	}
	b.NeedPython(ctx, "sklearn")
	gamma, count := strconv.FormatFloat(b.gamma, 'g', -1, 64), strconv.Itoa(b.components)
	var a own
	ran, err := b.Own(ctx, &a, "pca", "-in", digits, "-kernel", "rbf:gamma="+gamma, "-components", count, "-o",
		b.File("Z.npy"))
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "%s, %s components of 10,000 digits, rbf:gamma=%s\n\n", b.Head(), count, gamma)
	t := report.NewTable("program", ">seconds", ">processor seconds", ">times as long", ">error of eigenvalues")
	var dense other
	var values []float64
	for _, row := range a.Rows {
		values = append(values, row.Eigenvalue)
	}
	add := func(name string, seconds float64, ran beside.Ran, values []float64) float64 {
		worst := math.NaN()
		if len(values) == len(dense.Eigenvalues) {
			worst = 0
			for i, v := range dense.Eigenvalues {
				worst = max(worst, math.Abs(values[i]-v)/v)
			}
		}
		t.Add(name, report.Seconds(seconds), report.Seconds(ran.Cores*ran.Seconds), fmt.Sprintf("%.1f", seconds/a.Seconds),
			report.Error(worst))
		return worst
	}
	if b.Python == "" {
		add("grambench pca, "+a.ISA, a.Seconds, ran, values)
		t.Write(stdout)
		return nil
	}
	whole, err := b.Script(ctx, &dense, script, digits, gamma, count, "dense")
	if err != nil {
		return err
	}
	worst := add("grambench pca, "+a.ISA, a.Seconds, ran, values)
	add("scikit-learn "+dense.Version+", dense", dense.Seconds, whole, dense.Eigenvalues)
	var quick other
	part, err := b.Script(ctx, &quick, script, digits, gamma, count, "randomized")
	if err != nil {
		return err
	}
	add("scikit-learn "+quick.Version+", randomized", quick.Seconds, part, quick.Eigenvalues)
	t.Write(stdout)
	if !(worst <= 1e-5) {
		return fmt.Errorf("an eigenvalue is off by %v, expected 1e-5 at most", worst)
	}
	return nil
}
