package solver

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// embedCorpus reads a corpus, puts the documents of a class together, and returns an engine for
// them on the sphere and their classes.
func embedCorpus(t testing.TB, source string, opt engine.Options) (*engine.Engine, []int, int) {
	t.Helper()
	c := musttest.Get(sparse.Read(t.Context(), source, sparse.Options{}))(t)
	order := counting(c.Documents.Rows())
	class := func(i int) int { return int(c.Labels.Of(i)[0]) }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(class(a), class(b)) })
	labels := make([]int, len(order))
	for i, d := range order {
		labels[i] = class(d)
	}
	documents := c.Select(order).Documents
	x := musttest.Get(sparse.Sphere.Fit(documents).Transform(documents))(t)
	e := musttest.Get(engine.New(x, opt))(t)
	return e, labels, len(c.Classes)
}

// newsgroups returns the diffusion kernel's matrix of the training documents of 20 Newsgroups and
// their classes. The test is skipped where they are missing.
func newsgroups(t testing.TB) (*Dense, []int, int) {
	t.Helper()
	path := filepath.Join("..", "..", "shared", "data", "20news-bydate", "train.tsv.gz")
	if _, err := os.Stat(path); err != nil {
		t.Skip("20 Newsgroups is not here: ", err)
	}
	news.Do(func() {
		var e *engine.Engine
		e, news.labels, news.classes = embedCorpus(t, path, engine.Options{})
		g, err := e.Gram(t.Context(), kernel.MustParse("diffusion:t=0.5"))
		if err != nil {
			t.Fatal(err)
		}
		if news.matrix, err = NewDense(g.N, g.Data); err != nil {
			t.Fatal(err)
		}
	})
	if news.matrix == nil {
		t.Fatal("20 Newsgroups couldn't be read")
	}
	return news.matrix, news.labels, news.classes
}

var news struct {
	sync.Once
	matrix  *Dense
	labels  []int
	classes int
}
