package machines

import (
	"context"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/matrixio"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/learn"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/sparse"
)

// LearnersTopic is what help says of learners.
var LearnersTopic = cli.Topic{Name: "learners", Summary: "what -type names, other than support vector machines", Text: `
For train, cv and grid, -type also names learners other than support vector machines, with their
parameters behind a colon: -type NAME:parameter=value,parameter=value. predict recognises their
models. -grid takes lists of their parameters, and of C.

` + learn.Help()}

// learner is what -type names beside the machines of package svm; empty where it names one of those.
type learner struct {
	*learn.Learner
	trainer learn.Trainer
}

// machineFlags are the flags of support vector machines; a learner takes those that it names.
var machineFlags = []string{
	"kernel", "embed", "scheme", "c", "nu", "epsilon", "weight", "probabilities", "thresholds", "tolerance", "shrinking",
	"tiles", "solver", "s", "t", "g", "d", "r", "n", "p", "e", "h", "b", "backend", "gpu-mem", "gpu-tensor", "to", "sets",
	"log2c", "log2g", "one-se", "choose-time", "layers", "width",
}

// checkLearner checks that a learner has a use for the flags that were given.
func (m *machine) checkLearner() error {
	for _, q := range []struct {
		name string
		v    float64
	}{{"-c", m.c}, {"-tolerance (-e)", m.tolerance}} {
		if !(q.v > 0 && q.v < 1e300) {
			return cli.Usagef("%s %v, expected a number above 0, below 1e300", q.name, q.v)
		}
	}
	var unused string
	m.f.Visit(func(f *flag.Flag) {
		name := f.Name
		if own, ok := map[string]string{"e": "tolerance", "scale": "embed"}[name]; ok {
			name = own
		}
		if unused == "" && slices.Contains(machineFlags, name) && !slices.Contains(m.learner.Flags, name) {
			unused = f.Name
		}
	})
	if unused != "" {
		takes := ""
		if len(m.learner.Flags) > 0 {
			takes = ", which takes " + report.Join(m.learner.Flags)
		}
		return cli.Usagef("-%s does not apply to -type %s%s", unused, m.learner.Name, takes)
	}
	if m.scheme == solver.OneVsOne.String() {
		return cli.Usagef("-scheme one-vs-one does not apply to -type %s, expected one-vs-rest or labels", m.learner.Name)
	}
	if n := len(m.Specs); n > 1 && m.f.Lookup("grid") == nil {
		return cli.Usagef("%d kernels, expected one (grambench grid compares several)", n)
	}
	o, err := m.learnerOptions()
	if err != nil {
		return err
	}
	if err := m.learner.trainer.Check(o); err != nil {
		return cli.UsageError{Err: err}
	}
	return nil
}

// learnerOptions are what the flags say to a learner.
func (m *machine) learnerOptions() (learn.Options, error) {
	o := learn.Options{
		Seed: m.seed, ISA: m.ISA, Workers: m.Workers, Layers: m.shorthand.layers, Width: m.shorthand.width,
	}
	if m.f.Given("c") {
		o.C = m.c
	}
	if m.f.Given("tolerance", "e") {
		o.Tolerance = m.tolerance
	}
	for _, s := range schemes {
		if s.String() == m.scheme {
			o.Scheme = s
		}
	}
	if len(m.Specs) > 0 {
		o.Kernel = m.Specs[0]
	}
	if m.Embedding != "" {
		e, err := sparse.ParseEmbedding(m.Embedding)
		if err != nil {
			return o, cli.UsageError{Err: fmt.Errorf("-embed: %w", err)}
		}
		o.Embedding = &e
	}
	return o, nil
}

// learning is a corpus that a learner is trained on.
type learning struct {
	corpus *sparse.Corpus
	o      learn.Options
	begin  time.Time
	read   float64 // seconds
}

// learn reads the documents and checks that they have labels to learn.
func (m *machine) learn(ctx context.Context, e *cli.Env, p *cli.Progress) (*learning, error) {
	l := &learning{begin: time.Now()}
	var err error
	if l.corpus, err = m.readVectors(ctx, e, p, m.learnsDefault()); err != nil {
		return nil, err
	}
	l.read = time.Since(l.begin).Seconds()
	if l.o, err = m.learnerOptions(); err != nil {
		return nil, err
	}
	if m.noCounts != "" {
		l.o.Vectors = learn.VectorEmbedding(l.corpus)
	}
	switch {
	case severalLabels(l.corpus) && m.scheme == "":
		l.o.Scheme = solver.Labels
	case l.o.Scheme == solver.OneVsOne:
		l.o.Scheme = solver.OneVsRest
	}
	if err := checkClasses(e, l.corpus, l.o.Scheme); err != nil {
		return nil, err
	}
	m.hintLearner(e, l.corpus, l.o)
	l.o.MemoryBytes = learn.Left(m.Budget(), l.held())
	l.o.Progress = func(stage string, done, total int64, details ...string) { p.Tell(stage, done, total, details) }
	l.o.Say = func(format string, args ...any) {
		p.Clear()
		e.Say(format, args...)
	}
	l.o.Warn = func(format string, args ...any) {
		p.Clear()
		e.Warn(format, args...)
	}
	return l, nil
}

