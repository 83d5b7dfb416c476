package neighbours

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/matrixio"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/source"
)

// search is what runs of both commands have: documents, where to compute, and what to write.
type search struct {
	source.Documents
	source.Kernels
	backend.Compute
	f           *cli.Flags
	out, format string
	texts       bool
}

// declare declares the flags of documents.
func (s *search) declare(f *cli.Flags) {
	s.f = f
	s.Documents.Declare(f, "goroot", &s.Limits)
	f.Lookup("min-df").Usage = "leave out terms that fewer than `N` documents have (default: 1, all count)"
}

// check completes what flags leave open; formats are those of endings, "" of others.
func (s *search) check(formats map[string]string) error {
	if s.out == "" {
		s.out = "-"
	}
	s.StartsOver = !matrixio.IsStream(s.out)
	if s.format == "" {
		if err := cli.CheckTable("-o", s.out, ", or -to FORMAT", slices.Sorted(maps.Keys(formats))[1:]...); err != nil {
			return err
		}
		s.format = formats[""]
		for ending, format := range formats {
			if ending != "" && strings.HasSuffix(strings.ToLower(s.out), ending) {
				s.format = format
			}
		}
	}
	if s.MinDF == 0 {
		s.MinDF = 1 // without the words that tell documents apart, different ones would be the same
	}
	return nil
}

// readOf reads the documents of -of, as those of -in are read.
func (s *search) readOf(ctx context.Context, e *cli.Env, p *cli.Progress, of string) (*corpus.Corpus, error) {
	from := s.Documents
	from.In = of
	return from.Read(ctx, e, p)
}

func (s *search) declareTexts(f *cli.Flags) {
	f.BoolVar(&s.texts, "texts", false, "write the beginning of each text, too")
	f.Pages()
}

// keepTexts keeps texts that are read where they are shown, or always.
func (s *search) keepTexts(always bool) {
	if s.texts || always {
		s.KeepTexts = math.MaxInt64
	}
}

// haveTexts checks that there are the texts that are to be shown.
func (s *search) haveTexts(c *corpus.Corpus) error {
	if s.texts && !c.Kept() {
		return fmt.Errorf("-texts: %s holds no text", c.Source)
	}
	return nil
}

// beginning returns the beginning of a text on one line.
func beginning(text string) string { return report.Excerpt(text, 200) }

// shown is a document of a line of JSON, with its text where that is asked for.
func (s *search) shown(c *corpus.Corpus, i int) any {
	if !s.texts {
		return source.JSONName(c, i)
	}
	return struct {
		Document any    `json:"document"`
		Text     string `json:"text"`
	}{source.JSONName(c, i), beginning(c.Text(i))}
}

// written is what both reports end with.
type written struct {
	File       string  `json:"file"`
	Format     string  `json:"format"`
	FileBytes  int64   `json:"file_bytes"`
	Seconds    float64 `json:"seconds"` // from the embedding on
	PeakBytes  int64   `json:"peak_bytes"`
	LimitBytes int64   `json:"limit_bytes"`
}

// warnBlank warns of texts without terms.
func warnBlank(e *cli.Env, n int) {
	if n > 0 {
		e.Warn("%s without terms, which only equal texts are near to", report.Documents(n))
	}
}

// planned says how pairs were found.
func planned(p *engine.JoinPlan) string {
	counted := ""
	if p.Distinct > 0 {
		counted = fmt.Sprintf("; %s distinct documents, %s of %s values before the cut, %s matches", report.Count(p.Distinct),
			report.Count(p.Before), report.Count(p.Values), report.Count(p.Matches))
	}
	return fmt.Sprintf("by %s, since %s%s, %s pairs", p.Method, p.Why, counted, report.Count(p.Pairs))
}

// line writes the last line of a report, given how long the search took.
func (r *written) line(d *report.Document, what string, seconds float64) {
	d.Fact(r.File, "%s, %s; %s %.2f s, in all %.2f s, %s", r.Format, report.Bytes(r.FileBytes), what,
		seconds, r.Seconds, report.Peak(r.PeakBytes, r.LimitBytes))
}

// writeLines writes n items, each of which appends its lines.
func writeLines(ctx context.Context, to io.Writer, n int, lines func(b []byte, i int) ([]byte, error)) error {
	b := bufio.NewWriterSize(to, 1<<16)
	for i := range n {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		text, err := lines(b.AvailableBuffer(), i)
		if err != nil {
			return err
		}
		if _, err := b.Write(text); err != nil {
			return err
		}
	}
	return b.Flush()
}
