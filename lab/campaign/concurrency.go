package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/sparse"
)

var concurrencyPart = part{
	name: "concurrency", short: 8 * time.Second, long: 20 * time.Minute, prepare: prepareConcurrency,
	about: "16 goroutines call one engine and one model at random under the race detector, and cancel at random",
}

const (
	callers = 16
	calls   = 30 // of each caller in a case
)

func init() { children["calls"] = callsChild }

// prepareConcurrency makes cases of a process each, built with the race detector.
func prepareConcurrency(ctx context.Context, t *trial) (func(ctx context.Context, number int64) error, error) {
	self, err := t.build(ctx, "lab", "./campaign", "-race")
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, number int64) error {
		argv := []string{self, "child", "calls", fmt.Sprint(t.seed), fmt.Sprint(number)}
		t.count("processes", 1)
		return t.child(ctx, t.scratch, argv, func() string { return fmt.Sprint(callers, " callers") })
	}, nil
}

// shared is what all callers use, and what each call gave when nobody else called.
type shared struct {
	x, test *sparse.Embedded
	corpus  *corpus.Corpus
	engine  *engine.Engine
	model   *gram.Model
	kernels []kernel.Kernel
}

func newShared(ctx context.Context) (*shared, error) {
	s := &shared{}
	var err error
	if s.corpus, err = gram.Read(ctx, "synthetic:docs=150,terms=400,length=30,classes=3", gram.ReadOptions{}); err != nil {
		return nil, err
	}
	e := kernel.MustParse("diffusion").Embedding()
	if s.x, err = e.Fit(s.corpus.Documents).Transform(s.corpus.Documents); err != nil {
		return nil, err
	}
	s.test = s.x
	if s.engine, err = engine.New(s.x, engine.Options{Workers: 3}); err != nil {
		return nil, err
	}
	for _, spec := range []string{"diffusion:t=0.5", "ngd", "bhattacharyya", "diffusion:t=8"} {
		s.kernels = append(s.kernels, kernel.MustParse(spec))
	}
	s.model, err = gram.Train(ctx, s.corpus, gram.TrainOptions{Kernel: "diffusion", C: 1, ChooseWork: -1})
	return s, err
}

// call makes a call by its number, and returns a digest of what it gives.
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
		dst, err := s.engine.Rows(ctx, k, engine.Request{Documents: []int{number % n, 7, 50}}, nil)
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
			text += fmt.Sprint(near.Of(i))
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
		g, err := s.engine.Rows(ctx, k, engine.Request{Test: s.test}, nil)
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
	return sum(fmt.Appendf(nil, "%v %s", values, text)), nil
}

const kindsOfCalls = 7 * 4

func callsChild(ctx context.Context, args []string) error {
	seed, err1 := strconv.ParseUint(args[0], 10, 64)
	number, err2 := strconv.ParseUint(args[1], 10, 64)
	s, err3 := newShared(ctx)
	if err := errors.Join(err1, err2, err3); err != nil {
		return err
	}
	want := make([]uint64, kindsOfCalls)
	for i := range want {
		var err error
		if want[i], err = s.call(ctx, i); err != nil {
			return err
		}
	}
	before := runtime.NumGoroutine()
	res := &result{}
	var lock sync.Mutex
	var all sync.WaitGroup
	for c := range callers {
		all.Go(func() {
			r := rand.New(rand.NewPCG(seed, number*callers+uint64(c)))
			for range calls {
				i, cancels := r.IntN(kindsOfCalls), r.IntN(3) == 0
				ctx, cancel := context.WithCancel(ctx)
				if cancels {
					after := time.AfterFunc(time.Duration(r.Int64N(int64(5*time.Millisecond))), cancel)
					defer after.Stop()
				}
				got, err := s.call(ctx, i)
				cancel()
				lock.Lock()
				res.count("calls", 1)
				switch {
				case cancels && errors.Is(err, context.Canceled):
					res.count("calls that were cancelled", 1)
				case err != nil:
					res.find("call %d: %v", i, err)
				case got != want[i]:
					res.find("call %d gives other bits among others than alone", i)
				}
				lock.Unlock()
			}
		})
	}
	all.Wait()
	if err := errors.Join(s.model.Close(), s.engine.Close()); err != nil {
		res.find("%v", err)
	}
	for try := 0; runtime.NumGoroutine() > before && try < 1000; try++ { // those that ended may not have gone yet
		time.Sleep(10 * time.Millisecond)
	}
	if after := runtime.NumGoroutine(); after > before {
		stacks := make([]byte, 1<<16)
		res.find("%d goroutines, before %d: %s", after, before, stacks[:runtime.Stack(stacks, true)])
	}
	slices.Sort(res.Findings)
	text, err := json.Marshal(res)
	fmt.Println(string(text))
	return err
}
