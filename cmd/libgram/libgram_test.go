//go:build cgo

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/musttest"
)

// calling calls f as C would, and returns its code and message.
func calling(f function, a arguments) (code, string) {
	message := make([]byte, 2000)
	c := run(&request{error: &message[0], errorSize: int64(len(message))}, f, &a)
	text, _, _ := bytes.Cut(message, []byte{0})
	return c, string(text)
}

// must calls f, which must succeed.
func must(t testing.TB, f function, a arguments) {
	t.Helper()
	if c, message := calling(f, a); c != codeOK {
		t.Fatalf("code %d: %s", c, message)
	}
}

func textOf(s string) text { return text{span[byte]{unsafe.StringData(s), int64(len(s))}} }

// into returns space for a handle.
func into() *uintptr { return new(uintptr) }

func spanOf[T any](s []T) span[T] { return span[T]{unsafe.SliceData(s), int64(len(s))} }

// theirs holds documents in the caller's memory, which is overwritten after a call.
type theirs struct {
	documents
	overwrite func()
}

// stringsOf converts texts to the layout of gram.h.
func stringsOf(texts []string) (list *stringList, overwrite func()) {
	data, sizes, all := make([]*byte, len(texts)), make([]int64, len(texts)), make([][]byte, len(texts))
	for i, s := range texts {
		all[i] = append([]byte(s), 0)
		data[i], sizes[i] = &all[i][0], int64(len(s))
	}
	return &stringList{unsafe.SliceData(data), unsafe.SliceData(sizes), int64(len(texts))}, func() {
		for _, b := range all {
			for k := range b {
				b[k] = 'z'
			}
		}
		clear(sizes)
	}
}

// matrixOf converts documents to the layout of gram.h.
func matrixOf(c *corpus.Corpus) *theirs {
	m := c.Documents
	offsets, terms, values := slices.Clone(m.Offsets), slices.Clone(m.Terms), slices.Clone(m.Values)
	x := &theirs{documents: documents{matrix: &matrix{rows: int64(m.Rows()), columns: int64(m.Cols),
		offsets: unsafe.Pointer(&offsets[0]), indices: unsafe.Pointer(&terms[0]), values: unsafe.Pointer(&values[0]),
		stored: m.NNZ(), offsetBits: 64, indexBits: 32, valueBits: 32}}}
	labels := x.label(c)
	x.overwrite = func() {
		labels()
		clear(offsets)
		for k := range terms {
			terms[k], values[k] = math.MaxUint32, float32(math.NaN())
		}
	}
	return x
}

// label adds the labels of a corpus.
func (x *theirs) label(c *corpus.Corpus) (overwrite func()) {
	classes, names := stringsOf(c.Classes)
	ids, offsets := slices.Clone(c.Labels.IDs), slices.Clone(c.Labels.Offsets)
	if len(ids) == 0 {
		return func() {}
	}
	x.classes, x.labels, x.labelOffsets, x.labelCount = classes, &ids[0], &offsets[0], int64(len(ids))
	return func() {
		names()
		clear(offsets)
		for k := range ids {
			ids[k] = -5
		}
	}
}

// corpora returns labelled vectors without a vocabulary, and labelled texts.
func corpora(t testing.TB) (vectors, texts *corpus.Corpus) {
	t.Helper()
	read := gram.Must(gram.Read(t.Context(), "synthetic:docs=120,terms=30,length=30,seed=3", gram.ReadOptions{}))
	vectors = &corpus.Corpus{Source: "the matrix x", Documents: read.Documents, Classes: []string{"a", "b,c", "d"}}
	words := strings.Fields("apple pie tart sweet car engine wheel road sea ship sail wave red green blue white")
	var all []string
	for i := range vectors.Documents.Rows() {
		vectors.Labels.Add(int32(i * 7 % 3))
		var text []string
		for k := range 12 {
			text = append(text, words[(i*7%3*4+(i+k*k)%6)%16], words[12+(i*k)%4])
		}
		all = append(all, strings.Join(text, " "))
	}
	texts = gram.Must(gram.FromTexts(t.Context(), all, nil, gram.ReadOptions{}))
	texts.Classes, texts.Labels = vectors.Classes, vectors.Labels
	return vectors, texts
}

