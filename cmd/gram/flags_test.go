package main

import (
	"flag"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/cmd/internal/grambench"
	"github.com/gramengine/gram/internal/cli"
)

// No flag ignores a value: a repeated flag is refused, unless the flag is repeatable.
func TestFlagsGivenTwice(t *testing.T) {
	pairs := [][2]string{
		{"1", "2"}, {"1", "0"}, {"a", "b"}, {"1,2,1", "1,3,1"}, {"knn", "svm"}, {"one-vs-one", "one-vs-rest"},
		{"C=1", "gamma=1"}, {"a=1", "b=1"}, {"1s", "2s"},
		{"core=0,rate=1e-6", "core=1,rate=1e-6"},
	}
	several, once := map[string]bool{}, 0
	for _, c := range slices.Concat(program.Commands, grambench.Program.Commands) {
		setup := func() *cli.Flags {
			f := cli.NewFlags(c.Name)
			c.Setup(f)
			return f
		}
		setup().VisitAll(func(fl *flag.Flag) {
			for _, p := range pairs {
				alone := setup().Parse([]string{"-" + fl.Name + "=" + p[0]})
				if alone != nil && strings.Contains(alone.Error(), "invalid ") {
					continue
				}
				err := setup().Parse([]string{"-" + fl.Name + "=" + p[0], "-" + fl.Name + "=" + p[1]})
				if _, all := fl.Value.(interface{ Several() }); all {
					several[fl.Name] = true
				} else if once++; err == nil || !strings.Contains(err.Error(), "already set to") {
					t.Errorf("%s -%s %s -%[2]s %[4]s: error %v", c.Name, fl.Name, p[0], p[1], err)
				}
				return
			}
			t.Errorf("%s -%s takes none of the values that the test has", c.Name, fl.Name)
		})
	}
	if once < 100 || len(several) != 4 || !several["kernel"] || !several["grid"] || !several["weight"] || !several["set"] {
		t.Errorf("%d flags of one value, of several %v", once, several)
	}
}
