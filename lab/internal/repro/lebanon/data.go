package lebanon

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/lab/internal/repro"
	"github.com/gramengine/gram/sparse"
)

// corpus is a corpus of Figure 4 with its tasks.
type dataset struct {
	name  string
	docs  *sparse.CSR
	tasks []*task
}

// task is a class against the rest.
type task struct {
	name     string
	positive []bool // by document
	results  map[string]*result
}

// The classes of the tasks, in the order of the figure; which topics the paper takes isn't known.
var (
	webKBClasses = []string{"course", "faculty", "project", "student"}
	topics       = []string{"earn", "acq", "money-fx", "grain", "crude", "trade", "interest", "ship"}
)

// webkb reads the pages. Their class is what the label has before its bar.
func (p *protocol) webkb(ctx context.Context, r *repro.Run) (*dataset, error) {
	c, err := r.Read(ctx, repro.WebKB, repro.WebKB.Files[0], corpus.Options{MinDF: 1})
	if err != nil {
		return nil, err
	}
	return p.corpus(repro.WebKB.Name, c, webKBClasses, func(label string) string {
		class, _, _ := strings.Cut(label, "|")
		return class
	})
}

// reuters reads the stories of both parts of the ModApte split.
func (p *protocol) reuters(ctx context.Context, r *repro.Run) (*dataset, error) {
	var parts []*corpus.Corpus
	for _, file := range repro.Reuters.Files {
		c, err := r.Read(ctx, repro.Reuters, file, corpus.Options{MinDF: 1})
		if err != nil {
			return nil, err
		}
		parts = append(parts, c)
	}
	return p.corpus(repro.Reuters.Name, repro.Concat(parts[0], parts[1]), topics,
		func(label string) string { return label })
}

// corpus makes the tasks of a corpus.
func (p *protocol) corpus(name string, c *corpus.Corpus, classes []string, of func(label string) string) (*dataset,
	error) {
	c, err := p.text.Apply(c)
	if err != nil {
		return nil, err
	}
	out := &dataset{name: name, docs: c.Documents}
	most := p.sizes[len(p.sizes)-1]
	for _, class := range classes {
		t := &task{name: class, results: map[string]*result{}}
		count := 0
		for i := range c.Documents.Rows() {
			is := slices.ContainsFunc(c.Labels.Of(i), func(id int32) bool { return of(c.Classes[id]) == class })
			if t.positive = append(t.positive, is); is {
				count++
			}
		}
		if others := len(t.positive) - count; (most+1)/2 >= count || most/2 >= others {
			return nil, fmt.Errorf("%s: %d documents of %s and %d others, expected more than half of the greatest -sizes, %d",
				name, count, class, others, most)
		}
		out.tasks = append(out.tasks, t)
	}
	return out, nil
}

// split is a random order of the documents of a class, and one of the others. A training set is the
// first of both, half of each; what isn't in the greatest is for testing.
type split struct{ positive, negative []int }

// split draws split number n. The same seed, task and number give the same split everywhere.
func (t *task) split(seed uint64, n int) *split {
	r := rand.New(rand.NewPCG(seed, repro.Hash(fmt.Sprintf("%s/%d", t.name, n))))
	s := &split{}
	for i, is := range t.positive {
		if is {
			s.positive = append(s.positive, i)
		} else {
			s.negative = append(s.negative, i)
		}
	}
	for _, docs := range [][]int{s.positive, s.negative} {
		r.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
	}
	return s
}

// train returns the training set of a size: first its documents of the class.
func (s *split) train(size int) []int {
	return slices.Concat(s.positive[:(size+1)/2], s.negative[:size/2])
}

// test returns what isn't in the greatest training set.
func (s *split) test(most int) []int {
	return slices.Concat(s.positive[(most+1)/2:], s.negative[most/2:])
}
