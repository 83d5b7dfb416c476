package instrument

import (
	"reflect"
	"slices"

	"github.com/gramengine/gram/internal/report"
)

// over applies summary to each field's values over the rounds. T is a struct of float64 fields.
func over[T any](rounds []T, summary func([]float64) float64) (out T) {
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

// Ends returns the minimum and maximum of each field.
func Ends[T any](rounds []T) (least, most T) {
	return over(rounds, slices.Min[[]float64]), over(rounds, slices.Max[[]float64])
}

// Medians returns the median of each field.
func Medians[T any](rounds []T) T { return over(rounds, report.Median) }
