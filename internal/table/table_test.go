package table

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

type row struct {
	text string
	real float64
	at   int
}

// All formats have the same columns. CSV and TSV of a slice omit columns without values and escape
// formulas. JSON omits missing values.
func TestWrite(t *testing.T) {
	rows := []row{{"a\t\"<b>\"", 0.1, 0}, {"=1+1", 1e-9, 1}, {"", 3, 2}, {"\xff", float64(float32(0.7)), 3}}
	columns := func() []Column[row] {
		return []Column[row]{
			TextColumn("text", func(r *row) string { return r.text }),
			{Name: "real", Float: func(r *row) (float64, bool) { return r.real, r.at != 1 }},
			{Name: "none", Float: func(*row) (float64, bool) { return 0, false }},
			Float32Column("single", func(r *row) float32 { return float32(r.real) }),
			IntColumn("whole", func(r *row) int { return r.at }),
		}
	}
	for format, want := range map[string]string{
		"csv": "text,real,single,whole\n\"a\t\"\"<b>\"\"\",0.1,0.1,0\n'=1+1,,1e-09,1\n,3,3,2\n�,0.699999988079071,0.7,3\n",
		"tsv": "text\treal\tsingle\twhole\n\"a\t\"\"<b>\"\"\"\t0.1\t0.1\t0\n'=1+1\t\t1e-09\t1\n\t3\t3\t2\n" +
			"�\t0.699999988079071\t0.7\t3\n",
		"jsonl": `{"text":"a\t\"<b>\"","real":0.1,"single":0.1,"whole":0}` + "\n" +
			`{"text":"=1+1","single":1e-9,"whole":1}` + "\n" + `{"real":3,"single":3,"whole":2}` + "\n" +
			`{"text":"�","real":0.699999988079071,"single":0.7,"whole":3}` + "\n",
	} {
		var b bytes.Buffer
		if err := WriteAll(t.Context(), &b, format, rows, columns()...); err != nil || b.String() != want {
			t.Errorf("%s: %v\n%s, expected\n%s", format, err, b.String(), want)
		}
	}
	var b bytes.Buffer
	err := Write(t.Context(), &b, "csv", slices.Values(rows[:0]), columns()...)
	if err != nil || b.String() != "text,real,none,single,whole\n" {
		t.Errorf("without rows: %v, %q", err, b.String())
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, format := range Formats {
		musttest.WantError(WriteAll(ended, &b, format, rows, columns()...))(t, format, context.Canceled)
	}
}
