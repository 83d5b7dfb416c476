package cho

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/chart"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/lab/internal/repro"
	"github.com/gramengine/gram/sparse"
)

// measurement measures the errors of all kernels on one data set.
type measurement struct {
	p         *settings
	r         *repro.Env
	dataset   *dataset
	report    *repro.Report
	embedding sparse.Embedding
	norms     []float64 // norms of the embedded training documents
}

type kernelResult struct {
	row
	spec            string
	scale           string  // selected value of gamma, bias or σ
	c               float64 // selected C, in multiples of 1 / mean k(x,x)
	validationError float64 // validation error rate; NaN if there is only one kernel and one C
	repro.Outcome
}

// run selects a kernel and C for each row on the validation set, then measures the test errors.
func (m *measurement) run(ctx context.Context) error {
	s := m.dataset
	d, err := s.read(ctx, m.r, m.p.TermSettings, m.p.TrainCount, m.p.TestCount)
	if err != nil {
		return err
	}
	x, err := m.embedding.Fit(d.train.Documents).Transform(d.train.Documents)
	if err != nil {
		return err
	}
	m.norms = x.Norms
	x = nil
	norm, squared := 0., 0.
	for _, n := range m.norms {
		norm, squared = norm+n/float64(len(m.norms)), squared+n*n/float64(len(m.norms))
	}
	if !(norm > 0) {
		return fmt.Errorf("%s: all training documents are empty", s.name)
	}
	m.report.AddSetting(s.name, "%d training documents (%d for validation), %d test documents; mean norm %.4g",
		len(m.norms), len(d.valid), d.test.Documents.Rows(), norm)
	rows := slices.DeleteFunc(m.p.kernelRows(norm, squared), func(row row) bool {
		return !slices.Contains(s.families, row.family)
	})
	chosen, err := m.validate(ctx, d, rows)
	if err != nil {
		return err
	}
	debug.FreeOSMemory() // free memory for the matrix of all documents
	session := m.r.NewSession(s.name, func() *corpus.Corpus { return d.train }, d.bytes(), m.report)
	step, outcomes := m.r.ProgressCounter(s.name+": test", len(rows)), map[string]repro.Outcome{}
	for i := range chosen {
		if chosen[i].Outcome, err = m.test(ctx, session, &chosen[i], d.test, outcomes); err != nil {
			break
		}
		step()
	}
	if err = errors.Join(err, session.Close()); err == nil {
		m.addTable(chosen)
	}
	return err
}

// test trains and tests SVMs with the kernel of t, unless outcomes already has the result.
func (m *measurement) test(ctx context.Context, session *repro.Session, t *kernelResult, test *corpus.Corpus,
	outcomes map[string]repro.Outcome) (out repro.Outcome, err error) {
	k, err := kernel.ParseIn(t.spec, m.embedding)
	if err != nil {
		return out, err
	}
	mean := 0.
	for _, n := range m.norms {
		mean += k.Eval(0, n, n) / float64(len(m.norms))
	}
	if !(mean > 0) || mean > math.MaxFloat32 {
		return out, fmt.Errorf("%s: mean of k(x,x) must be positive and fit in float32, got %v", k, mean)
	}
	key := fmt.Sprintf("%s C=%v", k, t.c)
	out, done := outcomes[key]
	if !done {
		out, err = session.TrainAndTest(ctx, svm.Settings{Kernel: k, C: t.c / mean}, test)
		outcomes[key] = out
	}
	return out, err
}

// validate minimises the validation error of each row over kernels and C. Ties go to the first
// kernel, then to the smallest C.
func (m *measurement) validate(ctx context.Context, d *trainTestSplit, rows []row) (chosen []kernelResult, err error) {
	test := d.train.Select(d.valid)
	session := m.r.NewSession(m.dataset.name+", validation", func() *corpus.Corpus { return d.train.Select(d.fit) },
		2*d.bytes(), m.report)
	defer func() { err = errors.Join(err, session.Close()) }()
	step, outcomes := m.r.ProgressCounter(m.dataset.name+": validation", len(rows)), map[string]repro.Outcome{}
	for _, row := range rows {
		best := kernelResult{row: row, validationError: math.NaN()}
		for k, spec := range row.specs {
			for _, c := range m.p.C {
				next := kernelResult{row: row, spec: spec, c: c, validationError: math.NaN()}
				if row.scales != nil {
					next.scale = fmt.Sprint(row.scales[k])
				}
				if len(row.specs)*len(m.p.C) > 1 {
					out, err := m.test(ctx, session, &next, test, outcomes)
					if err != nil {
						return nil, err
					}
					next.validationError = float64(out.ErrorCount()) / float64(len(out.CorrectMask))
				}
				if !(next.validationError >= best.validationError) {
					best = next
				}
			}
		}
		chosen = append(chosen, best)
		step()
	}
	return chosen, nil
}

