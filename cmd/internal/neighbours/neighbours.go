// Package neighbours implements the commands neighbours and duplicates, which find similar
// documents.
package neighbours

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"time"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/chart"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/matrixio"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/internal/space"
	"github.com/gramengine/gram/internal/table"
	"github.com/gramengine/gram/sparse"
)

// Neighbours is the command neighbours, which finds the exact nearest neighbours of documents.
var Neighbours = &cli.Command{
	Name:    "neighbours",
	Summary: "find the exact k nearest neighbours of each document; write a table or sparse matrix",
	Help: `
Finds the k documents with the largest kernel values for each document. The search is exact, over
all pairs, and stores no matrix. A table (csv, tsv, jsonl, parquet) has a line for each neighbour,
nearest first: document, neighbour, value. Documents are identified by their file, by the key name
in JSON, or by their number from 1. npz is a compressed sparse row matrix of float32, for
scipy.sparse.load_npz.
Ties are broken by c = 1 - cosine, smaller first, if the kernel decreases in c, and then by document
number. -min compares in float64, with c or c / (1 + 1e-9). If it implies c below 0.1, a
similarity join skips nearly all pairs, with the same result. -of finds neighbours of the documents
of -in among other documents; terms of only one source are included, and idf is from -of. If the
kernel depends only on c, texts without terms are near only to each other.
-plot draws the distribution of the nearest neighbours' values; duplicates are the spike at its end.`,
	Examples: `
gram neighbours -k 10 -in mail/ -o near.tsv
gram neighbours -k 15 -in train.tsv.gz -o graph.npz    the graph for UMAP or clustering
gram neighbours -k 1 -min 0.8 -in new.tsv -of old.tsv`,
	Setup: func(f *cli.Flags) cli.RunFunc {
		n := &neighbours{}
		n.RereadSources = []*string{&n.Source, &n.otherSource}
		n.declare(f)
		f.StringVar(&n.otherSource, "of", "", "find neighbours among the documents of `SOURCE` (default: -in)")
		f.RegisterInput(&n.otherSource, "of", n.Files(&n.otherSource))
		f.StartGroup("Neighbours", "")
		n.Kernels.Declare(f, "bhattacharyya, the cosine of √θ")
		f.IntVar(&n.k, "k", 10, "find `N` neighbours of each document")
		f.StringVar(&n.min, "min", "", "omit neighbours with kernel values below `VALUE`")
		n.ComputeFlags.Declare(f)
		f.StartGroup("Output", "")
		f.BinaryOutputVar(&n.out, "o", "write the table or matrix to `FILE` (default: standard output)", func() string {
			if n.format == "npz" {
				return "the npz format"
			}
			return ""
		})
		f.ChoiceVar(&n.format, "to", "", "output `FORMAT`: csv, tsv, jsonl, parquet or npz (default: from -o, else tsv)",
			formats)
		n.declareTexts(f)
		f.SVGOutputVar(&n.plot, "plot", "plot the distribution of nearest-neighbour kernel values to `FILE` (.svg)")
		f.AddCheck(n.check)
		return n.run
	},
}

type neighbours struct {
	search
	otherSource, min, plot string
	k                      int
	kernel                 kernel.Kernel
	opt                    engine.NeighbourOptions
}

type neighboursReport struct {
	outcome
	Kernel               string       `json:"kernel"`
	K                    int          `json:"k"`
	Min                  *float64     `json:"min,omitempty"`
	NumNeighbours        int64        `json:"neighbours"`
	NumWithoutNeighbours int          `json:"without_neighbours"` // number of documents without neighbours
	NearestValues        distribution `json:"nearest_value"`
	NumPairs             int64        `json:"pairs"`

	nearest       []float64 // kernel value of each document's nearest neighbour
	result        *engine.Neighbours
	rows, columns *corpus.Corpus
	texts         bool
}

// distribution holds quantiles of the nearest neighbours' kernel values.
type distribution struct{ Min, P10, Median, P90, Max float64 }

func newDistribution(values []float64) distribution {
	slices.Sort(values)
	at := func(share float64) float64 {
		if len(values) == 0 {
			return math.NaN()
		}
		return values[int(share*float64(len(values)-1))]
	}
	return distribution{at(0), at(0.1), at(0.5), at(0.9), at(1)}
}

