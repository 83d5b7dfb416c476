// Package duplicates implements jobs that find the exact groups of near-duplicate documents. A task
// compares two ranges of documents and returns copies and near-duplicate pairs. Each pair of
// documents is compared by a task, so the results of all tasks determine which documents are kept.
package duplicates

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"

	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/cluster/jobs/blocks"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/internal/space"
	"github.com/gramengine/gram/internal/table"
	"github.com/gramengine/gram/sparse"
)

// Kind implements `gramcluster plan duplicates`.
var Kind = job.Kind{
	Name: "duplicates", Summary: "find groups of near-duplicate documents",
	DeclareFlags: declare,
	Open:         func(ctx context.Context, j *job.Job) (job.Worker, error) { return open(ctx, j) },
	Gather:       gather,
	Help: `
Needs documents, and a store: a folder that all machines mount, or a bucket.

A task finds the near pairs among two ranges of -block documents each, by words that may hold
digits; gather decides by them which documents are kept. gather -o FILE.tsv writes what gram
duplicates -o FILE.tsv does, to the byte: number of the group, document, and keep or drop per line.

Example:
  gramcluster plan duplicates -store run -in mail/ -within 0.02 > tasks.jsonl
  gramcluster work -store run < tasks.jsonl
  gramcluster gather -store run -o groups.tsv`,
}

type spec struct {
	Embedding   string  `json:"embedding"`
	MaxDistance float64 `json:"within"`
	blocks.LowerTriangle
}

type planner struct {
	embedding   string
	maxDistance float64
	blockSize   int
}

func declare(f *flag.FlagSet) job.Planner {
	p := &planner{}
	f.Float64Var(&p.maxDistance, "within", 0.02, "maximum cosine distance `C` of two duplicates")
	f.StringVar(&p.embedding, "embed", sparse.SphereEmbedding.String(), "compare documents embedded as `EMBEDDING`")
	f.IntVar(&p.blockSize, "block", 131072, "number of documents `N` per block; each task compares two blocks")
	return p
}

// ConfigureRead implements job.ReadConfigurer. By default, it keeps rare words and digits, because
// they distinguish documents.
func (p *planner) ConfigureRead(_ context.Context, opt *corpus.Options) error {
	if opt.MinDF == 0 {
		opt.MinDF = 1
	}
	if digits := opt.Tokenizer; digits.Views == "" {
		if digits.Digits = true; digits.Validate() == nil {
			opt.Tokenizer = digits
		}
	}
	return nil
}

// Plan implements job.Planner.
func (p *planner) Plan(_ context.Context, from *job.PlanArgs) (any, int, error) {
	if from.Corpus == nil {
		return nil, 0, errors.New("-in SOURCE is required")
	}
	s := spec{p.embedding, p.maxDistance, blocks.LowerTriangle{NumRows: from.Corpus.Documents.Rows(),
		BlockSize: p.blockSize}}
	_, err := s.validate()
	return s, s.NumTasks(), err
}

func (s *spec) validate() (sparse.Embedding, error) {
	e, err := sparse.ParseEmbedding(s.Embedding)
	if err == nil && !(s.MaxDistance >= 0 && s.MaxDistance < 1) {
		err = fmt.Errorf("-within must be in [0, 1), got %v", s.MaxDistance)
	}
	if err == nil {
		err = s.Validate()
	}
	return e, err
}

// worker runs the tasks of a job. Each task embeds only its own documents.
type worker struct {
	spec
	job    *job.Job
	corpus *corpus.Corpus
	space  *space.Space
}

func open(ctx context.Context, j *job.Job) (*worker, error) {
	o := &worker{job: j}
	if err := j.DecodeSpec(&o.spec); err != nil {
		return nil, err
	}
	e, err := o.validate()
	if err != nil {
		return nil, fmt.Errorf("duplicates: %w", err)
	}
	if o.corpus, err = j.Host.Corpus(ctx, j.CorpusDigest); err != nil {
		return nil, err
	}
	if err := o.CheckCounts("duplicates", j.NumTasks, o.corpus.Documents.Rows()); err != nil {
		return nil, err
	}
	o.space, err = space.New(e, o.corpus, nil, true)
	return o, err
}

