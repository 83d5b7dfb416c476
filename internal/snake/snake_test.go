package snake

import (
	"bytes"
	"math"
	"testing"
	"time"
)

type inner struct{ A, Both float64 }

type word int

func (word) String() string { return "<word>" }

type text struct {
	S string `json:",omitempty"`
}

func (text) String() string { return "<text>" }

type keyed struct {
	S string `json:"key"`
}

func (keyed) String() string { return "<keyed>" }

func TestWrite(t *testing.T) {
	var b bytes.Buffer
	of := struct {
		*inner
		Both    string
		MinDF   time.Duration
		Word    word
		Text    text
		Keyed   keyed
		NaN     [2]float64
		Omitted []int          `json:",omitempty"`
		Hidden  int            `json:"-"`
		Named   map[string]any `json:"own"`
		private int
		Nil     *inner
		List    []int
	}{inner: &inner{A: math.Inf(1)}, Both: "outer", MinDF: time.Millisecond, NaN: [2]float64{math.NaN(), 1},
		Named: map[string]any{"k": &inner{1, 2}}}
	want := `{
  "a": null,
  "both": "outer",
  "keyed": {
    "key": ""
  },
  "list": [],
  "min_df": 0.001,
  "na_n": [
    null,
    1
  ],
  "nil": null,
  "own": {
    "k": {
      "a": 1,
      "both": 2
    }
  },
  "text": "<text>",
  "word": "<word>"
}
`
	if err := Write(&b, of); err != nil || b.String() != want {
		t.Errorf("%v, %s, expected %s", err, b.String(), want)
	}
}

func TestCase(t *testing.T) {
	for name, want := range map[string]string{"K": "k", "MinDF": "min_df", "DFMin": "df_min", "OneSE": "one_se",
		"HTTPServerX": "http_server_x"} {
		if got := Case(name); got != want {
			t.Errorf("%s becomes %s, expected %s", name, got, want)
		}
	}
}