func (r *neighboursReport) Describe(d *report.Document) {
	d.AddLine(r.Corpus)
	if r.OtherCorpus != nil {
		d.AddLine(r.OtherCorpus)
	}
	d.AddLinef("%s, %s per document, %s in total, %s pairs/s, %s", r.Kernel,
		report.FormatCountOf(r.K, "neighbour", "neighbours"), report.FormatCount(r.NumNeighbours),
		report.FormatRate(float64(r.NumPairs)/max(r.SearchSeconds, 1e-9)),
		backend.WithReason(r.ISA, r.BackendReason))
	if r.NumNeighbours > 0 {
		d.AddFact("nearest neighbour", "min %.4g, max %.4g, median %.4g, 10%% to 90%% quantile %.4g to %.4g",
			r.NearestValues.Min,
			r.NearestValues.Max, r.NearestValues.Median, r.NearestValues.P10, r.NearestValues.P90)
	}
	if r.NumWithoutNeighbours > 0 {
		d.AddFact("without any", "%s", report.FormatDocuments(r.NumWithoutNeighbours))
	}
	if r.Plan != nil {
		d.AddLine(describePlan(r.Plan))
	}
	r.writeLine(d, "neighbours")
	r.describePage(d)
}

func (n *neighbours) check() error {
	if err := n.search.check(formats); err != nil {
		return err
	}
	if n.k < 1 {
		return cli.Usagef("-k must be at least 1, got %d", n.k)
	}
	if n.Source == "-" && n.otherSource == "-" {
		return cli.Usagef("-in - and -of - cannot both read standard input")
	}
	if n.texts && n.format == "npz" {
		return cli.Usagef("-texts and -to npz cannot be combined; use -to %s", report.Join(table.Formats))
	}
	n.opt.Count = n.k
	if n.min != "" {
		v, err := source.ParseNumber(n.min)
		if err != nil {
			return cli.Usagef("-min must be a number, got %q", n.min)
		}
		n.opt.MinValue = &v
	}
	kernels, err := n.Parse("bhattacharyya")
	if err != nil {
		return err
	}
	if len(kernels) > 1 {
		return cli.Usagef("only one kernel is allowed, got %d", len(kernels))
	}
	n.kernel = kernels[0]
	return nil
}

func (n *neighbours) run(ctx context.Context, e *cli.Env) error {
	p := e.NewProgress(false)
	defer p.Clear()
	n.keepTexts(false)
	n.Need = n.requiredBytes
	var others *corpus.Corpus
	if n.otherSource != "" {
		var err error
		if others, err = n.readOther(ctx, e, p, n.otherSource); err != nil {
			return err
		}
	}
	c, err := n.Read(ctx, e, p)
	if err != nil {
		return err
	}
	columns := c
	if others != nil {
		columns = others
	}
	if err := cmp.Or(n.checkTexts(c), n.checkTexts(columns)); err != nil {
		return err
	}
	r := &neighboursReport{outcome: n.newOutcome(c, others), K: n.k, Min: n.opt.MinValue, rows: c, columns: columns,
		texts: n.texts}
	shared, x, test, err := n.embed(ctx, c, others)
	if err != nil {
		return err
	}
	if r.setBlank(e, shared.BlankCount); kernel.UsesNorms(n.kernel) {
		source.WarnEmptyDocuments(e, columns, x)
	}
	k := kernel.Resolve(n.kernel, shared.TermCount)
	c.Documents, columns.Documents, shared = nil, nil, nil // frees memory for the lists of neighbours
	r.Kernel, r.Embedding = k.String(), k.Embedding().String()

	rows := x.Rows()
	r.NumPairs = int64(rows) * int64(rows-1) / 2
	if test != nil {
		rows = test.Rows()
		r.NumPairs = int64(rows) * int64(x.Rows())
	}
	most := x.Rows()
	if test == nil {
		most-- // a document isn't its own neighbour
	}
	if n.k > most {
		e.Warnf("-k is %d, but each document has at most %s", n.k, report.FormatCountOf(most, "neighbour", "neighbours"))
	}
	if r.result, err = n.find(ctx, p, x, test, k, r); err != nil {
		return err
	}
	if n.opt.MinValue != nil {
		r.Plan = r.result.Plan()
	}
	for i := range r.result.Len() {
		list := r.result.List(i)
		if r.NumNeighbours += int64(len(list)); len(list) > 0 {
			r.nearest = append(r.nearest, float64(list[0].Value))
		}
	}
	r.NumWithoutNeighbours = r.result.Len() - len(r.nearest)
	p.StartStage("writing " + filepath.Base(n.out))
	if err := n.write(ctx, r, x.Rows()); err != nil {
		return err
	}
	if n.plot != "" {
		if err := chart.Save(n.plot, 16, 10, newPlot(r.Kernel, r.nearest)); err != nil {
			return err
		}
	}
	p.Clear()
	r.NearestValues = newDistribution(r.nearest)
	r.setUsage()
	return n.PrintReport(e, n.f, r)
}

