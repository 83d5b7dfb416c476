package train

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/gramengine/gram/cluster/jobs/jobtest"
	"github.com/gramengine/gram/solver"
)

func TestMain(m *testing.M) { jobtest.Main(m) }

// Machines that are trained in tasks make the file that grambench train writes.
func TestLikeGrambench(t *testing.T) {
	const source = "synthetic:docs=400,terms=900,length=40,classes=5,seed=5"
	for _, c := range []struct {
		tasks int
		flags []string
	}{
		{4, []string{"-kernel", "diffusion:t=0.3", "-c", "10"}},
		{64, []string{"-kernel", "ngd-exp:t=1", "-weight", "balanced", "-probabilities", "1"}},
		{64, []string{"-type", "nu_svc", "-nu", "0.1", "-scheme", "one-vs-rest", "-kernel", "linear"}},
		{2, []string{"-scheme", "labels", "-kernel", "chi2"}},
		{64, []string{"-scheme", "labels", "-thresholds", "1", "-seed", "3", "-kernel", "rbf:gamma=0.5"}},
		{64, []string{"-type", "one_class", "-kernel", "diffusion"}},
	} {
		t.Run(fmt.Sprint(c.flags), func(t *testing.T) {
			t.Parallel()
			_, got, err := jobtest.Run(t, Kind, source, "a.model", append(c.flags, "-tasks", fmt.Sprint(c.tasks))...)
			if err != nil {
				t.Fatal(err)
			}
			args := append([]string{"train", "-q", "-choose-time", "0", "-in", source}, c.flags...)
			if want := jobtest.Grambench(t, "a.model", args...); !bytes.Equal(got, want) {
				t.Error("the model differs from that of grambench train")
			}
		})
	}
}

// Flags that make no sense are refused when the job is planned.
func TestRefused(t *testing.T) {
	const source = "synthetic:docs=60,terms=90,length=20,classes=3,seed=5"
	for _, flags := range [][]string{
		{"-tasks", "0"}, {"-c", "1,2"}, {"-c", "-1"}, {"-c", "x"}, {"-nu", "2", "-type", "nu_svc"}, {"-type", "x"},
		{"-scheme", "x"}, {"-weight", "nowhere=2"}, {"-weight", "x"}, {"-kernel", "x"}, {"-kernel", "diffusion:t=1|2"},
		{"-thresholds", "1"}, {"-probabilities", "x"}, {"-tolerance", "0"}, {"-kernel", "hyperbolic"},
	} {
		if _, _, err := jobtest.Run(t, Kind, source, "a.model", flags...); err == nil {
			t.Errorf("%v: no error", flags)
		} else {
			t.Log(flags, err)
		}
	}
}

// Any bytes are a classifier that is written as the same again, or an error.
func FuzzDecode(f *testing.F) {
	c := &solver.Classifier{Scheme: solver.OneVsRest, Classes: 3, AtLeastOne: true, Machines: []*solver.Machine{
		nil, {Support: []int{1, 7}, Coef: []float64{0.1, math.SmallestNonzeroFloat64}, Rho: math.Copysign(0, -1),
			Converged: true, Sigmoid: &solver.Sigmoid{A: -1.0 / 3, B: math.MaxFloat64}}, {}},
		Thresholds: &solver.Thresholds{Above: []float64{0.5}}}
	b, err := encode(c)
	if err != nil {
		f.Fatal(err)
	}
	if again, err := decode(b, 3); err != nil || !reflect.DeepEqual(again, c) || !math.Signbit(again.Machines[1].Rho) {
		f.Fatalf("%+v, %v, expected %+v", again, err, c)
	}
	f.Add(b)
	f.Add(bytes.Replace(b, []byte(`"number":2`), []byte(`"number":1`), 1))
	f.Add(bytes.Replace(b, []byte(`"of":3`), []byte(`"of":2`), 1))
	f.Add(append(b, '1'))
	f.Add([]byte(`{"of":9999999999}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := decode(b, 3)
		if err != nil {
			return
		}
		b, err = encode(c)
		if err != nil {
			t.Fatal(err)
		}
		again, err := decode(b, 3)
		if err != nil || !reflect.DeepEqual(again, c) {
			t.Fatalf("%+v, %v, expected %+v", again, err, c)
		}
	})
}