// Close implements job.Worker.
func (o *worker) Close() error { return nil }

func (o *worker) documents(task int) []int {
	i, j := blocks.BlockOfTask(task)
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

// Run implements job.Worker. A result is a list of pairs of document indices, as little-endian
// uint32. Pairs of a document and a later copy come first. Near-duplicate pairs follow, each with
// the larger index first.
func (o *worker) Run(ctx context.Context, task int) ([][]byte, error) {
	documents, h, m := o.documents(task), o.job.Host, o.space.Columns
	var values int64
	for _, i := range documents {
		values += m.Offsets[i+1] - m.Offsets[i]
	}
	n := len(documents)
	bytes := engine.MaxEngineBytes(n, o.space.Embedder.Cols(), values+int64(n)) +
		engine.GroupsBytes(n, o.space.Embedder.Cols())
	if err := h.CheckMemory(o.corpus, bytes, "the pairs of %d documents", n); err != nil {
		return nil, err
	}
	x, err := o.space.Embedder.TransformRows(ctx, m, documents, h.Workers)
	if err != nil {
		return nil, fmt.Errorf("embedding %s: %w", o.Embedding, err)
	}
	var copies, near []byte
	add := func(b []byte, i, j int) []byte {
		b = binary.LittleEndian.AppendUint32(b, uint32(documents[i]))
		return binary.LittleEndian.AppendUint32(b, uint32(documents[j]))
	}
	_, _, err = engine.EachNearPair(ctx, x, o.MaxDistance, engine.Options{
		ISA: o.job.ISA, Workers: h.Workers, MemoryBytes: h.FreeMemory(o.corpus),
	}, func(list []uint32) error {
		for _, i := range list[1:] {
			copies = add(copies, int(list[0]), int(i))
		}
		return nil
	}, func(i, j int, _ int64, _ bool) error {
		if near = add(near, j, i); len(near)%(1<<24) == 0 { // append may double the memory of near
			return h.CheckMemory(o.corpus, bytes+3*int64(len(near)), "the list of near-duplicates among %d documents", n)
		}
		return nil
	})
	return [][]byte{slices.Concat(copies, near)}, err
}

// unionPairs decodes the pairs of documents in b and adds them to kept. It fails unless each pair
// has different indices below n.
func unionPairs(kept *engine.Deduplicator, b []byte, n int) error {
	if len(b)%8 != 0 {
		return fmt.Errorf("result has %d bytes, which is not a multiple of 8", len(b))
	}
	for ; len(b) > 0; b = b[8:] {
		i, j := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
		switch {
		case int64(max(i, j)) >= int64(n) || i == j:
			return fmt.Errorf("documents %d and %d must differ and be below %d", i, j, n)
		case i < j:
			kept.AddCopy(int(i), int(j))
		default:
			kept.AddNear(int(j), int(i))
		}
	}
	return nil
}

func gather(ctx context.Context, j *job.Job, out *job.Output) error {
	if out.Format != "" && out.Format != "tsv" {
		return fmt.Errorf("-to must be tsv, got %s", out.Format)
	}
	o, err := open(ctx, j)
	if err != nil {
		return err
	}
	kept := engine.NewDeduplicator(o.NumRows)
	if err := j.EachResult(ctx, out, func(_ int, b []byte) error { return unionPairs(kept, b, o.NumRows) }); err != nil {
		return err
	}
	return out.WriteFile(func(w io.Writer) error {
		return table.Write(ctx, w, "tsv", source.GroupMembers(kept.Groups()), source.GroupMemberColumns(o.corpus, false)...)
	})
}
