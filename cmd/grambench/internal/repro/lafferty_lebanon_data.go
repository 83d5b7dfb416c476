package repro

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gramengine/gram/sparse"
)

// llCorpus is a corpus of Tables 1 to 4.
type llCorpus struct {
	name   string
	docs   *sparse.CSR
	digest [32]byte
	tasks  []*llTask
	counts string // of classes, in words
}

// llTask is a row of a table: a class against the rest, or against the most frequent one.
type llTask struct {
	Task
	table, class, against string
}

// The classes of the tasks in the order of the tables; topics are written as the paper writes them.
var (
	llWebKB   = []string{"course", "faculty", "project", "student"}
	llReuters = []string{"earn", "acq", "moneyFx", "grain", "crude"}
	llTopics  = map[string]string{"moneyFx": "money-fx"} // as the corpus has them, where that differs
)

// llTop are the ten most frequent topics of the ModApte split, as the corpus has them.
var llTop = []string{"earn", "acq", "money-fx", "grain", "crude", "trade", "interest", "wheat", "ship", "corn"}

// rest is what a class is against in Tables 1 and 3.
const rest = "the rest"

// readWebKB reads the pages; the class is what the label has before its bar.
func (p *llProtocol) readWebKB(ctx context.Context, r *Run) (*llCorpus, error) {
	c, err := r.ReadText(ctx, WebKB, WebKB.Files[0], sparse.Options{MinDF: 1})
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
			if !slices.Contains(llWebKB, class) {
				return nil, fmt.Errorf("%s:%d: class %q, expected one of %s", c.Source, i+1, class, strings.Join(llWebKB, ", "))
			}
			classes[i] = []string{class}
		}
	}
	return p.corpus("webkb", c, classes, llWebKB, "student", "1", "2")
}

// readReuters reads both parts of the split: the stories with one of the five topics of Tables 3 and 4, of both parts; and the split itself.
func (p *llProtocol) readReuters(ctx context.Context, r *Run) (*llCorpus, *modApteSplit, error) {
	var parts [2]*sparse.Corpus
	for i, file := range Reuters.Files {
		c, err := r.ReadText(ctx, Reuters, file, sparse.Options{MinDF: 1})
		if err != nil {
			return nil, nil, err
		}
		parts[i] = c
	}
	both, err := p.text.Apply(Concat(parts[0], parts[1]))
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
		for _, class := range llReuters {
			if hasClass(both, i, topicOf(class)) {
				have = append(have, class)
			}
		}
		if have != nil {
			docs, classes = append(docs, i), append(classes, have)
		}
	}
	c, err := p.corpus("reuters", both.Select(docs), classes, llReuters, "earn", "3", "4")
	return c, split, err
}

// topicOf is a topic as the corpus has it.
func topicOf(class string) string {
	if topic, ok := llTopics[class]; ok {
		return topic
	}
	return class
}

func hasClass(c *sparse.Corpus, i int, name string) bool {
	return slices.ContainsFunc(c.Labels.Of(i), func(id int32) bool { return c.Classes[id] == name })
}

// corpus makes the tasks of two tables: each class against the rest, and each but one against that one. Documents of both classes of a pair are left out.
func (p *llProtocol) corpus(name string, c *sparse.Corpus, classes [][]string, all []string, frequent, tableOfAll, tableOfPairs string) (*llCorpus, error) {
	out := &llCorpus{name: name, docs: c.Documents, digest: c.Digest(), counts: countClasses(classes, all)}
	task := func(table, class, against string) error {
		t := &llTask{Task: Task{Name: name + "/" + class + "/" + against}, table: table, class: class, against: against}
		for i, have := range classes {
			own, other := slices.Contains(have, class), slices.Contains(have, against) || against == rest
			if against == rest && len(have) > 0 || own != other {
				t.Docs, t.Positive = append(t.Docs, i), append(t.Positive, own)
			}
		}
		out.tasks = append(out.tasks, t)
		for _, size := range p.sizes {
			if err := t.Check(size); err != nil {
				return err
			}
		}
		return nil
	}
	for _, class := range all {
		if p.tables.Has(tableOfAll) {
			if err := task(tableOfAll, class, rest); err != nil {
				return nil, err
			}
		}
	}
	for _, class := range all {
		if class != frequent && p.tables.Has(tableOfPairs) {
			if err := task(tableOfPairs, class, frequent); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// countClasses says how many documents each class has.
func countClasses(classes [][]string, all []string) string {
	var parts []string
	for _, class := range all {
		n := 0
		for _, have := range classes {
			if slices.Contains(have, class) {
				n++
			}
		}
		parts = append(parts, fmt.Sprintf("%s %d", class, n))
	}
	return strings.Join(parts, ", ")
}
