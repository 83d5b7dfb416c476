// Package duplicates is the kind of job that finds groups of documents that are nearly the same, exactly: a task
// is two ranges of documents, and finds the groups among these. Each pair is in a task, so the groups of all
// tasks together connect what all pairs do.
package duplicates

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/cluster/jobs/blocks"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/sparse"
)

// Kind is the kind of job.
var Kind = job.Kind{
	Name: "duplicates", Summary: "groups of documents that are nearly the same",
	Declare: declare,
	Open:    func(ctx context.Context, j *job.Job) (job.Worker, error) { return open(ctx, j) },
	Gather:  gather,
	Help: `
Needs documents, and a store: a folder that all machines mount, or a bucket.

A task finds the groups among two ranges of -block documents each; gather connects them. gather -o
FILE.tsv writes what grambench duplicates -o FILE.tsv does, to the byte: number of the group,
document, and keep or drop on a line.

Example:
  gramcluster plan duplicates -store run -in mail/ -within 0.02 > tasks.jsonl
  gramcluster work -store run < tasks.jsonl
  gramcluster gather -store run -o groups.tsv`,
}

// spec is what a description says.
type spec struct {
	Embedding string  `json:"embedding"`
	Within    float64 `json:"within"`
	blocks.Half
}

type planner struct {
	embedding string
	within    float64
	block     int
}

func declare(f *flag.FlagSet) job.Planner {
	p := &planner{}
	f.Float64Var(&p.within, "within", 0.02, "pairs of c = 1 - cosine of at most `C` are duplicates")
	f.StringVar(&p.embedding, "embed", sparse.Sphere.String(), "compare documents embedded as `EMBEDDING`")
	f.IntVar(&p.block, "block", 131072, "a task is two ranges of `N` documents")
	return p
}

// Reading implements job.Reader: without the words of one document, different ones would be the same.
func (p *planner) Reading(_ context.Context, opt *sparse.Options) error {
	if opt.MinDF == 0 {
		opt.MinDF = 1
	}
	return nil
}

// Plan implements job.Planner.
func (p *planner) Plan(_ context.Context, from *job.Planning) (any, int, error) {
	if from.Corpus == nil {
		return nil, 0, errors.New("no documents, expected -in SOURCE")
	}
	s := spec{p.embedding, p.within, blocks.Half{Rows: from.Corpus.Documents.Rows(), Block: p.block}}
	_, err := s.validate()
	return s, s.Tasks(), err
}

// validate checks what a description says.
func (s *spec) validate() (sparse.Embedding, error) {
	e, err := sparse.ParseEmbedding(s.Embedding)
	if err == nil && !(s.Within >= 0 && s.Within < 1) {
		err = fmt.Errorf("-within %v, expected from 0 to below 1", s.Within)
	}
	if err == nil {
		err = s.Validate()
	}
	return e, err
}

// opened is a job with its documents, to be embedded.
type opened struct {
	spec
	job      *job.Job
	corpus   *sparse.Corpus
	embedder *sparse.Embedder
}

func open(ctx context.Context, j *job.Job) (*opened, error) {
	o := &opened{job: j}
	if err := j.DecodeSpec(&o.spec); err != nil {
		return nil, err
	}
	e, err := o.validate()
	if err != nil {
		return nil, fmt.Errorf("duplicates: %w", err)
	}
	if o.corpus, err = j.Host.Corpus(ctx, j.Corpus); err != nil {
		return nil, err
	}
	if err := o.Check("duplicates", j.Tasks, o.corpus.Documents.Rows()); err != nil {
		return nil, err
	}
	o.embedder = e.Fit(o.corpus.Documents)
	return o, nil
}

// Close implements job.Worker.
func (o *opened) Close() error { return nil }

// documents returns the numbers of a task's documents.
func (o *opened) documents(task int) []int {
	i, j := blocks.Place(task)
	all := appendSpan(nil, o.Span(j))
	if i != j {
		all = appendSpan(all, o.Span(i))
	}
	return all
}

func appendSpan(all []int, span [2]int) []int {
	for i := span[0]; i < span[1]; i++ {
		all = append(all, i)
	}
	return all
}

// Do implements job.Worker. A result is the groups: of each the number of its documents, then these, 32 bits
// each, little-endian.
func (o *opened) Do(ctx context.Context, task int) ([][]byte, error) {
	documents, h, m := o.documents(task), o.job.Host, o.corpus.Documents
	var values int64
	for _, i := range documents {
		values += m.Offsets[i+1] - m.Offsets[i]
	}
	n := len(documents)
	if err := h.Fits(o.corpus, engine.NewBytes(n, o.embedder.Cols(), values+int64(n))+engine.GroupsBytes(n, m.Cols),
		"the pairs of %d documents", n); err != nil {
		return nil, err
	}
	x, err := o.embedder.TransformRows(ctx, m, documents, h.Workers)
	if err != nil {
		return nil, fmt.Errorf("embedding %s: %w", o.Embedding, err)
	}
	within, err := engine.GroupsWithin(ctx, x, o.Within, engine.Options{
		ISA: o.job.ISA, Workers: h.Workers, MemoryBytes: h.Left(o.corpus), Texts: o.corpus.Vocabulary != nil,
	})
	if err != nil {
		return nil, err
	}
	var b []byte
	for _, group := range within.Groups {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(group)))
		for _, i := range group {
			b = binary.LittleEndian.AppendUint32(b, uint32(documents[i]))
		}
	}
	return [][]byte{b}, nil
}

// connect joins the groups of a result, which are all of b, of n documents.
func connect(groups *engine.Groups, b []byte, n int) error {
	next := func() (v uint32) {
		v, b = binary.LittleEndian.Uint32(b), b[4:]
		return v
	}
	for len(b) >= 4 {
		count := next()
		if count < 2 || int64(count) > int64(len(b)/4) {
			return fmt.Errorf("a group of %d documents, expected 2 to %d", count, len(b)/4)
		}
		first := -1
		for range count {
			i := next()
			switch {
			case int64(i) >= int64(n):
				return fmt.Errorf("document %d, expected below %d", i, n)
			case first < 0:
				first = int(i)
			default:
				groups.Join(first, int(i))
			}
		}
	}
	if len(b) > 0 {
		return fmt.Errorf("%d bytes after its groups", len(b))
	}
	return nil
}

func gather(ctx context.Context, j *job.Job, out *job.Output) error {
	if out.To != "" && out.To != "tsv" {
		return fmt.Errorf("-to %s, expected tsv", out.To)
	}
	o, err := open(ctx, j)
	if err != nil {
		return err
	}
	groups := engine.NewGroups(o.Rows)
	if err := j.Each(ctx, out, func(_ int, b []byte) error { return connect(groups, b, o.Rows) }); err != nil {
		return err
	}
	return out.File(func(w io.Writer) error {
		to := bufio.NewWriterSize(w, 1<<16)
		for k, group := range groups.All() {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if _, err := to.Write(source.AppendGroup(to.AvailableBuffer(), o.corpus, k+1, group, nil)); err != nil {
				return err
			}
		}
		return to.Flush()
	})
}
