package experiments

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/lab/internal/repro"
	"github.com/gramengine/gram/lab/internal/repro/cho"
	"github.com/gramengine/gram/lab/internal/repro/lafferty"
	"github.com/gramengine/gram/lab/internal/repro/reprotest"
	"github.com/gramengine/gram/lab/internal/repro/zhang"
)

// A result in a file that was changed in any way is left out, which is said, and computed again:
// never believed and never a crash. Unchanged, it is taken.
func TestKeptResultsFit(t *testing.T) {
	topics, groups := reprotest.Topics(t), reprotest.Groups(t)
	for _, e := range []struct {
		experiment repro.Experiment
		data       string
		args       []string
		spoil      map[string]string // by a regular expression: what replaces its first match
	}{
		{lafferty.Experiment, topics, []string{
			"-splits", "2", "-sizes", "40", "-scales", "1", "-c", "1,10", "-folds", "2", "-features", "tf",
			"-tables", "1,5",
		}, map[string]string{
			`"Test":\[\[\[\[\d+`:                 `"Test":[[[[-5`,
			`"Test":\[\[\[\[\d+,`:                `"Test":[[[[`,
			`"Test":\[\[`:                        `"Test":[[],[`,
			`"Folds":\[\[\[\[\d+`:                `"Folds":[[[[41`,
			`"Folds":.*?\]\]\]\],`:               `"Folds":null,`,
			`"Missed":null`:                      `"Missed":[100000]`,
			`"Held":.*"Trainings"`:               `"Held":[],"Trainings"`,
			`"Positive":\d+`:                     `"Positive":-1`,
			`("key":"modapte .*?"Positive":)\d+`: `${1}100000`,
		}},
		{zhang.Experiment, groups, []string{"-sets", "webkb"}, map[string]string{
			`"value":"[01]`:    `"value":"x`,
			`"value":"[01]{2}`: `"value":"1`,
		}},
		{cho.Experiment, topics, []string{
			"-sets", "rectangles", "-train", "60", "-test", "30", "-kernels", "plain", "-c", "1,10", "-gammas", "1",
		}, map[string]string{
			`"value":0\.\d+`:   `"value":1.5`,
			`"right":"[01]`:    `"right":"x`,
			`"right":"[01]{2}`: `"right":"1`,
			`"right":"[01]+`:   `"right":"`,
			`"support":\d+`:    `"support":-1`,
		}},
	} {
		path := filepath.Join(t.TempDir(), "state.jsonl")
		run := func() (file []byte, dropped string) {
			state, err := repro.OpenState(path)
			if err != nil {
				t.Fatal(e.experiment.Name, err)
			}
			if _, err := reprotest.Do(context.Background(), t, e.experiment,
				&repro.Run{Data: e.data, Seed: 1, State: state}, e.args...); err != nil {
				t.Fatal(e.experiment.Name, err)
			}
			if file, err = os.ReadFile(path); err != nil {
				t.Fatal(err)
			}
			return file, state.Dropped()
		}
		run()
		good, dropped := run()
		if dropped != "" {
			t.Errorf("%s: %s of an unchanged file", e.experiment.Name, dropped)
		}
		sorted := func(file []byte) []string { return slices.Sorted(strings.Lines(string(file))) }
		for of, by := range e.spoil {
			pattern := regexp.MustCompile(of)
			at := pattern.FindSubmatchIndex(good)
			if at == nil {
				t.Errorf("%s: no %s in %s", e.experiment.Name, of, good)
				continue
			}
			bad := append(pattern.Expand(append([]byte{}, good[:at[0]]...), []byte(by), good, at), good[at[1]:]...)
			musttest.Do(t, os.WriteFile(path, bad, 0o666))
			again, dropped := run()
			if !strings.Contains(dropped, path+":") || !slices.Equal(sorted(again), sorted(good)) {
				t.Errorf("%s, %s for %s: told of %q, the file is\n%s\nexpected\n%s", e.experiment.Name, by, of, dropped,
					again, good)
			}
		}
	}
}
