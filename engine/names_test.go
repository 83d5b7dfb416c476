package engine

import (
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

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

// Names by three characters, within a cosine of 0.8, are the same by a join and by tiles. GRAM_NAMES=660000
// has so many, by what is cheaper alone, and prints the time.
func TestJoinNames(t *testing.T) {
	n, methods := 3000, []string{byJoin, byTiles}
	if s := os.Getenv("GRAM_NAMES"); s != "" {
		n, _ = strconv.Atoi(s)
		methods = []string{""}
	}
	tokenizer := musttest.Get(corpus.ParseTokenizer("char:ngrams=3..3"))(t)
	c := musttest.Get(corpus.FromTexts(t.Context(), names(n), nil, corpus.Options{MinDF: 1, Tokenizer: tokenizer}))(t)
	emb := sparse.Embedding{Weighting: sparse.TFIDF, Norm: sparse.NormL2}
	x := musttest.Get(emb.Fit(c.Documents).Transform(c.Documents))(t)
	var all []*Within
	for _, method := range methods {
		begin := time.Now()
		w := musttest.Get(GroupsWithin(t.Context(), x, 0.2, Options{Workers: 2, method: method}))(t)
		t.Logf("%d names: %d pairs in %.1f s, %+v", n, w.Pairs, time.Since(begin).Seconds(), *w.Plan)
		all = append(all, w)
	}
	same := func(a, b []int32) bool { return slices.Equal(a, b) }
	if a, b := all[0], all[len(all)-1]; a.Pairs != b.Pairs || a.Pairs == 0 || !slices.EqualFunc(a.Groups, b.Groups, same) {
		t.Errorf("%d pairs and %d groups by a join, %d and %d by tiles", a.Pairs, len(a.Groups), b.Pairs, len(b.Groups))
	}
}
