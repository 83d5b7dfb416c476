package lebanon

import (
	"context"

	"github.com/gramengine/gram/internal/learn/logistic"
	"github.com/gramengine/gram/internal/run"
	"github.com/gramengine/gram/lab/internal/repro"
)

// result is what a method gives for a task, by split, by size.
type result struct {
	Wrong [][]int     // documents of the test set
	C     [][]float64 // that the folds chose

	Trainings int64
}

// measure goes through corpora, methods and tasks.
func (p *protocol) measure(ctx context.Context, r *repro.Run, corpora []*dataset, report *repro.Report) error {
	total, done := 0, 0
	for _, c := range corpora {
		total += len(c.tasks) * len(methods) * p.splits
	}
	for _, c := range corpora {
		for _, m := range methods {
			docs, err := c.embed(ctx, m.embedding, r.Threads())
			if err != nil {
				return err
			}
			for _, t := range c.tasks {
				count := r.Counter("figure 4", int64(done), int64(total))
				found, err := p.task(ctx, r, docs, t, m, count)
				if err != nil {
					return err
				}
				t.results[m.name] = found
				report.Trainings += found.Trainings
				done += p.splits
			}
		}
	}
	return nil
}

// task measures a method on all splits of a task, in parallel.
func (p *protocol) task(
	ctx context.Context, r *repro.Run, docs *logistic.Documents, t *task, m method, count func(),
) (*result, error) {
	out := &result{Wrong: make([][]int, p.splits), C: make([][]float64, p.splits)}
	trainings := make([]int64, p.splits)
	err := run.Tasks(ctx, r.Threads(), p.splits, func(ctx context.Context, _, n int) error {
		s := t.split(r.Seed, n)
		test := s.test(p.sizes[len(p.sizes)-1])
		for _, size := range p.sizes {
			train := s.train(size)
			price, fits, err := p.choose(ctx, docs, t, m, train)
			if err != nil {
				return err
			}
			machines, err := p.fit(ctx, docs, t, m, train, []float64{price})
			if err != nil {
				return err
			}
			trainings[n] += fits + 1
			wrong, err := t.wrong(machines[0], docs, test, p.settings(m))
			if err != nil {
				return err
			}
			out.Wrong[n], out.C[n] = append(out.Wrong[n], wrong), append(out.C[n], price)
		}
		count()
		return nil
	})
	for _, n := range trainings {
		out.Trainings += n
	}
	return out, err
}

// choose returns the C with the fewest wrong decisions on held-out folds, the least of equals.
func (p *protocol) choose(
	ctx context.Context, docs *logistic.Documents, t *task, m method, train []int,
) (price float64, fits int64, err error) {
	wrong := make([]int, len(p.c))
	for fold := range p.folds {
		var rest, held []int
		for i, doc := range train { // of each class every third, say, since the classes stand apart
			if i%p.folds == fold {
				held = append(held, doc)
			} else {
				rest = append(rest, doc)
			}
		}
		machines, err := p.fit(ctx, docs, t, m, rest, p.c)
		if err != nil {
			return 0, 0, err
		}
		for c, machine := range machines {
			n, err := t.wrong(machine, docs, held, p.settings(m))
			if err != nil {
				return 0, 0, err
			}
			wrong[c] += n
		}
		fits += int64(len(machines))
	}
	best := 0
	for c, n := range wrong {
		if n < wrong[best] {
			best = c
		}
	}
	return p.c[best], fits, nil
}

// fit trains on some documents, for each C of prices.
func (p *protocol) fit(
	ctx context.Context, docs *logistic.Documents, t *task, m method, rows []int, prices []float64,
) ([]*logistic.Machine, error) {
	problem := docs.Problem(rows)
	positive := make([]bool, len(rows))
	for i, doc := range rows {
		positive[i] = t.positive[doc]
	}
	return problem.Train(ctx, positive, prices, p.settings(m), logistic.Options{Workers: 1})
}

// wrong counts the wrong decisions on some documents.
func (t *task) wrong(m *logistic.Machine, docs *logistic.Documents, rows []int, s logistic.Settings) (int, error) {
	values, err := m.Decisions(docs, rows, s)
	if err != nil {
		return 0, err
	}
	n := 0
	for i, doc := range rows {
		if (values[i] > 0) != t.positive[doc] {
			n++
		}
	}
	return n, nil
}
