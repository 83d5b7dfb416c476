// Package predict implements jobs that apply a model to documents. Each task has its own stored
// corpus, so that a worker reads only the documents of its task. Only the planning host needs
// memory for all documents. A result consists of the output lines for the task's documents.
package predict

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"

	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/cluster/shards"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/learn/model"
)

// Kind implements `gramcluster plan predict`.
var Kind = job.Kind{
	Name: "predict", Summary: "predict documents with a model, one range of documents per task",
	DeclareFlags: declare,
	Open:         open,
	Gather:       gather,
	Help: `
Needs a model of gram train or gather, new documents in the format of the training documents, and a
store: a folder that all machines mount, or a bucket.

A task predicts -documents documents. gather -o FILE writes the lines that gram predict -o FILE
does, to the byte: of machines, landmarks, linear and logistic models and nearest neighbours.
Scores are for gram predict: gather writes lines alone.

Example:
  gramcluster plan predict -store run -in new.tsv -model news.model > tasks.jsonl
  gramcluster work -store run < tasks.jsonl
  gramcluster gather -store run -o predicted.txt`,
}

// Values of -output.
const (
	outputLabels        = "labels"
	outputProbabilities = "probabilities"
	outputDecisions     = "decisions"
)

type spec struct {
	ModelDigest   string   `json:"model"` // digest of the model file
	Output        string   `json:"output"`
	IncludeNames  bool     `json:"names,omitempty"`
	CorpusDigests []string `json:"pieces"` // digest of each task's documents
	FirstIndices  []int    `json:"first"`  // index of each task's first document
}

type planner struct {
	model, output    string
	includeNames     bool
	documentsPerTask int

	loadedModel learn.Model // nil before the model is loaded
}

func declare(f *flag.FlagSet) job.Planner {
	p := &planner{}
	f.StringVar(&p.model, "model", "", "model `FILE`, which is copied to the store")
	f.StringVar(&p.output, "output", outputLabels, "predict `WHAT`: labels, probabilities or decisions")
	f.BoolVar(&p.includeNames, "names", false, "prefix each line with the document's file name or number and a TAB")
	f.IntVar(&p.documentsPerTask, "documents", 10000, "number of documents `N` per task")
	return p
}

// SplitsDocuments implements job.DocumentSplitter, because the documents of each task are stored
// separately.
func (*planner) SplitsDocuments() {}

// ConfigureRead implements job.ReadConfigurer. Text is tokenised as in training, and converted with
// the model's vocabulary.
func (p *planner) ConfigureRead(ctx context.Context, opt *corpus.Options) error {
	if p.model == "" {
		return errors.New("-model FILE is required")
	}
	b, err := os.ReadFile(p.model)
	if err != nil {
		return err
	}
	m, err := decodeModel(ctx, b)
	if err != nil {
		return fmt.Errorf("-model %s: %w", p.model, err)
	}
	p.loadedModel = m
	about := m.About()
	opt.Signed = true // the embedding later rejects negative values if necessary
	opt.TrainingFormat, opt.ModelTokenizer = about.Form, &about.Tokenizer
	opt.LoadVocabulary = func() ([]string, error) {
		if about.Vocabulary == nil {
			return nil, fmt.Errorf("the documents are text, but %s was trained on vectors; pass svmlight files", p.model)
		}
		return about.Vocabulary, nil
	}
	return nil
}

// Plan implements job.Planner.
func (p *planner) Plan(ctx context.Context, from *job.PlanArgs) (any, int, error) {
	c := from.Corpus
	var about learn.About
	if p.loadedModel != nil {
		about = p.loadedModel.About()
	}
	switch {
	case c == nil || p.loadedModel == nil:
		return nil, 0, errors.New("-in SOURCE is required")
	case p.documentsPerTask < 1:
		return nil, 0, fmt.Errorf("-documents must be positive, got %d", p.documentsPerTask)
	case !slices.Contains([]string{outputLabels, outputProbabilities, outputDecisions}, p.output):
		return nil, 0, fmt.Errorf("-output must be labels, probabilities or decisions, got %q", p.output)
	case p.output == outputProbabilities && !about.HasProbabilities:
		return nil, 0, fmt.Errorf("%s has no probabilities; train with -probabilities 1 or use -output decisions", p.model)
	case c.Vocabulary == nil && about.Vocabulary != nil:
		return nil, 0, fmt.Errorf(
			"%s has vectors, but %s was trained on text",
			c.Source, p.model)
	}
	s := spec{Output: p.output, IncludeNames: p.includeNames, CorpusDigests: []string{}, FirstIndices: []int{}}
	var err error
	if s.ModelDigest, err = from.Host.PutFile(ctx, p.model); err != nil {
		return nil, 0, err
	}
	n := c.Documents.Rows()
	rows := make([]int, 0, min(p.documentsPerTask, n))
	for first := 0; first < n; first += p.documentsPerTask {
		rows = rows[:0]
		for i := first; i < min(first+p.documentsPerTask, n); i++ {
			rows = append(rows, i)
		}
		piece := &corpus.Corpus{Documents: c.Documents.SelectRows(rows)}
		if p.includeNames && c.Names != nil {
			piece.Names = c.Names[first : first+len(rows)]
		}
		digest, err := shards.Write(ctx, from.Host.Store, piece)
		if err != nil {
			return nil, 0, err
		}
		s.CorpusDigests, s.FirstIndices = append(s.CorpusDigests, digest), append(s.FirstIndices, first)
	}
	return s, len(s.CorpusDigests), nil
}