// warnOf warns of machines that stopped, and returns how many did.
func warnOf(e *cli.Env, d learn.Ended) int {
	if d.Unfinished > 0 {
		e.Warn("%s", d)
	}
	return d.Unfinished
}

// held is what the process holds beside what a learner does.
func (l *learning) held() int64 { return backend.RuntimeBytes + l.corpus.Documents.Bytes() }

// named names documents and terms in a learner's errors, and memory that is enough.
func (l *learning) named(err error) error {
	return learn.Enough(l.corpus.NameValue(err), l.held())
}

// learnedLine is what reports say of a learner's model.
type learnedLine struct {
	Type      string  `json:"type"`
	Embedding string  `json:"embedding,omitempty"`
	Scheme    string  `json:"scheme,omitempty"`
	C         float64 `json:"c,omitempty"`
	ISA       string  `json:"isa"`
	Workers   int     `json:"workers"`
}

func (m *machine) learnedLine(a learn.About) learnedLine {
	isa := m.ISA
	if isa == "" {
		isa = string(asm.Best().ISA)
	}
	return learnedLine{a.Type, a.Embedding, a.SchemeName(), a.C, isa, m.NumWorkers()}
}

func (l *learnedLine) text(others ...string) string {
	parts := []string{l.Type}
	if l.Embedding != "" {
		parts = append(parts, l.Embedding)
	}
	if l.C != 0 {
		parts = append(parts, fmt.Sprintf("C = %v", l.C))
	}
	if l.Scheme != "" {
		parts = append(parts, l.Scheme)
	}
	parts = append(parts, others...)
	return strings.Join(append(parts, l.ISA, report.Counted(l.Workers, "worker", "workers")), ", ")
}

// learnReport is the report of train with a learner.
type learnReport struct {
	Corpus source.Line `json:"corpus"`
	learnedLine
	File       string `json:"file"`
	FileFormat string `json:"file_format"`
	FileBytes  int64  `json:"file_bytes"`

	Machines   int `json:"machines"`
	Unfinished int `json:"unfinished_machines"`

	Seconds      float64 `json:"seconds"`
	SecondsRead  float64 `json:"seconds_read"`
	SecondsSolve float64 `json:"seconds_solve"`
	SecondsWrite float64 `json:"seconds_write"`
	PeakBytes    int64   `json:"peak_bytes"`
	LimitBytes   int64   `json:"limit_bytes"`

	Rows []any `json:"rows"`

	details []string
}

// runLearner trains the learner that -type names, writes its model and reports.
func (t *train) runLearner(ctx context.Context, e *cli.Env) error {
	p := e.Progress(true)
	defer p.Clear()
	l, err := t.learn(ctx, e, p)
	if err != nil {
		return err
	}
	l.o.Choose = t.chooseTime > 0
	if t.out != "-" {
		l.o.State = t.out + ".state"
	}
	begin := time.Now()
	m, err := t.learner.trainer.Train(ctx, l.corpus, l.o)
	if err != nil {
		return l.named(err)
	}
	p.Clear()
	a := m.About()
	digest := l.corpus.Digest()
	r := &learnReport{
		Corpus: source.Line{
			Source: l.corpus.Source, Documents: l.corpus.Documents.Rows(), Classes: len(l.corpus.Classes),
			Values: l.corpus.Documents.NNZ(), Terms: a.Terms, Digest: hex.EncodeToString(digest[:]),
		},
		learnedLine: t.learnedLine(a), File: t.out, FileFormat: t.to, Machines: len(a.Machines),
		Unfinished: warnOf(e, a.Ended), SecondsRead: l.read, SecondsSolve: time.Since(begin).Seconds(),
		Rows: a.Rows, details: a.Text,
	}
	if a.Votes {
		r.Machines = 0
	}
	begin = time.Now()
	p.Stage("writing " + filepath.Base(t.out))
	r.FileBytes, err = matrixio.Make(t.out, func(w io.Writer) error { return m.Write(ctx, w) })
	if err != nil {
		return err
	}
	p.Clear()
	if err := t.learner.RemoveState(l.o.State); err != nil {
		return err
	}
	r.SecondsWrite = time.Since(begin).Seconds()
	r.PeakBytes, r.LimitBytes = backend.PeakBytes(), int64(t.Memory)
	r.Seconds = time.Since(l.begin).Seconds()
	if t.f.Quiet && !t.f.JSON {
		return nil
	}
	return t.Report(e, t.f, r)
}

func (r *learnReport) WriteText(w io.Writer) {
	var machines []string
	if r.Machines > 0 {
		machines = append(machines, report.Counted(r.Machines, "machine", "machines"))
	}
	fmt.Fprintf(w, "%s\n%s\n", r.Corpus, r.text(machines...))
	for _, line := range r.details {
		fmt.Fprintln(w, line)
	}
	fmt.Fprintf(w, "reading %.2f s, training %.2f s, writing %.2f s, in all %.2f s\n", r.SecondsRead, r.SecondsSolve,
		r.SecondsWrite, r.Seconds)
	fmt.Fprintf(w, "%s: model, %s, %s\n", r.File, report.Bytes(r.FileBytes), report.Peak(r.PeakBytes, r.LimitBytes))
}
