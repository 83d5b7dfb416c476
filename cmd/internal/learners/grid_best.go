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

// search runs the search. If a model is to be trained, it also returns the corpus.
func (g *grid) search(
	ctx context.Context, j *job, points *learn.Grid,
) (_ *learn.Found, kept *corpus.Corpus, err error) {
	c := j.handOver()
	if g.out != "" {
		if kept = c; !points.Samples && g.learner.Type != "" {
			j.o.HeldBytes += c.Documents.Bytes()
		}
	}
	found, err := learn.Search(ctx, c, points, j.o)
	return found, kept, err
}

// train trains a model on all documents with the parameters of the best point, and writes it.
func (g *grid) train(
	ctx context.Context, r *gridReport, c *corpus.Corpus, found *learn.Found, points *learn.Grid, j *job,
) error {
	begin := time.Now()
	m, err := found.Train(ctx, c, points, j.o)
	if err != nil {
		return c.NameValue(err)
	}
	size, err := matrixio.Make(g.out, func(w io.Writer) error { return m.Write(ctx, w) })
	if err == nil {
		r.File, r.FileBytes, r.SecondsTrain = g.out, size, time.Since(begin).Seconds()
	}
	return err
}

// writeParts adds a table with the gain from each set of terms, such as word pairs.
func (r *gridReport) writeParts(d *report.Document) {
	if r.parts == nil {
		return
	}
	t := report.NewTable("terms", ">best with", ">best without", ">difference", ">± error")
	for _, p := range r.parts {
		t.Add(p.Part, r.Measure.Format(p.With.Mean), r.Measure.Format(p.Without.Mean), signed(r.Measure, p.Mean),
			strings.TrimSuffix(r.Measure.Format(p.SE), "%"))
	}
	d.Table("Gain from each set of terms", "", t)
}

func signed(m tune.Measure, difference float64) string {
	text := strings.TrimSuffix(m.Format(difference), "%")
	if difference >= 0 {
		text = "+" + text
	}
	return text
}

// writeModel adds a line about the trained model.
func (r *gridReport) writeModel(d *report.Document) {
	if r.File != "" {
		which := "the best"
		if r.Best == nil {
			which = "the first candidate"
		}
		d.Fact(r.File, "model of %s, %s, trained in %.2f s", which, report.Bytes(r.FileBytes), r.SecondsTrain)
	}
}
