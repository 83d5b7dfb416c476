package corpus

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/gramengine/gram/internal/musttest"
)

type vectorRow struct {
	Text   string    `parquet:"text"`
	Vector []float32 `parquet:"vector,list"`
	Label  string    `parquet:"label"`
}

// vectorRows returns 40 rows with a text, a vector of three numbers and a label. Only the first
// vector has a nonzero third number.
func vectorRows() (rows []vectorRow) {
	for i := range 40 {
		v := []float32{float32(i%7) - 2.25, float32(i%5) - 1, 0}
		if i == 0 {
			v[2] = -3e-9
		}
		rows = append(rows, vectorRow{fmt.Sprintf("w%c x%c, %c", 'a'+i%3, 'a'+i%4, 'a'+i%26), v, []string{"p", "q"}[i%2]})
	}
	return rows
}

// Vectors have the same documents in each format, also if they are in a separate file.
func TestVectorColumns(t *testing.T) {
	var lines, plain, csv, without, semicolons, tabs, npyValues, file bytes.Buffer
	var fields [][]string
	var labels []string
	csv.WriteString("text,vector,label\n")
	without.WriteString("\ufefftext,label\n")
	semicolons.WriteString("text;label\n")
	tabs.WriteString("text\tlabel\n")
	rows := vectorRows()
	for _, r := range rows {
		list := strings.ReplaceAll(fmt.Sprint(r.Vector), " ", ",")
		fmt.Fprintf(&lines, "{\"text\":%q,\"vector\":%s,\"label\":%q}\n", r.Text, list, r.Label)
		fmt.Fprintf(&plain, "{\"text\":%q, \"label\":%q }  \n\n", r.Text, r.Label)
		fmt.Fprintf(&csv, "%q,\"%s\",%s\n", r.Text, strings.ReplaceAll(list, ",", " ,\n"), r.Label)
		fmt.Fprintf(&without, "%q,%s\n", r.Text, r.Label)
		fmt.Fprintf(&semicolons, "%q;%s\n", r.Text, r.Label)
		fmt.Fprintf(&tabs, "%s\t%s\n", r.Text, r.Label)
		musttest.NoError(t, binary.Write(&npyValues, binary.LittleEndian, r.Vector))
		fields, labels = append(fields, []string{r.Text, list}), append(labels, r.Label)
	}
	w := parquet.NewGenericWriter[vectorRow](&file, parquet.MaxRowsPerRowGroup(9))
	musttest.Get(w.Write(rows))(t)
	musttest.NoError(t, w.Close())
	separate := "vector=" + writeFile(t, "v.npy", npy("<f4", "40, 3", npyValues.String()))
	want := readWhole(t, writeFile(t, "a.jsonl", lines.String()), Options{})
	if got := want.DescribeTable(); got != "label: label; text: text; vector: vector (3); ignored: none" {
		t.Fatal(got)
	}
	for i, r := range rows {
		terms, values := want.Documents.Row(i)
		got := make([]float32, 3)
		for k, term := range terms {
			if name := want.Tokenizer.FormatTerm(want.Vocabulary[term]); strings.HasPrefix(name, "vector[") {
				got[name[len("vector[")]-'0'] = values[k]
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(r.Vector) {
			t.Errorf("row %d has the vector %v, expected %v", i, got, r.Vector)
		}
	}
	for name, c := range map[string]struct{ content, columns string }{
		"a.parquet": {file.String(), ""}, "a.csv": {csv.String(), ""}, "a.json": {plain.String(), separate},
		"array.json": {"[" + strings.ReplaceAll(strings.TrimSpace(plain.String()), "\n\n", ",") + "]", separate},
		"b.csv":      {without.String(), separate}, "c.csv": {semicolons.String(), separate},
		"a.tsv": {tabs.String(), separate},
	} {
		got := readWhole(t, writeFile(t, name, c.content), Options{FormatOptions: FormatOptions{Columns: c.columns}})
		if got.Digest() != want.Digest() || got.Tokenizer != want.Tokenizer {
			t.Errorf("%s: %s, expected %s", name, got.Tokenizer, want.Tokenizer)
		}
		if c.columns != "" && got.FormatOptions.Columns != "vector=vector" {
			t.Errorf("%s: a model stores the columns %q", name, got.FormatOptions.Columns)
		}
	}
	got := musttest.Get(FromRows(t.Context(), []string{"text", "vector"}, fields, labels, Options{}))(t)
	if got.Digest() != want.Digest() {
		t.Errorf("rows in memory: %s", got.Tokenizer)
	}
}

// Errors about vectors name the row, the column, the length and the allowed length.
func TestVectorErrors(t *testing.T) {
	lines := strings.Repeat(`{"text":"a b","vector":[1,2,3],"label":"x"}`+"\n", 30)
	file := func(rows int) string {
		return "vector=" + writeFile(t, "v.npy", npy("<f4", fmt.Sprintf("%d, 1", rows), strings.Repeat("abcd", rows)))
	}
	for _, c := range []struct{ content, columns, want string }{
		{lines + `{"text":"a","vector":[1,2],"label":"x"}`, "",
			":31: 2 numbers in the column vector, expected 3 (Options.Columns"},
		{lines + `{"text":"a","vector":"[1,2,x]","label":"x"}`, "vector=vector",
			`:31: "[1,2,x]" in the column vector, expected a list of 3 numbers`},
		{lines + `{"text":"a","vector":{"a":1},"label":"x"}`, "vector=vector",
			`:31: the value "map[a:1]" in the column vector`},
		{lines + lines, "text=vector",
			`:1: no list of numbers in the first rows of column text, expected lists such as`},
		{strings.ReplaceAll(lines, "vector", "other"), file(29), `row 30 of the table, expected 29 rows, as in `},
		{strings.ReplaceAll(lines, "vector", "other"), file(31), `30 rows, expected 31 rows, as in `},
		{"text,label\n" + strings.Repeat("a b,x\n", 9), file(10), `9 rows, expected 10 rows, as in `},
		{lines, "vector=none.npy", "none.npy"},
	} {
		name := "a.jsonl"
		if c.content[0] == 't' {
			name = "a.csv"
		}
		musttest.WantError(Read(t.Context(), writeFile(t, name, c.content),
			Options{FormatOptions: FormatOptions{Columns: c.columns}}))(t,
			name, c.want)
	}
	other := strings.Replace(lines, "[1,2,3]", "[1,2,3,4]", 4)
	got := readWhole(t, writeFile(t, "a.jsonl", other), Options{MinDF: 1})
	if s := got.DescribeTable(); s != "label: label; text: text; ignored: vector" {
		t.Errorf("lists of different lengths are %s", s)
	}
	null := strings.Replace(lines, "[1,2,3]", "null", 2)
	got = readWhole(t, writeFile(t, "a.jsonl", null), Options{MinDF: 1})
	if w := fmt.Sprint(got.Warnings); !strings.Contains(w, "column vector: vector missing 2 0") {
		t.Errorf("two missing vectors are %s", w)
	}
	for _, term := range got.Vocabulary {
		if r := got.Tokenizer.DescribeTerms()(term); r != nil && r.IsMissing {
			t.Errorf("missing vectors have the term %q", term)
		}
	}
}

// In a table of long vectors, the kinds of other columns are inferred from more than 64 KiB.
func TestLongVectors(t *testing.T) {
	var b strings.Builder
	list := strings.Repeat("0.123456789,", 2000)
	for i := range 40 {
		fmt.Fprintf(&b, "{\"vector\":[%s%d],\"kind\":\"k%d\",\"label\":\"x%d\"}\n", list, i, i%5, i%2)
	}
	got := readWhole(t, writeFile(t, "a.jsonl", b.String()), Options{})
	if s := got.DescribeTable(); s != "label: label; category: kind; vector: vector (2001); ignored: none" {
		t.Error(s)
	}
}
