package gram_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/sparse"
)

// This example trains a model of texts in memory with automatically chosen settings.
func ExampleTrain() {
	ctx, texts := context.Background(), []string{"my password", "reset password", "pay an invoice", "the invoice"}
	c := gram.Must(gram.FromTexts(ctx, texts, []string{"login", "login", "billing", "billing"}, gram.ReadOptions{}))
	m := gram.Must(gram.Train(ctx, c, gram.TrainOptions{}))
	p := gram.Must(m.PredictTexts(ctx, []string{"where is my invoice"}))
	fmt.Println(p.Label(0))
	// Output: billing
}

// This example trains a support vector machine on texts in memory.
func ExampleFromTexts() {
	ctx, texts := context.Background(), []string{"a good film", "a good book", "a bad film", "a bad book"}
	c := gram.Must(gram.FromTexts(ctx, texts, []string{"yes", "yes", "no", "no"}, gram.ReadOptions{}))
	m := gram.Must(gram.Train(ctx, c, gram.TrainOptions{Kernel: "linear", C: 10}))
	p := gram.Must(m.PredictTexts(ctx, []string{"good acting"}))
	fmt.Println(p.Label(0), p.KnownWordCounts[0])
	// Output: yes 1
}

const (
	trainTSV = "yes\ta good plot and good acting\nyes\tgood fun\nyes\tacting at its best\n" +
		"no\ta dull plot\nno\tdull acting and no fun\nno\tbad and dull\n"
	testTSV = "yes\tbest acting\nyes\ta good plot\nyes\tno dull moment\nno\ta bad and dull plot\n"
)

// This example evaluates a model on test documents and lists its mistakes.
func ExampleModel_Evaluate() {
	ctx := context.Background()
	c := gram.Must(gram.ReadFrom(ctx, strings.NewReader(trainTSV), "train.tsv", gram.ReadOptions{MinDF: 1}))
	m := gram.Must(gram.Train(ctx, c, gram.TrainOptions{Kernel: "linear", C: 10}))

	test := gram.Must(gram.ReadFrom(ctx, strings.NewReader(testTSV), "test.tsv", m.ReadOptions()))
	v := gram.Must(m.Evaluate(ctx, test, gram.EvaluateOptions{}))
	fmt.Printf("%d of %d correct, macro F1 %.2f\n", v.Score.Correct, v.Score.Documents, v.Score.MacroF1)
	for _, wrong := range v.Mistakes { // the most confident first
		fmt.Printf("document %d isn't %s, in spite of %q\n", wrong.Document, wrong.Explanation.Label,
			wrong.Explanation.Terms[0].Term)
	}
	// Output:
	// 3 of 4 correct, macro F1 0.73
	// document 2 isn't no, in spite of "dull"
}

// This example lists the strongest terms of each class, and the strongest term of a prediction.
func ExampleModel_Explain() {
	ctx := context.Background()
	c := gram.Must(gram.ReadFrom(ctx, strings.NewReader(trainTSV), "train.tsv", gram.ReadOptions{MinDF: 1}))
	m := gram.Must(gram.Train(ctx, c, gram.TrainOptions{Kernel: "linear", C: 10}))

	for _, row := range gram.Must(m.Explain(ctx, 2)).Functions {
		fmt.Println("for", row.Class, row.Positive[0].Term, row.Positive[1].Term, "against", row.Negative[0].Term,
			row.Negative[1].Term)
	}
	why := gram.Must(m.ExplainText(ctx, "a dull but good plot", 1)) // for any model
	fmt.Println(why.Label, "because of", why.Terms[0].Term)
	// Output:
	// for yes good at against dull no
	// no because of dull
}

// This example measures accuracy by cross-validation.
func ExampleCrossValidate() {
	ctx := context.Background()
	c := gram.Must(gram.Read(ctx, "synthetic:docs=200,terms=500,classes=2", gram.ReadOptions{}))
	v := gram.Must(gram.CrossValidate(ctx, c, gram.ValidateOptions{
		TrainOptions: gram.TrainOptions{Kernel: "linear", C: 10}, Folds: 4,
	}))
	fmt.Printf("accuracy %.2f ± %.2f of %d folds\n", v.Mean, v.SD, len(v.FoldScores))
	// Output: accuracy 1.00 ± 0.00 of 4 folds
}

