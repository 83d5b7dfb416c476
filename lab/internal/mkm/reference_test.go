package mkm

import (
	"cmp"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/lab/internal/width"
	"github.com/gramengine/gram/solver"
	"gonum.org/v1/gonum/mat"
)

// reference implements the formulas directly: dense float64 matrices, all eigenvectors, all
// distances. It contains features of all documents, and is fitted to the first n documents.
type reference struct {
	s       Settings
	y       []int
	n       int // number of documents that it is fitted to
	widths  []int
	k       int
	levels  []*mat.Dense // selected features, one matrix per level
	columns [][]int      // indices of the features in the previous level
	gaps    [][]float64  // gaps of the eigenvalues of the features, relative to the largest eigenvalue
}

// eigen returns the features of all documents by kernel PCA of the features x.
func (r *reference) eigen(k kernel.Kernel, x *mat.Dense, p int) (*mat.Dense, []float64) {
	all, _ := x.Dims()
	value := func(i, j int) float64 {
		a, b := x.RawRowView(i), x.RawRowView(j)
		dot, na, nb := 0.0, 0.0, 0.0
		for c := range a {
			dot, na, nb = dot+a[c]*b[c], na+a[c]*a[c], nb+b[c]*b[c]
		}
		na, nb = math.Sqrt(na), math.Sqrt(nb)
		switch { // a document without features is orthogonal to all others
		case na == 0 && nb == 0:
			return k.Eval(0, 0, 0)
		case na == 0 || nb == 0:
			return k.Eval(1, na, nb)
		}
		apart := 0.0 // 1 - cos, without cancellation
		for c := range a {
			d := a[c]/na - b[c]/nb
			apart += d * d / 2
		}
		return k.Eval(apart, na, nb)
	}
	n := r.n
	g := mat.NewDense(all, n, nil)
	means, mean := make([]float64, n), 0.0
	for i := range all {
		for j := range n {
			g.Set(i, j, value(i, j))
		}
	}
	for i := range n {
		for j := range n {
			means[j] += g.At(i, j) / float64(n)
			mean += g.At(i, j) / float64(n*n)
		}
	}
	centred := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			centred.SetSym(i, j, g.At(i, j)-means[i]-means[j]+mean)
		}
	}
	var e mat.EigenSym
	if !e.Factorize(centred, true) {
		panic("no eigenvectors")
	}
	values := e.Values(nil)
	var v mat.Dense
	e.VectorsTo(&v)
	sum, gaps := 0.0, make([]float64, p)
	for i := range p {
		own := values[n-1-i]
		sum += own
		gaps[i] = own - values[n-2-i]
		if i > 0 {
			gaps[i] = min(gaps[i], values[n-i]-own)
		}
		gaps[i] /= values[n-1]
	}
	z := mat.NewDense(all, p, nil)
	for t := range all {
		for i := range p {
			for j := range n {
				z.Set(t, i, z.At(t, i)+(g.At(t, j)-means[j])*v.At(j, n-1-i))
			}
			z.Set(t, i, z.At(t, i)*math.Sqrt(float64(n)/sum/values[n-1-i]))
		}
	}
	return z, gaps
}

// information returns the mutual information of a feature and the class, with ten equal bins. This
// is the default for features that aren't counts: digits are read as numbers from 0 to 1.
func (r *reference) information(x *mat.Dense, c int) float64 {
	least, most := math.Inf(1), math.Inf(-1)
	for i := range r.n {
		least, most = min(least, x.At(i, c)), max(most, x.At(i, c))
	}
	if most == least {
		return 0
	}
	joint, bins, classes := map[[2]int]float64{}, map[int]float64{}, map[int]float64{}
	for i := range r.n {
		b := min(int(10*(x.At(i, c)-least)/(most-least)), 9)
		joint[[2]int{b, r.y[i]}]++
		bins[b]++
		classes[r.y[i]]++
	}
	sum, n := 0.0, float64(r.n)
	for at, count := range joint {
		sum += count / n * math.Log2(count*n/(bins[at[0]]*classes[at[1]]))
	}
	return sum
}

// set returns documents lo to hi-1. Package width has its own tests.
func (r *reference) set(x *mat.Dense, lo, hi int) width.Dataset {
	_, columns := x.Dims()
	s := width.Dataset{Features: x.Slice(lo, hi, 0, columns).(*mat.Dense)}
	for _, y := range r.y[lo:hi] {
		s.Labels = append(s.Labels, int32(y))
	}
	return s
}

// run computes all levels. If widths is nil, it selects them on documents n to end-1.
func (r *reference) run(t *testing.T, x *mat.Dense, widths []int, end int) {
	for l := 0; ; l++ {
		rows, have := x.Dims()
		order, bits := []int{}, make([]float64, have)
		for c := range have {
			bits[c] = r.information(x, c)
			if slices.ContainsFunc(mat.Col(nil, c, x.Slice(0, r.n, 0, have)), func(v float64) bool { return v != 0 }) {
				order = append(order, c)
			}
		}
		slices.SortStableFunc(order, func(a, b int) int { // ties, up to rounding, are broken by index
			if math.Abs(bits[a]-bits[b]) < 1e-12 {
				return a - b
			}
			return cmp.Compare(bits[b], bits[a])
		})
		sorted := mat.NewDense(rows, len(order), nil)
		for at, c := range order {
			sorted.SetCol(at, mat.Col(nil, c, x))
		}
		w := 0
		if widths != nil {
			w = widths[l]
		} else {
			known, valid := r.set(sorted, 0, r.n), r.set(sorted, r.n, end)
			table := musttest.Get(width.Search(t.Context(), known, valid, width.Options{}))(t)
			w, r.k, _ = table.Best()
		}
		r.widths = append(r.widths, w)
		r.columns = append(r.columns, order[:w])
		passed := mat.DenseCopyOf(sorted.Slice(0, rows, 0, w))
		r.levels = append(r.levels, passed)
		if l == len(r.s.Layers) {
			return
		}
		k, _ := parseKernel(r.s.Layers[l], l)
		var gaps []float64
		x, gaps = r.eigen(k, passed, r.s.MaxComponents)
		r.gaps = append(r.gaps, gaps)
	}
}

