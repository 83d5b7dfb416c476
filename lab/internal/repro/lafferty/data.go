package lafferty

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/lab/internal/repro"
	"github.com/gramengine/gram/sparse"
)

// corpus is a corpus of Tables 1 to 4.
type dataset struct {
	name   string
	docs   *sparse.CSR
	tasks  []*classTask
	counts string // of classes, in words

	results map[series][]result // by scale
}

// classTask is a row of a table: a class against the rest, or against the most frequent one.
type classTask struct {
	task
	corpus                *dataset
	place                 int // among the tasks of the corpus
	table, class, against string
}

// The classes of the tasks in the order of the tables. Topics are written as the paper writes them.
var (
	webKBClasses  = []string{"course", "faculty", "project", "student"}
	reutersTopics = []string{"earn", "acq", "moneyFx", "grain", "crude"}
)

// topTen are the ten most frequent topics of the ModApte split, as the corpus has them.
var topTen = []string{"earn", "acq", "money-fx", "grain", "crude", "trade", "interest", "wheat", "ship", "corn"}

// rest is what a class is against in Tables 1 and 3.
const rest = "the rest"

// readWebKB reads the pages. Their class is what the label has before its bar.
func (p *protocol) readWebKB(ctx context.Context, r *repro.Run) (*dataset, error) {
	c, err := r.Read(ctx, repro.WebKB, repro.WebKB.Files[0], corpus.Options{MinDF: 1, Tokenizer: p.text.Tokenizer()})
	if err != nil {
		return nil, err
	}
	if c, err = p.text.Apply(c); err != nil {
		return nil, err
	}
	classes := make([][]string, c.Documents.Rows())
	for i := range classes {
		for _, id := range c.Labels.Of(i) {
			class, _, _ := strings.Cut(c.Classes[id], "|")
			if !slices.Contains(webKBClasses, class) {
				return nil, fmt.Errorf("%s:%d: class %q, expected one of %s", c.Source, i+1, class,
					strings.Join(webKBClasses, ", "))
			}
			classes[i] = []string{class}
		}
	}
	return p.corpus("webkb", c, classes, webKBClasses, "student", "1", "2")
}

// readReuters reads both parts of the ModApte split. It returns the stories of Tables 3 and 4, those
// of both parts that -stories names, and the split itself.
func (p *protocol) readReuters(ctx context.Context, r *repro.Run) (*dataset, *modApteSplit, error) {
	var parts [2]*corpus.Corpus
	for i, file := range repro.Reuters.Files {
		c, err := r.Read(ctx, repro.Reuters, file, corpus.Options{MinDF: 1, Tokenizer: p.text.Tokenizer()})
		if err != nil {
			return nil, nil, err
		}
		parts[i] = c
	}
	both, err := p.text.Apply(repro.Concat(parts[0], parts[1]))
	if err != nil {
		return nil, nil, err
	}
	split := newModApteSplit(both, parts[0].Documents.Rows(), p.modApte)
	if !p.tables.Has("3") && !p.tables.Has("4") {
		return nil, split, nil
	}
	var docs []int
	var classes [][]string
	for i := range both.Documents.Rows() {
		var have []string
		for _, class := range reutersTopics {
			topic := class
			if class == "moneyFx" { // the corpus writes it otherwise
				topic = "money-fx"
			}
			if hasClass(both, i, topic) {
				have = append(have, class)
			}
		}
		if p.takes(len(have), len(both.Labels.Of(i))) {
			docs, classes = append(docs, i), append(classes, have)
		}
	}
	c, err := p.corpus("reuters", both.Select(docs), classes, reutersTopics, "earn", "3", "4")
	return c, split, err
}

// takes reports whether a story belongs to Tables 3 and 4, by how many of the five topics it has, and
// how many of all.
func (p *protocol) takes(five, topics int) bool {
	switch p.stories {
	case "five":
		return five > 0
	case "topics":
		return topics > 0
	}
	return true
}

func hasClass(c *corpus.Corpus, i int, name string) bool {
	return slices.ContainsFunc(c.Labels.Of(i), func(id int32) bool { return c.Classes[id] == name })
}

// corpus makes the tasks of two tables: each class against the rest, and each but the most frequent
// one against that. Documents of both classes of a pair are left out.
func (p *protocol) corpus(name string, c *corpus.Corpus, classes [][]string, all []string,
	frequent, tableOfAll, tableOfPairs string) (*dataset, error) {
	out := &dataset{
		name: name, docs: c.Documents, counts: countClasses(classes, all),
		results: map[series][]result{},
	}
	for _, of := range []struct{ table, against string }{{tableOfAll, rest}, {tableOfPairs, frequent}} {
		for _, class := range all {
			if !p.tables.Has(of.table) || class == of.against {
				continue
			}
			t := &classTask{
				task{
					Name: name + "/" + class + "/" + of.against, Sizes: p.sizesOf(of.table),
					Balanced: p.training != "natural", Equal: p.training == "equal",
				}, out, len(out.tasks), of.table, class, of.against,
			}
			for i, have := range classes {
				own := slices.Contains(have, class)
				if of.against == rest || own != slices.Contains(have, of.against) {
					t.Docs, t.Positive = append(t.Docs, i), append(t.Positive, own)
				}
			}
			for _, size := range t.Sizes {
				if err := t.check(size); err != nil {
					return nil, err
				}
			}
			out.tasks = append(out.tasks, t)
		}
	}
	return out, nil
}

// countClasses says how many documents each class has.
func countClasses(classes [][]string, all []string) string {
	count := map[string]int{}
	for _, class := range slices.Concat(classes...) {
		count[class]++
	}
	var parts []string
	for _, class := range all {
		parts = append(parts, fmt.Sprintf("%s %d", class, count[class]))
	}
	return strings.Join(parts, ", ")
}
