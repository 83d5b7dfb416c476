package landmark

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn/tune"
	"github.com/gramengine/gram/internal/run"
)

// Growth is a step of [Grow].
type Growth struct {
	Landmarks int
	Right     float64 // share of correct decisions in validation: by document, or by document and label
	Gain      float64 // increase of Right in this step
	Error     float64 // standard error of the gain
	Seconds   float64
	Stop      string // limit that ended the search; "" if none did
}

// String summarises the step.
func (g Growth) String() string {
	text := fmt.Sprintf("%d landmarks: %.2f%%, %.1f s", g.Landmarks, 100*g.Right, g.Seconds)
	if g.Landmarks > firstLandmarks {
		text += fmt.Sprintf(", gain %.2f ± %.2f", 100*g.Gain, 100*g.Error)
	}
	if g.Stop != "" {
		text += "; " + g.Stop
	}
	return text
}

// Validation uses about a tenth of the documents, or about maxHeld if that is less.
const (
	firstLandmarks = 256
	growParts      = 10
	maxHeld        = 10000
)

// Grow trains with 256, 512, … landmarks and validates each model on held-out documents. It stops
// when the gain is at most its standard error, when all documents or Settings.Landmarks (0 for no
// limit) are reached, when memory is short, or when the next step and the final training would
// exceed a limit. Then it trains on all documents with the best number of landmarks. It calls told,
// if not nil, after each step.
//
// The limits, 0 for none, are on multiply-adds (work), predicted from the previous step's passes,
// and on time: a step takes at most four times as long as the previous one.
//
// Grow fails if there are fewer than 20 documents, or if [Train] fails. Without a time limit,
// results are bit-identical for any number of workers.
func Grow(
	ctx context.Context, c *corpus.Corpus, s Settings, opt Options, work float64, limit time.Duration, told func(Growth),
) (*Model, []Growth, error) {
	most := s.Landmarks
	if most == 0 {
		most = MostLandmarks
	}
	if limit < 0 || !(work >= 0) {
		return nil, nil, fmt.Errorf("landmark: a time of %v and %v multiply-adds, expected at least 0", limit, work)
	}
	begin := time.Now()
	s.Landmarks = firstLandmarks
	all, err := newTraining(ctx, c, s, nil, nil, opt)
	if err != nil {
		return nil, nil, err
	}
	if len(all.rows) < 2*growParts {
		return nil, nil, fmt.Errorf("landmark: %d documents of %s, expected at least %d to choose the number of landmarks by",
			len(all.rows), c.Source, 2*growParts)
	}
	train, held := all.divide()
	all.x = nil
	best, steps, spent := min(firstLandmarks, most), []Growth(nil), 0.0
	var before []float64
	for m := best; ; m = min(2*m, most) {
		step := time.Now()
		s.Landmarks = m
		right, passes, err := validate(ctx, c, s, opt, train, held)
		if short := (*run.MemoryError)(nil); errors.As(err, &short) && short.Enough && len(steps) > 0 {
			break
		}
		if err != nil {
			return nil, steps, err
		}
		g := Growth{Landmarks: min(m, len(train)), Seconds: time.Since(step).Seconds()}
		for i, r := range right {
			g.Right += r / float64(len(right))
			if before != nil {
				g.Gain += (r - before[i]) / float64(len(right))
			}
		}
		if before != nil {
			for i, r := range right {
				d := r - before[i] - g.Gain
				g.Error += d * d
			}
			g.Error = math.Sqrt(g.Error) / float64(len(right))
		}
		spent += all.work(m, passes)
		if need := spent + 2*all.work(min(2*m, most), passes); work > 0 && need > work {
			g.Stop = fmt.Sprintf("%.2g multiply-adds to go on, bound %.2g", need, work)
		}
		steps = append(steps, g)
		if err := run.Guard("landmark: told", func() error {
			if told != nil {
				told(g)
			}
			return nil
		}); err != nil {
			return nil, steps, err
		}
		if before != nil && !(g.Gain > g.Error) {
			break
		}
		best, before = m, right
		last := time.Since(step)
		if m >= len(train) || m >= most || g.Stop != "" || limit > 0 && time.Since(begin)+2*4*last > limit {
			break
		}
	}
	s.Landmarks = best
	m, err := Train(ctx, c, s, opt)
	return m, steps, err
}

// work predicts the multiply-adds of training m landmarks: kernel values once (recomputing is
// faster than the products), the products of all passes, and two factors.
func (t *training) work(m, passes int) float64 {
	n, p, k := float64(len(t.rows)), float64(t.machines()), min(float64(m), float64(len(t.rows)))
	values := float64(t.c.Documents.NNZ()) / float64(t.c.Documents.Rows())
	return n*k*values + k*k*k/2 + float64(passes)*2*k*p*(n+k)
}

// divide returns the rows for training and for validation, with the same share of each class.
func (t *training) divide() (train, held []int) {
	strata := make([]int, len(t.rows))
	for at, i := range t.rows {
		if strata[at] = len(t.c.Classes); len(t.c.Labels.Of(i)) > 0 {
			strata[at] = int(t.c.Labels.Of(i)[0])
		}
	}
	train, held = tune.HoldOut(strata, run.Pick(t.c.Groups, t.rows), max(growParts, len(t.rows)/maxHeld), t.s.Seed)
	return run.Pick(t.rows, train), run.Pick(t.rows, held)
}

// validate trains on train. It returns the share correct for each of held, and the passes.
func validate(
	ctx context.Context, c *corpus.Corpus, s Settings, opt Options, train, held []int,
) (right []float64, passes int, err error) {
	models, err := trainPath(ctx, c, s, nil, train, opt)
	if err != nil {
		return nil, 0, err
	}
	p, err := models[0].Predict(ctx, c.Documents.SelectRows(held), opt)
	if err != nil {
		return nil, 0, err
	}
	for i, row := range held {
		own, r := c.Labels.Of(row), 0.0
		if p.Labels == nil {
			if slices.Contains(own, int32(p.Class[i])) {
				r = 1
			}
		} else {
			for k := range c.Classes {
				if slices.Contains(own, int32(k)) == slices.Contains(p.Labels[i], k) {
					r += 1 / float64(len(c.Classes))
				}
			}
		}
		right = append(right, r)
	}
	return right, models[0].Passes, nil
}
