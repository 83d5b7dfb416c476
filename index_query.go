package gram

import (
	"context"
	"fmt"
	"slices"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/sparse"
)

// IndexQuery selects the results of [Index.Query]. Set K, Within or both. A query returns the K
// nearest documents whose c = 1 − cosine is at most Within. If only K is set, results can include
// documents with c = 1, which share no term with the text. To find similar texts only, set Within.
// For a text without terms, c = 0 for equal texts and c = 1 for all other texts.
type IndexQuery struct {
	K       int                     // maximum number of documents; default: all documents with c at most Within
	Within  *float64                // maximum c; default none
	Allowed func(document int) bool // reports whether a document may be returned; called concurrently; default: true
}

// Query returns the documents nearest to each text, sorted by distance, ties broken by document
// number. It fails if neither K nor Within is set, if K or Within is negative, or if ctx is done.
func (x *Index) Query(ctx context.Context, texts []string, q IndexQuery) (_ [][]Match, err error) {
	defer convertError(&err)
	if err := x.check(ctx); err != nil {
		return nil, err
	}
	switch {
	case q.K < 0 || q.K == 0 && q.Within == nil:
		return nil, fmt.Errorf("gram: K must be positive unless Within is set, got %d", q.K)
	case q.Within != nil && !(*q.Within >= 0):
		return nil, fmt.Errorf("gram: Within must be nonnegative, got %v", *q.Within)
	}
	out := make([][]Match, len(texts))
	for i, text := range texts {
		terms, counts, err := x.count(ctx, text)
		if err != nil {
			return nil, err
		}
		s, columns, counts, err := x.stateFor(ctx, terms, counts)
		if err != nil {
			return nil, err
		}
		v, err := s.embed(ctx, columns, counts)
		if err != nil {
			return nil, err
		}
		if out[i], err = s.query(ctx, v, q); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// stateFor returns the index state, and the columns and counts of terms. If the state has too few
// columns for new terms, stateFor rebuilds the index.
func (x *Index) stateFor(
	ctx context.Context, terms []string, counts []float32,
) (*indexState, []uint32, []float32, error) {
	for {
		x.mu.RLock()
		s, unseen := x.state, 0
		columns, ordered := sortByColumn(terms, slices.Clone(counts), func(term string) uint32 {
			at, ok := x.column[term]
			if !ok {
				at = uint32(len(x.vocabulary) + unseen) // no document has a value in this column
				unseen++
			}
			return at
		})
		x.mu.RUnlock()
		if n := len(columns); n == 0 || int(columns[n-1]) < len(s.embedder.Terms) {
			return s, columns, ordered, nil
		}
		s, err := x.lockForChange(ctx)
		if err == nil {
			_, err = x.rebuild(ctx, s, unseen)
			x.writeMu.Unlock()
		}
		if err != nil {
			return nil, nil, nil, err
		}
	}
}

func (s *indexState) query(ctx context.Context, v *sparse.Embedded, q IndexQuery) (list []Match, err error) {
	allowed := func(at int) bool {
		return s.contains(at) && (q.Allowed == nil || q.Allowed(s.documents[at].number))
	}
	within := 2.0
	if q.Within != nil {
		within = *q.Within
		list, err = s.index.Within(ctx, v, 0, within, allowed)
	} else {
		list, err = s.index.Nearest(ctx, v, 0, q.K, allowed)
	}
	if err != nil {
		return nil, err
	}
	for at := s.builtCount; at < len(s.documents); at++ {
		if !allowed(at) {
			continue
		}
		c, ok, err := engine.CompareRows(v, 0, s.documents[at].x, 0, within)
		if err != nil {
			return nil, err
		}
		if ok {
			list = append(list, Match{Document: at, C: c})
		}
	}
	engine.SortMatches(list)
	if q.K > 0 {
		list = list[:min(q.K, len(list))]
	}
	for i := range list {
		list[i].Document = s.documents[list[i].Document].number
	}
	return list, nil
}
