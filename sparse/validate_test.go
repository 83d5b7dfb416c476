package sparse

import (
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

var nan = float32(math.NaN())

// handFilled returns a new valid matrix of four rows, of which the third is empty.
func handFilled() *CSR {
	return &CSR{
		Cols:    5,
		Offsets: []int64{0, 2, 5, 5, 6},
		Terms:   []uint32{0, 3, 1, 2, 4, 0},
		Values:  []float32{1, 2, 3, 4, 5, 6},
	}
}

// badMatrices are invalid matrices with their errors.
var badMatrices = map[string]struct {
	spoil func(m *CSR)
	want  string
}{
	"unsorted":           {func(m *CSR) { m.Terms[2], m.Terms[3] = 2, 1 }, "row 1: index 1 is not above 2"},
	"twice":              {func(m *CSR) { m.Terms[3] = 1 }, "row 1: index 1 is not above 1"},
	"beyond the columns": {func(m *CSR) { m.Terms[4] = 5 }, "row 1: index 5 is not below the number of columns, 5"},
	"greatest term": {
		func(m *CSR) { m.Terms[5] = math.MaxUint32 },
		"row 3: index 4294967295 is not below the number of columns, 5",
	},
	"NaN":             {func(m *CSR) { m.Values[3] = nan }, "row 1, term 2: found NaN, expected a finite value"},
	"+Inf":            {func(m *CSR) { m.Values[5] = float32(math.Inf(1)) }, "row 3, term 0: found +Inf"},
	"-Inf":            {func(m *CSR) { m.Values[0] = float32(math.Inf(-1)) }, "row 0, term 0: found -Inf"},
	"no columns":      {func(m *CSR) { m.Cols = 0 }, "row 0: index 3 is not below the number of columns, 0"},
	"fewer than none": {func(m *CSR) { m.Cols = -1 }, "-1 columns"},
	"too many columns": {
		func(m *CSR) { m.Cols = math.MaxInt },
		"9223372036854775807 columns, expected 0 to 4294967296",
	},
	"nothing":      {func(m *CSR) { *m = CSR{} }, "offsets begin with [], expected [0]"},
	"no offsets":   {func(m *CSR) { m.Offsets = nil }, "offsets begin with [], expected [0]"},
	"first offset": {func(m *CSR) { m.Offsets[0] = 1 }, "offsets begin with [1], expected [0]"},
	"short values": {func(m *CSR) { m.Values = m.Values[:5] }, "6 terms and 5 values"},
	"short terms":  {func(m *CSR) { m.Terms = m.Terms[:5] }, "5 terms and 6 values"},
	"both short": {
		func(m *CSR) { m.Terms, m.Values = m.Terms[:5], m.Values[:5] },
		"5 terms and 5 values, expected the last offset, 6, of each",
	},
	"last offset": {
		func(m *CSR) { m.Offsets[4] = 7 },
		"6 terms and 6 values, expected the last offset, 7, of each",
	},
	"falling offsets": {func(m *CSR) { m.Offsets[2] = 1 }, "row 1: offsets 2 and 1, expected ascending offsets"},
	"negative offset": {func(m *CSR) { m.Offsets[1] = -3 }, "row 0: offsets 0 and -3, expected"},
	"least offset": {
		func(m *CSR) { m.Offsets[1] = math.MinInt64 },
		"row 0: offsets 0 and -9223372036854775808",
	},
	"offset past the end": {func(m *CSR) { m.Offsets[1] = 7 }, "row 0: offsets 0 and 7, expected ascending offsets"},
	"greatest offset": {
		func(m *CSR) { m.Offsets[3] = math.MaxInt64 },
		"row 2: offsets 5 and 9223372036854775807, expected",
	},
}

// Every function with a matrix argument and an error result rejects what Validate rejects.
func TestMatricesAreRefused(t *testing.T) {
	train := handFilled()
	musttest.Do(t, train.Validate())
	f := Sphere.Fit(train)
	for name, c := range badMatrices {
		m := handFilled()
		c.spoil(m)
		says := func(door string, err error, want string) {
			t.Helper()
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %s: %v, expected %q", name, door, err, want)
			}
		}
		says("Validate", m.Validate(), c.want)
		_, err := f.TransformRows(t.Context(), m, []int{3, 2, 1, 0}, 1)
		if name != "nothing" && name != "no offsets" { // row 3 is then the first of the selected rows
			says("TransformRows", err, "sparse: ")
		}
		if _, err = f.Transform(m); !strings.Contains(c.want, "row 0: index 3") { // f has the column numbers already
			says("Transform", err, c.want)
		}
		bad := Sphere.Fit(m)
		says("Fit, then Validate", bad.Validate(), "training documents: ")
		_, err = bad.Transform(train)
		says("Fit, then Transform", err, c.want)
	}
	var none *CSR
	if err := none.Validate(); err == nil || !strings.Contains(err.Error(), "matrix is nil") {
		t.Errorf("no matrix: %v", err)
	}
	if _, err := Sphere.Fit(nil).Transform(train); err == nil || !strings.Contains(err.Error(), "matrix is nil") {
		t.Errorf("an embedder of no documents: %v", err)
	}
	if _, err := f.Transform(nil); err == nil || !strings.Contains(err.Error(), "matrix is nil") {
		t.Errorf("no documents: %v", err)
	}
	m := handFilled()
	m.Values[3] = nan
	if value := (*ValueError)(nil); !errors.As(m.Validate(), &value) || value.Row != 1 || value.Term != 2 {
		t.Errorf("NaN: %v", value)
	}
}

