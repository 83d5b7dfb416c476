package report

import (
	"encoding/json"
	"math"
	"testing"
)

// JSON has no numbers that aren't finite.
func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{0.1: "0.1", math.Inf(1): "null", math.Inf(-1): "null", math.NaN(): "null"} {
		if b, err := json.Marshal(Number(v)); err != nil || string(b) != want {
			t.Errorf("%v: %s, %v, expected %s", v, b, err, want)
		}
	}
}
