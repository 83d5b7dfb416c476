package neighbours

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/internal/backend"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/matrixio"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/source"
	"github.com/gramengine/gram/internal/table"
	"github.com/gramengine/gram/sparse"
)

// Duplicates is the command duplicates, which finds groups of near-duplicate documents.
var Duplicates = &cli.Command{
	Name:    "duplicates",
	Summary: "find groups of near-duplicate documents, and keep one document per group",
	Help: `
Scans the documents in order, and drops each document whose distance c = 1 - cosine to a previously
kept document is at most a bound. The search is exact. A group is a kept document with the documents
dropped because of it. The table (csv, tsv, jsonl, parquet) has a line for each document of a group:
group number, document, keep or drop. Documents are identified by their file, by the key name in
JSON, or by their number from 1.
Unlike in other commands, words may contain digits, so that texts with different numbers differ;
-digits=false ignores digits. Equal texts are duplicates, even if they have no terms. -texts adds
the start of each text. -keep FILE writes the remaining corpus for -in: JSON lines (name, label,
text) or svmlight lines of vectors. With -of, the table lists the documents of -in within the
bound of a document of -of, such as test documents that leak into training: document, neighbour, c.
c is computed in the embedding, by default √θ; 0.02 is about two words in a hundred. With -of, idf
is computed from -of, and terms of only one source are included. Texts that differ only in the
order of words have c = 0. A pair counts if its c, in float64, is at most bound * (1 + 1e-9).`,
	Examples: `
gram duplicates -in goroot -o groups.tsv
gram duplicates -within 0.1 -in corpus.jsonl -keep clean.jsonl
gram duplicates -in test.tsv -of train.tsv -texts
gram duplicates -within 0 -embed tf -in train.svm`,
	Setup: func(f *cli.Flags) cli.RunFunc {
		d := &duplicates{}
		d.RereadSources = []*string{&d.Source}
		d.declare(f)
		d.KeepDigitsByDefault(f)
		f.StringVar(&d.otherSource, "of", "", "find documents of -in that are near-duplicates of a document in `SOURCE`")
		f.RegisterInput(&d.otherSource, "of", d.Files(&d.otherSource))
		f.StartGroup("Duplicates", "")
		f.Float64Var(&d.maxDistance, "within", 0.02, "maximum cosine distance `C` of two duplicates")
		d.DeclareEmbedding(f, "embed documents with `EMBEDDING` (default: tf-l1-sqrt)")
		d.ComputeFlags.Declare(f)
		f.StartGroup("Output", "")
		f.OutputVar(&d.out, "o", "write the table to `FILE` (default: standard output)")
		f.ChoiceVar(&d.format, "to", "", "output `FORMAT`: csv, tsv, jsonl or parquet (default: from -o, else tsv)",
			table.Formats)
		d.declareTexts(f)
		f.OutputVar(&d.keep, "keep", "write the documents without duplicates to `FILE`")
		f.AddCheck(d.check)
		return d.run
	},
}

type duplicates struct {
	search
	maxDistance       float64
	embedding         sparse.Embedding
	otherSource, keep string
}

type duplicatesReport struct {
	outcome
	MaxDistance       float64 `json:"within"`
	NumPairs          int64   `json:"pairs_within"`
	NumIdenticalPairs int64   `json:"pairs_of_c_0"`
	NumGroups         int     `json:"groups"`
	NumGrouped        int     `json:"documents_in_groups"`
	NumDropped        int     `json:"documents_to_drop"`
	// number of documents of -in that have a near-duplicate in -of
	NumLeaks int `json:"documents_near_to_others,omitempty"`

	sizes    []groupSize
	largest  []largestGroup
	keepLine string         // report line about the -keep file
	section  report.Section // page section with groups or pairs
}

// groupSize counts the groups with MinDocuments to MaxDocuments documents.
type groupSize struct{ MinDocuments, MaxDocuments, NumGroups int }

func (s groupSize) String() string {
	if s.MaxDocuments > s.MinDocuments {
		return fmt.Sprintf("%d to %d", s.MinDocuments, s.MaxDocuments)
	}
	return strconv.Itoa(s.MinDocuments)
}

type largestGroup struct {
	NumDocuments int
	KeptName     string
}

