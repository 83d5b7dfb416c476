// Package search implements jobs that cross-validate kernels and parameters. A task evaluates a
// sequence of similar kernels on one fold. Training with each kernel warm-starts from the solutions
// of the previous kernels.
package search

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"

	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/cluster/jobs/machines"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/internal/learn/tune"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// Kind implements `gramcluster plan search`.
var Kind = job.Kind{
	Name: "search", Summary: "cross-validate kernels and parameters, one fold per task",
	DeclareFlags: declare,
	Open:         func(ctx context.Context, j *job.Job) (job.Worker, error) { return open(ctx, j) },
	Gather:       gather,
	Help: `
Needs documents with labels, and a store: a folder that all machines mount, or a bucket.

All combinations of the lists are cross-validated on the same folds. A task is one fold of kernels
that differ in one number, each from the solutions of the ones before, with all values of C, nu and
epsilon. gather -o FILE.json writes the rows of gram grid -json, without seconds.

Example:
  gramcluster plan search -store run -in train.tsv -kernel 'diffusion:t=1|2' -c 1,10 > tasks.jsonl
  gramcluster work -store run < tasks.jsonl
  gramcluster gather -store run -o scores.json`,
}

type spec struct {
	machines.Settings
	Values map[string][]string `json:"lists"` // values to search, by parameter name
	Folds  int                 `json:"folds"`
}

func (s *spec) evaluator(c *corpus.Corpus) (*svm.Evaluator, []tune.Candidate, error) {
	if err := job.CheckRange("-folds", s.Folds, 2, max(c.Documents.Rows(), 2)); err != nil {
		return nil, nil, err
	}
	settings, err := s.SolverSettings()
	if err == nil {
		settings, err = settings.Resolve()
	}
	if err != nil {
		return nil, nil, err
	}
	lists := map[string][]svm.Settings{}
	for _, name := range []string{"kernel", "scheme", "c", "nu", "epsilon"} {
		for _, text := range s.Values[name] {
			own := s.Settings
			own.Parameters = maps.Clone(own.Parameters)
			own.Parameters[name] = []string{text}
			at, err := own.SolverSettings()
			if err != nil {
				return nil, nil, err
			}
			lists[name] = append(lists[name], at)
		}
		if lists[name] == nil {
			lists[name] = []svm.Settings{settings}
		}
	}
	schemes := distinctValues(lists["scheme"], func(s svm.Settings) solver.Scheme { return s.Scheme })
	if len(schemes) > 1 && slices.Contains(schemes, solver.MultiLabel) {
		return nil, nil, errors.New("-scheme labels cannot be combined with other schemes")
	}
	all := tune.Combine(1, schemes,
		distinctValues(lists["kernel"], func(s svm.Settings) kernel.Kernel { return s.Kernel }),
		distinctValues(lists["nu"], func(s svm.Settings) float64 { return s.Nu }),
		distinctValues(lists["epsilon"], func(s svm.Settings) float64 { return s.Epsilon }),
		distinctValues(lists["c"], func(s svm.Settings) float64 { return s.C }))
	return &svm.Evaluator{Settings: settings, Division: tune.Division{Folds: s.Folds, Seed: s.Seed}}, all, nil
}

func (s *spec) tasks(c *corpus.Corpus) (*svm.Tasks, error) {
	v, all, err := s.evaluator(c)
	if err != nil {
		return nil, err
	}
	return svm.NewTasks(v, all, func(_ int, e sparse.Embedding) int { return len(corpus.Fit(e, c).Terms) }), nil
}

func distinctValues[T any](settings []svm.Settings, of func(svm.Settings) T) (out []T) {
	for _, s := range settings {
		out = append(out, of(s))
	}
	return out
}

type planner struct {
	machines.Flags
	folds int
}

func declare(f *flag.FlagSet) job.Planner {
	p := &planner{}
	p.Flags.Declare(f, true)
	f.IntVar(&p.folds, "folds", tune.DefaultFolds, "number of cross-validation folds `N`")
	return p
}