// This example finds the best of several values of C and trains a model with this value.
func ExampleSearch() {
	ctx := context.Background()
	c := gram.Must(gram.Read(ctx, "synthetic:docs=200,terms=500,classes=2", gram.ReadOptions{}))
	r := gram.Must(gram.Search(ctx, c, gram.SearchOptions{
		TrainOptions: gram.TrainOptions{Kernel: "diffusion"},
		Grid:         map[string][]string{"C": {"0.1", "1", "10"}, "t": {"0.5", "2"}},
	}))
	best := r.Points[r.BestIndex]
	fmt.Printf("%s, C = %v: %s %.2f\n", best.Options.Kernel, best.Options.C, r.Measure, best.Mean)
	m := gram.Must(gram.Train(ctx, c, r.TrainOptions))
	fmt.Println(m.About().Classes)
	// Output:
	// diffusion:t=0.5, C = 0.1: accuracy 1.00
	// [class1 class2]
}

// This example cancels a search from its progress callback.
func ExampleSearchOptions() {
	ctx, cancel := context.WithCancel(context.Background())
	c := gram.Must(gram.Read(ctx, "synthetic:docs=200,terms=500,classes=2", gram.ReadOptions{}))
	var o gram.SearchOptions
	o.Progress = func(p gram.Progress) {
		if 2*p.Done > p.Total && p.Total > 0 {
			cancel()
		}
	}
	_, err := gram.Search(ctx, c, o)
	fmt.Println(errors.Is(err, context.Canceled))
	// Output: true
}

const offers = `title,body,price,class
Red bike,light bike for sale,120,sale
Blue bike,heavy bike for sale,80.5,sale
Old car,car for sale,2500,sale
Room,room wanted near the park,400,wanted
Flat,flat wanted near the river,900,wanted
House,house wanted by the sea,1500,wanted
`

// This example reads columns of a table as views: one kernel compares their texts and numbers.
func ExampleReadFrom_columns() {
	ctx := context.Background()
	views := gram.Must(corpus.ParseTokenizer("title=words + body=words:1..2 + price=numbers"))
	o := gram.ReadOptions{Tokenizer: views, MinDF: 1}
	c := gram.Must(gram.ReadFrom(ctx, strings.NewReader(offers), "offers.csv", o))
	m := gram.Must(gram.Train(ctx, c, gram.TrainOptions{Kernel: "diffusion:t=2", C: 1}))
	columns := []string{"title", "body", "price"}
	p := gram.Must(m.PredictRows(ctx, columns, [][]string{{"Red car", "for sale", "2000"}}))
	fmt.Println(p.Label(0), m.WarmUp(ctx) == nil)
	why := gram.Must(m.ExplainRow(ctx, columns, []string{"House", "wanted", "1450"}, 2))
	fmt.Println(why.Label, why.Terms[0].Term)
	// Output:
	// sale true
	// wanted title: house
}

// This example uses its own tokenizer, which splits paths.
func ExampleFromTerms() {
	cut := func(paths ...string) (documents [][]string) {
		for _, p := range paths {
			documents = append(documents, strings.FieldsFunc(p, func(r rune) bool { return r == '/' || r == '.' }))
		}
		return documents
	}
	ctx := context.Background()
	c := gram.Must(gram.FromTerms(cut("src/net/http.go", "src/net/dial.go", "doc/net/http.md", "doc/faq.md"),
		[]string{"code", "code", "text", "text"}))
	m := gram.Must(gram.Train(ctx, c, gram.TrainOptions{Kernel: "linear", C: 10}))
	p := gram.Must(m.PredictTerms(ctx, cut("src/os/file.go", "doc/install.md")))
	fmt.Println(p.Label(0), p.Label(1))
	// Output: code text
}

// This example trains, saves, loads and applies a model with a user-defined kernel.
func ExampleOptions() {
	student := gram.Must(kernel.New(kernel.Custom{
		Name:      "student", // stored in models, so it should contain all parameters
		Embedding: sparse.SphereEmbedding,
		Eval:      func(c, _, _ float64) float64 { return 1 / (1 + 2*c) },
	}))
	own := gram.Options{Kernels: []kernel.Kernel{student}}

	ctx := context.Background()
	c := gram.Must(gram.FromTexts(ctx, []string{"a good film", "a good book", "a bad film", "a bad book"},
		[]string{"yes", "yes", "no", "no"}, gram.ReadOptions{}))
	m := gram.Must(gram.Train(ctx, c, gram.TrainOptions{Kernel: "student", C: 10, Options: own}))
	var file bytes.Buffer
	if err := m.Write(ctx, &file); err != nil {
		fmt.Println(err)
	}
	loaded := gram.Must(gram.LoadFrom(ctx, &file)).WithOptions(own)
	fmt.Println(gram.Must(loaded.PredictTexts(ctx, []string{"good acting"})).Label(0))
	// Output: yes
}