// The first bad row is reported for any number of goroutines.
func TestValidateManyRows(t *testing.T) {
	const n = 40000
	m := &CSR{Cols: 3, Offsets: make([]int64, n+1), Terms: make([]uint32, 2*n), Values: make([]float32, 2*n)}
	for i := range n {
		m.Offsets[i+1] = int64(2*i + 2)
		m.Terms[2*i+1] = 2
	}
	musttest.Do(t, m.Validate())
	for i := n - 1; i > 0; i /= 2 {
		m.Terms[2*i] = 3
		if want := "row " + strconv.Itoa(i) + ": index 2 is not above 3"; m.Validate() == nil ||
			!strings.HasSuffix(m.Validate().Error(), want) {
			t.Errorf("%v, expected %q", m.Validate(), want)
		}
	}
}

func TestTransformRowsThatAreNotThere(t *testing.T) {
	m := handFilled()
	f := Sphere.Fit(m)
	for _, rows := range [][]int{{-1}, {4}, {0, 1, math.MaxInt}, {math.MinInt, 0}} {
		if _, err := f.TransformRows(t.Context(), m, rows, 1); err == nil ||
			!strings.Contains(err.Error(), "expected 0 to 3") {
			t.Errorf("rows %v: %v", rows, err)
		}
	}
	// A row that isn't requested isn't read.
	m.Values[0] = nan
	if x, err := f.TransformRows(t.Context(), m, []int{1, 3}, 1); err != nil || x.Rows() != 2 {
		t.Errorf("good rows of a matrix with a bad one: %v", err)
	}
}