// decodeModel decodes a model that gram train has written. It fails if the kernel is precomputed.
func decodeModel(ctx context.Context, b []byte) (learn.Model, error) {
	m, err := learn.Read(ctx, bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	if m.About().Kernel == model.Precomputed {
		return nil, errors.New("the model was trained on a precomputed kernel, so it cannot predict documents")
	}
	return m, nil
}

func decodeSpec(d *job.Description) (s spec, err error) {
	if err := d.DecodeSpec(&s); err != nil {
		return s, err
	}
	if len(s.CorpusDigests) != d.NumTasks || len(s.FirstIndices) != d.NumTasks {
		return s, fmt.Errorf("predict: %d pieces, but %d tasks", len(s.CorpusDigests), d.NumTasks)
	}
	if d.NumTasks > 0 && s.FirstIndices[0] != 0 {
		return s, fmt.Errorf("predict: the first document must have number 0, got %d", s.FirstIndices[0])
	}
	return s, nil
}

type worker struct {
	spec
	job       *job.Job
	about     learn.About
	predictor learn.Predictor
	heldBytes int64 // memory in use in bytes, excluding documents
}

func open(ctx context.Context, j *job.Job) (job.Worker, error) {
	s, err := decodeSpec(&j.Description)
	if err != nil {
		return nil, err
	}
	m, bytes, err := load(ctx, j, s)
	if err != nil {
		return nil, err
	}
	const lines = 16 << 20                     // memory for output lines in bytes, including uncollected garbage
	held := job.ProgramBytes + 2*bytes + lines // 2*bytes covers the encoded and the decoded model
	p, err := learn.NewPredictor(ctx, m, learn.Options{
		ISA: j.ISA, Workers: j.Host.Workers, MemoryBytes: j.Host.MemoryLimit, HeldBytes: held,
	})
	if err != nil {
		return nil, err
	}
	return &worker{s, j, m.About(), p, held}, nil
}

func load(ctx context.Context, j *job.Job, s spec) (learn.Model, int64, error) {
	b, err := j.Host.File(ctx, s.ModelDigest)
	if err != nil {
		return nil, 0, err
	}
	m, err := decodeModel(ctx, b)
	return m, int64(len(b)), err
}

// Run implements job.Worker.
func (w *worker) Run(ctx context.Context, task int) ([][]byte, error) {
	c, err := w.job.Host.Corpus(ctx, w.CorpusDigests[task])
	if err != nil {
		return nil, err
	}
	if n := w.FirstIndices[task] + c.Documents.Rows(); task+1 < len(w.FirstIndices) && w.FirstIndices[task+1] != n {
		return nil, fmt.Errorf("predict: task %d must begin at document %d, got %d", task+1, n, w.FirstIndices[task+1])
	}
	// Count the documents twice, because reading needs a buffer of up to the size of the documents.
	p, err := w.predictor.WithHeldBytes(w.heldBytes+2*shards.CorpusBytes(c)).Predict(ctx, c.Documents)
	if err != nil {
		return nil, err
	}
	l := &learn.PredictionWriter{Output: w.Output, About: w.about, Prediction: p}
	if w.IncludeNames {
		l.FirstCell = func(i int) string {
			if c.Names != nil {
				return c.Names[i]
			}
			return strconv.Itoa(w.FirstIndices[task] + i + 1)
		}
	}
	var b bytes.Buffer
	if err := l.Write(ctx, &b); err != nil {
		return nil, err
	}
	return [][]byte{b.Bytes()}, nil
}

// Close implements job.Worker.
func (w *worker) Close() error { return nil }

func gather(ctx context.Context, j *job.Job, out *job.Output) error {
	s, err := decodeSpec(&j.Description)
	if err != nil {
		return err
	}
	if out.Format != "" {
		return fmt.Errorf("-to does not apply to predictions, got %q", out.Format)
	}
	m, _, err := load(ctx, j, s)
	if err != nil {
		return err
	}
	return out.WriteFile(func(w io.Writer) error {
		lines := &learn.PredictionWriter{Output: s.Output, About: m.About()}
		if s.IncludeNames {
			lines.FirstCell = strconv.Itoa
		}
		if _, err := io.WriteString(w, lines.Header()); err != nil {
			return err
		}
		return j.EachResult(ctx, out, func(_ int, lines []byte) error {
			_, err := w.Write(lines)
			return err
		})
	})
}
