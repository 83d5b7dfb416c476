package neighbours

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"math"
	"slices"
	"time"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/matrixio"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/internal/table"
)

// search holds the flags that neighbours and duplicates share.
type search struct {
	source.Documents
	source.Kernels
	backend.ComputeFlags
	f           *cli.Flags
	out, format string
	texts       bool
}

func (s *search) declare(f *cli.Flags) {
	s.f = f
	s.Documents.Declare(f, "goroot", &s.Limits)
	f.Lookup("min-df").Usage = "ignore terms with a document frequency below `N` (default: 1)"
}

// formats lists the output formats: the table formats, and npz for a sparse matrix.
var formats = append(slices.Clone(table.Formats), "npz")

// check sets unset flags to their defaults, and checks the file extension of -o.
func (s *search) check(formats []string) error {
	s.out = cmp.Or(s.out, "-")
	s.Restartable = !matrixio.IsStream(s.out)
	if s.format == "" {
		if err := cli.CheckTableExtension("-o", s.out, ", or -to FORMAT", formats...); err != nil {
			return err
		}
		s.format = "tsv"
		if ending := cli.Extension(s.out); slices.Contains(formats, ending) {
			s.format = ending
		}
	}
	if s.MinDF == 0 {
		s.MinDF = 1 // keeps rare words, which distinguish documents
	}
	return nil
}

// readOther reads the documents that -of names, with the same flags as for -in.
func (s *search) readOther(ctx context.Context, e *cli.Env, p *cli.Progress, of string) (*corpus.Corpus, error) {
	from := s.Documents
	from.Source = of
	return from.Read(ctx, e, p)
}

func (s *search) declareTexts(f *cli.Flags) {
	f.BoolVar(&s.texts, "texts", false, "add the beginning of each text to the output")
	f.DeclareReport()
}

func (s *search) keepTexts(always bool) {
	if s.texts || always {
		s.KeepTexts = math.MaxInt64
	}
}

func (s *search) checkTexts(c *corpus.Corpus) error {
	if s.texts && !c.HasRawDocuments() {
		return fmt.Errorf("-texts: %s contains no text", c.Source)
	}
	return nil
}

// describePlan describes the search for pairs: the method, the reason for the method, and the
// number of pairs.
func describePlan(p *engine.JoinPlan) string {
	counted := ""
	if p.DistinctDocuments > 0 {
		counted = fmt.Sprintf("; %s distinct documents, %s of %s values indexed, %s matches",
			report.FormatCount(p.DistinctDocuments),
			report.FormatCount(p.PrefixValues), report.FormatCount(p.DistinctValues), report.FormatCount(p.MatchCount))
	}
	return fmt.Sprintf("by %s, because %s%s, %s pairs", p.Method, p.Reason, counted, report.FormatCount(p.TilePairs))
}

// outcome holds the report fields that neighbours and duplicates share.
type outcome struct {
	Corpus        source.Summary   `json:"corpus"`
	OtherCorpus   *source.Summary  `json:"of,omitempty"`
	Embedding     string           `json:"embedding"`
	ISA           string           `json:"isa"`
	BackendReason string           `json:"backend_reason,omitempty"`
	NumBlank      int              `json:"without_terms,omitempty"` // number of texts without terms
	Plan          *engine.JoinPlan `json:"plan,omitempty"`
	File          string           `json:"file"`
	Format        string           `json:"format"`
	FileBytes     int64            `json:"file_bytes"`
	SearchSeconds float64          `json:"seconds_search"`
	Seconds       float64          `json:"seconds"` // total time, excluding reading
	PeakBytes     int64            `json:"peak_bytes"`

	begin      time.Time
	limitBytes int64
}

// newOutcome returns the outcome of a search that begins now. of is nil if -of isn't set.
func (s *search) newOutcome(c, of *corpus.Corpus) outcome {
	o := outcome{Corpus: source.NewSummary(c), File: s.out, Format: s.format, begin: time.Now(),
		limitBytes: int64(s.Memory)}
	if of != nil {
		o.OtherCorpus = new(source.NewSummary(of))
	}
	return o
}

// setBlank records the number of texts without terms, and warns if there are any.
func (o *outcome) setBlank(e *cli.Env, n int) {
	if o.NumBlank = n; n > 0 {
		e.Warnf("%s without terms; only identical texts are duplicates of these", report.FormatDocuments(n))
	}
}

func (o *outcome) writeLine(d *report.Document, what string) {
	d.AddFact(o.File, "%s, %s; %s %.2f s, total %.2f s, %s", o.Format, report.FormatBytes(o.FileBytes), what,
		o.SearchSeconds, o.Seconds, report.FormatPeakMemory(o.PeakBytes, o.limitBytes))
}

// writeTable writes the table file, and records the file size, the time and the peak memory in o.
func writeTable[R any](ctx context.Context, o *outcome, rows iter.Seq[R], columns []table.Column[R]) (err error) {
	o.FileBytes, err = matrixio.WriteFile(o.File, func(w io.Writer) error {
		return table.Write(ctx, w, o.Format, rows, columns...)
	})
	o.setUsage()
	return err
}

func (o *outcome) setUsage() {
	o.Seconds, o.PeakBytes = time.Since(o.begin).Seconds(), backend.PeakBytes()
}
