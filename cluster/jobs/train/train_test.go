package train

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/gramengine/gram/cluster/jobs/jobtest"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/solver"
)

func TestMain(m *testing.M) { jobtest.RunTests(m) }

// A job writes the same model file as `gram train`.
func TestLikeGrambench(t *testing.T) {
	const source = "synthetic:docs=400,terms=900,length=40,classes=5,seed=5"
	for _, c := range []struct {
		tasks int
		flags []string
	}{
		{4, []string{"-kernel", "diffusion:t=0.3", "-c", "10"}},
		{64, []string{"-kernel", "ngd-exp:t=1", "-weight", "balanced"}},
		{64, []string{"-type", "nu_svc", "-nu", "0.1", "-scheme", "one-vs-rest", "-kernel", "linear"}},
		{2, []string{"-scheme", "labels", "-kernel", "chi2"}},
		{64, []string{"-scheme", "labels", "-thresholds", "1", "-seed", "3", "-kernel", "rbf:gamma=0.5"}},
		{64, []string{"-type", "one_class", "-kernel", "diffusion"}},
		{64, []string{"-probabilities", "1", "-kernel", "diffusion:t=0.3", "-c", "10"}},
		{64, []string{"-probabilities", "1", "-scheme", "one-vs-rest", "-kernel", "rbf:gamma=0.5", "-seed", "2"}},
		{4, []string{"-probabilities", "1", "-scheme", "labels", "-thresholds", "1", "-kernel", "linear"}},
	} {
		t.Run(fmt.Sprint(c.flags), func(t *testing.T) {
			t.Parallel()
			_, got, err := jobtest.Run(t, Kind, source, "a.model", append(c.flags, "-tasks", fmt.Sprint(c.tasks))...)
			musttest.NoError(t, err)
			args := append([]string{"train", "-q", "-choose-time", "0", "-in", source}, c.flags...)
			if want := jobtest.RunGram(t, "a.model", args...); !bytes.Equal(got, want) {
				t.Error("the model differs from that of gram train")
			}
		})
	}
}

// Invalid flags are rejected when the job is planned.
func TestRefused(t *testing.T) {
	jobtest.CheckRejected(t, Kind, "synthetic:docs=60,terms=90,length=20,classes=3,seed=5", "a.model", map[string]string{
		"-tasks 0":                         "-tasks must be positive, got 0",
		"-c 1,2":                           "take only one value",
		"-c -1":                            "-c must be a number above 0, got -1",
		"-c x":                             "-c must be a number above 0, got x",
		"-nu 2 -type nu_svc":               "-nu must be a number",
		"-type x":                          `unknown learner -type "x"`,
		"-scheme x":                        "-scheme must be one-vs-one",
		"-weight nowhere=2":                `-weight: "nowhere" is not a class of`,
		"-weight x":                        "-weight must be CLASS=W",
		"-kernel x":                        `found "x"`,
		"-kernel diffusion:t=1|2":          "take only one value",
		"-thresholds 1":                    "-thresholds 1 requires -scheme labels",
		"-probabilities x":                 "-probabilities must be 0 or 1",
		"-probabilities 1 -type one_class": "-probabilities does not apply to -type one_class",
		"-tolerance 0":                     "-tolerance must be a number",
	})
}

// A job with an unexpected number of tasks was planned by another program, or is damaged.
func TestOtherTasks(t *testing.T) { jobtest.CheckTasksRejected(t, Kind, "a.model", "gram") }

// Results that don't hold decision functions of the classifier are rejected.
func TestDecode(t *testing.T) {
	for text, want := range map[string]string{
		`{"of":2,"more":1}`: `unknown field "more"`,
		`{"of":2} 1`:        "data after the JSON value",
		`{"of":3}`:          "result must be for 2 decision functions, got 3",
		`{"of":2,"machines":[{"number":-1,"machine":{}}]}`:                          "must be between 0 and 1, got -1",
		`{"of":2,"machines":[{"number":2,"machine":{}}]}`:                           "must be between 0 and 1, got 2",
		`{"of":2,"machines":[{"number":1}]}`:                                        "repeated or missing",
		`{"of":2,"machines":[{"number":1,"machine":{}},{"number":1,"machine":{}}]}`: "decision function 1 is repeated",
	} {
		musttest.WantError(decodeFunctions([]byte(text), 2))(t, text, want)
	}
}

// Any bytes are either rejected or decoded to a classifier that encodes to the same bytes.
func FuzzDecode(f *testing.F) {
	c := &solver.Classifier{Scheme: solver.OneVsRest, Classes: 3, AtLeastOneLabel: true,
		Functions: []*solver.DecisionFunction{
			nil, {Support: []int{1, 7}, Coef: []float64{0.1, math.SmallestNonzeroFloat64}, Rho: math.Copysign(0, -1),
				Converged: true, Sigmoid: &solver.Sigmoid{A: -1.0 / 3, B: math.MaxFloat64}}, {}},
		Thresholds: &solver.Thresholds{Above: []float64{0.5}}, Temperature: &solver.Temperature{}}
	b := musttest.Get(encodeFunctions(c))(f)
	if again, err := decodeFunctions(b, 3); err != nil || !reflect.DeepEqual(again, c) ||
		!math.Signbit(again.Functions[1].Rho) {
		f.Fatalf("%+v, %v, expected %+v", again, err, c)
	}
	f.Add(b)
	f.Add(bytes.Replace(b, []byte(`"number":2`), []byte(`"number":1`), 1))
	f.Add(bytes.Replace(b, []byte(`"of":3`), []byte(`"of":2`), 1))
	f.Add(append(b, '1'))
	f.Add([]byte(`{"of":9999999999}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := decodeFunctions(b, 3)
		if err != nil {
			return
		}
		b = musttest.Get(encodeFunctions(c))(t)
		again, err := decodeFunctions(b, 3)
		if err != nil || !reflect.DeepEqual(again, c) {
			t.Fatalf("%+v, %v, expected %+v", again, err, c)
		}
	})
}