// service predicts the class of a text. Requests run concurrently, and the model can be replaced in
// the meantime.
type service struct{ model atomic.Pointer[gram.Model] }

// use loads and prepares a model of any type for later requests. Running requests continue with the
// old model. If use fails, the old model remains.
func (s *service) use(ctx context.Context, path string) error {
	m, err := gram.Load(path)
	if err != nil {
		return err
	}
	m = m.WithOptions(gram.Options{Workers: 1}) // one goroutine per request
	if err := m.WarmUp(ctx); err != nil {       // otherwise the first requests would be slow
		return err
	}
	s.model.Store(m)
	return nil
}

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	p, err := s.model.Load().PredictTexts(r.Context(), []string{string(text)})
	switch {
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	case 2*p.KnownWordCounts[0] <= p.WordCounts[0]:
		http.Error(w, "most words of the text are unknown", http.StatusUnprocessableEntity)
	default:
		fmt.Fprintln(w, p.Label(0))
	}
}

// This example replaces the model of a service while requests run.
func ExampleModel_PredictTexts() {
	s, answers, clients := new(service), make(chan string, 100), sync.WaitGroup{}
	for i := range 10 {
		if err := s.use(context.Background(), "testdata/"+[]string{"words.model", "ngrams.model"}[i%2]); err != nil {
			fmt.Println(err)
			return
		}
		clients.Go(func() {
			for range 10 {
				w := httptest.NewRecorder()
				s.ServeHTTP(w, httptest.NewRequest("POST", "/", strings.NewReader("a purr, milk and a bark")))
				answers <- strings.TrimSpace(fmt.Sprint(w.Code, " ", w.Body))
			}
		})
	}
	clients.Wait()
	close(answers)
	count := map[string]int{}
	for a := range answers {
		count[a]++
	}
	fmt.Println(count)
	// Output: map[200 cats:100]
}

// This example classifies a stream of 1,000,000 lines in batches of a thousand.
func ExampleModel_PredictTexts_stream() {
	stream := strings.NewReader(strings.Repeat("milk and a purr\na bark at night\n", 500_000))
	ctx, m, lines := context.Background(), gram.Must(gram.Load("testdata/words.model")), bufio.NewScanner(stream)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	count, batch := map[string]int{}, make([]string, 0, 1000)
	for more := true; more; batch = batch[:0] {
		for more = lines.Scan(); more; more = lines.Scan() {
			if batch = append(batch, lines.Text()); len(batch) == cap(batch) {
				break
			}
		}
		for _, labels := range gram.Must(m.PredictTexts(ctx, batch)).Labels {
			count[labels[0]]++
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	fmt.Println(count, int64(after.HeapAlloc)-int64(before.HeapAlloc) < 50e6)
	// Output: map[cats:500000 dogs:500000] true
}

// This example distinguishes errors by type.
func Example_errors() {
	texts, all := []string{"red green", "red blue", "salt sugar"}, []string{"all", "all", "all"}
	report := func(err error) {
		var memory *corpus.MemoryError
		switch {
		case errors.As(err, &memory):
			fmt.Println("needs more than", memory.LimitBytes, "bytes")
		case errors.Is(err, context.Canceled):
			fmt.Println("cancelled")
		default:
			fmt.Println(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	c := gram.Must(gram.FromTexts(ctx, texts, all, gram.ReadOptions{MinDF: 1}))
	_, err := gram.Gram(ctx, c, "", gram.Options{MemoryBytes: 1000})
	report(err)
	_, err = gram.Train(ctx, c, gram.TrainOptions{Kernel: "linear", C: 1})
	report(err)
	cancel()
	_, err = gram.Gram(ctx, c, "", gram.Options{})
	report(err)
	// Output:
	// needs more than 1000 bytes
	// gram: training requires documents of at least two classes, got 1 class
	// cancelled
}
