package model_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/learn/model"
	"github.com/gramengine/gram/learn/svm"
)

// A model of svm-train's predicts here as with svm-predict, on sparse documents of which many have
// indices that no support vector has: they count for the distance.
func TestSVMTrainsModelPredicts(t *testing.T) {
	var programs []string
	for _, name := range []string{"svm-train", "svm-predict"} {
		path, err := exec.LookPath(name)
		if err != nil {
			t.Skipf("%s is not installed", name)
		}
		programs = append(programs, path)
	}
	ctx, dir, r := context.Background(), t.TempDir(), rand.New(rand.NewPCG(5, 6))
	write := func(name string, documents int, indices int) string {
		var b strings.Builder
		for range documents {
			var line strings.Builder
			var sum float64
			for k := 1; k <= indices; k++ {
				if r.IntN(4) == 0 {
					v := float64(1+r.IntN(16)) / 8
					sum += v * math.Sin(float64(k))
					fmt.Fprintf(&line, " %d:%v", k, v)
				}
			}
			fmt.Fprintf(&b, "%.4f%s\n", sum, line.String())
		}
		path := filepath.Join(dir, name)
		musttest.Do(t, os.WriteFile(path, []byte(b.String()), 0o666))
		return path
	}
	train, test := write("train", 80, 20), write("test", 50, 26)
	file, out := filepath.Join(dir, "model"), filepath.Join(dir, "out")
	for _, kernel := range []string{"0", "1", "2", "3"} {
		for _, c := range [][]string{
			{programs[0], "-q", "-s", "3", "-c", "2", "-t", kernel, "-g", "0.02", "-r", "0.5", "-d", "2", train, file},
			{programs[1], test, file, out},
		} {
			if text, err := exec.Command(c[0], c[1:]...).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
		}
		m := musttest.Get(model.Load(ctx, file, nil))(t)
		p := musttest.Get(svm.NewPredictor(ctx, m, svm.PredictOptions{}))(t)
		docs := musttest.Get(corpus.Read(ctx, test, corpus.Options{}))(t)
		got := musttest.Get(p.Predict(ctx, docs.Documents))(t)
		text := musttest.Get(os.ReadFile(out))(t)
		// Kernel values are float32, so each product of the sum is off by a few units of 2⁻²⁴; of
		// the Gaussian kernel's exponent, below 10, by ten times that.
		machine := m.Classifier.Machines[0]
		var scale float64
		for _, c := range machine.Coef {
			scale += math.Abs(c)
		}
		for i, line := range strings.Fields(string(text)) {
			want := musttest.Get(strconv.ParseFloat(line, 64))(t)
			greatest := map[string]float64{"0": 100, "1": 10, "2": 1, "3": 1}[kernel]
			if v := got.Decisions[i][0]; !(math.Abs(v-want) <= 50*0x1p-24*greatest*scale) {
				t.Errorf("%s: document %d has %v, svm-predict says %v", m.Kernel, i, v, want)
			}
		}
	}
}