// An embedder with inconsistent fields, or with an error of Fit, can't embed or be restored.
func TestEmbeddersThatCannotEmbed(t *testing.T) {
	m := handFilled()
	good := Embedding{Weighting: TFIDF}.Fit(m)
	standard := Embedding{Weighting: Standard}.Fit(m)
	refused := func(what, want string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %q", what, err, want)
		}
	}
	for want, e := range map[string]Embedding{
		"weighting 9, norm 0 and pairing 0 is unknown": {Weighting: 9},
		"weighting 0, norm 3 and pairing 0 is unknown": {Norm: 3},
		"weighting 0, norm 1 and pairing 7 is unknown": {Norm: NormL1, Pairing: 7},
		"with the power NaN":                           {Power: math.NaN()}, "with the power 1,": {Power: 1},
		"with the power -1": {Power: -1},
		"with the power 9":  {Power: 9}, "with the power +Inf": {Power: math.Inf(1)},
		"tf-chi2, expected -l1 and no power":    {Pairing: ChiSquare},
		"tf-l1-js-sqrt, expected -l1 and no po": {Norm: NormL1, Pairing: JensenShannon, Power: Root},
		"range 0 to 1, expected no range":       {Weighting: TFIDF, Upper: 1},
		"expected scaled columns without norm":  {Weighting: Standard, Norm: NormL2},
		"expected a range of ascending":         {Weighting: Range},
	} {
		f := e.Fit(m)
		refused("Validate", want, f.Validate())
		refused("Transform", want, second(f.Transform(m)))
		refused("RestoreEmbedder", want, second(RestoreEmbedder(fields(f))))
	}
	for want, f := range map[string]*Embedder{
		"4 weights and 0 shifts, expected":   altered(good, func(f *Embedder) { f.Weights = f.Weights[:4] }),
		"5 weights and 0 shifts, expected":   altered(good, func(f *Embedder) { f.Weighting = TF }),
		"embedder of -1 documents":           altered(good, func(f *Embedder) { f.Documents = -1 }),
		"5 terms has 4 document frequencies": altered(good, func(f *Embedder) { f.DF = f.DF[:4] }),
		"tfidf is open":                      altered(good, func(f *Embedder) { f.Open = true }),
		"1 shifts, expected 5, 5 and 5":      altered(standard, func(f *Embedder) { f.Shifts = f.Shifts[:1] }),
		"5 shifts, expected 5, 5 and 0":      altered(standard, func(f *Embedder) { f.Weighting = TFIDF }),
	} {
		refused("Validate", want, f.Validate())
		refused("Transform", want, second(f.Transform(m)))
		refused("RestoreEmbedder", want, second(RestoreEmbedder(fields(f))))
	}
	for want, spoil := range map[string]func(f *Embedder){ // found by a pass over the fields
		"term 1 is not above 1":    func(f *Embedder) { f.Terms[0] = 1 },
		"term 1 is in 0 documents": func(f *Embedder) { f.DF[1] = 0 },
		"term 1 is in 5 documents": func(f *Embedder) { f.DF[1] = 5 },
		"weight NaN of term 2":     func(f *Embedder) { f.Weights[2] = math.NaN() },
		"weight -Inf of term 2":    func(f *Embedder) { f.Weights[2] = math.Inf(-1) },
		"weight NaN of term 1":     func(f *Embedder) { *f = fields(standard); f.Shifts[1] = math.NaN() },
	} {
		bad := fields(good)
		spoil(&bad)
		refused("RestoreEmbedder", want, second(RestoreEmbedder(bad)))
	}
	for want, f := range map[string]*Embedder{
		"embedder is nil": nil,
		"embedder of 5 terms with fields set directly": altered(good, func(f *Embedder) { f.columns = nil }),
		"embedder of 0 terms with fields set directly": {},
		"embedder of 4 terms with fields set directly": altered(good,
			func(f *Embedder) { f.Terms, f.DF, f.Weights = f.Terms[:4], f.DF[:4], f.Weights[:4] }),
	} {
		refused("Validate", want, f.Validate())
		refused("Transform", want, second(f.Transform(m)))
	}
	// Finite weights may be too large or too small for a finite nonzero length.
	for _, w := range []float64{1e300, 1e-300, -1e250} {
		own := fields(good)
		for j := range own.Weights {
			own.Weights[j] = w
		}
		f := musttest.Get(RestoreEmbedder(own))(t)
		if _, err := f.Transform(m); err == nil ||
			!strings.Contains(err.Error(), "row 0: the weighted values have the norm") {
			t.Errorf("weights %v: %v", w, err)
		}
	}
}

