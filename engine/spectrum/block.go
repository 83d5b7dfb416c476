package spectrum

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram/internal/run"
)

// krylovSpace is the state of Lanczos: an orthonormal basis Q, and T = Qᵀ A Q.
type krylovSpace struct {
	ctx           context.Context
	n, maxVectors int
	random        *rand.Rand

	basis        *mat.Dense // maxVectors × n; the first count rows are the basis
	count        int
	multiplied   int          // number of basis vectors already multiplied by A; the other vectors form the last block
	t            []*mat.Dense // per block: the block's columns of Qᵀ A Q, up to the diagonal block
	residual     *mat.Dense   // component of the last product that is orthogonal to the basis, as rows
	residualGram *mat.SymDense
	scale        float64 // lower bound on the matrix norm
}

func (s *krylovSpace) addRandom(width int) error {
	width = min(width, s.maxVectors-s.count)
	w := mat.NewDense(width, s.n, nil)
	for i := range width {
		row := w.RawRowView(i)
		for j := range row {
			row[j] = s.random.NormFloat64()
		}
	}
	if _, err := s.project(w); err != nil {
		return err
	}
	return s.add(w, 0)
}

func (s *krylovSpace) rows(from, to int) *mat.Dense {
	return s.basis.Slice(from, to, 0, s.n).(*mat.Dense)
}

// product multiplies the last block by A, and sets the new columns of T and s.residual.
func (s *krylovSpace) product(a Operator) error {
	if err := s.ctx.Err(); err != nil {
		return context.Cause(s.ctx)
	}
	width := s.count - s.multiplied
	src, dst := mat.DenseCopyOf(s.rows(s.multiplied, s.count).T()), mat.NewDense(s.n, width, nil)
	if err := run.CatchPanic("spectrum: Apply", func() error { return a.Apply(s.ctx, dst, src) }); err != nil {
		return err
	}
	w := mat.DenseCopyOf(dst.T())
	for i := range width {
		norm := mat.Norm(w.RowView(i), 2)
		if math.IsNaN(norm) || math.IsInf(norm, 0) {
			return fmt.Errorf("spectrum: matrix-vector product %d has infinite or NaN values", s.multiplied+i+1)
		}
		s.scale = max(s.scale, norm)
	}
	columns, err := s.project(w)
	if err != nil {
		return err
	}
	s.t = append(s.t, columns)
	s.multiplied, s.residual, s.residualGram = s.count, w, gramMatrix(w)
	return nil
}

const chunk = 128

// project makes the rows of w orthogonal to the basis, and returns their inner products with the
// basis, one row per basis vector.
func (s *krylovSpace) project(w *mat.Dense) (*mat.Dense, error) {
	width, _ := w.Dims()
	products := mat.NewDense(max(s.count, 1), width, nil)
	part := func(at int) (q, of *mat.Dense) {
		to := min(at+chunk, s.count)
		return s.rows(at, to), products.Slice(at, to, 0, width).(*mat.Dense)
	}
	for at := 0; at < s.count; at += chunk {
		if err := s.ctx.Err(); err != nil {
			return nil, context.Cause(s.ctx)
		}
		q, of := part(at)
		of.Mul(q, w.T())
	}
	var take mat.Dense
	for at := 0; at < s.count; at += chunk {
		if err := s.ctx.Err(); err != nil {
			return nil, context.Cause(s.ctx)
		}
		q, of := part(at)
		take.Mul(of.T(), q)
		w.Sub(w, &take)
	}
	return products, nil
}

// extend adds s.residual as a new block. It ignores directions with norms below the rounding error.
func (s *krylovSpace) extend() error {
	w := s.residual
	s.residual = nil
	return s.add(w, 1e-14*s.scale*math.Sqrt(float64(s.n)))
}

// add orthogonalises the rows of w against the basis and each other, and adds them to the last
// block. It omits directions whose norm is at most least and, if the basis is full, the directions
// with the smallest norms. Each round adds directions with norms down to 10⁻⁶ of the largest norm.
// Each direction is orthogonalised until it hardly changes. Two orthogonalisations are enough
// (Giraud, Langou and Rozložník, Numerische Mathematik 101 (2005)).
func (s *krylovSpace) add(w *mat.Dense, least float64) error {
	for w != nil && s.count < s.maxVectors {
		strong, weak, _ := split(w, least, s.maxVectors-s.count)
		for kept := 0.0; strong != nil && kept < 0.25; {
			if _, err := s.project(strong); err != nil {
				return err
			}
			strong, _, kept = split(strong, 1e-6, s.n)
		}
		if strong == nil {
			break
		}
		rows, _ := strong.Dims()
		s.rows(s.count, s.count+rows).Copy(strong)
		s.count += rows
		if w = weak; w != nil {
			if _, err := s.project(w); err != nil {
				return err
			}
		}
	}
	return nil
}

