package main

import (
	"encoding/json"
	"image/png"
	"math"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// positive FILE KEYS... wants every object of the list rows of a JSON file to have these keys, each with a finite number above 0.
func jsonPositive(ts *testscript.TestScript, _ bool, args []string) {
	var report struct{ Rows []map[string]any }
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &report))
	if len(report.Rows) == 0 {
		ts.Fatalf("no rows")
	}
	for i, row := range report.Rows {
		for _, key := range args[1:] {
			if v, ok := row[key].(float64); !ok || !(v > 0 && v < math.MaxFloat64) {
				ts.Fatalf("row %d (%v %v): %s is %v, expected a number above 0", i, row["isa"], row["kernel"], key,
					row[key])
			}
		}
	}
}

// png FILE wants a picture in PNG form that has more than one colour.
func pngDrawn(ts *testscript.TestScript, _ bool, args []string) {
	picture, err := png.Decode(strings.NewReader(ts.ReadFile(args[0])))
	ts.Check(err)
	colors := map[any]bool{}
	for y := range picture.Bounds().Dy() {
		for x := range picture.Bounds().Dx() {
			colors[picture.At(x, y)] = true
		}
	}
	if len(colors) < 10 {
		ts.Fatalf("%v, %d colours: nothing is drawn", picture.Bounds(), len(colors))
	}
}
