package spectral

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/engine/spectrum"
	"github.com/gramengine/gram/internal/report"
)

// bounds are what §4 of the source says of a kernel on the documents, by the eigenvalues λ of K/n
// and the eigenfunctions, which are √n times the eigenvectors.
type bounds struct {
	Greatest report.Number `json:"eigenfunction_max"` // C_K, of eigenvalues above rounding
	Covering []covering    `json:"covering"`
	Averages []average     `json:"rademacher"`
}

// covering is Theorem 2 with R = 1: ln N(ε) <= ln n.
type covering struct {
	LogN   report.Number `json:"ln_n"`
	Index  int           `json:"j"`
	Radius report.Number `json:"ln_epsilon"`
}

// average is the Rademacher average of functions of norm up to 1 and mean square up to r, measured
// over random signs, and what bounds it in Theorem 5, √(2/n Σ min(r, λ)).
type average struct {
	R     report.Number `json:"r"`
	Mean  report.Number `json:"mean"`
	Bound report.Number `json:"bound"`
}

// draws is how many random signs are drawn for each document.
const draws = 100

// vectorsBytes is the memory that n eigenvectors take, with those that the decomposition and the
// signs need beside them.
func vectorsBytes(n int) int64 { return 8 * int64(n) * (3*int64(n) + 2*draws) }

// vectors returns the eigenvalues of a, increasing, and the eigenvectors as columns. The
// decomposition can't be interrupted: at the end of ctx it goes on unseen until the program ends.
func vectors(ctx context.Context, a mat.Symmetric) (values []float64, columns *mat.Dense, err error) {
	type result struct {
		values  []float64
		columns *mat.Dense
	}
	done := make(chan result, 1)
	go func() {
		var e mat.EigenSym
		var r result
		if e.Factorize(a, true) {
			r.columns = &mat.Dense{}
			r.values = e.Values(nil)
			e.VectorsTo(r.columns)
		}
		done <- r
	}()
	select {
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	case r := <-done:
		if r.values == nil {
			return nil, nil, fmt.Errorf("the iteration for the eigenvectors doesn't converge")
		}
		return r.values, r.columns, nil
	}
}

// newBounds computes the bounds for each ln n and r from the eigenvectors of a. Eigenvalues up to
// rounding count as 0, and so do their eigenvectors, which rounding turns at will.
func newBounds(ctx context.Context, a mat.Symmetric, rounding float64, logs, radii []float64, seed uint64) (*bounds,
	error) {
	values, columns, err := vectors(ctx, a)
	if err != nil {
		return nil, err
	}
	n := len(values)
	greatest := 0.0
	lambda := make([]float64, n) // of K/n, the largest first
	for j, v := range values {
		if v > rounding {
			lambda[n-1-j] = v / float64(n)
			for i := range n {
				greatest = math.Max(greatest, math.Sqrt(float64(n))*math.Abs(columns.At(i, j)))
			}
		}
	}
	b := &bounds{Greatest: report.Number(greatest)}
	for _, l := range logs {
		j, radius := spectrum.CoveringRadius(lambda, l)
		b.Covering = append(b.Covering, covering{
			report.Number(l), j, report.Number(radius + math.Log(6*greatest)),
		})
	}
	random := rand.New(rand.NewPCG(seed, uint64(n)))
	signs := mat.NewDense(n, draws, nil)
	for i := range n {
		for d := range draws {
			signs.Set(i, d, float64(1-2*random.IntN(2)))
		}
	}
	var products mat.Dense
	products.Mul(columns.T(), signs)
	for _, r := range radii {
		sum, of := 0.0, make([]float64, n)
		for d := range draws {
			for j := range n {
				of[j] = products.At(n-1-j, d)
			}
			sum += spectrum.RademacherSupremum(lambda, of, r)
		}
		bound := math.Sqrt(2 / float64(n) * spectrum.RademacherSum(lambda, r))
		b.Averages = append(b.Averages, average{report.Number(r), report.Number(sum / draws), report.Number(bound)})
	}
	return b, nil
}

// writeBounds prints the bounds of all rows.
func (r *spectra) writeBounds(w io.Writer) {
	first := r.Rows[0].Bounds
	titles, averages := []string{"kernel", ">C_K"}, []string{"kernel"}
	for _, c := range first.Covering {
		titles = append(titles, ">ln n="+report.Float(float64(c.LogN))+": j*", ">ln ε*")
	}
	for _, a := range first.Averages {
		averages = append(averages, ">r="+report.Float(float64(a.R)), ">at most")
	}
	coverings, means := report.NewTable(titles...), report.NewTable(averages...)
	for _, row := range r.Rows {
		cells, mean := []string{row.Kernel, digits(row.Bounds.Greatest, 4)}, []string{row.Kernel}
		for _, c := range row.Bounds.Covering {
			cells = append(cells, report.Count(c.Index), digits(c.Radius, 4))
		}
		for _, a := range row.Bounds.Averages {
			mean = append(mean, digits(a.Mean, 4), digits(a.Bound, 4))
		}
		coverings.Add(cells...)
		means.Add(mean...)
	}
	fmt.Fprintln(w, "\nln ε* with a covering number N(ε*) <= n for norms up to 1 (Theorem 2), C_K measured:")
	coverings.Write(w)
	fmt.Fprintf(w, "\nRademacher averages, over %d draws, and their bounds √(2/n Σ min(r, λ)) (Theorem 5):\n", draws)
	means.Write(w)
}
