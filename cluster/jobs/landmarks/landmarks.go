// Package landmarks implements jobs that train a landmark model. Training takes several passes over
// the documents, with one job per pass. A task returns the sums over several blocks of documents. A
// driver plans one pass after another, because each pass depends on the sums of earlier passes. A
// restarted driver recognises completed passes by the digests of the requests.
package landmarks

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/cluster/jobs/machines"
	"github.com/gramengine/gram/internal/learn/landmark"
	"github.com/gramengine/gram/internal/params"
	"github.com/gramengine/gram/internal/run"
)

// Kind implements `gramcluster drive landmarks`.
var Kind = job.Kind{
	Name: "landmarks", Summary: "train a landmark model, with one job per pass over the documents",
	DeclareFlags: declare,
	Open:         open,
	Gather:       gather,
	Help: `
Needs documents with labels, a store, and a COMMAND that has task lines done by other machines.

Trains as gram train -type landmark:m=M does, and writes the same model, to the byte. Each pass over
the documents is a job, whose task lines COMMAND reads on standard input, with the store in
$GRAM_STORE and the job in $GRAM_JOB; without -with they are done here. cluster/spark/drive.py does
them on Spark. COMMAND gets failed tasks twice more. If killed, the same command goes on from there.

Example:
  gramcluster drive landmarks -store run -in mail/ -landmarks 256 -loss logistic -c 10 \
    -o mail.model -with 'gramcluster work -store "$GRAM_STORE"'`,
}

type spec struct {
	Settings      landmark.Settings `json:"settings"`
	RequestDigest string            `json:"request"`
}

const defaultTasks = 64

type planner struct {
	s         landmark.Settings
	embedding string
	tasks     int
}

func declare(f *flag.FlagSet) job.Planner {
	p := &planner{}
	for _, q := range []struct{ flag, name, usage string }{
		{"landmarks", "m", "train on `M` landmarks"},
		{"loss", "loss", "`LOSS`: square, logistic (with probabilities) or hinge2"},
		{"kernel", "kernel", "train with the kernel `SPEC`; see gram kernels"},
		{"c", "c", "regularization parameter `C`"},
		{"scheme", "scheme", "`SCHEME`: one-vs-rest, or labels (one binary classifier per label)"},
		{"tolerance", "tolerance", "stop when the gradient norm falls below `NUMBER` times the initial norm"},
		{"passes", "passes", "maximum number of passes `N`"},
	} {
		if text := params.Default(&p.s, q.name); text != "" {
			q.usage += " (default " + text + ")"
		}
		f.Func(q.flag, q.usage, func(text string) error { return params.Set(&p.s, q.name, text) })
	}
	f.StringVar(&p.embedding, "embed", "", "embed documents as `EMBEDDING` (default: from the kernel)")
	f.Uint64Var(&p.s.Seed, "seed", 1, "`SEED` for choosing the landmarks")
	f.IntVar(&p.tasks, "tasks", defaultTasks, "maximum number `N` of tasks per pass")
	return p
}

// Plan implements job.Planner. It only checks flags and labels, because Drive plans the passes.
func (p *planner) Plan(_ context.Context, from *job.PlanArgs) (any, int, error) {
	if _, err := p.settings(); err != nil {
		return nil, 0, err
	}
	return nil, 0, machines.CheckLabelled(from.Corpus)
}

func (p *planner) settings() (landmark.Settings, error) {
	s := p.s
	if p.tasks < 1 {
		return s, fmt.Errorf("-tasks must be positive, got %d", p.tasks)
	}
	if err := params.Resolve(&s); err != nil {
		return s, err
	}
	k, err := job.ParseKernel(s.Kernel, p.embedding)
	if err != nil {
		return s, err
	}
	s.Kernel = k.String()
	return s, s.Validate()
}

// Drive implements job.Driver.
func (p *planner) Drive(ctx context.Context, d *job.DriveArgs) error {
	s, err := p.settings()
	if err != nil {
		return err
	}
	m, err := landmark.Train(ctx, d.Corpus, s, landmark.Options{
		ISA: d.ISA, Workers: d.Host.Workers, MemoryBytes: d.Host.FreeMemory(d.Corpus),
		RunPass: func(ctx context.Context, q *landmark.Request, add func(int, *landmark.Sums) error) error {
			return p.runPass(ctx, d, s, q, add)
		},
	})
	if err != nil {
		return err
	}
	return d.Output.WriteFile(func(w io.Writer) error { return m.Write(ctx, w) })
}

