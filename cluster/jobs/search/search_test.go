package search

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/gramengine/gram/cluster/jobs/jobtest"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/internal/musttest"
)

func TestMain(m *testing.M) { jobtest.RunTests(m) }

// rows returns the points of a report in canonical form: with sorted keys, without seconds.
func rows(t *testing.T, report []byte) string {
	t.Helper()
	var r struct {
		Rows []map[string]json.RawMessage `json:"rows"`
	}
	musttest.NoError(t, json.Unmarshal(report, &r))
	if len(r.Rows) == 0 {
		t.Fatalf("no rows in %s", report)
	}
	for _, row := range r.Rows {
		delete(row, "seconds") // only grid writes seconds
	}
	return string(musttest.Get(json.Marshal(r.Rows))(t)) // numbers keep all digits
}

// A search as a job has exactly the same points as `gram grid -json`.
func TestLikeGrambench(t *testing.T) {
	const source = "synthetic:docs=300,terms=900,length=40,classes=4,seed=5"
	for _, c := range []struct {
		tasks       int
		flags, grid []string
	}{
		{6, []string{"-kernel", "diffusion:t=2|0.5|1", "-kernel", "ngd-exp:t=1", "-c", "10,1", "-folds", "3"},
			[]string{"-kernel", "diffusion:t=2|0.5|1", "-kernel", "ngd-exp:t=1", "-grid", "C=10,1", "-folds", "3"}},
		{4, []string{"-kernel", "linear", "-scheme", "one-vs-one,one-vs-rest", "-probabilities", "1", "-folds", "2"},
			[]string{"-kernel", "linear", "-grid", "scheme=one-vs-one,one-vs-rest", "-probabilities", "1", "-folds", "2",
				"-grid", "C=1"}},
		{5, []string{"-kernel", "diffusion", "-scheme", "labels", "-thresholds", "1", "-seed", "2"},
			[]string{"-kernel", "diffusion", "-scheme", "labels", "-thresholds", "1", "-seed", "2", "-grid", "C=1"}},
		{6, []string{"-kernel", "linear", "-kernel", "linear:embed=tfidf-l2", "-kernel", "diffusion", "-folds", "2"},
			[]string{"-kernel", "linear", "-kernel", "linear:embed=tfidf-l2", "-kernel", "diffusion", "-folds", "2",
				"-grid", "C=1"}},
		{5, []string{"-kernel", "diffusion", "-type", "nu_svc", "-nu", "0.1,0.2"},
			[]string{"-kernel", "diffusion", "-type", "nu_svc", "-grid", "nu=0.1,0.2"}},
	} {
		t.Run(fmt.Sprint(c.flags), func(t *testing.T) {
			t.Parallel()
			j, got, err := jobtest.Run(t, Kind, source, "scores.json", c.flags...)
			musttest.NoError(t, err)
			if j.NumTasks != c.tasks {
				t.Errorf("%d tasks, expected %d", j.NumTasks, c.tasks)
			}
			want := jobtest.RunGram(t, "", append([]string{"grid", "-q", "-json", "-choose-time", "0", "-in", source},
				c.grid...)...)
			if g, w := rows(t, got), rows(t, want); g != w {
				t.Errorf("%s\nexpected\n%s", g, w)
			}
		})
	}
}

// Invalid lists are rejected when the job is planned.
func TestRefused(t *testing.T) {
	jobtest.CheckRejected(t, Kind, "synthetic:docs=60,terms=90,length=20,classes=3,seed=5", "scores.json",
		map[string]string{
			"-folds 1":                  "-folds must be between 2 and 60, got 1",
			"-folds 0":                  "-folds must be between 2 and 60, got 0",
			"-c 1,1":                    "1 twice",
			"-c 0":                      "-c must be a number above 0, got 0",
			"-kernel diffusion:t=1|1":   "is listed twice",
			"-kernel diffusion:t=1|":    "an empty value",
			"-nu 0.1":                   "-nu does not apply to -type c_svc; valid parameters are scheme, c, ",
			"-scheme labels,one-vs-one": "-scheme labels cannot be combined",
			"-epsilon 0.1":              "-epsilon does not apply",
			"-type nu_svc -c 1":         "-c does not apply to -type nu_svc",
			"-folds 61":                 "61",
		})
}

// A job with an unexpected number of tasks was planned by another program, or is damaged.
func TestOtherTasks(t *testing.T) {
	jobtest.CheckTasksRejected(t, Kind, "scores.json", "json", "-folds", "2")
}

// Any bytes are either rejected or decoded to an outcome that encodes to the same bytes.
func FuzzDecode(f *testing.F) {
	found := &svm.TaskOutcome{Sorted: true, Fits: [][]*svm.FoldOutcome{{
		{Class: []int{1, 0}, Decisions: [][]float64{{0.1, -1e-300}, {1.0 / 3, 0}}, Missing: []int{2},
			Support: 7, Iterations: 9},
		{Labels: [][]int{{}, {1, 2}}, Unfinished: 1}, {Values: []float64{0.5}},
	}}}
	b := musttest.Get(encodeOutcome(found))(f)
	if again, err := decodeOutcome(b); err != nil || !reflect.DeepEqual(again, found) {
		f.Fatalf("%+v, %v, expected %+v", again, err, found)
	}
	f.Add(b)
	f.Add(b[:len(b)/2])
	f.Add([]byte(strings.Repeat("[", 100)))
	f.Fuzz(func(t *testing.T, b []byte) {
		found, err := decodeOutcome(b)
		if err != nil {
			return
		}
		text := musttest.Get(encodeOutcome(found))(t)
		again := musttest.Get(decodeOutcome(text))(t)
		if second, err := encodeOutcome(again); err != nil || !bytes.Equal(second, text) {
			t.Fatalf("%s, %v, expected %s", second, err, text)
		}
	})
}
