package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/gramengine/gram/sparse"
)

var corpusCommand = command{
	name:    "corpus",
	summary: "what was read: documents, classes, terms, values, document frequencies",
	help: `
Reads a corpus and says what is in it: its classes, how many values a document has, and how much of the stored values and of the matching
terms between pairs of documents the most frequent terms hold. The SHA-256 digest is the same on every platform.

With -o it also writes the documents as svmlight/LIBSVM vectors, a document a line: the values that were read, or with -embed what the embedding
makes of them, before vectors are scaled to length 1, in as many digits as give the same numbers back. Words are numbered from 1 in the order of
the vocabulary, indices of vectors stay as they are; a document without terms has an index of its own behind all others where the embedding gives it a
length. Class names that aren't numbers are numbered, standard error says how. The file appears under its name only when it is complete.

Test documents must be seen as training documents were: -like TRAIN reads the source TRAIN first and takes its vocabulary, the weights that the
embedding learns from it, and its numbers of classes. Words that it doesn't have are left out.

Examples:
  grambench corpus
  grambench corpus -in train.svm.gz -min-df 2 -json
  grambench corpus -in synthetic:docs=1000,terms=5000,seed=7 -classes 5
  grambench corpus -in train.tsv -embed tf-l1-sqrt -o train.svm && svm-train -t 2 -g 1 train.svm
  grambench corpus -in test.tsv -like train.tsv -embed tf-l1-sqrt -o test.svm
`,
	setup: func(f *flags) func(context.Context, *env) error {
		f.sourceFlags("goroot")
		f.set.IntVar(&f.workers, "workers", 0, "read with `N` goroutines (default: all processors)")
		classes := f.set.Int("classes", 20, "list the `N` largest classes; -1 lists all, -json always does")
		out := f.set.String("o", "", "write the documents as svmlight vectors to `FILE`")
		f.writes("-o", out)
		f.set.StringVar(&f.embed, "embed", "", "write them embedded as `EMBEDDING`, such as tf-l1-sqrt (default: the values that were read)")
		like := f.set.String("like", "", "take vocabulary, weights and numbers of classes from the training `SOURCE`")
		f.readsSource("-like", like)
		f.check = func() error {
			if f.embed != "" && *out == "" {
				return usagef("-embed %s without -o: it says how vectors are written", f.embed)
			}
			return nil
		}
		return func(ctx context.Context, e *env) error {
			f.onlyReads = *out == "" && *like == ""
			p := newProgress(e.stderr)
			defer p.clear()
			c, model, err := f.readLike(ctx, e, p, *like)
			if err != nil {
				return err
			}
			r := newCorpusReport(c)
			r.listed = *classes
			if *out != "" {
				r.Vectors = &vectorFile{File: *out}
				if err := f.writeVectors(ctx, e, p, c, model, r.Vectors); err != nil {
					return err
				}
			}
			p.clear()
			return writeReport(e.stdout, r, f.json)
		}
	},
}

// headSizes are the numbers of most frequent terms for which the document-frequency curve is given.
var headSizes = []int{256, 512, 1024, 2048, 4096}

// corpusReport is the report of the command corpus.
type corpusReport struct {
	corpusLine
	Unlabelled    int             `json:"documents_without_class"`
	MultiLabelled int             `json:"documents_of_several_classes"`
	Length        quantiles       `json:"values_per_document"`
	Matches       int64           `json:"matching_terms"` // over all pairs i < j
	MatchesAPair  float64         `json:"matching_terms_per_pair"`
	Curve         []curvePoint    `json:"df_curve"`
	Warnings      []corpusWarning `json:"warnings"`
	Rows          []classRow      `json:"rows"`
	Vectors       *vectorFile     `json:"vectors,omitempty"`

	listed int // number of classes to print
}

// quantiles describes the number of values a document has.
type quantiles struct {
	Min    int64   `json:"min"`
	Q25    int64   `json:"q25"`
	Median int64   `json:"median"`
	Q75    int64   `json:"q75"`
	Q95    int64   `json:"q95"`
	Max    int64   `json:"max"`
	Mean   float64 `json:"mean"`
}

// curvePoint says what share the most frequent terms hold.
type curvePoint struct {
	Terms      int     `json:"terms"`
	LeastDF    int32   `json:"least_df"`
	ValueShare float64 `json:"value_share"`
	MatchShare float64 `json:"match_share"`
}

// corpusWarning is what a reader noticed.
type corpusWarning struct {
	Message string `json:"message"`
	Count   int64  `json:"count"`
	First   string `json:"first"`
}

// classRow is one class with its number of documents.
type classRow struct {
	Class     string `json:"class"`
	Documents int    `json:"documents"`
}