func (m *measurement) addTable(chosen []kernelResult) {
	base := max(0, slices.IndexFunc(chosen, func(t kernelResult) bool { return t.label == "Gaussian" }))
	title := m.dataset.name + ": error in %"
	if len(chosen) > 1 {
		title += "; p of a sign test against " + chosen[base].label
	}
	table := m.report.AddTable(m.dataset.name, title, "family", "kernel", ">scale", ">C", ">validation", ">test",
		">printed",
		">|ln|", ">of", ">p", ">support vectors")
	sum, n := 0., 0
	for i, t := range chosen {
		p, known, ln := "", "", ""
		if i != base {
			test, _, _ := repro.CompareBySignTest(t.CorrectMask, chosen[base].CorrectMask)
			p = repro.FormatPValue(test.PValue)
		}
		if percent, ok := printedError(m.dataset.name, t.label); ok && m.p.TrainCount == 0 {
			gap := math.Abs(math.Log(t.ErrorPercent() / percent))
			known, ln, sum, n = repro.FormatFixed(percent, 2), repro.FormatFixed(gap, 3), sum+gap, n+1
		}
		table.AddRow(t.family, t.label, t.scale, fmt.Sprint(t.c), repro.FormatFixed(100*t.validationError, 2),
			repro.FormatFixed(t.ErrorPercent(), 2), known, ln, fmt.Sprint(len(t.CorrectMask)), p,
			fmt.Sprint(t.SupportVectorCount))
	}
	if n > 0 {
		m.report.AddNote("%s: mean |ln(measured/printed)| over %d values: %.3f", m.dataset.name, n, sum/float64(n))
	}
	for _, family := range families {
		m.addChart(family, chosen)
	}
	m.noteBest(chosen, familyComposed, familyMixed)
	m.noteBest(chosen, familyProduct, familyFactors)
	var errors []float64
	for _, t := range chosen {
		if t.family == familyMixed || t.family == familyComposed && (t.x == 1 || t.curve == "degree 1") {
			errors = append(errors, t.ErrorPercent())
		}
	}
	if len(errors) > 1 {
		m.report.AddNote("%s: error of networks with one layer or with further layers of degree 1: %.2f%% to %.2f%%",
			m.dataset.name, slices.Min(errors), slices.Max(errors))
	}
}

// addChart adds a chart for a family of kernels if the family has a curve of at least two points.
func (m *measurement) addChart(family string, chosen []kernelResult) {
	var curves []repro.Curve
	for _, t := range chosen {
		if !slices.Contains(t.curveFamilies(), family) {
			continue
		}
		k := slices.IndexFunc(curves, func(c repro.Curve) bool { return c.Name == t.curve })
		if k < 0 {
			k, curves = len(curves), append(curves, repro.Curve{Name: t.curve})
		}
		curves[k].Points = append(curves[k].Points, chart.Point{X: t.x, Y: t.ErrorPercent()})
	}
	curves = slices.DeleteFunc(curves, func(c repro.Curve) bool { return len(c.Points) < 2 })
	if len(curves) > 0 {
		m.report.AddChart(m.dataset.name+", "+family, axisTitles[family], "test error in %", curves...)
	}
}

// noteBest adds a note on the kernel with the smallest validation error among the families in of,
// as in the figures of the thesis.
func (m *measurement) noteBest(chosen []kernelResult, of ...string) {
	rows := slices.DeleteFunc(slices.Clone(chosen), func(t kernelResult) bool {
		return !slices.Contains(of, t.family) || math.IsNaN(t.validationError)
	})
	if len(rows) > 1 {
		best := rows[0]
		for _, t := range rows {
			if t.validationError < best.validationError {
				best = t
			}
		}
		m.report.AddNote("%s, %s: %s is best on the validation set and has a test error of %.2f%%", m.dataset.name,
			strings.Join(of, " and "), best.label, best.ErrorPercent())
	}
}