// arrayOf returns an object's array, as C would see it.
func arrayOf[T any](t testing.TB, object uintptr, name string) []T {
	t.Helper()
	var v view
	must(t, withOptions(viewOf), arguments{object: object, name: textOf(name), view: &v})
	if want := elementCodes[reflect.TypeFor[T]().Kind()]; v.rows > 0 && v.kind != want {
		t.Fatalf("%s has numbers of type %d, expected %d", name, v.kind, want)
	}
	return unsafe.Slice((*T)(*(*unsafe.Pointer)(unsafe.Pointer(&v.data))), v.rows*max(v.columns, 1)) // pinned memory
}

func modelBytes(t testing.TB, m *gram.Model) []byte {
	var b bytes.Buffer
	musttest.NoError(t, m.Write(t.Context(), &b))
	return b.Bytes()
}

// targetsOf returns regression targets with many digits.
func targetsOf(c *corpus.Corpus) (targets []float64) {
	for i := range c.Documents.Rows() {
		targets = append(targets, math.Sin(float64(i*7%3))*math.Pi+float64(i%5)/7)
	}
	return targets
}

// numbered returns documents with targets in place of classes.
func numbered(c *corpus.Corpus, targets []float64) *corpus.Corpus {
	r := gram.NewCorpusBuilder(c.Documents.Cols)
	for i, v := range targets {
		terms, values := c.Documents.Row(i)
		wide := make([]float64, len(values))
		for k, x := range values {
			wide[k] = float64(x)
		}
		if err := r.Add(terms, wide, fmt.Sprint(v)); err != nil {
			panic(err)
		}
	}
	out := r.Corpus()
	out.Source = c.Source
	return out
}

// Models and predictions are bit for bit the same as in package gram, after the caller's memory has
// been overwritten.
func TestModelsAreThoseOfGram(t *testing.T) {
	vectors, texts := corpora(t)
	plain := []gram.TrainOptions{
		{Type: "c_svc", Kernel: "diffusion:t=2", C: 3, Weights: map[string]float64{"b,c": 2}},
		{Kernel: "linear:embed=tf", C: 0.1, Scheme: "one-vs-rest", Tolerance: 1e-6}, {},
		{Type: "c_svc", Kernel: "ngd", C: 1, Probabilities: true, Seed: 9}, {Type: "nu_svc", Nu: 0.1, Kernel: "rbf:embed=tf"},
		{Type: "one_class", Nu: 0.2, Kernel: "diffusion"}, {Type: "linear", C: 2}, {Type: "linear", Embedding: "tf"},
		{Type: "logistic", C: 1}, {Type: "knn:k=7"}, {Type: "landmark", C: 1},
		{Type: "c_svc", Kernel: "linear", C: 1, Scheme: "labels", Thresholds: true},
		{Type: "epsilon_svr", Epsilon: 0.01, Kernel: "rbf:embed=tf"}, {Type: "nu_svr", Kernel: "linear"},
	}
	covered := map[string]bool{"": true}
	for _, o := range plain {
		name, _, _ := strings.Cut(o.Type, ":")
		covered[name] = true
		for kind, c := range map[string]*corpus.Corpus{"vectors": vectors, "texts": texts} {
			t.Run(fmt.Sprintf("%s %s %s/%s", o.Type, o.Kernel, o.Scheme, kind), func(t *testing.T) {
				var x *theirs
				if kind == "vectors" {
					x = matrixOf(c)
				} else {
					x = &theirs{}
					list, overwrite := stringsOf(c.Texts)
					labels := x.label(c)
					x.texts, x.overwrite = list, func() { overwrite(); labels() }
				}
				if strings.HasSuffix(o.Type, "_svr") {
					if kind == "texts" {
						return
					}
					targets := targetsOf(c)
					x.classes, x.labels, x.labelOffsets, x.labelCount = nil, nil, nil, 0
					x.targets, x.targetCount = &targets[0], int64(len(targets))
					c = numbered(c, targets)
				}
				options := musttest.Get(json.Marshal(nonzeroOptions(o)))(t)
				compareModel(t, c, o, string(options), x)
			})
		}
	}
	for _, l := range learn.Learners {
		if !covered[l.Name] {
			t.Errorf("models of %s aren't compared: does one keep the caller's memory?", l.Name)
		}
	}
}

