package neighbours

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/matrixio"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/sparse"
)

// Duplicates is the command that finds documents which are nearly the same.
var Duplicates = &cli.Command{
	Name:    "duplicates",
	Summary: "write groups of documents that are nearly the same, with one to keep of each",
	Help: `
Finds all pairs of documents whose c = 1 - cosine is at most a bound, exactly, and puts documents
that such pairs connect into one group. The first of each group is the one to keep. Documents are
named by their file, or by their number from 1:
  tsv     number of the group, document, and keep or drop on a line, TABs between
  jsonl   one object for each group: {"group": 1, "keep": ..., "drop": [...]}
c is that of the embedding, by default of √θ; 0.02 is about two words in a hundred. Texts that
differ in the order of their words alone have c = 0. A c equal to the bound counts: two documents of
twenty words with eighteen in common have c = 0.1 exactly.`,
	Examples: `
grambench duplicates -in goroot -o groups.tsv
grambench duplicates -within 0.1 -in corpus.jsonl -to jsonl
grambench duplicates -within 0 -embed tf -in train.svm`,
	Setup: func(f *cli.Flags) cli.Work {
		d := &duplicates{}
		d.Reread = []*string{&d.In}
		d.declare(f)
		f.Group("Duplicates", "")
		f.Float64Var(&d.within, "within", 0.02, "pairs of c = 1 - cosine of at most `C` are duplicates")
		d.DeclareEmbedding(f, "compare documents embedded as `EMBEDDING` (default: tf-l1-sqrt)")
		d.Compute.Declare(f)
		f.Group("Output", "")
		f.Writes(&d.out, "o", "write to `FILE` (default: -, standard output)")
		f.Choose(&d.format, "to", "", "write `FORMAT`: tsv or jsonl (default: from the ending, else tsv)",
			[]string{"tsv", "jsonl"})
		f.Check(d.check)
		return d.run
	},
}

// duplicates is one run of the command.
type duplicates struct {
	search
	within    float64
	embedding sparse.Embedding
}

// duplicatesReport is the report of the command duplicates.
type duplicatesReport struct {
	Corpus    source.Line    `json:"corpus"`
	Embedding string         `json:"embedding"`
	Within    float64        `json:"within"`
	ISA       string         `json:"isa"`
	Why       string         `json:"backend_reason,omitempty"`
	Pairs     int64          `json:"pairs_within"`
	Same      int64          `json:"pairs_of_c_0"`
	Groups    int            `json:"groups"`
	Grouped   int            `json:"documents_in_groups"`
	Dropped   int            `json:"documents_to_drop"`
	Sizes     []groupSize    `json:"groups_by_size"`
	Largest   []largestGroup `json:"largest_groups"`
	SecondsOf float64        `json:"seconds_pairs"`
	written
}

// groupSize counts the groups of some sizes.
type groupSize struct {
	From   int `json:"from"`
	To     int `json:"to"`
	Groups int `json:"groups"`
}

// largestGroup is one of the largest groups.
type largestGroup struct {
	Documents int    `json:"documents"`
	Keep      string `json:"keep"`
}

func (r *duplicatesReport) WriteText(w io.Writer) {
	fmt.Fprintln(w, r.Corpus)
	fmt.Fprintf(w, "%s within c = %v of each other, %s at c = 0, %s, %s\n",
		report.Counted(r.Pairs, "pair", "pairs"), r.Within, report.Count(r.Same), r.Embedding, backend.WithWhy(r.ISA, r.Why))
	share := report.Percent(float64(r.Dropped) / float64(max(r.Corpus.Documents, 1)))
	fmt.Fprintf(w, "%s of %s; %s would go, %s\n", report.Counted(r.Groups, "group", "groups"),
		report.Documents(r.Grouped), report.Count(r.Dropped), share)
	if r.Groups > 0 {
		t := report.NewTable(">documents in a group", ">groups")
		for _, s := range r.Sizes {
			size := strconv.Itoa(s.From)
			if s.To > s.From {
				size += " to " + strconv.Itoa(s.To)
			}
			t.Add(size, report.Count(s.Groups))
		}
		t.Write(w)
		t = report.NewTable(">the largest", "keep")
		for _, g := range r.Largest {
			t.Add(report.Count(g.Documents), g.Keep)
		}
		t.Write(w)
	}
	r.line(w, "pairs", r.SecondsOf)
}

// check checks that the flags make sense together.
func (d *duplicates) check() (err error) {
	d.search.check(map[string]string{"": "tsv", ".jsonl": "jsonl"})
	if !(d.within >= 0 && d.within < 1) {
		return cli.Usagef("-within %v, expected from 0 to below 1", d.within)
	}
	d.embedding = sparse.Sphere
	if d.Embedding != "" {
		d.embedding, err = sparse.ParseEmbedding(d.Embedding)
	}
	return err
}