func (r *duplicatesReport) Describe(d *report.Document) {
	defer r.describePage(d)
	d.AddLine(r.Corpus)
	d.AddLinef("%s within a distance of %v, %s of them at distance 0; %s, %s",
		report.FormatCountOf(r.NumPairs, "pair", "pairs"), r.MaxDistance, report.FormatCount(r.NumIdenticalPairs),
		r.Embedding, backend.WithReason(r.ISA, r.BackendReason))
	d.AddLine(describePlan(r.Plan))
	if r.OtherCorpus != nil {
		d.AddLinef("%s near a document of %s", report.FormatDocuments(r.NumLeaks), r.OtherCorpus)
		r.writeLine(d, "pairs")
		return
	}
	share := report.FormatPercent(float64(r.NumDropped) / float64(max(r.Corpus.DocumentCount, 1)))
	d.AddLinef("%s covering %s; %s would be removed, %s", report.FormatCountOf(r.NumGroups, "group", "groups"),
		report.FormatDocuments(r.NumGrouped), report.FormatCount(r.NumDropped), share)
	if r.NumGroups > 0 {
		t := report.NewTable(">documents in a group", ">groups")
		for _, s := range r.sizes {
			t.Add(s.String(), report.FormatCount(s.NumGroups))
		}
		d.AddTable(groupSizesTitle, "", t)
		t = report.NewTable(">the largest", "keep")
		for _, g := range r.largest {
			t.Add(report.FormatCount(g.NumDocuments), g.KeptName)
		}
		d.AddTable("Largest groups", "", t)
	}
	if r.keepLine != "" {
		d.AddLine(r.keepLine)
	}
	r.writeLine(d, "pairs")
}

func (d *duplicates) check() (err error) {
	if err := d.search.check(table.Formats); err != nil {
		return err
	}
	if !(d.maxDistance >= 0 && d.maxDistance < 1) {
		return cli.Usagef("-within must be in [0, 1), got %v", d.maxDistance)
	}
	if d.otherSource != "" && d.keep != "" {
		return cli.Usagef("-keep and -of cannot be combined")
	}
	if err := cli.CheckTableExtension("-keep", d.keep, "", "jsonl"); err != nil {
		return err
	}
	if d.Source == "-" && d.otherSource == "-" {
		return cli.Usagef("-in - and -of - cannot both read standard input")
	}
	d.embedding = sparse.SphereEmbedding
	if d.Embedding != "" {
		d.embedding, err = sparse.ParseEmbedding(d.Embedding)
	}
	return err
}

func (d *duplicates) run(ctx context.Context, e *cli.Env) error {
	p := e.NewProgress(false)
	defer p.Clear()
	d.keepTexts(d.keep != "")
	var others *corpus.Corpus
	if d.otherSource != "" {
		var err error
		if others, err = d.readOther(ctx, e, p, d.otherSource); err != nil {
			return err
		}
	}
	d.Need = groupBytes
	c, err := d.Read(ctx, e, p)
	if err != nil {
		return err
	}
	if err := d.checkTexts(c); err != nil {
		return err
	}
	switch vectors := c.Vocabulary == nil; {
	case d.keep == "":
	case c.HasRawDocuments() && slices.Contains(vectorExtensions, strings.ToLower(filepath.Ext(d.keep))):
		return fmt.Errorf("-keep %s: %s contains texts, so the file name must end in .jsonl", d.keep, c.Source)
	case c.HasRawDocuments():
	case !vectors:
		return fmt.Errorf("-keep: %s contains no text", c.Source)
	case slices.ContainsFunc(c.Classes, func(name string) bool { return strings.ContainsAny(name, " ,:#") }):
		return fmt.Errorf("-keep %s: svmlight files cannot represent class names of %s with a space, comma, colon or #",
			d.keep, c.Source)
	case strings.EqualFold(filepath.Ext(d.keep), ".jsonl"):
		return fmt.Errorf("-keep %s: %s contains vectors, so the file name must end in .svm", d.keep, c.Source)
	}
	if others != nil {
		return d.findLeaks(ctx, e, p, c, others)
	}
	r := d.newReport(c, nil)
	n := c.Documents.Rows()
	need := backend.RuntimeBytes + groupBytes(c.Size())
	if err := d.CheckMemory("duplicates of "+report.FormatDocuments(n), need); err != nil {
		return err
	}
	space, x, _, err := source.EmbedTogether(ctx, c, nil, d.embedding, true, d.Workers)
	if err != nil {
		return err
	}
	r.setBlank(e, space.BlankCount)
	space = nil
	documents := c.Documents
	if c.Documents = nil; d.keep == "" || c.HasRawDocuments() {
		documents = nil
	}
	groups, err := d.find(ctx, p, x, r)
	if err != nil {
		return err
	}
	r.countGroups(c, groups)
	r.section = d.firstGroups(c, groups)
	if d.keep != "" {
		p.StartStage("writing " + filepath.Base(d.keep))
		bytes, err := writeKept(ctx, d.keep, c, documents, n, groups)
		if err != nil {
			return err
		}
		r.keepLine = fmt.Sprintf("%s: %s kept, %s", d.keep, report.FormatDocuments(n-r.NumDropped), report.FormatBytes(bytes))
	}
	p.StartStage("writing " + filepath.Base(d.out))
	if err := writeTable(ctx, &r.outcome, source.GroupMembers(groups), source.GroupMemberColumns(c, d.texts)); err != nil {
		return err
	}
	p.Clear()
	return d.PrintReport(e, d.f, r)
}