// split returns up to most orthonormal directions in the span of the rows of w, in descending order
// of their norms before scaling. Directions with norms of at most least are omitted. Directions
// with norms below 10⁻⁶ of the largest norm are inaccurate, and are returned unscaled in weak.
// shortest is the square of the smallest norm in strong before scaling.
func split(w *mat.Dense, least float64, most int) (strong, weak *mat.Dense, shortest float64) {
	rows, n := w.Dims()
	var e mat.EigenSym
	if !e.Factorize(gramMatrix(w), true) {
		return nil, nil, 0 // impossible for a finite matrix
	}
	values := e.Values(nil) // in ascending order
	cut := max(1e-12*values[rows-1], least*least, math.SmallestNonzeroFloat64)
	keep := 0
	for keep < min(rows, most) && values[rows-1-keep] > cut {
		keep++
	}
	if keep == 0 {
		return nil, nil, 0
	}
	var u mat.Dense
	e.VectorsTo(&u)
	turn := mat.NewDense(keep, rows, nil)
	for i := range keep {
		shortest = values[rows-1-i]
		for j := range rows {
			turn.Set(i, j, u.At(j, rows-1-i)/math.Sqrt(shortest))
		}
	}
	strong = mat.NewDense(keep, n, nil)
	strong.Mul(turn, w)
	if keep < rows && keep < most && 1e-12*values[rows-1] > least*least {
		weak = mat.NewDense(rows-keep, n, nil)
		weak.Mul(u.Slice(0, rows, 0, rows-keep).T(), w)
	}
	return strong, weak, shortest
}

// ritz holds the eigenpairs of T. Values are in ascending order, and vectors in the coordinates of
// the basis.
type ritz struct {
	values    []float64
	vectors   mat.Dense
	columns   []int     // indices of the wanted values, with the K largest first
	residuals []float64 // residuals of the wanted values
}

// eigenpairs returns the eigenpairs of T, and the largest relative residual of the wanted values.
// The residual of an eigenvalue is the norm of s.residual combined with the eigenvector's
// components in the last block.
func (s *krylovSpace) eigenpairs(opt Options) (*ritz, float64, error) {
	t := mat.NewSymDense(s.count, nil)
	at := 0
	width := 0
	for _, columns := range s.t {
		_, width = columns.Dims()
		for c := range width {
			for r := range at + c + 1 {
				v := columns.At(r, c)
				if r >= at { // the diagonal block contains both triangles
					v = (v + columns.At(at+c, r-at)) / 2
				}
				t.SetSym(r, at+c, v)
			}
		}
		at += width
	}
	found := &ritz{}
	ended := make(chan bool, 1)
	go func() { // gonum takes no ctx
		var e mat.EigenSym
		ok := e.Factorize(t, true)
		if ok {
			found.values = e.Values(nil)
			e.VectorsTo(&found.vectors)
		}
		ended <- ok
	}()
	select {
	case ok := <-ended:
		if !ok {
			return nil, 0, fmt.Errorf("spectrum: cannot compute the eigenvalues of a matrix with %d rows", s.count)
		}
	case <-s.ctx.Done():
		return nil, 0, context.Cause(s.ctx)
	}
	worst := 0.0
	for i := range min(opt.K, s.count) {
		found.columns = append(found.columns, s.count-1-i)
	}
	if opt.WithSmallest {
		for i := range min(opt.K, s.count) {
			found.columns = append(found.columns, i)
		}
	}
	for _, column := range found.columns {
		last := found.vectors.ColView(column).(*mat.VecDense).SliceVec(s.count-width, s.count)
		residual := math.Sqrt(max(mat.Inner(last, s.residualGram, last), 0))
		found.residuals = append(found.residuals, residual)
		if residual > s.roundingBound() {
			worst = max(worst, residual/found.residualScale(column, opt))
		}
	}
	return found, worst, nil
}

func (r *ritz) residualScale(column int, opt Options) float64 {
	if opt.WithSmallest {
		return max(math.Abs(r.values[0]), math.Abs(r.values[len(r.values)-1]))
	}
	return math.Abs(r.values[column])
}

// roundingBound bounds the rounding errors of products, which residuals don't include.
func (s *krylovSpace) roundingBound() float64 { return 0x1p-50 * s.scale * math.Sqrt(float64(s.n)) }

func (s *krylovSpace) result(found *ritz, opt Options) (*Eigenpairs, error) {
	out := &Eigenpairs{Vectors: mat.NewDense(s.n, opt.K, nil), BasisSize: s.count}
	rows := mat.NewDense(opt.K, s.n, nil) // in ascending order
	var part mat.Dense
	for at := 0; at < s.count; at += chunk {
		if err := s.ctx.Err(); err != nil {
			return nil, context.Cause(s.ctx)
		}
		to := min(at+chunk, s.count)
		part.Mul(found.vectors.Slice(at, to, s.count-opt.K, s.count).T(), s.rows(at, to))
		rows.Add(rows, &part)
	}
	for i, column := range found.columns {
		v := Eigenvalue{Value: found.values[column], Residual: found.residuals[i] + s.roundingBound()}
		v.Converged = found.residuals[i] <= max(opt.Tolerance*found.residualScale(column, opt), s.roundingBound())
		if i >= opt.K {
			out.Smallest = append(out.Smallest, v)
			continue
		}
		out.Largest = append(out.Largest, v)
		row := rows.RawRowView(opt.K - 1 - i)
		sign := 1 / mat.Norm(rows.RowView(opt.K-1-i), 2)
		if maxByAbs(row) < 0 {
			sign = -sign
		}
		for j, x := range row {
			out.Vectors.Set(j, i, sign*x)
		}
	}
	return out, nil
}

func maxByAbs(v []float64) (most float64) {
	for _, x := range v {
		if math.Abs(x) > math.Abs(most) {
			most = x
		}
	}
	return most
}

func gramMatrix(w *mat.Dense) *mat.SymDense {
	rows, _ := w.Dims()
	g := mat.NewSymDense(rows, nil)
	var all mat.Dense
	all.Mul(w, w.T())
	for i := range rows {
		for j := i; j < rows; j++ {
			g.SetSym(i, j, (all.At(i, j)+all.At(j, i))/2)
		}
	}
	return g
}