func compareModel(t *testing.T, c *corpus.Corpus, o gram.TrainOptions, options string, x *theirs) {
	want, err := gram.Train(t.Context(), c, o)
	out := into()
	code, message := calling(withOptions(train), arguments{options: textOf(options), result: out, x: &x.documents})
	x.overwrite()
	if err != nil || code != codeOK {
		if code != codeInvalid || err == nil || message != withKeys(err.Error()) || *out != 0 {
			t.Errorf("code %d: %s, expected that of %v", code, message, err)
		}
		return
	}
	file := modelBytes(t, want)
	if got := arrayOf[byte](t, *out, "bytes"); !bytes.Equal(got, file) {
		t.Errorf("a model of %d bytes, expected %d; they begin with\n%.300s\nand\n%.300s", len(got), len(file), got, file)
	}
	p := gram.Must(want.Predict(t.Context(), c))
	again := &theirs{}
	if c.Texts == nil {
		again = matrixOf(c)
	} else {
		again.texts, again.overwrite = stringsOf(c.Texts)
	}
	found := into()
	must(t, withOptions(predict), arguments{result: found, x: &again.documents, object: *out})
	again.overwrite()
	for name, want := range map[string][]float64{"scores": slices.Concat(p.Scores...), "values": p.Values,
		"probabilities": slices.Concat(p.Probabilities...), "margins": p.Margins} {
		got := arrayOf[float64](t, *found, name)
		if !slices.EqualFunc(got, want, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }) {
			t.Errorf("%s are %v, expected %v", name, got, want)
		}
	}
	labels, offsets := arrayOf[int32](t, *found, "labels"), arrayOf[int64](t, *found, "label_offsets")
	classes := want.About().Classes
	for i, own := range p.Labels {
		for k, id := range labels[offsets[i]:offsets[i+1]] {
			if int(id) < len(classes) && classes[id] != own[k] {
				t.Errorf("document %d is of class %d, expected %q", i, id, own)
			}
		}
	}
	if a := arrayOf[int64](t, *found, "known"); !slices.Equal(a, convert[int64](p.KnownWordCounts)) {
		t.Errorf("known are %v, expected %v", a, p.KnownWordCounts)
	}
	for _, o := range []*uintptr{out, found} {
		must(t, withOptions(free), arguments{object: *o})
	}
}