// newReport returns a report without results. of is nil if -of isn't set.
func (d *duplicates) newReport(c, of *corpus.Corpus) *duplicatesReport {
	r := &duplicatesReport{outcome: d.newOutcome(c, of), MaxDistance: d.maxDistance}
	r.Embedding = d.embedding.String()
	return r
}

var vectorExtensions = []string{".svm", ".libsvm", ".mtx", ".npy", ".npz"}

// find returns the groups of near-duplicates, and records details of the search in r.
func (d *duplicates) find(
	ctx context.Context, p *cli.Progress, x *sparse.Embedded, r *duplicatesReport,
) ([][]int32, error) {
	opt := d.EngineOptions(d.BackendFor(x.Rows()), p)
	p.StartStage("pairs within " + report.FormatFloat(d.maxDistance))
	begin := time.Now()
	w, err := engine.GroupsWithin(ctx, x, d.maxDistance, opt)
	p.Clear()
	r.SearchSeconds = time.Since(begin).Seconds()
	if err != nil {
		return nil, err
	}
	r.ISA, r.BackendReason = w.BackendName, d.Reason()
	r.NumPairs, r.NumIdenticalPairs, r.Plan = w.PairCount, w.EqualPairCount, w.Plan
	return w.Groups, nil
}

// maxLargest is the maximum number of groups in the table of the largest groups.
const maxLargest = 10

// countGroups sets the fields that count groups and their documents, and lists the largest groups.
func (r *duplicatesReport) countGroups(c *corpus.Corpus, groups [][]int32) {
	r.NumGroups = len(groups)
	for _, g := range groups {
		r.NumGrouped += len(g)
	}
	r.NumDropped = r.NumGrouped - r.NumGroups
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
			r.sizes = append(r.sizes, groupSize{from, to, in})
		}
		if !above {
			break
		}
		from = to + 1
	}
	largest := slices.Clone(groups)
	slices.SortStableFunc(largest, func(a, b []int32) int { return len(b) - len(a) })
	for _, g := range largest[:min(len(largest), maxLargest)] {
		r.largest = append(r.largest, largestGroup{len(g), source.DisplayName(c, int(g[0]))})
	}
}

// writeKept writes the remaining documents: texts as JSON lines, or vectors as svmlight lines.
func writeKept(
	ctx context.Context, path string, c *corpus.Corpus, documents *sparse.CSR, n int, groups [][]int32,
) (int64, error) {
	dropped := make([]bool, n)
	for _, g := range groups {
		for _, i := range g[1:] {
			dropped[i] = true
		}
	}
	var indices []uint64
	var values []float64
	line := func(b []byte, i int) []byte {
		if c.HasRawDocuments() {
			return appendObject(b, c, i)
		}
		terms, raw := documents.Row(i)
		indices, values = indices[:0], values[:0]
		for k, t := range terms {
			indices, values = append(indices, uint64(t)), append(values, float64(raw[k]))
		}
		return matrixio.AppendVector(b, strings.Join(source.ClassNamesOf(c, i), ","), indices, values, 32)
	}
	return matrixio.WriteFile(path, func(w io.Writer) error {
		out := bufio.NewWriterSize(w, 1<<16)
		for i := range n {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if !dropped[i] {
				if _, err := out.Write(line(out.AvailableBuffer(), i)); err != nil {
					return err
				}
			}
		}
		return out.Flush()
	})
}