func (d *duplicates) run(ctx context.Context, e *cli.Env) error {
	p := e.Progress(false)
	defer p.Clear()
	corpus, err := d.Read(ctx, e, p)
	if err != nil {
		return err
	}
	r := &duplicatesReport{Corpus: source.NewLine(corpus), Embedding: d.embedding.String(), Within: d.within,
		Sizes: []groupSize{}, Largest: []largestGroup{},
		written: written{File: d.out, Format: d.format, LimitBytes: int64(d.Memory)}}
	begin := time.Now()
	n := corpus.Documents.Rows()
	embedded, inEngine := source.WorkBytes(corpus.Documents)
	need := backend.RuntimeBytes + max(corpus.Documents.Bytes()+embedded, inEngine+int64(n)*8)
	if err := d.Fits("duplicates of "+report.Documents(n), need); err != nil {
		return err
	}
	x, err := source.Embed(ctx, corpus, d.embedding, d.Workers)
	if err != nil {
		return err
	}
	source.WarnEmptied(e, corpus, x)
	corpus.Documents = nil
	groups, err := d.find(ctx, p, x, r)
	if err != nil {
		return err
	}
	r.count(corpus, groups)
	p.Stage("writing " + filepath.Base(d.out))
	r.FileBytes, err = matrixio.Make(d.out, func(w io.Writer) error {
		return writeLines(ctx, w, len(groups), func(b []byte, k int) ([]byte, error) {
			return d.lines(b, corpus, k+1, groups[k])
		})
	})
	if err != nil {
		return err
	}
	p.Clear()
	r.Seconds, r.PeakBytes = time.Since(begin).Seconds(), backend.PeakBytes()
	return d.Report(e, d.f, r)
}

// find returns the groups of two documents or more, in the order of their first.
func (d *duplicates) find(
	ctx context.Context, p *cli.Progress, x *sparse.Embedded, r *duplicatesReport,
) ([][]int32, error) {
	n := x.Rows()
	eng, err := d.Engine(x, d.Job(n), p)
	if err != nil {
		return nil, err
	}
	defer eng.Close()
	r.ISA, r.Why = eng.Backend(), d.Why()
	p.Stage("pairs within " + report.Float(d.within))
	begin := time.Now()
	groups := engine.NewGroups(n)
	err = eng.PairsWithin(ctx, d.within, func(i, j int, c float32) error {
		r.Pairs++
		if c == 0 {
			r.Same++
		}
		groups.Join(i, j)
		return nil
	})
	p.Clear()
	r.SecondsOf = time.Since(begin).Seconds()
	return groups.All(), err
}

// mostLargest is how many of the largest groups are listed.
const mostLargest = 10

// count fills in what the report says of groups.
func (r *duplicatesReport) count(c *sparse.Corpus, groups [][]int32) {
	r.Groups = len(groups)
	for _, g := range groups {
		r.Grouped += len(g)
	}
	r.Dropped = r.Grouped - r.Groups
	for from := 2; ; {
		to := from
		if from > 2 {
			to = 2*from - 2
		}
		in, above := 0, false
		for _, g := range groups {
			if len(g) >= from && len(g) <= to {
				in++
			}
			above = above || len(g) > to
		}
		if in > 0 {
			r.Sizes = append(r.Sizes, groupSize{from, to, in})
		}
		if !above {
			break
		}
		from = to + 1
	}
	largest := slices.Clone(groups)
	slices.SortStableFunc(largest, func(a, b []int32) int { return len(b) - len(a) })
	for _, g := range largest[:min(len(largest), mostLargest)] {
		r.Largest = append(r.Largest, largestGroup{len(g), source.ShortName(c, int(g[0]))})
	}
}

// lines appends the lines of a group.
func (d *duplicates) lines(b []byte, c *sparse.Corpus, number int, group []int32) ([]byte, error) {
	if d.format == "jsonl" {
		line := struct {
			Group int   `json:"group"`
			Keep  any   `json:"keep"`
			Drop  []any `json:"drop"`
		}{Group: number, Keep: jsonName(c, int(group[0]))}
		for _, i := range group[1:] {
			line.Drop = append(line.Drop, jsonName(c, int(i)))
		}
		text, err := json.Marshal(line)
		return append(append(b, text...), '\n'), err
	}
	what := "keep"
	for _, i := range group {
		b = fmt.Appendf(b, "%d\t%s\t%s\n", number, source.ShortName(c, int(i)), what)
		what = "drop"
	}
	return b, nil
}
