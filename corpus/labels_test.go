package corpus

import (
	"reflect"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// Groups holds the qid of each document if Options.GroupColumn is set.
func TestGroups(t *testing.T) {
	file := writeFile(t, "points.svm", "a qid:7 1:1\nb qid:3 1:2 2:1\n# between\na qid:007 2:1\n")
	c := musttest.Get(Read(t.Context(), file, Options{GroupColumn: "qid"}))(t)
	if !reflect.DeepEqual(c.Groups, []int64{7, 3, 7}) || len(c.Warnings) > 0 {
		t.Errorf("groups %v, warnings %v", c.Groups, c.Warnings)
	}
	c.Weights = []float64{1, 2, 3}
	got := c.Select([]int{2, 1})
	if !reflect.DeepEqual(got.Weights, []float64{3, 2}) || !reflect.DeepEqual(got.Groups, []int64{7, 3}) {
		t.Errorf("selected, the weights are %v and the groups %v", got.Weights, got.Groups)
	}
	if c = musttest.Get(Read(t.Context(), file, Options{}))(t); c.Groups != nil || len(c.Warnings) != 1 {
		t.Errorf("without Options.GroupColumn, groups are %v, warnings %v", c.Groups, c.Warnings)
	}
	for content, want := range map[string]string{
		"1 qid:7 1:1\n 1:1\n": "FILE:2: no qid, expected label qid:N index:value ... " +
			"(Options.GroupColumn requires it)",
		"1 qid:x 1:1\n":                   `FILE:1: "qid:x", expected qid: and a whole number`,
		"1 qid: 1:1\n":                    `FILE:1: "qid:", expected qid: and a whole number`,
		"1 qid:-1 1:1\n":                  `FILE:1: "qid:-1", expected qid: and a whole number`,
		"1 qid:9999999999999999999 1:1\n": `FILE:1: "qid:9999999999999999999", expected qid: and a whole number`,
		"1 qid:1 qid:1 1:1\n":             `FILE:1: "qid:1" after another qid, expected one qid per line`,
	} {
		file := writeFile(t, "points.svm", content)
		musttest.WantError(Read(t.Context(), file, Options{GroupColumn: "qid"}))(t,
			content, strings.ReplaceAll(want, "FILE", file))
	}
}

// Numeric labels are compared by value, and whole numbers keep all their digits.
func TestCanonicalNumber(t *testing.T) {
	for name, want := range map[string]string{
		"1": "1", "+1": "1", "1.0": "1", "01": "1", "-0": "0", "0.0": "0", "-0.0": "0", "00": "0", "-7": "-7",
		"1e6": "1000000", "1234567": "1234567", "1000000": "1000000", "9007199254740993": "9007199254740993",
		"-12345678901234567890": "-12345678901234567890", "0.10": "0.1", "1e300": "1e+300", "1e-7": "1e-07", "+-1": "+-1",
		"--1": "--1", "+": "+", "-": "-", "": "", "a": "a", "Inf": "Inf", "NaN": "NaN", "1 2": "1 2",
	} {
		if got := canonicalNumber(name); got != want {
			t.Errorf("%q is %q, expected %q", name, got, want)
		}
	}
}
