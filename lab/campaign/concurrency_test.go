//go:build campaign

package campaign

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

var concurrencyPart = part{
	name: "concurrency", short: 8 * time.Second, long: 20 * time.Minute,
	about: "16 goroutines call an engine and a model at random, under the race detector, and cancel calls at random",
	prepare: func(t *trial) func(number int64) bool {
		program := filepath.Join(binaries, "calls.test")
		argv := []string{"go", "test", "-c", "-race", "-trimpath", "-vet=off", "-tags=campaign", "-o", program, "./campaign"}
		t.succeed(job{folder: filepath.Join(root, "lab"), argv: argv, env: []string{"CGO_ENABLED=1"}, within: time.Hour})
		return func(number int64) bool {
			argv := []string{program, "-test.run=^TestCalls$", fmt.Sprintf("-seed=%d", *seed), fmt.Sprintf("-case=%d", number)}
			r := t.start(job{folder: filepath.Join(root, "lab", "campaign"), argv: argv, within: 5 * time.Minute})
			t.count("calls", callers*calls)
			if r.status != 0 {
				t.find("%.3000s%s", r.stdout, r.said())
			}
			return true
		}
	},
}

const (
	callers = 16
	calls   = 30 // calls per caller and case

	kindsOfCalls = 7 * 4
)

type shared struct {
	x       *sparse.Embedded
	corpus  *corpus.Corpus
	engine  *engine.Engine
	model   *gram.Model
	kernels []kernel.Kernel
}

func newShared(t *testing.T) *shared {
	s := &shared{}
	source := "synthetic:docs=150,terms=400,length=30,classes=3"
	s.corpus = musttest.Get(gram.Read(t.Context(), source, gram.ReadOptions{}))(t)
	e := kernel.MustParse("diffusion").Embedding()
	s.x = musttest.Get(e.Fit(s.corpus.Documents).Transform(s.corpus.Documents))(t)
	s.engine = musttest.Get(engine.New(s.x, engine.Options{Workers: 3}))(t)
	for _, spec := range []string{"diffusion:t=0.5", "ngd", "bhattacharyya", "diffusion:t=8"} {
		s.kernels = append(s.kernels, kernel.MustParse(spec))
	}
	o := gram.TrainOptions{Kernel: "diffusion", C: 1, ChooseWork: -1}
	s.model = musttest.Get(gram.Train(t.Context(), s.corpus, o))(t)
	return s
}

// call makes a call that depends on number, and returns a digest of the call's result.
func (s *shared) call(ctx context.Context, number int) (uint64, error) {
	k := s.kernels[number%len(s.kernels)]
	n := s.engine.Len()
	var values []float32
	var text string
	switch number / len(s.kernels) % 7 {
	case 0:
		g, err := s.engine.Gram(ctx, k, nil)
		if err != nil {
			return 0, err
		}
		values = g.Data
	case 1:
		dst, err := s.engine.Rows(ctx, k, engine.Request{RowIndices: []int{number % n, 7, 50}}, nil)
		if err != nil {
			return 0, err
		}
		values = dst.Data
	case 2:
		return s.engine.Digest(ctx, k)
	case 3:
		near, err := s.engine.Neighbours(ctx, k, engine.NeighbourOptions{Count: 5})
		if err != nil {
			return 0, err
		}
		for i := range n {
			text += fmt.Sprint(near.List(i))
		}
	case 4:
		v, dst := mat.NewDense(n, 2, nil), mat.NewDense(n, 2, nil)
		for i := range n {
			v.Set(i, i%2, float64(i))
		}
		if err := s.engine.Multiply(ctx, k, nil, v, dst); err != nil {
			return 0, err
		}
		text = fmt.Sprint(dst.RawMatrix().Data)
	case 5:
		g, err := s.engine.Rows(ctx, k, engine.Request{TestDocuments: s.x}, nil)
		if err != nil {
			return 0, err
		}
		values = g.Data
	case 6:
		p, err := s.model.Predict(ctx, s.corpus)
		if err != nil {
			return 0, err
		}
		text = fmt.Sprint(p.Label(number%n), p.Scores)
	}
	h := fnv.New64()
	fmt.Fprint(h, values, text)
	return h.Sum64(), nil
}

// Concurrent calls return the same bits as sequential calls, can be cancelled, and leak no
// goroutines.
func TestCalls(t *testing.T) {
	s, number := newShared(t), max(*caseFlag, 0)
	want := make([]uint64, kindsOfCalls)
	for i := range want {
		want[i] = musttest.Get(s.call(t.Context(), i))(t)
	}
	before := runtime.NumGoroutine()
	var all sync.WaitGroup
	for c := range int64(callers) {
		all.Go(func() {
			r := generator(number*callers + c)
			for range calls {
				i, cancels := r.IntN(kindsOfCalls), r.IntN(3) == 0
				ctx, cancel := context.WithCancel(t.Context())
				if cancels {
					after := time.AfterFunc(time.Duration(r.Int64N(int64(5*time.Millisecond))), cancel)
					defer after.Stop()
				}
				got, err := s.call(ctx, i)
				cancel()
				switch {
				case cancels && errors.Is(err, context.Canceled):
				case err != nil:
					t.Errorf("call %d: %v", i, err)
				case got != want[i]:
					t.Errorf("call %d gives other bits among others than alone", i)
				}
			}
		})
	}
	all.Wait()
	musttest.NoError(t, errors.Join(s.model.Close(), s.engine.Close()))
	for try := 0; runtime.NumGoroutine() > before && try < 1000; try++ { // goroutines that return may not have ended yet
		time.Sleep(10 * time.Millisecond)
	}
	if after := runtime.NumGoroutine(); after > before {
		stacks := make([]byte, 1<<16)
		t.Errorf("%d goroutines, before %d: %s", after, before, stacks[:runtime.Stack(stacks, true)])
	}
}