// appendObject appends a JSON line with a document's name, labels, and text or columns.
func appendObject(b []byte, c *corpus.Corpus, i int) []byte {
	sign := byte('{')
	add := func(key string, value any) {
		name, _ := json.Marshal(key)
		text, _ := json.Marshal(value)
		b = append(append(append(append(b, sign), name...), ':'), text...)
		sign = ','
	}
	if name := source.DocumentName(c, i); name != "" {
		add("name", name)
	}
	add("label", source.ClassNamesOf(c, i))
	if c.Texts != nil {
		add("text", c.Texts[i])
	} else {
		for k, column := range c.Columns {
			add(column, c.Rows[i][k])
		}
	}
	return append(b, "}\n"...)
}

// groupBytes returns an upper bound on the memory for finding groups, in bytes.
func groupBytes(s corpus.Size) int64 {
	embedded, _ := source.ScratchBytes(s)
	return embedded + max(s.Bytes(), engine.GroupsBytes(s.Documents, s.Terms+1))
}

// findLeaks finds pairs of near-duplicates between docs and others, and writes the pairs.
func (d *duplicates) findLeaks(ctx context.Context, e *cli.Env, p *cli.Progress, docs, others *corpus.Corpus) error {
	r := d.newReport(docs, others)
	need := int64(backend.RuntimeBytes)
	for _, c := range []*corpus.Corpus{docs, others} {
		embedded, _ := source.ScratchBytes(c.Size())
		need += 2*c.Documents.Bytes() + embedded + engine.GroupsBytes(c.Documents.Rows(), c.Documents.MaxTerms()+1)
	}
	if err := d.CheckMemory("pairs with documents of "+d.otherSource, need); err != nil {
		return err
	}
	space, x, rows, err := source.EmbedTogether(ctx, others, docs, d.embedding, true, d.Workers)
	if err != nil {
		return err
	}
	r.setBlank(e, space.BlankCount)
	space = nil
	var found []source.NeighbourPair
	pairs := float64(rows.Rows()) * float64(x.Rows())
	p.StartStage("pairs within " + report.FormatFloat(d.maxDistance))
	opt := d.EngineOptions(d.BackendForPairs(pairs), p)
	r.Plan, err = engine.EachCrossPair(ctx, rows, x, d.maxDistance, opt, func(i, j int, c float64) error {
		if r.NumPairs++; c == 0 {
			r.NumIdenticalPairs++
		}
		if len(found) == cap(found) { // append may double the memory of found
			what := "the list of pairs within a distance of " + report.FormatFloat(d.maxDistance)
			if err := d.CheckMemory(what, need+72*int64(len(found))); err != nil {
				return err
			}
		}
		found = append(found, source.NeighbourPair{Document: i, Neighbour: j, Value: c})
		return nil
	})
	if err != nil {
		return err
	}
	r.SearchSeconds = time.Since(r.begin).Seconds()
	r.ISA, r.BackendReason = cmp.Or(opt.ISA, string(asm.BestKernels().ISA)), d.Reason()
	slices.SortFunc(found, func(a, b source.NeighbourPair) int {
		return cmp.Or(cmp.Compare(a.Document, b.Document), cmp.Compare(a.Value, b.Value),
			cmp.Compare(a.Neighbour, b.Neighbour))
	})
	for at, l := range found {
		if at == 0 || l.Document != found[at-1].Document {
			r.NumLeaks++
		}
	}
	r.section = d.nearPairs(docs, others, found)
	err = writeTable(ctx, &r.outcome, slices.Values(found), source.NeighbourColumns(docs, others, "c", d.texts))
	if err != nil {
		return err
	}
	p.Clear()
	return d.PrintReport(e, d.f, r)
}
