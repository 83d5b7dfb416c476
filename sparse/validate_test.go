package sparse

import (
	"errors"
	"fmt"
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
	"unsorted":           {func(m *CSR) { m.Terms[2], m.Terms[3] = 2, 1 }, "row 1: index 1 follows 2"},
	"twice":              {func(m *CSR) { m.Terms[3] = 1 }, "row 1: index 1 follows 1"},
	"beyond the columns": {func(m *CSR) { m.Terms[4] = 5 }, "row 1: index 5 is out of range for 5 columns"},
	"greatest term": {
		func(m *CSR) { m.Terms[5] = math.MaxUint32 },
		"row 3: index 4294967295 is out of range for 5 columns",
	},
	"NaN": {func(m *CSR) { m.Values[3] = nan }, "row 1, term 2: value must be finite, got NaN"},
	"+Inf": {func(m *CSR) { m.Values[5] = float32(math.Inf(1)) },
		"row 3, term 0: value must be finite, got +Inf"},
	"-Inf": {func(m *CSR) { m.Values[0] = float32(math.Inf(-1)) },
		"row 0, term 0: value must be finite, got -Inf"},
	"no columns":      {func(m *CSR) { m.Cols = 0 }, "row 0: index 3 is out of range for 0 columns"},
	"fewer than none": {func(m *CSR) { m.Cols = -1 }, "Cols must be between 0 and 4294967296, got -1"},
	"too many columns": {
		func(m *CSR) { m.Cols = math.MaxInt },
		"Cols must be between 0 and 4294967296, got 9223372036854775807",
	},
	"nothing":      {func(m *CSR) { *m = CSR{} }, "Offsets must start with 0, got []"},
	"no offsets":   {func(m *CSR) { m.Offsets = nil }, "Offsets must start with 0, got []"},
	"first offset": {func(m *CSR) { m.Offsets[0] = 1 }, "Offsets must start with 0, got [1]"},
	"short values": {func(m *CSR) { m.Values = m.Values[:5] }, "6 terms and 5 values"},
	"short terms":  {func(m *CSR) { m.Terms = m.Terms[:5] }, "5 terms and 6 values"},
	"both short": {
		func(m *CSR) { m.Terms, m.Values = m.Terms[:5], m.Values[:5] },
		"5 terms and 5 values, but the last offset is 6",
	},
	"last offset": {
		func(m *CSR) { m.Offsets[4] = 7 },
		"6 terms and 6 values, but the last offset is 7",
	},
	"falling offsets": {func(m *CSR) { m.Offsets[2] = 1 }, "row 1: offsets must be ascending and at most 6, got 2 and 1"},
	"negative offset": {func(m *CSR) { m.Offsets[1] = -3 },
		"row 0: offsets must be ascending and at most 6, got 0 and -3"},
	"least offset": {
		func(m *CSR) { m.Offsets[1] = math.MinInt64 },
		"row 0: offsets must be ascending and at most 6, got 0 and -9223372036854775808",
	},
	"offset past the end": {func(m *CSR) { m.Offsets[1] = 7 },
		"row 0: offsets must be ascending and at most 6, got 0 and 7"},
	"greatest offset": {
		func(m *CSR) { m.Offsets[3] = math.MaxInt64 },
		"row 2: offsets must be ascending and at most 6, got 5 and 9223372036854775807",
	},
}

// Every function with a matrix argument and an error result rejects what Validate rejects.
func TestMatricesAreRefused(t *testing.T) {
	train := handFilled()
	musttest.NoError(t, train.Validate())
	f := SphereEmbedding.Fit(train)
	for name, c := range badMatrices {
		m := handFilled()
		c.spoil(m)
		musttest.WantError(m.Validate())(t, name, c.want)
		_, err := f.TransformRows(t.Context(), m, []int{3, 2, 1, 0}, 1)
		if name != "nothing" && name != "no offsets" { // row 3 is then the first of the selected rows
			musttest.WantError(err)(t, name+": TransformRows", "sparse: ")
		}
		if _, err = f.Transform(m); !strings.Contains(c.want, "row 0: index 3") { // f has the column numbers already
			musttest.WantError(err)(t, name+": Transform", c.want)
		}
		bad := SphereEmbedding.Fit(m)
		musttest.WantError(bad.Validate())(t, name+": Fit, then Validate", "training documents: ")
		musttest.WantError(bad.Transform(train))(t, name+": Fit, then Transform", c.want)
	}
	var none *CSR
	musttest.WantError(none.Validate())(t, "no matrix", "matrix is nil")
	musttest.WantError(SphereEmbedding.Fit(nil).Transform(train))(t, "an embedder of no documents", "matrix is nil")
	musttest.WantError(f.Transform(nil))(t, "no documents", "matrix is nil")
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
	musttest.NoError(t, m.Validate())
	for i := n - 1; i > 0; i /= 2 {
		m.Terms[2*i] = 3
		if want := "row " + strconv.Itoa(i) + ": index 2 follows 3, but indices must increase"; m.Validate() == nil ||
			!strings.HasSuffix(m.Validate().Error(), want) {
			t.Errorf("%v, expected %q", m.Validate(), want)
		}
	}
}

