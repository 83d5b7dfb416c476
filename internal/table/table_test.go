package table

import (
	"bytes"
	"context"
	"errors"
	"testing"
)

// Every format has the same columns. CSV and TSV leave out columns without values and disarm formulas; JSON leaves
// out missing values.
func TestWrite(t *testing.T) {
	texts, reals := []string{"a\t\"<b>\"", "=1+1", ""}, []float64{0.1, 1e-9, 3}
	columns := []Column{
		{Name: "text", Text: func(i int) (string, bool) { return texts[i], texts[i] != "" }},
		{Name: "real", Real: func(i int) (float64, bool) { return reals[i], i != 1 }},
		{Name: "none", Real: func(int) (float64, bool) { return 0, false }},
		{Name: "whole", Whole: func(i int) (int64, bool) { return int64(i), true }},
	}
	for format, want := range map[string]string{
		"csv": "text,real,whole\n\"a\t\"\"<b>\"\"\",0.1,0\n'=1+1,,1\n,3,2\n",
		"tsv": "text\treal\twhole\n\"a\t\"\"<b>\"\"\"\t0.1\t0\n'=1+1\t\t1\n\t3\t2\n",
		"jsonl": `{"text":"a\t\"<b>\"","real":0.1,"whole":0}` + "\n" + `{"text":"=1+1","whole":1}` + "\n" +
			`{"real":3,"whole":2}` + "\n",
	} {
		var b bytes.Buffer
		if err := Write(t.Context(), &b, format, 3, columns); err != nil || b.String() != want {
			t.Errorf("%s: %v\n%s, expected\n%s", format, err, b.String(), want)
		}
	}
	var b bytes.Buffer
	if err := Write(t.Context(), &b, "csv", 0, columns); err != nil || b.String() != "text,real,none,whole\n" {
		t.Errorf("without rows: %v, %q", err, b.String())
	}
	if err := Write(t.Context(), &b, "xlsx", 3, columns); err == nil {
		t.Error("xlsx was written")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, format := range Formats {
		if err := Write(ended, &b, format, 3, columns); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, expected the end of the context", format, err)
		}
	}
}