// Models, names and predictions of tables are the same as in package gram, after the caller's
// memory has been overwritten.
func TestTablesAreThoseOfGram(t *testing.T) {
	_, texts := corpora(t)
	names := []string{"id", "subject", "size", "zip"}
	n := len(texts.Texts)
	ids, sizes, zips, rows := make([]string, n), make([]float64, n), make([]float64, n), make([][]string, n)
	for i := range rows {
		ids[i], sizes[i], zips[i] = fmt.Sprint("row ", i), float64(i%5)/4, float64(12345678+i%3)
		rows[i] = []string{ids[i], texts.Texts[i], fmt.Sprint(sizes[i]), fmt.Sprint(12345678 + i%3)}
	}
	sizes[4], rows[4][2] = math.NaN(), ""
	c := gram.Must(gram.FromRows(t.Context(), names, rows, nil,
		gram.ReadOptions{Columns: "zip=category", KeepTexts: true}))
	c.Classes, c.Labels = texts.Classes, texts.Labels
	want := gram.Must(gram.Train(t.Context(), c, gram.TrainOptions{Kernel: "linear", C: 1}))

	var lists []*stringList
	var overwrite []func()
	for _, list := range [][]string{names, {"", "", "", "category"}, ids, texts.Texts} {
		l, over := stringsOf(list)
		lists, overwrite = append(lists, l), append(overwrite, over)
	}
	x := theirs{documents: documents{table: &table{columns: lists[0], kinds: lists[1], rows: int64(n),
		texts: &[]*stringList{lists[2], lists[3], nil, nil}[0], numbers: &[]*float64{nil, nil, &sizes[0], &zips[0]}[0]}}}
	overwrite = append(overwrite, x.label(texts))
	made, model, found := into(), into(), into()
	must(t, withOptions(newCorpus), arguments{options: textOf(`{"keep_texts": true}`), result: made, x: &x.documents})
	own := objects.entries[*made].object.(*dataset)
	must(t, withOptions(train), arguments{options: textOf(`{"kernel": "linear", "c": 1}`), result: model,
		x: &documents{corpus: *made}})
	must(t, withOptions(predict), arguments{result: found, x: &x.documents, object: *model})
	for _, over := range overwrite {
		over()
	}
	clear(sizes)
	if !slices.Equal(own.Names, c.Names) || own.Raw.Text(7) != c.Raw.Text(7) || own.DescribeTable() != c.DescribeTable() {
		t.Errorf("a corpus with %q, %q, %s, expected %q, %q, %s", own.Names[7], own.Raw.Text(7), own.DescribeTable(),
			c.Names[7], c.Raw.Text(7), c.DescribeTable())
	}
	if got := arrayOf[byte](t, *model, "bytes"); !bytes.Equal(got, modelBytes(t, want)) {
		t.Errorf("the model is\n%.600s\nexpected\n%.600s", got, modelBytes(t, want))
	}
	p := gram.Must(want.PredictRows(t.Context(), names, rows))
	if got := arrayOf[float64](t, *found, "scores"); !slices.Equal(got, slices.Concat(p.Scores...)) {
		t.Errorf("scores are %v, expected %v", got, p.Scores)
	}
}

// Decision values computed from a model's arrays equal the predicted decision values.
func TestArraysOfModelsPredict(t *testing.T) {
	vectors, _ := corpora(t)
	for _, options := range []string{`{"kernel": "linear:embed=tf", "c": 0.5}`,
		`{"kernel": "linear:embed=tf", "c": 0.5, "scheme": "one-vs-rest"}`,
		`{"kernel": "rbf:gamma=0.001,embed=tf", "c": 0.5}`} {
		x, out, found := matrixOf(vectors), into(), into()
		must(t, withOptions(train), arguments{options: textOf(options), result: out, x: &x.documents})
		must(t, withOptions(predict), arguments{result: found, x: &x.documents, object: *out})
		n := vectors.Documents.Rows()
		kernel := "linear:embed=tf"
		if strings.Contains(options, "rbf") {
			kernel = "rbf:gamma=0.001,embed=tf"
		}
		k := gram.Must(gram.Gram(t.Context(), vectors, kernel, gram.Options{}))
		support, coefficients := arrayOf[int32](t, *out, "support"), arrayOf[float64](t, *out, "coefficients")
		offsets, scores := arrayOf[float64](t, *out, "offsets"), arrayOf[float64](t, *found, "scores")
		weights, columns := arrayOf[float64](t, *out, "weights"), arrayOf[int64](t, *out, "columns")
		if linear := kernel == "linear:embed=tf"; linear != (len(weights) > 0) {
			t.Fatalf("%s has %d weights", options, len(weights))
		}
		for i := range n {
			for m, offset := range offsets {
				f, g, scale := -offset, -offset, math.Abs(offset)
				for s, d := range support {
					v := coefficients[m*len(support)+s] * k.At(int(d), i)
					f, scale = f+v, scale+math.Abs(v)
				}
				terms, values := vectors.Documents.Row(i)
				for c, column := range columns {
					if at, ok := slices.BinarySearch(terms, uint32(column)); ok {
						g += weights[m*len(columns)+c] * float64(values[at])
					}
				}
				// Kernel values are float32 sums: an error of 2⁻²⁴ times scale for about 64 steps.
				tolerance := scale * 64 / (1 << 24)
				if want := scores[i*len(offsets)+m]; !(math.Abs(f-want) <= tolerance) ||
					len(weights) > 0 && !(math.Abs(g-want) <= tolerance) {
					t.Fatalf("%s: document %d, machine %d: %v by kernel values, %v by weights, expected %v ± %v", options, i, m,
						f, g, want, tolerance)
				}
			}
		}
	}
}

