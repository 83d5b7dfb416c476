package main

import (
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/solver"
	"github.com/gramengine/gram/solver/model"
	"github.com/gramengine/gram/solver/svm"
	"github.com/gramengine/gram/sparse"
)

// trainReport is the report of the command train.
type trainReport struct {
	Corpus corpusLine `json:"corpus"`

	Type       string  `json:"type"`
	Kernel     string  `json:"kernel"`
	Embedding  string  `json:"embedding"`
	Scheme     string  `json:"scheme,omitempty"`
	C          float64 `json:"c,omitempty"`
	Nu         float64 `json:"nu,omitempty"`
	Epsilon    float64 `json:"epsilon,omitempty"`
	Tolerance  float64 `json:"tolerance"`
	ISA        string  `json:"isa"`
	Why        string  `json:"backend_reason,omitempty"` // why -backend auto took it
	Solver     string  `json:"solver"`                   // whose memory had the solver's rows and scores: cpu or cuda
	Workers    int     `json:"workers"`
	File       string  `json:"file"`
	FileFormat string  `json:"file_format"`
	FileBytes  int64   `json:"file_bytes"`

	Machines   int    `json:"machines"`
	Support    int    `json:"support_vectors"`
	Bounded    int    `json:"bounded_coefficients"`
	Iterations int64  `json:"iterations"`
	Unfinished int    `json:"unfinished_machines"`
	Objective  number `json:"objective"`
	Gap        number `json:"gap"`

	Seconds        float64 `json:"seconds"` // from the first byte read to the last written
	SecondsRead    float64 `json:"seconds_read"`
	SecondsPrepare float64 `json:"seconds_prepare"` // embedding the documents and making the engine
	SecondsGram    float64 `json:"seconds_gram"`
	SecondsSolve   float64 `json:"seconds_solve"`
	SecondsWrite   float64 `json:"seconds_write"`

	DotProducts int64     `json:"dot_products"`
	Cache       cacheLine `json:"cache"`
	PeakBytes   int64     `json:"peak_bytes"`
	LimitBytes  int64     `json:"limit_bytes"` // what -m allows; 0 where nothing is said and nothing known

	Rows []machineRow `json:"rows"`
}

// cacheLine says what the cache of tiles did.
type cacheLine struct {
	Whole   bool  `json:"whole"` // the whole matrix is kept
	Hits    int64 `json:"hits"`
	Misses  int64 `json:"misses"`
	Bytes   int64 `json:"bytes"`
	Served  int64 `json:"values_served"`
	Loaded  int64 `json:"files_loaded"`
	Saved   int64 `json:"files_saved"`
	Damaged int64 `json:"files_damaged"`
}

// machineRow is one machine: of two classes, of one against the rest, or of the one that there is.
type machineRow struct {
	Class      string `json:"class,omitempty"`
	Against    string `json:"against,omitempty"` // in one-vs-one
	Objective  number `json:"objective"`
	Iterations int    `json:"iterations"`
	Support    int    `json:"support_vectors"`
	Bounded    int    `json:"bounded_coefficients"`
	Rho        number `json:"rho"`
	Gap        number `json:"gap"`
	Converged  bool   `json:"converged"`
}

// newTrainReport begins a report with what the corpus tells; its terms and digest come from the model, which has them anyway.
func newTrainReport(c *sparse.Corpus) *trainReport {
	return &trainReport{Corpus: corpusLine{Source: c.Source, Documents: c.Documents.Rows(), Classes: len(c.Classes), Values: c.Documents.NNZ()}}
}

// fill fills in what is known when the model is trained.
func (r *trainReport) fill(t *trainRun, m *model.Model, result *svm.Report, problem *svm.Problem) {
	r.Corpus.Terms, r.Corpus.Digest = len(m.Embedder.Terms), hex.EncodeToString(m.Corpus[:])
	r.Type, r.Kernel, r.Embedding = string(m.Type), m.Kernel, m.Embedder.Embedding.String()
	r.C, r.Nu, r.Epsilon, r.Tolerance = m.Settings.C, m.Settings.Nu, m.Settings.Epsilon, m.Settings.Tolerance
	if m.Type.Classifies() {
		r.Scheme = m.Classifier.Scheme.String()
	}
	if m.Type == model.NuSVC || m.Type == model.OneClass {
		r.C = 0 // has no part in them
	}
	e := problem.Engine()
	r.ISA, r.Why, r.Workers = e.Backend(), t.f.gpu.why, e.Workers()
	r.Solver = solverPlace(result.SolvedOn)
	r.File, r.FileFormat = t.out, t.to
	r.Machines, r.Support, r.Bounded = result.Machines, result.Support, result.Bounded
	r.Iterations, r.Unfinished = result.Iterations, result.Unfinished
	r.Objective, r.Gap = number(result.Objective), number(result.Gap)
	r.SecondsGram, r.SecondsSolve = result.Gram.Seconds(), result.Solve.Seconds()
	r.DotProducts = problem.Cache().Computed
	r.Cache = newCacheLine(problem.Cache())
	if n := int64(problem.Len()); r.Cache.Whole && r.Cache.Bytes == 0 {
		r.Cache.Bytes = 4 * n * n // of the kernel's own values instead of c
	}
	if result.SolvedOn != "" {
		r.Cache.Whole, r.Cache.Bytes = false, 0 // it kept nothing
	}
	r.PeakBytes, r.LimitBytes = peakBytes(), int64(t.f.memory)
	r.Rows = machineRows(m)
}

