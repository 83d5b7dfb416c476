package learn

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/corpus/token"
	"github.com/gramengine/gram/internal/musttest"
)

// importanceOf trains on a table and evaluates the model on the same rows.
func importanceOf(
	t *testing.T, ctx context.Context, learner string, rows [][]string, labels []string, o Options,
) (map[string]Importance, error) {
	t.Helper()
	opt := corpus.Options{MinDF: 1, Tokenizer: musttest.Get(token.ParseViews(
		"kind,same=categories + x,noise=numbers:width=1"))(t)}
	c := musttest.Get(corpus.FromRows(t.Context(), []string{"kind", "same", "x", "noise"}, rows, labels, opt))(t)
	trainer := TrainerOf(t, learner)
	m := musttest.Get(trainer.Train(t.Context(), c, Options{}))(t)
	o.Predictor = musttest.Get(NewPredictor(t.Context(), m, Options{}))(t)
	p := musttest.Get(m.Predict(t.Context(), c.Documents, Options{}))(t)
	v, err := Evaluate(ctx, m, p, c, o, EvaluateOptions{MistakeCount: -1})
	if err != nil {
		return nil, err
	}
	out := map[string]Importance{}
	for k, x := range v.Importances {
		if out[x.Column] = x; k > 0 && x.MeanDrop > v.Importances[k-1].MeanDrop {
			t.Errorf("column %s after a column with a smaller drop", x.Column)
		}
	}
	return out, nil
}

// table returns n rows. The classes are the first column, and the targets are 3/n times the third.
func table(n int) (rows [][]string, classes, targets []string) {
	for i := range n {
		x, kind := i*37%n, fmt.Sprint(i%2)
		rows = append(rows, []string{kind, "constant", fmt.Sprint(x), fmt.Sprint(i * 7919 % 101)})
		classes, targets = append(classes, kind), append(targets, fmt.Sprint(3*float64(x)/float64(n)))
	}
	return rows, classes, targets
}

// If the only relevant column is permuted, half of the rows of two equal classes are predicted
// correctly, and the squared error of a target x is E(x'-x)², twice its variance. A constant column
// has no importance.
func TestImportance(t *testing.T) {
	const n = 200
	rows, classes, targets := table(n)
	for _, c := range []struct {
		learner, column string
		labels          []string
		drop            float64
	}{
		{"c_svc:kernel=linear,c=100", "kind", classes, 0.5},
		{"epsilon_svr:kernel=diffusion:t=2,c=10,epsilon=0.01", "x", targets, 2},
	} {
		got := musttest.Get(importanceOf(t, t.Context(), c.learner, rows, c.labels, Options{}))(t)
		if x := got[c.column]; !(math.Abs(x.MeanDrop-c.drop) <= 4*x.SE) || !(x.SE <= 0.2*c.drop) {
			t.Errorf("%s: %+v, expected a drop of %v", c.learner, x, c.drop)
		}
		if x := got["same"]; x.MeanDrop != 0 || x.SE != 0 {
			t.Errorf("%s: %+v, expected 0", c.learner, x)
		}
		if x := got["noise"]; !(math.Abs(x.MeanDrop) <= 0.1*c.drop) || len(got) != 4 {
			t.Errorf("%s: %+v of %d columns", c.learner, x, len(got))
		}
	}
}

func TestImportanceStops(t *testing.T) {
	rows, classes, _ := table(60)
	ctx, cancel := context.WithCancel(t.Context())
	steps := 0
	_, err := importanceOf(t, ctx, "c_svc:kernel=linear", rows, classes, Options{
		Progress: func(stage string, done, total int64, _ ...string) {
			if steps++; stage != "permuting columns" || total != 20 || done != int64(steps) {
				t.Errorf("%s: %d of %d", stage, done, total)
			}
			if steps == 3 {
				cancel()
			}
		}})
	if !errors.Is(err, context.Canceled) || steps != 3 {
		t.Errorf("%v after %d steps", err, steps)
	}
}

// mixTerms returns the terms of a row in which a column's value comes from another row.
func TestMixed(t *testing.T) {
	tokenizer := musttest.Get(token.ParseViews("a=words + b,c=words + a=chars:2 + d=categories"))(t)
	rows := [][]string{{"red car", "old", "x y", "1"}, {"red bike", "", "old z", ""}, {"", "new old", "x", "2"}}
	c := musttest.Get(corpus.FromRows(t.Context(), []string{"a", "b", "c", "d"}, rows, nil,
		corpus.Options{MinDF: 1, Tokenizer: tokenizer}))(t)
	a := &About{}
	a.Vocabulary, a.Tokenizer = c.Vocabulary, tokenizer
	columns := musttest.Get(newTermColumns(a))(t)
	counter := musttest.Get(corpus.NewCounter(tokenizer, c.Vocabulary))(t)
	for k, fields := range [][]int{{0}, {1, 2}, {3}} {
		other := func(term uint32) bool { return columns.columnIndex(term) == k }
		got := mixTerms(c.Documents, []int{0, 1, 2}, []int{1, 2, 0}, other)
		raw := corpus.Raw{Columns: []string{"a", "b", "c", "d"}}
		for i := range rows {
			row := append([]string{}, rows[i]...)
			for _, f := range fields {
				row[f] = rows[(i+1)%3][f]
			}
			raw.Rows = append(raw.Rows, row)
		}
		want, _, err := counter.CountUnknown(t.Context(), raw)
		if err != nil || !reflect.DeepEqual(got.Terms, want.Terms) || !reflect.DeepEqual(got.Values, want.Values) ||
			!reflect.DeepEqual(got.Offsets, want.Offsets) {
			t.Errorf("column %s: %v, %v, expected %v", columns.names[k], err, got, want)
		}
	}
}
