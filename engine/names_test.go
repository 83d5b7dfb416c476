package engine

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/sparse"
)

// names returns n names of three random syllables, of which one in ten is another with a letter changed.
func names(n int) []string {
	r := rand.New(rand.NewPCG(3, 1))
	syllables := strings.Fields("bel cor dan fer gal han jor kal lin mar nor per ros sal tan val win zim")
	var out []string
	for len(out) < n {
		name := []byte(syllables[r.IntN(18)] + syllables[r.IntN(18)] + syllables[r.IntN(18)] + " holdings limited")
		if len(out) > 0 && r.IntN(10) == 0 {
			name = []byte(out[r.IntN(len(out))])
			name[r.IntN(len(name))] = 'q'
		}
		out = append(out, string(name))
	}
	return out
}

// Names by three characters, within a cosine of 0.8, are the same by a join and by tiles.
func TestJoinNames(t *testing.T) {
	tokenizer := musttest.Get(corpus.ParseTokenizer("char:ngrams=3..3"))(t)
	opt := corpus.Options{MinDF: 1, Tokenizer: tokenizer}
	c := musttest.Get(corpus.FromTexts(t.Context(), names(3000), nil, opt))(t)
	x := embedded(t, sparse.Embedding{Weighting: sparse.TFIDF, Norm: sparse.NormL2}, c.Documents)
	a := musttest.Get(GroupsWithin(t.Context(), x, 0.2, Options{Workers: 2, method: byJoin}))(t)
	b := musttest.Get(GroupsWithin(t.Context(), x, 0.2, Options{Workers: 2, method: byTiles}))(t)
	if a.Pairs != b.Pairs || a.Pairs == 0 || !slices.EqualFunc(a.Groups, b.Groups, slices.Equal) {
		t.Errorf("%d pairs and %d groups by a join, %d and %d by tiles", a.Pairs, len(a.Groups), b.Pairs, len(b.Groups))
	}
}