func rows(c *corpus.Corpus, of []int) (*mat.Dense, []int) {
	x, y := mat.NewDense(len(of), c.Documents.Cols, nil), make([]int, len(of))
	for at, i := range of {
		terms, values := c.Documents.Row(i)
		for k, t := range terms {
			x.Set(at, int(t), float64(values[k]))
		}
		y[at] = int(c.Labels.Classes(i)[0])
	}
	return x, y
}

// Widths, neighbours, features and classes agree with the reference, both for the choice and for
// the fit to all documents. The error of a feature is the float32 error of the kernel over the gap
// of the feature's eigenvalue.
func TestAgainstReference(t *testing.T) {
	const fits = 200
	sources := map[string]*corpus.Corpus{"drawn": drawn(t, 300, 16, 3, 4)}
	digits := filepath.Join("..", "..", "..", "shared", "data", "mnist", "train-images-idx3-ubyte.gz")
	if _, err := os.Stat(digits); err == nil {
		c := musttest.Get(corpus.Read(t.Context(), digits, corpus.Options{}))(t)
		sources["digits"] = c.Select(run.Range(0, 300))
	} else {
		t.Log("without digits: no ../shared/data")
	}
	for name, c := range sources {
		s := Settings{
			Layers: []string{"arccos:n=1", "arccos:n=0"}, MaxComponents: 25, Classifier: FinalKNN, Seed: 3, tolerance: 1e-9,
		}
		known := c.Select(run.Range(0, fits))
		m := musttest.Get(Train(t.Context(), known, s, Options{}))(t)
		var fit, valid, labels []int
		for i := range fits {
			labels = append(labels, int(known.Labels.Classes(i)[0]))
		}
		for i, part := range solver.StratifiedFolds(labels, 6, s.Seed) {
			if part == 0 {
				valid = append(valid, i)
			} else {
				fit = append(fit, i)
			}
		}
		chosen := &reference{s: s, n: len(fit)}
		x, y := rows(c, slices.Concat(fit, valid))
		chosen.y = y
		chosen.run(t, x, nil, fits)
		for l, w := range chosen.widths {
			if m.Choices[l].Width != w {
				t.Fatalf("%s: level %d: width %d, expected %d", name, l, m.Choices[l].Width, w)
			}
		}
		if m.KNN.K != chosen.k {
			t.Fatalf("%s: %d neighbours, expected %d", name, m.KNN.K, chosen.k)
		}
		again := &reference{s: s, n: fits}
		x, again.y = rows(c, run.Range(0, 300))
		again.run(t, x, chosen.widths, fits)
		p := &predictor{}
		input := 0x1p-22 // relative float32 error of the features below and of kernel values
		for l := 1; l <= len(s.Layers); l++ {
			part := &Model{Columns: m.Columns, Layers: m.Layers[:l]}
			got := musttest.Get(p.features(t.Context(), part, c.Documents))(t)
			z, worst := got.toDense(), 0.0
			for at, component := range again.columns[l] {
				if int(m.Layers[l-1].Components[at]) != component {
					t.Fatalf("%s: layer %d: feature %d is component %d, expected %d", name, l, at,
						m.Layers[l-1].Components[at], component)
				}
				a, b := mat.NewVecDense(300, mat.Col(nil, at, z)), mat.NewVecDense(300, mat.Col(nil, at, again.levels[l]))
				if mat.Dot(a, b) < 0 {
					a.ScaleVec(-1, a)
				}
				var d mat.VecDense
				d.SubVec(a, b)
				err := mat.Norm(&d, 2) / mat.Norm(b, 2)
				// An error E of the matrix turns an eigenvector by at most 2‖E‖/gap. Relative to
				// the largest eigenvalue, ‖E‖ is at most √n times the error of a value, which for
				// arc-cosine kernels of degree 0 and 1 is at most twice the error of the arguments.
				tol := 8*math.Sqrt(fits)*input/again.gaps[l-1][component] + 0x1p-22
				if !(err <= tol) {
					t.Errorf("%s: layer %d, feature %d: relative error %.3g, expected at most %.3g", name, l, at, err, tol)
				}
				worst = max(worst, err)
			}
			t.Logf("%s: layer %d: worst relative error %.2g", name, l, worst)
			input = worst + 0x1p-22
		}
		predicted := musttest.Get(m.Predict(t.Context(), c.Documents, Options{}))(t)
		last := again.levels[len(s.Layers)]
		train, others := again.set(last, 0, fits), again.set(last, fits, 300).Features
		classes := musttest.Get(width.Classify(t.Context(), train, others, again.widths[len(s.Layers)], chosen.k,
			width.Options{}))(t)
		for i, want := range classes {
			if got := predicted.ClassIndices[fits+i]; got != int(want) {
				t.Errorf("%s: document %d is of class %d, expected %d", name, fits+i, got, want)
			}
		}
	}
}
