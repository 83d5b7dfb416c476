package svm

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/solver"
)

func bytesOf(t *testing.T, m *model.Model) []byte {
	t.Helper()
	var b bytes.Buffer
	musttest.NoError(t, m.Write(t.Context(), &b))
	return b.Bytes()
}

// Training in groups, each on its own problem and serialised as JSON, gives the same file as
// training in one run.
func TestAssemble(t *testing.T) {
	const small, large = "synthetic:docs=300,terms=500,length=30,classes=4,seed=6",
		"synthetic:docs=6144,terms=3000,length=12,classes=12,seed=4"
	for name, c := range map[string]struct {
		source string
		Settings
		groups int
	}{
		"one-vs-one":    {small, Settings{C: 3}, 6},
		"few documents": {large, Settings{}, 66},
		"few, probably": {large, Settings{Probabilities: true, Seed: 3}, 66},
		"probabilities": {small, Settings{Probabilities: true, Type: model.NuSVC, Nu: 0.1}, 6},
		"one-vs-rest":   {small, Settings{Scheme: solver.OneVsRest, Balanced: true}, 1},
		"labels":        {small, Settings{Scheme: solver.MultiLabel}, 4},
		"thresholds":    {small, Settings{Scheme: solver.MultiLabel, TuneThresholds: true}, 1},
		"calibrated":    {small, Settings{Probabilities: true, Calibrated: true, Seed: 2}, 1},
		"rejection":     {small, Settings{Rejection: RejectionTarget{Coverage: 0.5}, Scheme: solver.OneVsRest}, 1},
		"one class":     {small, Settings{Type: model.OneClass}, 1},
		"regression":    {small, Settings{Type: model.EpsilonSVR}, 1},
		"warned":        {small, Settings{Kernel: kernel.MustParse("ngd")}, 6},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			docs := read(t, c.source, corpus.Options{})
			for i := range docs.Classes {
				docs.Classes[i] = strings.Repeat("1", i+1) // numbers, for regression
			}
			opt := Options{SingleUse: true}
			k := kernel.MustParse(DefaultKernel)
			whole, said := train(t, docs, c.Settings, opt)
			groups, err := problem(t, docs, k, opt).ClassifierGroups(c.Settings)
			if err != nil || len(groups) != c.groups {
				t.Fatalf("groups %v, %v, expected %d of them", groups, err, c.groups)
			}
			var parts []*solver.Classifier
			for some := range slices.Chunk(groups, max(len(groups)/6, 1)) { // a few classes each
				p := problem(t, docs, k, opt)
				part := musttest.Get(p.TrainClassifiers(t.Context(), c.Settings, slices.Concat(some...)))(t)
				if n := int64(p.Len()); c.groups == 66 && p.Engine().Stats().Pairs >= n*(n+1)/2 && len(parts) == 0 {
					t.Errorf("machines of some classes took %d pairs, all documents have %d", p.Engine().Stats().Pairs,
						n*(n+1)/2)
				}
				text := musttest.Get(json.Marshal(part))(t)
				var again solver.Classifier
				musttest.NoError(t, json.Unmarshal(text, &again))
				parts = append(parts, &again)
			}
			slices.Reverse(parts)
			last := problem(t, docs, k, opt)
			m, report, err := last.Assemble(c.Settings, parts)
			musttest.NoError(t, err)
			if !bytes.Equal(bytesOf(t, m), bytesOf(t, whole)) {
				t.Error("the model differs from that of the whole training")
			}
			if !slices.Equal(report.Warnings, said.Warnings) || (len(said.Warnings) > 0) != (name == "warned") {
				t.Errorf("warnings %q, expected those of the whole training, %q", report.Warnings, said.Warnings)
			}
			if report.Functions == 0 || report.Support != m.Support.Rows() || last.Engine().Stats().Pairs != 0 {
				t.Errorf("report %+v after %d pairs", report, last.Engine().Stats().Pairs)
			}
			musttest.WantError(last.Assemble(c.Settings, parts[1:]))(t, "a missing part")
			musttest.WantError(last.Assemble(c.Settings, append(parts, parts[0])))(t, "a duplicate part")
		})
	}
}

// Binary classifiers of other documents can't be assembled.
func TestAssembleRefuses(t *testing.T) {
	ctx := context.Background()
	docs := read(t, "synthetic:docs=90,terms=100,length=10,classes=3,seed=3", corpus.Options{})
	p := problem(t, docs, kernel.MustParse(DefaultKernel), Options{})
	all := musttest.Get(p.TrainClassifiers(ctx, Settings{}, []int{0, 1, 2}))(t)
	for name, spoil := range map[string]func(c *solver.Classifier){
		"scheme":  func(c *solver.Classifier) { c.Scheme = solver.OneVsRest },
		"classes": func(c *solver.Classifier) { c.Classes = 4 },
		"number":  func(c *solver.Classifier) { c.Functions = c.Functions[:2] },
		"support": func(c *solver.Classifier) {
			own := *c.Functions[1]
			own.Support = slices.Clone(own.Support)
			own.Support[len(own.Support)-1] = 90
			c.Functions[1] = &own
		},
	} {
		c := *all
		c.Functions = slices.Clone(all.Functions)
		spoil(&c)
		musttest.WantError(p.Assemble(Settings{}, []*solver.Classifier{&c}))(t, name)
	}
	together := Settings{Probabilities: true, Calibrated: true}
	musttest.WantError(p.TrainClassifiers(ctx, together, []int{0, 2}))(t,
		"some of the machines that are calibrated together")
	for _, machines := range [][]int{{3}, {-1}, {1, 1}} {
		musttest.WantError(p.TrainClassifiers(ctx, Settings{}, machines))(t, fmt.Sprintf("machines %v", machines))
	}
	musttest.WantError(p.TrainClassifiers(ctx, Settings{Type: model.OneClass}, []int{1}))(t,
		"the second machine of one class")
}