func altered(f *Embedder, alter func(f *Embedder)) *Embedder {
	g := *f
	alter(&g)
	return &g
}

func second[T any](_ T, err error) error { return err }

// Inconsistent embedded documents, and rows that aren't unit vectors, are rejected.
func TestEmbeddedIsRefused(t *testing.T) {
	m := csrOf([][]float32{{1, 0, 3, 2}, {2, 5, 0, 0}, {}, {0, 0, 7, 1}, {4, 0, 1, 0}, {1, 1e-4, 2e4}})
	counts := csrOf([][]float32{{1, 0, 3, 2}, {2, 5, 0, 0}, {}, {0, 0, 7, 1}, {4, 0, 1, 0}, {1, 3, 2e4}})
	for _, e := range withPowers() {
		m := m
		if e.Weighting.Damped() {
			m = counts
		}
		x := mustTransform(t, fit(e, m), m)
		for want, spoil := range map[string]func(x *Embedded){
			"embedder is nil": func(x *Embedded) { x.Embedder = nil },
			"fields set directly": func(x *Embedded) {
				x.Embedder = &Embedder{Embedding: Embedding{}, Terms: []uint32{0, 1, 2, 3}, DF: []int32{0, 0, 0, 0}}
			},
			"6 columns, expected 5, as in the emb":         func(x *Embedded) { x.Cols++ },
			"is not above":                                 func(x *Embedded) { x.Terms[1] = x.Terms[0] },
			"index 5 is not below":                         func(x *Embedded) { x.Terms[x.Offsets[1]-1] = 5 },
			"offsets begin with":                           func(x *Embedded) { x.Offsets[0] = 1 },
			"raw values, 6 divisors and 6 norms, expected": func(x *Embedded) { x.Raw = x.Raw[1:] },
			"5 divisors":                                   func(x *Embedded) { x.Divisors = x.Divisors[1:] },
			"5 norms":                                      func(x *Embedded) { x.Norms = x.Norms[1:] },
			"norm NaN":                                     func(x *Embedded) { x.Norms[0] = math.NaN() },
			"norm -1":                                      func(x *Embedded) { x.Norms[1] = -1 },
			"divisor 0":                                    func(x *Embedded) { x.Divisors[1] = 0 },
			"divisor +Inf":                                 func(x *Embedded) { x.Divisors[1] = math.Inf(1) },
			"row 0":                                        func(x *Embedded) { x.Values[0] = 2 },
			"found +Inf":                                   func(x *Embedded) { x.Values[0] = float32(math.Inf(1)) },
		} {
			bad := &Embedded{
				CSR{Cols: x.Cols, Offsets: slices.Clone(x.Offsets), Terms: slices.Clone(x.Terms),
					Values: slices.Clone(x.Values)}, x.Embedder, nil,
				slices.Clone(x.Norms), slices.Clone(x.Raw), slices.Clone(x.Divisors),
			}
			spoil(bad)
			if err := bad.Validate(); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v: %v, expected %q", e, err, want)
			}
		}
		bare := *x
		bare.Norms = nil
		if err := bare.Validate(); err != nil {
			t.Errorf("%v without norms: %v", e, err)
		}
	}
	if err := (*Embedded)(nil).Validate(); err == nil {
		t.Error("no documents are accepted")
	}
}

func TestViewsAreRefused(t *testing.T) {
	for _, wrong := range [][]View{
		{{1, 1, false}}, {{0, 1, false}, {9999, 1, false}}, {{0, 0, false}}, {{0, math.NaN(), false}},
		{{0, 1, false}, {3, 1, false}, {2, 1, false}},
	} {
		bad := handFilled()
		if bad.Views = wrong; bad.Validate() == nil {
			t.Errorf("views %v pass", wrong)
		}
	}
}