// write writes the neighbours as a table, or as a sparse matrix with the given number of columns.
func (n *neighbours) write(ctx context.Context, r *neighboursReport, documents int) (err error) {
	if n.format != "npz" {
		return writeTable(ctx, &r.outcome, source.NeighbourPairs(r.result, 0),
			source.NeighbourColumns(r.rows, r.columns, "value", n.texts))
	}
	var columns []uint32
	var values []float32
	row := func(i int) ([]uint32, []float32) { // sorted, because WriteNPZ requires increasing columns
		columns, values = columns[:0], values[:0]
		byNumber := func(a, b engine.Neighbour) int { return cmp.Compare(a.Document, b.Document) }
		for _, near := range slices.SortedFunc(slices.Values(r.result.List(i)), byNumber) {
			columns, values = append(columns, near.Document), append(values, near.Value)
		}
		return columns, values
	}
	r.FileBytes, err = matrixio.WriteFile(n.out, func(to io.Writer) error {
		m := &matrixio.SparseMatrix{Rows: r.result.Len(), Cols: documents, Row: row}
		return errors.Join(m.WriteNPZ(to), ctx.Err())
	})
	return err
}

// requiredBytes returns an upper bound on the memory in bytes for neighbours within one corpus.
func (n *neighbours) requiredBytes(s corpus.Size) int64 {
	embedded, inEngine := source.ScratchBytes(s)
	return max(s.Bytes()+embedded, inEngine+engine.NeighboursBytes(s.Documents, min(n.k, s.Documents)))
}

// embed embeds the documents of c and others. others may be nil. embed fails if memory is
// insufficient. x holds the candidate neighbours. test holds the documents of c, or is nil if
// others is nil.
func (n *neighbours) embed(
	ctx context.Context, c, others *corpus.Corpus,
) (s *space.Space, x, test *sparse.Embedded, err error) {
	columns, rows := c, (*corpus.Corpus)(nil)
	if others != nil {
		columns, rows = others, c
	}
	need := n.requiredBytes(columns.Size())
	if rows != nil {
		size := columns.Size()
		embedded, inEngine := source.ScratchBytes(size)
		more, _ := source.ScratchBytes(rows.Size())
		need = max(2*(size.Bytes()+rows.Documents.Bytes())+more+embedded,
			inEngine+engine.NeighboursBytes(c.Documents.Rows(), min(n.k, size.Documents)))
	}
	what := fmt.Sprintf("lists of %s of %s", report.FormatCountOf(n.k, "neighbour", "neighbours"),
		report.FormatDocuments(c.Documents.Rows()))
	if err := n.CheckMemory(what, backend.RuntimeBytes+need); err != nil {
		return nil, nil, nil, err
	}
	return source.EmbedTogether(ctx, columns, rows, n.kernel.Embedding(), !kernel.UsesNorms(n.kernel), n.Workers)
}

// find returns, for each document of test, the nearest neighbours in x. If test is nil, it returns
// the neighbours of the documents of x.
func (n *neighbours) find(
	ctx context.Context, p *cli.Progress, x, test *sparse.Embedded, k kernel.Kernel, r *neighboursReport,
) (*engine.Neighbours, error) {
	eng, err := n.NewEngine(x, n.BackendForPairs(float64(r.NumPairs)), p)
	if err != nil {
		return nil, err
	}
	defer eng.Close()
	r.ISA, r.BackendReason = eng.Info().Backend, n.Reason()
	p.StartStage("neighbours by " + r.Kernel)
	begin := time.Now()
	opt := n.opt
	opt.TestDocuments = test
	near, err := eng.Neighbours(ctx, k, opt)
	p.Clear()
	r.SearchSeconds = time.Since(begin).Seconds()
	return near, err
}
