package main

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// close FILE FILE TOLERANCE wants two files with the same fields, numbers among them equal up to a
// tolerance.
func closeFields(ts *testscript.TestScript, _ bool, args []string) {
	a, b := strings.Fields(ts.ReadFile(args[0])), strings.Fields(ts.ReadFile(args[1]))
	tolerance, err := strconv.ParseFloat(args[2], 64)
	ts.Check(err)
	if len(a) != len(b) {
		ts.Fatalf("%d fields in %s, %d in %s", len(a), args[0], len(b), args[1])
	}
	for i := range a {
		x, errX := strconv.ParseFloat(a[i], 64)
		y, errY := strconv.ParseFloat(b[i], 64)
		if errX != nil || errY != nil {
			if a[i] != b[i] {
				ts.Fatalf("field %d is %q and %q", i+1, a[i], b[i])
			}
		} else if !(math.Abs(x-y) <= tolerance) {
			ts.Fatalf("field %d is %v and %v", i+1, x, y)
		}
	}
}

// below FILE KEY BOUND wants the number at the top of a JSON object to be above 0 and at most that
// of another key.
func jsonBelow(ts *testscript.TestScript, _ bool, args []string) {
	var v map[string]any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &v))
	x, _ := v[args[1]].(float64)
	bound, _ := v[args[2]].(float64)
	if !(x > 0 && x <= bound) {
		ts.Fatalf("%s is %v, expected at most %s, %v", args[1], v[args[1]], args[2], v[args[2]])
	}
}
