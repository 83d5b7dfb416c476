package instrument

import (
	"reflect"
	"slices"

	"github.com/gramengine/gram/internal/report"
)

// summarizeFields applies summary to each field's values over the rounds. T is a struct of float64
// fields.
func summarizeFields[T any](rounds []T, summary func([]float64) float64) (out T) {
	values := make([]float64, len(rounds))
	to := reflect.ValueOf(&out).Elem()
	for f := range to.NumField() {
		for i := range rounds {
			values[i] = reflect.ValueOf(rounds[i]).Field(f).Float()
		}
		to.Field(f).SetFloat(summary(values))
	}
	return out
}

// MinMax returns the minimum and maximum of each field over the rounds.
func MinMax[T any](rounds []T) (least, most T) {
	return summarizeFields(rounds, slices.Min[[]float64]), summarizeFields(rounds, slices.Max[[]float64])
}

// Medians returns the median of each field over the rounds.
func Medians[T any](rounds []T) T { return summarizeFields(rounds, report.Median) }
