package zhang

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/lab/internal/repro"
	"github.com/gramengine/gram/sparse"
)

// universities are held out in turn.
var universities = []string{"cornell", "texas", "washington", "wisconsin"}

// division is a corpus in two parts, whose terms and classes are numbered alike.
type division struct {
	name        string
	train, test *corpus.Corpus
}

// webkb reads WebKB, and divides it by leaving one university out. Labels class|university become
// classes.
func (p *protocol) webkb(ctx context.Context, r *repro.Run) ([]division, error) {
	text := p.terms(repro.WebKB.Name)
	c, err := r.Read(ctx, repro.WebKB, repro.WebKB.Files[0], corpus.Options{MinDF: text.MinDF})
	if err != nil {
		return nil, err
	}
	if c, err = text.Apply(c); err != nil {
		return nil, err
	}
	pages := map[string][]int{} // by university
	whole := *c
	whole.Classes, whole.Labels = nil, sparse.Labels{}
	for i := range c.Documents.Rows() {
		var class, university string
		ok := false
		if ids := c.Labels.Of(i); len(ids) == 1 {
			class, university, ok = strings.Cut(c.Classes[ids[0]], "|")
		}
		if !ok {
			return nil, fmt.Errorf("%s:%d: expected one label class|university", c.Source, i+1)
		}
		pages[university] = append(pages[university], i)
		k := slices.Index(whole.Classes, class)
		if k < 0 {
			k, whole.Classes = len(whole.Classes), append(whole.Classes, class)
		}
		whole.Labels.Add(int32(k))
	}
	var divided []division
	for _, u := range universities {
		var others []int
		for university, its := range pages {
			if university != u {
				others = append(others, its...)
			}
		}
		if len(pages[u]) == 0 || len(others) == 0 {
			return nil, fmt.Errorf("%s: no pages of %s, or of no other university", c.Source, u)
		}
		slices.Sort(others)
		divided = append(divided, division{u, whole.Select(others), whole.Select(pages[u])})
	}
	return divided, nil
}

// newsgroups reads 20 Newsgroups.
func (p *protocol) newsgroups(ctx context.Context, r *repro.Run) ([]division, error) {
	train, test, err := r.ReadNewsgroups(ctx, p.terms(repro.Newsgroups.Name))
	if err != nil {
		return nil, err
	}
	return []division{{repro.Newsgroups.Name, train, test}}, nil
}