func newCacheLine(s engine.CachedStats) cacheLine {
	return cacheLine{Whole: s.Whole, Hits: s.Hits, Misses: s.Misses, Bytes: s.Bytes, Served: s.Served,
		Loaded: s.Loaded, Saved: s.Saved, Damaged: s.Damaged}
}

// machineRows lists the machines of a model in their order.
func machineRows(m *model.Model) []machineRow {
	rows := []machineRow{}
	add := func(i int, class, against string) {
		if c := m.Classifier.Machines[i]; c != nil {
			rows = append(rows, machineRow{class, against, number(c.Objective), c.Iterations, len(c.Support), c.Bounded, number(c.Rho), number(c.Gap), c.Converged})
		}
	}
	if !m.Type.Classifies() {
		add(0, "", "")
		return rows
	}
	i := 0
	for a, class := range m.Classes {
		if m.Classifier.Scheme != solver.OneVsOne {
			add(a, class, "")
			continue
		}
		for _, against := range m.Classes[a+1:] {
			add(i, class, against)
			i++
		}
	}
	return rows
}

// settings says in a line what was trained.
func (r *trainReport) settings() string {
	parts := []string{describeKernel(r.Kernel, r.Embedding), r.Type}
	parts = append(parts, describeNumbers(r.C, r.Nu, r.Epsilon)...)
	if r.Scheme != "" {
		parts = append(parts, r.Scheme)
	}
	parts = append(parts, withWhy(r.ISA, r.Why))
	if r.Solver == string(cudaBackend) {
		parts = append(parts, solvedOnGPU)
	}
	return strings.Join(append(parts, counted(r.Workers, "worker", "workers")), ", ")
}

// describeKernel names a kernel together with its embedding.
func describeKernel(kernel, embedding string) string {
	if strings.Contains(kernel, "embed=") {
		return kernel
	}
	return kernel + ", " + embedding
}

// describeNumbers names those of a problem's parameters that it has.
func describeNumbers(c, nu, epsilon float64) []string {
	var parts []string
	for _, q := range []struct {
		name string
		v    float64
	}{{"C", c}, {"nu", nu}, {"epsilon", epsilon}} {
		if q.v != 0 {
			parts = append(parts, fmt.Sprintf("%s = %v", q.name, q.v))
		}
	}
	return parts
}

func (r *trainReport) writeText(w io.Writer) {
	fmt.Fprintln(w, r.Corpus)
	fmt.Fprintln(w, r.settings())
	fmt.Fprintf(w, "%s, %s, %s steps, objective %.8g, greatest gap %.2g\n", counted(r.Machines, "machine", "machines"),
		counted(r.Support, "support vector", "support vectors"), formatCount(r.Iterations), float64(r.Objective), float64(r.Gap))
	if r.Solver == string(cudaBackend) {
		writeRowsOnGPU(w, r.DotProducts)
	} else {
		r.Cache.write(w, r.DotProducts)
	}
	fmt.Fprintf(w, "reading %.2f s, preparing %.2f s, matrix %.2f s, solver %.2f s, writing %.2f s, in all %.2f s\n",
		r.SecondsRead, r.SecondsPrepare, r.SecondsGram, r.SecondsSolve, r.SecondsWrite, r.Seconds)
	fmt.Fprintf(w, "%s: model, %s, peak memory %s", r.File, formatBytes(r.FileBytes), formatBytes(r.PeakBytes))
	if r.LimitBytes > 0 {
		fmt.Fprintf(w, " of %s", formatBytes(r.LimitBytes))
	}
	fmt.Fprintln(w)
}

// solvedOnGPU says where the solver was.
const solvedOnGPU = "solved on the GPU"

// solverPlace names the memory that had the solver's rows and scores: the processor's, unless place names a device.
func solverPlace(place string) string {
	if place != "" {
		return string(cudaBackend)
	}
	return "cpu"
}

// writeRowsOnGPU says in a line what was computed for rows that the machine doesn't keep.
func writeRowsOnGPU(w io.Writer, dots int64) {
	fmt.Fprintf(w, "%s, rows kept on the GPU\n", counted(dots, "dot product", "dot products"))
}

// write says in a line what was computed, kept and found.
func (c cacheLine) write(w io.Writer, dots int64) {
	fmt.Fprintf(w, "%s", counted(dots, "dot product", "dot products"))
	if c.Whole {
		fmt.Fprintf(w, ", the whole matrix kept in %s", formatBytes(c.Bytes))
	} else {
		fmt.Fprintf(w, ", tiles kept in %s, %.1f%% of those asked for were there", formatBytes(c.Bytes), 100*float64(c.Hits)/float64(max(c.Hits+c.Misses, 1)))
	}
	if c.Loaded+c.Saved+c.Damaged > 0 {
		fmt.Fprintf(w, "; %s loaded, %s saved, %s damaged", counted(c.Loaded, "tile file", "tile files"), formatCount(c.Saved), formatCount(c.Damaged))
	}
	fmt.Fprintln(w)
}