func TestTransformRowsThatAreNotThere(t *testing.T) {
	m := handFilled()
	f := SphereEmbedding.Fit(m)
	for _, rows := range [][]int{{-1}, {4}, {0, 1, math.MaxInt}, {math.MinInt, 0}} {
		musttest.WantError(f.TransformRows(t.Context(), m, rows, 1))(t,
			fmt.Sprintf("rows %v", rows), "is out of range for a matrix with 4 rows")
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
	standard := Embedding{Weighting: StandardScaling}.Fit(m)
	for want, e := range map[string]Embedding{
		"unknown embedding with weighting 9, norm 0 and pairing 0": {Weighting: 9},
		"unknown embedding with weighting 0, norm 3 and pairing 0": {Norm: 3},
		"unknown embedding with weighting 0, norm 1 and pairing 7": {Norm: NormL1, Pairing: 7},
		"not 1, got NaN": {Power: math.NaN()}, "not 1, got 1": {Power: 1},
		"not 1, got -1": {Power: -1},
		"not 1, got 9":  {Power: 9}, "not 1, got +Inf": {Power: math.Inf(1)},
		"tf-chi2 compares histograms":        {Pairing: ChiSquare},
		"tf-l1-js-sqrt compares histogra":    {Norm: NormL1, Pairing: JensenShannon, Power: SquareRoot},
		"takes no range, got 0 to 1":         {Weighting: TFIDF, Upper: 1},
		"it takes no norm, power or pairing": {Weighting: StandardScaling, Norm: NormL2},
		"the range must be ascending":        {Weighting: MinMaxScaling},
	} {
		f := e.Fit(m)
		musttest.WantError(f.Validate())(t, "Validate", want)
		musttest.WantError(f.Transform(m))(t, "Transform", want)
		musttest.WantError(RestoreEmbedder(fields(f)))(t, "RestoreEmbedder", want)
	}
	for want, f := range map[string]*Embedder{
		"4 weights and 0 shifts; it needs 5,":    altered(good, func(f *Embedder) { f.Weights = f.Weights[:4] }),
		"5 weights and 0 shifts; it needs 5,":    altered(good, func(f *Embedder) { f.Weighting = TF }),
		"Documents must not be negative, got -1": altered(good, func(f *Embedder) { f.Documents = -1 }),
		"5 terms has 4 document frequencies":     altered(good, func(f *Embedder) { f.DF = f.DF[:4] }),
		"Open requires embedding tf, got tfidf":  altered(good, func(f *Embedder) { f.Open = true }),
		"1 shifts; it needs 5, 5 and 5":          altered(standard, func(f *Embedder) { f.Shifts = f.Shifts[:1] }),
		"5 shifts; it needs 5, 5 and 0":          altered(standard, func(f *Embedder) { f.Weighting = TFIDF }),
	} {
		musttest.WantError(f.Validate())(t, "Validate", want)
		musttest.WantError(f.Transform(m))(t, "Transform", want)
		musttest.WantError(RestoreEmbedder(fields(f)))(t, "RestoreEmbedder", want)
	}
	for want, spoil := range map[string]func(f *Embedder){ // errors of RestoreEmbedder, which checks each element
		"term 1 follows 1":                          func(f *Embedder) { f.Terms[0] = 1 },
		"term 1 occurs in 0 of 4":                   func(f *Embedder) { f.DF[1] = 0 },
		"term 1 occurs in 5 of 4":                   func(f *Embedder) { f.DF[1] = 5 },
		"weight of term 2 must be finite, got NaN":  func(f *Embedder) { f.Weights[2] = math.NaN() },
		"weight of term 2 must be finite, got -Inf": func(f *Embedder) { f.Weights[2] = math.Inf(-1) },
		"weight of term 1 must be finite, got NaN":  func(f *Embedder) { *f = fields(standard); f.Shifts[1] = math.NaN() },
	} {
		bad := fields(good)
		spoil(&bad)
		musttest.WantError(RestoreEmbedder(bad))(t, "RestoreEmbedder", want)
	}
	for want, f := range map[string]*Embedder{
		"embedder is nil": nil,
		"fields of the embedder (5 terms) were set directly": altered(good, func(f *Embedder) { f.termIndex = nil }),
		"fields of the embedder (0 terms) were set directly": {},
		"fields of the embedder (4 terms) were set directly": altered(good,
			func(f *Embedder) { f.Terms, f.DF, f.Weights = f.Terms[:4], f.DF[:4], f.Weights[:4] }),
	} {
		musttest.WantError(f.Validate())(t, "Validate", want)
		musttest.WantError(f.Transform(m))(t, "Transform", want)
	}
	// Finite weights may be too large or too small for a finite nonzero length.
	for _, w := range []float64{1e300, 1e-300, -1e250} {
		own := fields(good)
		for j := range own.Weights {
			own.Weights[j] = w
		}
		f := musttest.Get(RestoreEmbedder(own))(t)
		musttest.WantError(f.Transform(m))(t, fmt.Sprintf("weights %v", w), "row 0: norm of the weighted values")
	}
}

func altered(f *Embedder, alter func(f *Embedder)) *Embedder {
	g := *f
	alter(&g)
	return &g
}

// Inconsistent embedded documents, and rows that aren't unit vectors, are rejected.
func TestEmbeddedIsRefused(t *testing.T) {
	m := csrOf([][]float32{{1, 0, 3, 2}, {2, 5, 0, 0}, {}, {0, 0, 7, 1}, {4, 0, 1, 0}, {1, 1e-4, 2e4}})
	counts := csrOf([][]float32{{1, 0, 3, 2}, {2, 5, 0, 0}, {}, {0, 0, 7, 1}, {4, 0, 1, 0}, {1, 3, 2e4}})
	for _, e := range withPowers() {
		m := m
		if e.Weighting.DampsCounts() {
			m = counts
		}
		x := mustTransform(t, fit(e, m), m)
		for want, spoil := range map[string]func(x *Embedded){
			"embedder is nil": func(x *Embedded) { x.Embedder = nil },
			"were set directly": func(x *Embedded) {
				x.Embedder = &Embedder{Embedding: Embedding{}, Terms: []uint32{0, 1, 2, 3}, DF: []int32{0, 0, 0, 0}}
			},
			"6 columns, but the embedder has 5":             func(x *Embedded) { x.Cols++ },
			"but indices must increase":                     func(x *Embedded) { x.Terms[1] = x.Terms[0] },
			"index 5 is out of range":                       func(x *Embedded) { x.Terms[x.Offsets[1]-1] = 5 },
			"Offsets must start with 0, got [1]":            func(x *Embedded) { x.Offsets[0] = 1 },
			"raw values, 6 divisors and 6 norms; they need": func(x *Embedded) { x.RawValues = x.RawValues[1:] },
			"5 divisors": func(x *Embedded) { x.Divisors = x.Divisors[1:] },
			"5 norms":    func(x *Embedded) { x.Norms = x.Norms[1:] },
			"norm must be nonnegative and finite, got NaN":  func(x *Embedded) { x.Norms[0] = math.NaN() },
			"norm must be nonnegative and finite, got -1":   func(x *Embedded) { x.Norms[1] = -1 },
			"divisor must be positive and finite, got 0":    func(x *Embedded) { x.Divisors[1] = 0 },
			"divisor must be positive and finite, got +Inf": func(x *Embedded) { x.Divisors[1] = math.Inf(1) },
			"row 0 is not normalized":                       func(x *Embedded) { x.Values[0] = 2 },
			"value must be finite, got +Inf":                func(x *Embedded) { x.Values[0] = float32(math.Inf(1)) },
		} {
			bad := &Embedded{
				CSR{Cols: x.Cols, Offsets: slices.Clone(x.Offsets), Terms: slices.Clone(x.Terms),
					Values: slices.Clone(x.Values)}, x.Embedder, nil,
				slices.Clone(x.Norms), slices.Clone(x.RawValues), slices.Clone(x.Divisors),
			}
			spoil(bad)
			musttest.WantError(bad.Validate())(t, e, want)
		}
		bare := *x
		bare.Norms = nil
		if err := bare.Validate(); err != nil {
			t.Errorf("%v without norms: %v", e, err)
		}
	}
	musttest.WantError((*Embedded)(nil).Validate())(t, "no documents")
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
