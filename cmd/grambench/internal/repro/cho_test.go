package repro

import (
	"compress/gzip"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/sparse"
)

// writeIDX writes an idx file of bytes, gzipped.
func writeIDX(t testing.TB, data string, s Source, file string, content []byte, sizes ...uint32) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(data, s.Name), 0o777); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(data, s.Name, file))
	if err != nil {
		t.Fatal(err)
	}
	head := []byte{0, 0, 8, byte(len(sizes))}
	for _, n := range sizes {
		head = binary.BigEndian.AppendUint32(head, n)
	}
	z := gzip.NewWriter(f)
	_, err = z.Write(append(head, content...))
	for _, closing := range []func() error{z.Close, f.Close} {
		if e := closing(); err == nil {
			err = e
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// choStandIns writes digits in the form of MNIST, and texts in that of 20 Newsgroups. A digit d is a bar whose place and direction say which it is, of
// random length and brightness, among spots.
func choStandIns(t testing.TB) string {
	data := zhangStandIns(t)
	r := rand.New(rand.NewPCG(5, 6))
	for k, n := range []int{240, 120} {
		images, labels := make([]byte, n*pixels), make([]byte, n)
		for i := range n {
			d := (i*7 + k) % 10
			labels[i] = byte(d)
			image := images[i*pixels : (i+1)*pixels]
			bright := 120 + r.IntN(130)
			at, from, to := 3+5*(d/2)+r.IntN(3)-1, r.IntN(8), 20+r.IntN(8)
			for x := from; x < to; x++ {
				if d%2 == 0 {
					image[at*side+x] = byte(bright)
				} else {
					image[x*side+at] = byte(bright)
				}
			}
			for range 25 {
				image[r.IntN(pixels)] = byte(r.IntN(256))
			}
		}
		writeIDX(t, data, MNIST, MNIST.Files[2*k], images, uint32(n), side, side)
		writeIDX(t, data, MNIST, MNIST.Files[2*k+1], labels, uint32(n))
	}
	return data
}

// choShort are flags that leave little of the protocol but all of its parts.
var choShort = []string{"-sets", "20news-bydate,convex", "-train", "60", "-test", "40", "-c", "1,100", "-layers", "3", "-factors", "2", "-fractions", "0.5,1", "-biases", "0.5", "-sigmas", "0.5",
	"-gammas", "0.5,2"}

// Each set from its files, or its generator, to a table whose errors are below chance.
func TestChoSets(t *testing.T) {
	data := choStandIns(t)
	report, err := setup(t, cho, "-train", "240", "-test", "100", "-c", "100", "-kernels", "composed", "-degrees", "1", "-layers", "2", "-min-df", "1")(context.Background(), &Run{Data: data, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range choSets {
		rows, classes := rowsOf(t, report, s.name), 2.
		switch {
		case s.text:
			classes = 3
		case s.source != nil:
			classes = 10
		}
		chance := 1 - 1/classes // of 100 documents, in the mean, with the deviation of as many throws
		if most := 100 * (chance - 2*math.Sqrt(chance*(1-chance)/100)); len(rows) != 2 || !(rows[1]["test_percent"].(float64) < most) {
			t.Errorf("%s: %v, expected two rows and an error below %v %%", s.name, rows, most)
		}
	}
	if sets := len(choSets); len(report.Figures) != sets || len(report.Notes) != sets {
		t.Errorf("%d figures and %d notes", len(report.Figures), len(report.Notes))
	}
}

// All families, interrupted in both phases and gone on with, by one and by two workers: the same tables, and nothing is computed twice.
func TestCho(t *testing.T) {
	data, ctx := choStandIns(t), context.Background()
	whole, err := setup(t, cho, choShort...)(ctx, &Run{Data: data, Seed: 1, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	// 2 plain; 3·3 composed, 2·2 mixed, 3·1 products; 3 degrees, 1 bias, 1 smooth.
	const rows = 2 + 9 + 4 + 3 + 3 + 1 + 1
	for _, set := range []string{"20news-bydate", "convex"} {
		got := rowsOf(t, whole, set)
		if len(got) != rows {
			t.Fatalf("%s: %d rows, expected %d", set, len(got), rows)
		}
		for i, row := range got {
			if row["documents"] != 40. || row["validation_percent"] == nil || row["printed_percent"] != nil || (row["kernel"] == "Gaussian") != (row["gamma"] != nil) {
				t.Errorf("%s: %v", set, row)
			}
			for _, other := range got[:i] {
				if other["family"] == row["family"] && other["kernel"] == row["kernel"] {
					t.Errorf("%s: %v twice", set, row["kernel"])
				}
			}
		}
	}
	if len(whole.Figures) != 2*4 || len(whole.Notes) != 2*(3+2+3+1) { // a bias and a σ alone are no curve
		t.Errorf("%d figures and %d notes", len(whole.Figures), len(whole.Notes))
	}
	// Degrees 0 and 1 are among the composed kernels, so they are trained once: 21 kernels with 2 C, the Gaussian with 4, then as many once more, but where two rows share
	// a kernel. 3 and 1 pairs of classes.
	if want := int64((20*2 + 4 + 21) * (3 + 1)); whole.Trainings != want {
		t.Errorf("%d machines, expected %d", whole.Trainings, want)
	}

	path := filepath.Join(t.TempDir(), "state.jsonl")
	again := func(stopAt string) (*Report, error) {
		state, err := OpenState(path)
		if err != nil {
			t.Fatal(err)
		}
		defer state.Close()
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		var stopped time.Time
		report, err := setup(t, cho, choShort...)(ctx, &Run{Data: data, Seed: 1, Workers: 2, State: state, Tell: func(stage string, done, _ int64) {
			if stage == stopAt && stopped.IsZero() {
				stopped = time.Now()
				cancel()
			}
		}})
		if !stopped.IsZero() && time.Since(stopped) > time.Second {
			t.Errorf("it took %v to stop", time.Since(stopped))
		}
		return report, err
	}
	machines := int64(0)
	for k, stopAt := range []string{"20news-bydate: test", "convex: validation"} {
		report, err := again(stopAt)
		if !errors.Is(err, context.Canceled) || report == nil || len(report.Tables) != k+1 {
			t.Fatalf("interrupted at %s: %v, report %v", stopAt, err, report)
		}
		machines += report.Trainings
	}
	last, err := again("")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := tablesOf(t, last), tablesOf(t, whole); got != want {
		t.Errorf("in three pieces by two workers:\n%s\nat once by one:\n%s", got, want)
	}
	if machines += last.Trainings; machines != whole.Trainings {
		t.Errorf("%d machines in three pieces, %d at once", machines, whole.Trainings)
	}
	checkChosen(t, path)
	none, err := again("")
	if err != nil || none.DotProducts != 0 || tablesOf(t, none) != tablesOf(t, whole) {
		t.Errorf("with everything kept: %v, %d dot products", err, none.DotProducts)
	}
}

// checkChosen holds, by the results that were kept, that what was tested is what erred least on the validation set: the first of the best.
func checkChosen(t *testing.T, path string) {
	t.Helper()
	lines, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	type tried struct {
		error float64
		key   string
	}
	var tests []string
	least := map[string]tried{} // by set and kernel, all widths of the Gaussian one being one
	for line := range strings.Lines(string(lines)) {
		var v stateLine
		if err := json.Unmarshal([]byte(line), &v); err != nil || v.Key == "" {
			continue
		}
		words := strings.Fields(v.Key) // set, two digests, what, kernel, C
		if len(words) != 6 {
			t.Fatalf("key %q", v.Key)
		}
		if words[3] == "test" {
			tests = append(tests, words[0]+" "+words[4]+" "+words[5])
			continue
		}
		var failed float64
		if err := json.Unmarshal(v.Value, &failed); err != nil {
			t.Fatal(err)
		}
		kernel, _, _ := strings.Cut(words[4], "gamma")
		of := words[0] + " " + kernel
		if best, ok := least[of]; !ok || failed < best.error {
			least[of] = tried{failed, words[0] + " " + words[4] + " " + words[5]}
		}
	}
	var want []string
	for _, best := range least {
		want = append(want, best.key)
	}
	slices.Sort(want)
	slices.Sort(tests)
	if !slices.Equal(tests, want) {
		t.Errorf("tested:\n%s\nthe best on the validation set:\n%s", strings.Join(tests, "\n"), strings.Join(want, "\n"))
	}
}

// One C and no width: no validation; another scheme has other machines.
func TestChoSchemes(t *testing.T) {
	data := choStandIns(t)
	for scheme, machines := range map[string]int64{"one-vs-one": 45, "one-vs-rest": 10} {
		args := []string{"-sets", "mnist", "-kernels", "composed", "-degrees", "1", "-layers", "1", "-c", "100", "-scheme", scheme}
		report, err := setup(t, cho, args...)(context.Background(), &Run{Data: data, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		rows := rowsOf(t, report, "mnist")
		if len(rows) != 1 || rows[0]["documents"] != 120. || rows[0]["validation_percent"] != nil || rows[0]["printed_percent"] != 1.63 || report.Trainings != machines {
			t.Errorf("%s: %v, %d machines", scheme, rows, report.Trainings)
		}
	}
}

// The kernels are what their names say, on vectors of a given norm and angle.
func TestChoKernels(t *testing.T) {
	p := &choProtocol{families: Words{Chosen: choFamilies}, degrees: Words{Chosen: []string{"0", "1", "2"}}, layers: 3, factors: 3, gammas: Numbers{2}, fractions: Numbers{1}, biases: Numbers{0.5}, sigmas: Numbers{0.5}}
	const x, y, c = 1.5, 2, 0.3 // norms, and 1 - cosine
	// J_n as the thesis has it, of an angle, over π; and composition by the angle of the layer below.
	j := func(n int, a float64) float64 {
		s, co := math.Sincos(a)
		switch n {
		case 0:
			return (math.Pi - a) / math.Pi
		case 1:
			return (s + (math.Pi-a)*co) / math.Pi
		}
		return (3*s*co + (math.Pi-a)*(1+2*co*co)) / math.Pi
	}
	layers := func(degrees ...int) float64 {
		kxy, kx, ky := x*y*(1-c), x*x, float64(y*y)
		for _, n := range degrees {
			a := math.Acos(kxy / math.Sqrt(kx*ky))
			kxy = math.Pow(kx*ky, float64(n)/2) * j(n, a)
			kx, ky = math.Pow(kx, float64(n))*j(n, 0), math.Pow(ky, float64(n))*j(n, 0)
		}
		return kxy
	}
	normalised := func(degrees ...int) float64 { // the norms fall out where x and y have the same
		kxy, a := 0., math.Acos(1-c)
		for _, n := range degrees {
			kxy = j(n, a) / j(n, 0)
			a = math.Acos(kxy)
		}
		return kxy
	}
	want := map[string]float64{
		"linear":                         x * y * (1 - c),
		"Gaussian":                       math.Exp(-2. / 10 * (x*x + y*y - 2*x*y*(1-c))),
		"degree 0, 1 layer":              layers(0),
		"degree 1, 3 layers":             layers(1, 1, 1),
		"degree 2, 1 layer":              layers(2),
		"degree 2, 3 layers, normalised": normalised(2, 2, 2),
		"degree 0, then 1, 3 layers":     layers(0, 1, 1),
		"degree 2, then 1, 2 layers":     layers(2, 1),
		"degree 1, 3 factors":            math.Pow(layers(1), 3),
		"degree 1":                       layers(1),
	}
	embedding, err := sparse.ParseEmbedding("tf")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, row := range p.kernels(3, 10) {
		k, err := engine.ParseKernelIn(row.specs[0], embedding)
		if err != nil {
			t.Fatalf("%s: %v", row.shown, err)
		}
		v, ok := want[row.shown]
		if !ok {
			continue
		}
		found++
		if got := k.Eval(c, x, y); !(math.Abs(got-v) <= 1e-12*math.Abs(v)) { // some ten operations in float64 on both sides, at most 3 layers deep
			t.Errorf("%s, %s: %v, expected %v", row.shown, row.specs[0], got, v)
		}
	}
	if found != len(want) {
		t.Errorf("%d of %d kernels were there", found, len(want))
	}
	specs := fmt.Sprint(p.kernels(3, 10))
	for _, part := range []string{"bias=1.5", "sigma=1.5", "gamma=0.2"} {
		if !strings.Contains(specs, part) {
			t.Errorf("no %s in %s", part, specs)
		}
	}
}

// What is held out is part of the training set, the test set is none of it, and a smaller set is part of the whole.
func TestChoData(t *testing.T) {
	data := choStandIns(t)
	for _, s := range choSets {
		p := &choProtocol{train: 100, test: 50, text: Preparation{MinDF: 1, MinLetters: 1}}
		d, err := p.read(context.Background(), &Run{Data: data, Seed: 1}, &s)
		if err != nil {
			t.Fatal(err)
		}
		if d.train.Documents.Rows() != 100 || d.test.Documents.Rows() != 50 || len(d.fit)+len(d.valid) != 100 {
			t.Errorf("%s: %d documents, %d and %d of them, and %d", s.name, d.train.Documents.Rows(), len(d.fit), len(d.valid), d.test.Documents.Rows())
		}
		both := append(slices.Clone(d.fit), d.valid...)
		slices.Sort(both)
		if len(slices.Compact(both)) != 100 || len(d.valid) < 10 || len(d.valid) > 17 {
			t.Errorf("%s: %d documents to try and %d to judge", s.name, len(d.fit), len(d.valid))
		}
		again, err := p.read(context.Background(), &Run{Data: data, Seed: 1}, &s)
		if err != nil || !reflect.DeepEqual(again, d) {
			t.Errorf("%s: another time it is another set: %v", s.name, err)
		}
		other, err := p.read(context.Background(), &Run{Data: data, Seed: 2}, &s)
		if err != nil || reflect.DeepEqual(other.train, d.train) {
			t.Errorf("%s: another seed gives the same set: %v", s.name, err)
		}
		in := map[string]bool{}
		for i := range 100 {
			in[rowText(d.train.Documents.Row(i))] = true
		}
		for i := range 50 {
			// The outlines are few, so some occur twice.
			if in[rowText(d.test.Documents.Row(i))] && s.name != "rectangles" {
				t.Errorf("%s: test document %d is among the training documents", s.name, i)
			}
		}
	}
	// mnist-rand takes test digits first, then training digits that aren't trained on: 240 - 100 of them.
	p := &choProtocol{train: 100}
	i := slices.IndexFunc(choSets, func(s choSet) bool { return s.name == "mnist-rand" })
	d, err := p.read(context.Background(), &Run{Data: data, Seed: 1}, &choSets[i])
	if err != nil || d.test.Documents.Rows() != 120+140 {
		t.Fatalf("%v, %d test documents", err, d.test.Documents.Rows())
	}
	// The noise of no digit is that of another: the first of the training digits and of both parts of the test digits agree in few pixels, strokes that meet.
	first := []map[uint32]float32{}
	for _, row := range []struct {
		of *sparse.CSR
		i  int
	}{{d.train.Documents, 0}, {d.test.Documents, 0}, {d.test.Documents, 120}} {
		pixel := map[uint32]float32{}
		terms, values := row.of.Row(row.i)
		for k, term := range terms {
			pixel[term] = values[k]
		}
		for _, other := range first {
			same := 0
			for term, v := range pixel {
				if w, ok := other[term]; ok && v == w {
					same++
				}
			}
			if same > pixels/4 {
				t.Errorf("mnist-rand: two images agree in %d of %d pixels", same, pixels)
			}
		}
		first = append(first, pixel)
	}
	digits := map[string]int{}
	for i := range d.train.Documents.Rows() {
		digits[d.train.Classes[d.train.Labels.Of(i)[0]]]++
	}
	for i := range d.test.Documents.Rows() {
		digits[d.test.Classes[d.test.Labels.Of(i)[0]]]++
	}
	for digit, n := range digits { // of each 24 and 12 in the files
		if n != 36 {
			t.Errorf("digit %s %d times, expected 36", digit, n)
		}
	}
}

// Centred pixels have the mean 0 over the training images, and distances stay as they were.
func TestChoCentre(t *testing.T) {
	data := choStandIns(t)
	read := func(centred bool) *choData {
		p := &choProtocol{centred: centred, text: Preparation{MinDF: 1, MinLetters: 1}}
		d, err := p.read(context.Background(), &Run{Data: data, Seed: 1}, &choSets[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := d.train.Documents.Validate(); err != nil {
			t.Fatal(err)
		}
		return d
	}
	raw, centred := read(false), read(true)
	dense := func(m *sparse.CSR, i int) []float64 {
		v := make([]float64, m.Cols)
		terms, values := m.Row(i)
		for k, term := range terms {
			v[term] = float64(values[k])
		}
		return v
	}
	sum := make([]float64, pixels)
	for i := range centred.train.Documents.Rows() {
		for k, v := range dense(centred.train.Documents, i) {
			sum[k] += v
		}
	}
	for k, v := range sum { // 240 values up to 1, each rounded to 24 bits
		if !(math.Abs(v) <= 240*math.Exp2(-24)) {
			t.Errorf("pixel %d: the sum is %v", k, v)
		}
	}
	for i := range raw.test.Documents.Rows() {
		a, b := dense(raw.train.Documents, i), dense(raw.test.Documents, i)
		c, d := dense(centred.train.Documents, i), dense(centred.test.Documents, i)
		for k := range a {
			if e := (a[k] - b[k]) - (c[k] - d[k]); !(math.Abs(e) <= math.Exp2(-22)) {
				t.Fatalf("documents %d, pixel %d: apart by %v and %v", i, k, a[k]-b[k], c[k]-d[k])
			}
		}
	}
}

func TestChoRefuses(t *testing.T) {
	data := choStandIns(t)
	for want, args := range map[string][]string{
		"-layers 0":     {"-layers", "0"},
		"-factors 33":   {"-factors", "33"},
		"-train -1":     {"-train", "-1"},
		"-embed":        {"-embed", "words"},
		"-fractions 29": {"-fractions", "29"},
		"-scheme":       {"-scheme", "one-vs-one,one-vs-rest"},
		"-min-letters":  {"-min-letters", "0"},
		"too few":       {"-sets", "rectangles", "-train", "3"},
		"no such":       {"-sets", "20news-bydate", "-stop-words", filepath.Join(data, "nowhere")},
		"of memory,":    {"-sets", "rectangles", "-test", "10"},
	} {
		r := &Run{Data: data, Seed: 1}
		if want == "of memory," {
			r.MemoryBytes = 1 << 20
		}
		if _, err := setup(t, cho, args...)(context.Background(), r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", args, err)
		}
	}
	if err := os.Remove(filepath.Join(data, MNIST.Name, MNIST.Files[1])); err != nil {
		t.Fatal(err)
	}
	var missing *MissingError
	if _, err := setup(t, cho, "-sets", "mnist")(context.Background(), &Run{Data: data}); !errors.As(err, &missing) || !strings.Contains(err.Error(), "train-labels") {
		t.Errorf("%v, expected labels to be missing", err)
	}
}

// A family of several curves names the curve, one of a single curve doesn't say its name twice.
func TestChoNote(t *testing.T) {
	points := []Point{{X: 0.5, Y: 3}, {X: 1, Y: 2.5}}
	for want, c := range map[string]Curve{
		"mnist, bias: test error 3.00, 2.50 % for bias / mean norm from 0.5 to 1; the least at 1":     {choBias, points},
		"mnist, composed, degree 1: test error 3.00, 2.50 % for layers from 0.5 to 1; the least at 1": {"degree 1", points},
	} {
		family := choComposed
		if c.Name == choBias {
			family = choBias
		}
		if got := choNote("mnist", family, &c); got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}

// Curves are there where two points are: what is said beforehand is what is drawn.
func TestChoCurves(t *testing.T) {
	for _, of := range []struct {
		args   []string
		figure bool
	}{
		{[]string{"-kernels", "plain"}, false},
		{[]string{"-kernels", "composed", "-layers", "1"}, false},
		{[]string{"-kernels", "composed", "-layers", "2"}, true},
		{[]string{"-kernels", "product", "-factors", "2"}, false},
		{[]string{"-kernels", "product,composed", "-factors", "2", "-layers", "1"}, true},
		{[]string{"-kernels", "degree", "-fractions", "0.5"}, true},
		{[]string{"-kernels", "bias", "-biases", "0.5"}, false},
	} {
		args := append([]string{"-sets", "rectangles", "-train", "12", "-test", "5", "-c", "1", "-degrees", "1"}, of.args...)
		report, err := setup(t, cho, args...)(context.Background(), &Run{Seed: 1})
		if err != nil || len(report.Figures) > 0 != of.figure {
			t.Fatalf("%q: %v, or figures where none are expected, or none: %v", of.args, err, of.figure)
		}
		_, err = setup(t, cho, args...)(context.Background(), &Run{Seed: 1, Plot: true})
		var usage UsageError
		if errors.As(err, &usage) == of.figure {
			t.Errorf("%q, with curves asked for: %v", of.args, err)
		}
	}
}