func newCorpusReport(c *sparse.Corpus) *corpusReport {
	r := &corpusReport{corpusLine: newCorpusLine(c), Warnings: []corpusWarning{}, Rows: []classRow{}}
	r.countClasses(c)
	r.countLengths(c.Documents)
	_, df := c.Documents.TermFrequencies()
	r.countFrequencies(df)
	if pairs := float64(r.Documents) * float64(r.Documents-1) / 2; pairs > 0 {
		r.MatchesAPair = float64(r.Matches) / pairs
	}
	for _, w := range c.Warnings {
		r.Warnings = append(r.Warnings, corpusWarning{w.Message, w.Count, w.First})
	}
	return r
}

// countClasses fills the rows, the largest class first and classes of one size in the order of their first document.
func (r *corpusReport) countClasses(c *sparse.Corpus) {
	count := make([]int, len(c.Classes))
	for i := range c.Documents.Rows() {
		of := c.Labels.Of(i)
		switch {
		case len(of) == 0:
			r.Unlabelled++
		case len(of) > 1:
			r.MultiLabelled++
		}
		for _, id := range of {
			count[id]++
		}
	}
	for id, name := range c.Classes {
		r.Rows = append(r.Rows, classRow{name, count[id]})
	}
	slices.SortStableFunc(r.Rows, func(a, b classRow) int { return b.Documents - a.Documents })
}

func (r *corpusReport) countLengths(m *sparse.CSR) {
	n := m.Rows()
	if n == 0 {
		return
	}
	lengths := make([]int64, n)
	for i := range n {
		lengths[i] = m.Offsets[i+1] - m.Offsets[i]
	}
	slices.Sort(lengths)
	at := func(q float64) int64 { return lengths[int(q*float64(n-1)+0.5)] }
	r.Length = quantiles{lengths[0], at(0.25), at(0.5), at(0.75), at(0.95), lengths[n-1], float64(m.NNZ()) / float64(n)}
}

// countFrequencies fills the document-frequency curve. A term of document frequency d is in d stored values and matches in d(d-1)/2 pairs.
// It sorts df.
func (r *corpusReport) countFrequencies(df []int32) {
	slices.SortFunc(df, func(a, b int32) int { return int(b) - int(a) })
	var values, matches int64
	for i, d := range df {
		values += int64(d)
		matches += int64(d) * int64(d-1) / 2
		if slices.Contains(headSizes, i+1) {
			r.Curve = append(r.Curve, curvePoint{i + 1, d, float64(values), float64(matches)})
		}
	}
	r.Matches = matches
	if r.Curve == nil {
		r.Curve = []curvePoint{}
	}
	for i := range r.Curve {
		r.Curve[i].ValueShare /= float64(max(values, 1))
		r.Curve[i].MatchShare /= float64(max(matches, 1))
	}
}

func (r *corpusReport) writeText(w io.Writer) {
	fmt.Fprintln(w, r.corpusLine)
	fmt.Fprintf(w, "sha256 %s\n", r.Digest)
	if r.Unlabelled > 0 || r.MultiLabelled > 0 {
		fmt.Fprintf(w, "%s without a class, %s with several\n", counted(r.Unlabelled, "document", "documents"), formatCount(r.MultiLabelled))
	}
	l := r.Length
	fmt.Fprintf(w, "\nvalues a document: least %s, quarter %s, median %s, three quarters %s, 95%% %s, most %s, mean %.1f\n",
		formatCount(l.Min), formatCount(l.Q25), formatCount(l.Median), formatCount(l.Q75), formatCount(l.Q95), formatCount(l.Max), l.Mean)
	fmt.Fprintf(w, "matching terms: %s over all pairs, %.2f a pair\n", formatCount(r.Matches), r.MatchesAPair)
	if len(r.Curve) > 0 {
		fmt.Fprintln(w)
		t := newTable(">most frequent terms", ">least df", ">of the values", ">of the matches")
		for _, p := range r.Curve {
			t.add(formatCount(p.Terms), formatCount(p.LeastDF), fmt.Sprintf("%.1f%%", 100*p.ValueShare), fmt.Sprintf("%.1f%%", 100*p.MatchShare))
		}
		t.write(w)
	}
	r.writeClasses(w)
	if v := r.Vectors; v != nil {
		what := "values as read"
		if v.Embedding != "" {
			what = v.Embedding
		}
		fmt.Fprintf(w, "\n%s: %s, %s, %s\n", v.File, counted(r.Documents, "vector", "vectors"), what, formatBytes(v.Bytes))
	}
}

func (r *corpusReport) writeClasses(w io.Writer) {
	n := len(r.Rows)
	if r.listed >= 0 {
		n = min(n, r.listed)
	}
	if n == 0 {
		return
	}
	fmt.Fprintln(w)
	t := newTable("class", ">documents", ">share")
	for _, row := range r.Rows[:n] {
		t.add(row.Class, formatCount(row.Documents), fmt.Sprintf("%.1f%%", 100*float64(row.Documents)/float64(max(r.Documents, 1))))
	}
	t.write(w)
	if rest := len(r.Rows) - n; rest > 0 {
		fmt.Fprintf(w, "and %s (-classes -1 lists all)\n", counted(rest, "class more", "classes more"))
	}
}
