package learners

import (
	"context"
	"io"
	"strings"
	"time"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/learn/tune"
	"github.com/gramengine/gram/internal/matrixio"
	"github.com/gramengine/gram/internal/report"
)

// search runs the search. If -o is set, it also returns the corpus, to train the final model.
func (g *grid) search(
	ctx context.Context, j *trainingJob, points *learn.Grid,
) (_ *learn.SearchResult, kept *corpus.Corpus, err error) {
	c := j.releaseCorpus()
	if g.modelPath != "" {
		if kept = c; !points.UseSamples && g.learner.Type != "" {
			j.options.HeldBytes += c.Documents.Bytes()
		}
	}
	found, err := learn.Search(ctx, c, points, j.options)
	return found, kept, err
}

// train trains a model on all documents with the parameters of the best point, and writes it.
func (g *grid) train(
	ctx context.Context, r *gridReport, c *corpus.Corpus, found *learn.SearchResult, points *learn.Grid, j *trainingJob,
) error {
	begin := time.Now()
	m, err := found.Train(ctx, c, points, j.options)
	if err != nil {
		return c.DescribeError(err)
	}
	size, err := matrixio.WriteFile(g.modelPath, func(w io.Writer) error { return m.Write(ctx, w) })
	if err == nil {
		r.File, r.FileBytes, r.TrainSeconds = g.modelPath, size, time.Since(begin).Seconds()
	}
	return err
}

// writeAblations adds a table with the gain from each set of terms, such as word pairs.
func (r *gridReport) writeAblations(d *report.Document) {
	if r.ablations == nil {
		return
	}
	t := report.NewTable("terms", ">best with", ">best without", ">difference", ">± error")
	for _, p := range r.ablations {
		t.Add(p.Component, r.Measure.Format(p.BestWith.Mean), r.Measure.Format(p.BestWithout.Mean),
			formatDifference(r.Measure, p.Mean),
			strings.TrimSuffix(r.Measure.Format(p.SE), "%"))
	}
	d.AddTable("Gain from each set of terms", "", t)
}

func formatDifference(m tune.Measure, difference float64) string {
	text := strings.TrimSuffix(m.Format(difference), "%")
	if difference >= 0 {
		text = "+" + text
	}
	return text
}

func (r *gridReport) writeModel(d *report.Document) {
	if r.File != "" {
		which := "the best"
		if r.Best == nil {
			which = "the first candidate"
		}
		d.AddFact(r.File, "model of %s, %s, trained in %.2f s", which, report.FormatBytes(r.FileBytes), r.TrainSeconds)
	}
}
