package machines

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"strconv"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/gramengine/gram/internal/musttest"
	"github.com/gramengine/gram/learn"
)

// What a Parquet file holds is what was predicted, null where a document lacks it.
func TestParquet(t *testing.T) {
	half := 0.5
	var rows []learn.Row
	for i := range 3000 { // more than are written at once
		rows = append(rows, learn.Row{Document: strconv.Itoa(i + 1), Prediction: "cat", Margin: float64(i) / 3, Known: i})
	}
	rows[1] = learn.Row{Document: "a/b.txt", Text: "meow, \"purr\"\n", Truth: "dog", Prediction: "cat,dog",
		Probability: &half, Second: "dog", Margin: -1, Nearest: &half, Rank: &half, Known: 3, Note: learn.NoKnownWord}
	for _, rows := range [][]learn.Row{nil, rows} {
		var file bytes.Buffer
		musttest.Do(t, writeTable(t.Context(), &file, "parquet", rows))
		got := musttest.Get(parquet.Read[parquetRow](bytes.NewReader(file.Bytes()), int64(file.Len())))(t)
		if len(got) != len(rows) {
			t.Fatalf("%d rows, expected %d", len(got), len(rows))
		}
		text := func(s *string) string {
			if s == nil {
				return ""
			}
			return *s
		}
		for i, g := range got {
			back := learn.Row{Document: g.Document, Text: text(g.Text), Truth: text(g.Truth), Prediction: g.Prediction,
				Probability: g.Probability, Second: text(g.Second), Margin: g.Margin, Nearest: g.Nearest, Rank: g.Rank,
				Known: int(g.Known), Note: text(g.Note)}
			if !reflect.DeepEqual(back, rows[i]) || i == 0 && (g.Text != nil || g.Note != nil) {
				t.Fatalf("row %d is %+v, expected %+v", i, back, rows[i])
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := writeTable(ctx, &bytes.Buffer{}, "parquet", rows); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of ctx: %v", err)
	}
	if err := writeTable(t.Context(), failing{}, "parquet", rows); !errors.Is(err, errWrite) {
		t.Errorf("a writer that fails: %v", err)
	}
}

var errWrite = errors.New("the disk is full")

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errWrite }