// Plan implements job.Planner.
func (p *planner) Plan(ctx context.Context, from *job.PlanArgs) (any, int, error) {
	if err := p.Resolve(from.Corpus); err != nil {
		return nil, 0, err
	}
	s := spec{p.Settings, p.Values, p.folds}
	tasks, err := s.tasks(from.Corpus)
	if err != nil {
		return nil, 0, err
	}
	o := &worker{host: from.Host, corpus: from.Corpus}
	_, e := tasks.ProblemOf(0) // any embedding, because labels and folds don't depend on the embedding
	problem, err := o.problem(ctx, e)
	if err == nil {
		err = tasks.Validate(problem)
	}
	return s, tasks.Len(), errors.Join(err, o.Close())
}

// worker runs tasks. It holds the job's documents and the problem for the current embedding.
type worker struct {
	spec
	host   *job.Host
	isa    string
	corpus *corpus.Corpus
	tasks  *svm.Tasks
	cached *svm.Problem
}

func open(ctx context.Context, j *job.Job) (*worker, error) {
	o := &worker{host: j.Host, isa: j.ISA}
	if err := j.DecodeSpec(&o.spec); err != nil {
		return nil, err
	}
	var err error
	if o.corpus, err = j.Host.Corpus(ctx, j.CorpusDigest); err != nil {
		return nil, err
	}
	if o.tasks, err = o.spec.tasks(o.corpus); err != nil {
		return nil, err
	}
	if o.tasks.Len() != j.NumTasks {
		return nil, fmt.Errorf("search: job must have %d tasks, got %d", o.tasks.Len(), j.NumTasks)
	}
	return o, nil
}

// problem returns the problem for embedding e. It reuses the current problem if the embedding is
// the same.
func (o *worker) problem(ctx context.Context, e sparse.Embedding) (_ *svm.Problem, err error) {
	if o.cached != nil && o.cached.Embedding() == e {
		return o.cached, nil
	}
	if err := o.Close(); err != nil {
		return nil, err
	}
	o.cached, err = machines.NewProblem(ctx, o.host, o.corpus, e, o.isa, false)
	return o.cached, err
}

// Run implements job.Worker.
func (o *worker) Run(ctx context.Context, task int) ([][]byte, error) {
	_, e := o.tasks.ProblemOf(task)
	p, err := o.problem(ctx, e)
	if err != nil {
		return nil, err
	}
	out, err := o.tasks.Run(ctx, p, task)
	if err != nil {
		return nil, err
	}
	b, err := encodeOutcome(out)
	return [][]byte{b}, err
}

// Close implements job.Worker.
func (o *worker) Close() error {
	if o.cached == nil {
		return nil
	}
	e := o.cached.Engine()
	o.cached = nil
	return e.Close()
}

func gather(ctx context.Context, j *job.Job, out *job.Output) (err error) {
	if out.Format != "" && out.Format != "json" {
		return fmt.Errorf("-to must be json, got %s", out.Format)
	}
	o, err := open(ctx, j)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	v, all, err := o.evaluator(o.corpus)
	if err != nil {
		return err
	}
	v.Problem = func(ctx context.Context, _ int, e sparse.Embedding) (*svm.Problem, error) { return o.problem(ctx, e) }
	v.Outcome = func(task int) (*svm.TaskOutcome, error) {
		b, err := j.Result(ctx, task, nil)
		if err != nil {
			return nil, err
		}
		found, err := decodeOutcome(b)
		if err != nil {
			return nil, fmt.Errorf("search: result of task %d: %w", task, err)
		}
		out.Progress(int64(task+1), int64(j.NumTasks))
		return found, nil
	}
	found, err := tune.Search(ctx, v, all, false, nil)
	if err != nil {
		return err
	}
	return out.WriteFile(newSearchReport(&o.spec, found, len(all)).write)
}
