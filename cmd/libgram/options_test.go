//go:build cgo

package main

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/gramengine/gram"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/musttest"
)

func TestDecode(t *testing.T) {
	var o gram.SearchOptions
	o.C = 7
	musttest.NoError(t, decode([]byte(` {"kernel": "ngd", "memory_bytes": 1000, "c": null, "weights": {"a": 2},
		"seed": 18446744073709551615, "balanced": true, "terms": "words:1..2 + chars:2..5, min-df 1",
		"grid": {"C": ["1", "2"]}, "isa": "avx2", "folds": 3} `), &o))
	want := gram.SearchOptions{Folds: 3, Grid: map[string][]string{"C": {"1", "2"}}, TrainOptions: gram.TrainOptions{
		Options: gram.Options{ISA: "avx2", MemoryBytes: 1000}, Kernel: "ngd", C: 7, Weights: map[string]float64{"a": 2},
		Seed: math.MaxUint64, Balanced: true, Terms: &corpus.TermOptions{MinDF: 1,
			Tokenizer: corpus.Tokenizer{Views: "word:ngrams=1..2 + char_wb:ngrams=2..5"}}}}
	if !reflect.DeepEqual(o, want) {
		t.Errorf("%+v, expected %+v", o, want)
	}
}

// Messages have option keys in place of Go field names, except in quotes and paths.
func TestWithKeys(t *testing.T) {
	for message, want := range map[string]string{
		"MinDF 1 keeps terms of one text":                    "min_df 1 keeps terms of one text",
		"gram: Probabilities does not apply to Type knn":     "gram: probabilities does not apply to type knn",
		"2 machines stopped (Type linear:passes, Tolerance)": "2 machines stopped (type linear:passes, tolerance)",
		`open /tmp/MinDF: "MinDF 1", DocumentWeights, C 0`:   `open /tmp/MinDF: "MinDF 1", weights, C 0`,
	} {
		if got := withKeys(message); got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}

func TestDecodeErrors(t *testing.T) {
	for text, want := range map[string]string{
		`{"kernle": "ngd"}`:          `unknown option "kernle"; valid options are balanced, c, choose_work, embedding`,
		`{"Kernel": "ngd"}`:          `unknown option "Kernel"`,
		`{"kernel": 5}`:              `option "kernel": must be a string, got 5`,
		`{"c": "x"}`:                 `option "c": must be a number, got "x"`,
		`{"c": 1e999}`:               `option "c": must be a number, got 1e999`,
		`{"balanced": 1}`:            `option "balanced": must be true or false, got 1`,
		`{"workers": 2.5}`:           `option "workers": must be an integer, got 2.5`,
		`{"memory_bytes": 1e3}`:      `option "memory_bytes": must be an integer, got 1e3`,
		`{"seed": -1}`:               `option "seed": must be a non-negative integer, got -1`,
		`{"weights": [1]}`:           `option "weights": must be an object, each value a number, got [1]`,
		`{"weights": {"a": "b"}}`:    `option "weights": must be an object, each value a number, got {"a": "b"}`,
		`{"grid": {"C": [1]}}`:       `must be an object, each value an array, each element a string, got {"C": [1]}`,
		`{"grid": {"C": "1"}}`:       `each element a string, got {"C": "1"}`,
		`{"terms": "words, min-df"}`: `option "terms": `,
		`{"terms": 5}`:               `option "terms": must be a string, got 5`,
		`{"c": 1, "c": 2}`:           `key "c" occurs twice`,
		`[]`:                         `options: must be a JSON object, got []`,
		`{"c": 1`:                    `must be a JSON object: unexpected end of JSON input`,
		`{"c": 1} {}`:                `after top-level value`,
		`nonsense`:                   `options: must be a JSON object, got nonsense`,
		`{"kernel": "` + strings.Repeat("ü", 99) + `", "c": "` + strings.Repeat("ü", 99) + `"}`: "must be a number, got \"ü",
	} {
		var o gram.SearchOptions
		musttest.WantError(decode([]byte(text), &o))(t, text, want)
	}
}

// FuzzDecode checks that decoding the result of nonzeroOptions yields the same options.
func FuzzDecode(f *testing.F) {
	for _, text := range []string{`{}`, `null`,
		`{"kernel": "ngd", "c": 1e-3, "terms": "words:1..2 + chars:2..5", "workers": 2}`,
		`{"weights": {"a": 2, "b": 0.5}, "grid": {"C": ["1"]}, "seed": 5}`, `{"a": {"b": [}`, `{"terms": "word, min-df 3"}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var o, again gram.SearchOptions
		if err := decode(text, &o); err != nil {
			if !strings.HasPrefix(err.Error(), "gram: ") {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		own := musttest.Get(json.Marshal(nonzeroOptions(o)))(t)
		if err := decode(own, &again); err != nil {
			t.Fatalf("%s of %q: %v", own, text, err)
		}
		if other, err := json.Marshal(nonzeroOptions(again)); err != nil || string(other) != string(own) {
			t.Errorf("%s, then %s, %v", own, other, err)
		}
	})
}
