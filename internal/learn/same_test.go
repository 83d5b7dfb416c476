package learn_test

import (
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/musttest"
)

// Models and predictions of all learners are bit-identical for any number of workers and with a
// memory limit. With two classes, the second decision value is the negated first.
func TestSameFromAnyWorkers(t *testing.T) {
	for classes := 2; classes <= 3; classes++ {
		source := fmt.Sprintf("synthetic:docs=1100,terms=300,length=20,classes=%d,seed=4", classes)
		c := musttest.Get(corpus.Read(t.Context(), source, corpus.Options{}))(t)
		for _, spec := range []string{
			"linear:tolerance=0.01", "linear:loss=hinge,origin=true,scheme=labels", "logistic:tolerance=0.01",
			"logistic:origin=true,balanced=true", "landmark:m=130", "landmark:m=130,loss=logistic,scheme=labels", "knn:k=3",
		} {
			trainer := learn.TrainerOf(t, spec)
			var file string
			var first [][]float64
			for _, o := range []learn.Options{{Workers: 1}, {Workers: 3}, {Workers: 7, MemoryBytes: 120 << 20}} {
				m := musttest.Get(trainer.Train(t.Context(), c, o))(t)
				p := musttest.Get(m.Predict(t.Context(), c.Documents, o))(t)
				if written := musttest.Output(t, m.Write); file == "" {
					file, first = written, p.DecisionValues
				} else if written != file || !reflect.DeepEqual(p.DecisionValues, first) {
					t.Errorf("%s: another model or other predictions with %d workers", spec, o.Workers)
				}
				for i, f := range p.DecisionValues {
					if classes == 2 && p.ClassIndices != nil && spec != "knn:k=3" && !(math.Abs(f[0]+f[1]) <= 1e-12*math.Abs(f[0])) {
						t.Fatalf("%s: document %d has decision values %v", spec, i, f)
					}
				}
			}
		}
	}
}