// Results are the same as in package gram bit for bit, for 32 and 64 bits.
func TestValuesAreThoseOfGram(t *testing.T) {
	vectors, texts := corpora(t)
	n := vectors.Documents.Rows()
	for kind, c := range map[string]*corpus.Corpus{"vectors": vectors, "texts": texts} {
		var x documents
		if x = matrixOf(vectors).documents; kind == "texts" {
			list, _ := stringsOf(texts.Texts)
			x = documents{texts: list}
		}
		want := gram.Must(gram.Gram(t.Context(), c, "diffusion:t=2", gram.Options{}))
		out := make([]float32, n*n)
		for _, y := range []*documents{nil, &x} {
			options := textOf(`{"kernel": "diffusion:t=2", "workers": 3, "isa": null}`)
			must(t, withOptions(computeKernel), arguments{options: options, x: &x, y: y, floats: spanOf(out)})
			for k, v := range out {
				if v != want.Data[k] {
					t.Fatalf("%s: value %d is %v, expected %v", kind, k, v, want.Data[k])
				}
			}
		}

		all := c
		if kind == "texts" { // with min-df 1
			all = gram.Must(gram.FromTexts(t.Context(), texts.Texts, nil, gram.ReadOptions{MinDF: 1}))
		}
		near := gram.Must(gram.Neighbours(t.Context(), all, gram.NeighbourOptions{K: 3}))
		numbers, values := make([]int64, 3*n), make([]float32, 3*n)
		must(t, withOptions(findNeighbours), arguments{x: &x, k: 3, numbers: spanOf(numbers), floats: spanOf(values)})
		for i, list := range near {
			for j, want := range list {
				if got := (gram.Neighbour{Document: int(numbers[3*i+j]), Value: values[3*i+j]}); got != want {
					t.Errorf("%s: neighbour %d of %d is %v, expected %v", kind, j, i, got, want)
				}
			}
		}
		compareComponents(t, c, &x)
	}
}

func compareComponents(t *testing.T, c *corpus.Corpus, x *documents) {
	want := gram.Must(gram.PCA(t.Context(), c, gram.PCAOptions{Components: 3, Kernel: "diffusion:t=2"}))
	out := into()
	options := `{"components": 3, "kernel": "diffusion:t=2"}`
	must(t, withOptions(computeComponents), arguments{options: textOf(options), result: out, x: x})
	if got := arrayOf[float64](t, *out, "coordinates"); !slices.Equal(got, want.Coordinates().RawMatrix().Data) {
		t.Errorf("coordinates are %v, expected %v", got, want.Coordinates().RawMatrix().Data)
	}
	z := make([]float64, c.Documents.Rows()*3)
	must(t, withOptions(project), arguments{x: x, object: *out, doubles: spanOf(z)})
	if own := gram.Must(want.Project(t.Context(), c)).RawMatrix().Data; !slices.Equal(z, own) {
		t.Errorf("projections are %v, expected %v", z, own)
	}
}
