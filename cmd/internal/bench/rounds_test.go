package bench

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/gramengine/gram/internal/cli"
)

// Every round measures each thing once, in order. The first error ends all rounds.
func TestRounds(t *testing.T) {
	fails := errors.New("fails")
	for at, want := range map[int][]int{-1: {0, 1, 0, 1, 0, 1}, 3: {0, 1, 0, 1}} {
		var measured []int
		b := &bench{rounds: 3, progress: &cli.Progress{}}
		err := b.runRounds(2, func(i int) string { return fmt.Sprint(i) }, func(i int) error {
			measured = append(measured, i)
			if len(measured) == at+1 {
				return fails
			}
			return nil
		})
		if !slices.Equal(measured, want) || (at < 0) != (err == nil) || at >= 0 && !errors.Is(err, fails) {
			t.Errorf("an error at %d: measured %d, error %v", at, measured, err)
		}
	}
}