// maxAttempts is the maximum number of attempts to get an undamaged result of a task.
const maxAttempts = 3

// runPass runs the pass for request q as a job, and calls add with the sums of each block.
func (p *planner) runPass(
	ctx context.Context, d *job.DriveArgs, s landmark.Settings, q *landmark.Request, add func(int, *landmark.Sums) error,
) error {
	text, err := json.Marshal(q)
	if err != nil {
		return fmt.Errorf("landmarks: %w", err)
	}
	digest := job.Digest(text)
	if _, err := d.Host.Store.Put(ctx, job.FilePrefix+digest, text); err != nil {
		return err
	}
	of := job.Description{Version: job.Version, Kind: Kind.Name, CorpusDigest: d.CorpusDigest, ISA: d.ISA,
		NumTasks: min(p.tasks, q.NumBlocks())}
	if err := of.SetSpec(spec{s, digest}); err != nil {
		return err
	}
	j, err := d.Host.Save(ctx, of)
	if err != nil {
		return err
	}
	if err := d.RunJob(ctx, j); err != nil {
		return err
	}
	for t := range j.NumTasks {
		b, err := j.Result(ctx, t, nil)
		for again := 1; job.IsMissing(err) && again < maxAttempts; again++ {
			if err = d.RunJob(ctx, j); err == nil {
				b, err = j.Result(ctx, t, nil)
			}
		}
		if err != nil {
			return err
		}
		first, end := blockRange(q, j.NumTasks, t)
		sums, err := decodeSums(b, q, first, end)
		if err != nil {
			return fmt.Errorf("landmarks: result of task %d of job %.12s: %w", t, j.Digest, err)
		}
		for i, s := range sums {
			if err := add(first+i, s); err != nil {
				return err
			}
		}
	}
	return nil
}

func blockRange(q *landmark.Request, tasks, task int) (first, end int) {
	return task * q.NumBlocks() / tasks, (task + 1) * q.NumBlocks() / tasks
}

type worker struct {
	job     *job.Job
	request *landmark.Request
	pass    *landmark.PassWorker
}

func open(ctx context.Context, j *job.Job) (job.Worker, error) {
	var s spec
	if err := j.DecodeSpec(&s); err != nil {
		return nil, err
	}
	text, err := j.Host.File(ctx, s.RequestDigest)
	if err != nil {
		return nil, err
	}
	o := &worker{job: j}
	if o.request, err = parseRequest(text); err != nil {
		return nil, err
	}
	if j.NumTasks < 1 || j.NumTasks > o.request.NumBlocks() {
		return nil, fmt.Errorf("landmarks: number of tasks must be between 1 and %d, got %d", o.request.NumBlocks(),
			j.NumTasks)
	}
	c, err := j.Host.Corpus(ctx, j.CorpusDigest)
	if err != nil {
		return nil, err
	}
	o.pass, err = landmark.NewPassWorker(ctx, c, s.Settings, o.request, landmark.Options{
		ISA: j.ISA, Workers: j.Host.Workers, MemoryBytes: j.Host.FreeMemory(c),
	})
	if err != nil {
		return nil, err
	}
	return o, nil
}

// Run implements job.Worker. Blocks are computed concurrently and returned in order.
func (o *worker) Run(ctx context.Context, task int) ([][]byte, error) {
	first, end := blockRange(o.request, o.job.NumTasks, task)
	parts := make([][]byte, end-first)
	err := run.Tasks(ctx, max(o.job.Host.Workers, 1), end-first, func(ctx context.Context, _, i int) error {
		s, err := o.pass.BlockSums(ctx, first+i)
		if err == nil {
			parts[i] = encodeSums(s)
		}
		return err
	})
	return parts, err
}

// Close implements job.Worker.
func (o *worker) Close() error { return o.pass.Close() }

func gather(context.Context, *job.Job, *job.Output) error {
	return errors.New("landmarks: a job computes only one pass; use gramcluster drive landmarks to train a model")
}
