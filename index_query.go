package gram

import (
	"context"
	"fmt"
	"slices"

	"github.com/gramengine/gram/engine"
	"github.com/gramengine/gram/sparse"
)

// IndexQuery says what is looked for. At least one of K and Within must be given; with both, the K nearest within the
// bound. With K alone, documents that share no term with the text are found, too, at c = 1. Texts without terms are at
// c = 0 of equal texts and at c = 1 of others. Give Within to find similar texts only.
type IndexQuery struct {
	K       int                     // how many documents; default all within the bound
	Within  *float64                // greatest c; default none
	Allowed func(document int) bool // which documents may be found; default all. It may be called concurrently
}

// Query returns the documents that are nearest to each text, the nearest first, equal ones by number.
// It fails if neither K nor Within is given, if one is below 0, and with the error of ctx at its end.
func (x *Index) Query(ctx context.Context, texts []string, q IndexQuery) (_ [][]Match, err error) {
	defer facade(&err)
	if err := x.check(ctx); err != nil {
		return nil, err
	}
	switch {
	case q.K < 0 || q.K == 0 && q.Within == nil:
		return nil, fmt.Errorf("gram: K %d, expected 1 or more, or a bound Within", q.K)
	case q.Within != nil && !(*q.Within >= 0):
		return nil, fmt.Errorf("gram: Within %v, expected 0 or more", *q.Within)
	}
	out := make([][]Match, len(texts))
	for i, text := range texts {
		terms, counts, err := x.count(ctx, text)
		if err != nil {
			return nil, err
		}
		s, columns, counts, err := x.inState(ctx, terms, counts)
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

// inState returns the state of the index, and counts in the order of its columns, of which it has enough.
func (x *Index) inState(
	ctx context.Context, terms []string, counts []float32,
) (*indexState, []uint32, []float32, error) {
	for {
		x.mu.RLock()
		s, unseen := x.state, 0
		columns, ordered := inColumns(terms, slices.Clone(counts), func(term string) uint32 {
			at, ok := x.column[term]
			if !ok {
				at = uint32(len(x.names) + unseen) // no document has it
				unseen++
			}
			return at
		})
		x.mu.RUnlock()
		if n := len(columns); n == 0 || int(columns[n-1]) < len(s.embedder.Terms) {
			return s, columns, ordered, nil
		}
		s, err := x.begin(ctx)
		if err == nil {
			_, err = x.rebuild(ctx, s, unseen)
			x.writing.Unlock()
		}
		if err != nil {
			return nil, nil, nil, err
		}
	}
}

// query returns the documents that are nearest to a vector.
func (s *indexState) query(ctx context.Context, v *sparse.Embedded, q IndexQuery) (list []Match, err error) {
	allowed := func(at int) bool {
		return s.has(at) && (q.Allowed == nil || q.Allowed(s.documents[at].number))
	}
	within := 2.0
	if q.Within != nil {
		within = *q.Within
		list, err = s.near.Within(ctx, v, 0, within, allowed)
	} else {
		list, err = s.near.Nearest(ctx, v, 0, q.K, allowed)
	}
	if err != nil {
		return nil, err
	}
	for at := s.built; at < len(s.documents); at++ {
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
