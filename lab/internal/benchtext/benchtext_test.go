package benchtext

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/lab/internal/peers/peerstest"
)

func TestScore(t *testing.T) {
	r := &row{}
	r.score([]string{"a", "b,c", "-", "a"}, [][]string{{"a"}, {"b"}, nil, {"d"}}, 2)
	// right: a, b; of: a, b, d; given: a, b, c, a
	for name, q := range map[string][2]float64{
		"accuracy": {r.accuracy, 0.5 * 2 / 4}, "micro F1": {r.microF1, 0.5 * 4 / 7},
		"macro F1": {r.macroF1, 0.5 * (2.0/3 + 1) / 4},
	} {
		if !(math.Abs(q[0]-q[1]) <= 1e-15) {
			t.Errorf("%s %v, expected %v", name, q[0], q[1])
		}
	}
}

// R8 and such have documents of one label alone, the most frequent ones of those that both parts have.
func TestOfMostFrequent(t *testing.T) {
	train := []string{"a\t1", "a\t2", "b\t3", "c\t4", "c\t5", "c\t6", "a,b\t7", "-\t8", "d\t9"}
	test := []string{"b\t10", "a\t11", "d\t12", "a,c\t13"}
	got, tests := ofMostFrequent(2, train, test)
	if !slices.Equal(got, []string{train[0], train[1], train[2]}) || !slices.Equal(tests, test[:2]) {
		t.Errorf("%q, %q", got, tests)
	}
}

func TestUsage(t *testing.T) { peerstest.Usage(t, Program, "-images 1") }

// All programs that are there are measured on a small corpus in the place of one that they know; those that take
// longer than they may, train aside, are left out.
func TestSmall(t *testing.T) {
	gram := peerstest.Build(t)
	files := map[string]string{}
	for name, n := range map[string]int{"train": 150, "test": 40} {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, "topic%d\t", i%3)
			for k := range 8 {
				fmt.Fprintf(&text, "%c%c ", 'a'+(i*k+i/3)%11, 'm'+i%3*(k%2))
			}
			fmt.Fprintln(&text)
		}
		files["20news-bydate/"+name+".tsv.gz"] = text.String()
	}
	measure := func(args ...string) (stdout, stderr string) {
		args = append(args, "-gram", gram, "-data", peerstest.Corpora(t, files))
		status, stdout, stderr := peerstest.Run(t, Program, args...)
		if status != 0 {
			t.Fatalf("exit status %d: %s", status, stderr)
		}
		return stdout, stderr
	}
	stdout, stderr := measure()
	peerstest.Has(t, stdout, "150 training and 40 test documents", "gram train ", "gram grid ",
		"regret of train: ", "| 20 Newsgroups, by date | ", " points on the mean over corpora")
	if strings.Count(stderr, "left out: ") < 4 { // the other corpora
		t.Error(stderr)
	}
	stdout, stderr = measure("-limit", "1ns")
	peerstest.Has(t, stdout, "gram train ", "| 20 Newsgroups, by date | words | – |")
	peerstest.Has(t, stderr, "left out: gram grid on 20 Newsgroups, by date, since it takes longer than 1ns")
	if strings.Contains(stdout, "gram grid") {
		t.Error(stdout)
	}
}
