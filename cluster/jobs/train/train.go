// Package train implements jobs that train a support vector machine. A task trains several binary
// classifiers, for example one-vs-one classifiers, and gather assembles the model. Tuned thresholds
// and probabilities depend on all binary classifiers, so they need a single task.
package train

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"

	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/cluster/jobs/machines"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/solver"
)

// Kind implements `gramcluster plan train`.
var Kind = job.Kind{
	Name: "train", Summary: "train a support vector machine, several binary classifiers per task",
	DeclareFlags: declare,
	Open:         func(ctx context.Context, j *job.Job) (job.Worker, error) { return open(ctx, j) },
	Gather:       gather,
	Help: `
Needs documents with labels, and a store: a folder that all machines mount, or a bucket.

A task trains machines of pairs of classes that share documents, and computes their rows alone.
One-vs-rest, thresholds, probabilities, regression and one_class are one task as a rule. Kernel and
C aren't chosen: plan search compares them. gather writes gram train's model, to the byte.

Example:
  gramcluster plan train -store run -in mail/ -kernel diffusion:t=0.3 -c 10 > tasks.jsonl
  gramcluster work -store run < tasks.jsonl
  gramcluster gather -store run -o mail.model`,
}

const defaultTasks = 64

// spec holds the settings in Description.Spec. It lists the binary classifiers of each task,
// because the division into tasks depends on the memory of the planning host.
type spec struct {
	machines.Settings
	Classifiers [][]int `json:"machines"`
}

type planner struct {
	machines.Flags
	tasks int
}

func declare(f *flag.FlagSet) job.Planner {
	p := &planner{}
	p.Flags.Declare(f, false)
	f.IntVar(&p.tasks, "tasks", defaultTasks, "maximum number of tasks `N` that share the binary classifiers")
	return p
}

// Plan implements job.Planner.
func (p *planner) Plan(ctx context.Context, from *job.PlanArgs) (any, int, error) {
	if err := p.Resolve(from.Corpus); err != nil {
		return nil, 0, err
	}
	if p.tasks < 1 {
		return nil, 0, fmt.Errorf("-tasks must be positive, got %d", p.tasks)
	}
	settings, err := settingsOf(&p.Settings)
	if err != nil {
		return nil, 0, err
	}
	problem, err := machines.NewProblem(ctx, from.Host, from.Corpus, settings.Kernel.Embedding(), "", true,
		svm.PlannedRun{Settings: settings})
	if err != nil {
		return nil, 0, err
	}
	groups, err := problem.ClassifierGroups(settings)
	if err != nil {
		return nil, 0, errors.Join(err, problem.Engine().Close())
	}
	s := spec{Settings: p.Settings}
	n, tasks := len(groups), min(p.tasks, len(groups))
	for t := range tasks { // a task gets consecutive groups, because consecutive groups share documents
		s.Classifiers = append(s.Classifiers, slices.Concat(groups[t*n/tasks:(t+1)*n/tasks]...))
	}
	return s, tasks, problem.Engine().Close()
}

// settingsOf returns the solver's settings. With scheme labels, binary classifiers are trained
// independently, so that results don't depend on the worker's memory. gram trains classifiers
// independently only if the matrix fits into memory.
func settingsOf(s *machines.Settings) (svm.Settings, error) {
	out, err := s.SolverSettings()
	out.IndependentLabels = true
	return out, err
}

type worker struct {
	problem     *svm.Problem
	settings    svm.Settings
	classifiers [][]int // indices of binary classifiers, by task
}

func open(ctx context.Context, j *job.Job) (o *worker, err error) {
	var s spec
	if err := j.DecodeSpec(&s); err != nil {
		return nil, err
	}
	if len(s.Classifiers) != j.NumTasks {
		return nil, fmt.Errorf("train: job must have %d tasks, got %d", len(s.Classifiers), j.NumTasks)
	}
	o = &worker{classifiers: s.Classifiers}
	if o.settings, err = settingsOf(&s.Settings); err != nil {
		return nil, err
	}
	c, err := j.Host.Corpus(ctx, j.CorpusDigest)
	if err != nil {
		return nil, err
	}
	o.problem, err = machines.NewProblem(ctx, j.Host, c, o.settings.Kernel.Embedding(), j.ISA, true,
		svm.PlannedRun{Settings: o.settings})
	if err != nil {
		return nil, err
	}
	for _, i := range slices.Concat(s.Classifiers...) {
		if err := job.CheckRange("train: decision function", i, 0, o.numClassifiers()-1); err != nil {
			return nil, errors.Join(err, o.Close())
		}
	}
	return o, nil
}

func (o *worker) numClassifiers() int {
	k := len(o.problem.Classes())
	switch {
	case !o.settings.Type.Classifies():
		return 1
	case o.settings.Scheme == solver.OneVsOne:
		return k * (k - 1) / 2
	}
	return k
}

// Run implements job.Worker.
func (o *worker) Run(ctx context.Context, task int) ([][]byte, error) {
	c, err := o.problem.TrainClassifiers(ctx, o.settings, o.classifiers[task])
	if err != nil {
		return nil, err
	}
	b, err := encodeFunctions(c)
	return [][]byte{b}, err
}

// Close implements job.Worker.
func (o *worker) Close() error { return o.problem.Engine().Close() }

func gather(ctx context.Context, j *job.Job, out *job.Output) (err error) {
	if out.Format != "" && out.Format != "gram" {
		return fmt.Errorf("-to must be gram, got %s", out.Format)
	}
	o, err := open(ctx, j)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, o.Close()) }()
	var parts []*solver.Classifier
	err = j.EachResult(ctx, out, func(_ int, b []byte) error {
		part, err := decodeFunctions(b, o.numClassifiers())
		parts = append(parts, part)
		return err
	})
	if err != nil {
		return err
	}
	m, report, err := o.problem.Assemble(o.settings, parts)
	if err != nil {
		return err
	}
	for _, warning := range report.Warnings {
		out.Logf("%s", warning)
	}
	return out.WriteFile(func(w io.Writer) error { return m.Write(ctx, w) })
}
