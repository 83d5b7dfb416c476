package corpus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/corpus/token"
	"github.com/gramengine/gram/internal/musttest"
)

// columnsOptions returns options that divide tables into views of their columns.
func columnsOptions(t testing.TB, views string, workers int) Options {
	t.Helper()
	tokenizer := musttest.Get(token.Parse(views))(t)
	return Options{FormatOptions: FormatOptions{Format: FormatCSV}, Workers: workers, MinDF: 1, Tokenizer: tokenizer}
}

// A table gives the same corpus for any number of workers, as JSON, and if read again with the
// fitted scales. The memory limit also applies while scales are fitted.
func TestReadColumns(t *testing.T) {
	musttest.SkipRace(t)
	musttest.SkipIfEmulated(t)
	var table, lines strings.Builder
	table.WriteString("title,price,class\n")
	documents := 40000
	if testing.Short() {
		documents = 15000 // several blocks
	}
	for i := range documents {
		price := fmt.Sprint(i * 7919 % 1000)
		if i%10 == 0 {
			price = ""
		}
		fmt.Fprintf(&table, "offer %d,%s,%c\n", i%50, price, 'a'+i%2)
		fmt.Fprintf(&lines, `{"title":"offer %d","price":"%s","class":"%c"}`+"\n", i%50, price, 'a'+i%2)
	}
	read := func(text, name string, opt Options) *Corpus {
		t.Helper()
		return musttest.Get(ReadFrom(context.Background(), strings.NewReader(text), name, opt))(t)
	}
	opt := columnsOptions(t, "title=words + price=numbers", 1)
	want := read(table.String(), "a.csv", opt)
	checkCorpus(t, want)
	if len(want.Documents.Views) != 2 || want.HasRawDocuments() || len(want.Warnings) != 2 ||
		want.Warnings[0].Count != int64(documents/10) ||
		!strings.HasSuffix(want.Tokenizer.String(), "price=numbers:1|125|249|375|499|625|749|875|999") {
		t.Fatalf("%s, %v, views %v", want.Tokenizer, want.Warnings, want.Documents.Views)
	}
	opt.Workers = 3
	if got := read(table.String(), "a.csv", opt); !reflect.DeepEqual(got, want) {
		t.Error("3 workers read something else than 1")
	}
	again := opt
	again.Tokenizer = want.Tokenizer
	if got := read(table.String(), "a.csv", again); !reflect.DeepEqual(got.Documents, want.Documents) {
		t.Error("the scales of the same documents give others")
	}
	opt.Format, opt.KeepTextBytes = FormatJSONL, 64<<20
	got := read(lines.String(), "a.jsonl", opt)
	if got.Digest() != want.Digest() || got.Text(1) != "title: offer 1; price: 919" || got.Texts != nil {
		t.Errorf("JSON has the row %s, and other documents than the table", got.Text(1))
	}
	counter := musttest.Get(NewCounter(want.Tokenizer, want.Vocabulary))(t)
	m, _, err := counter.CountUnknown(context.Background(), got.Raw)
	if err != nil || !reflect.DeepEqual(m.Values, want.Documents.Values) {
		t.Errorf("a counter of texts counts otherwise, %v", err)
	}
	var syntax *SyntaxError
	bad := Raw{Columns: []string{"price", "title"}, Rows: [][]string{{"1", "a"}, {"cheap", "b"}}}
	if _, _, err = counter.CountUnknown(context.Background(), bad); !errors.As(err, &syntax) || syntax.File != "row 1" {
		t.Errorf("a row without a number: %v", err)
	}
	musttest.WantError(counter.Count(context.Background(), []string{"offer"}))(t,
		"a text that is no row", "got texts instead of rows with columns title, price")
	opt = columnsOptions(t, "title=words + price=numbers", 2)
	opt.MemoryBytes = 1 << 20
	var memory *MemoryError
	_, err = ReadFrom(context.Background(), strings.NewReader(table.String()), "a.csv", opt)
	if !errors.As(err, &memory) {
		t.Errorf("within 1 MiB: %v", err)
	}
}

// Any bytes give the same corpus, or the same error, for any number of workers.
func FuzzReadColumns(f *testing.F) {
	f.Add([]byte("title,price,class\na b,1,x\nc,,y\n"))
	f.Add([]byte("title;price\n\"a\nb\";1e3\n\xff;2\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		const views = "title=words + price,title=chars:2 + price=numbers + title,price=categories"
		want, wantErr := readBytes(readCSV, data, columnsOptions(t, views, 1))
		got, err := readBytes(readCSV, bytes.Clone(data), columnsOptions(t, views, 2))
		switch {
		case (wantErr == nil) != (err == nil) || err != nil && err.Error() != wantErr.Error():
			t.Fatalf("%v, and from 2 workers %v", wantErr, err)
		case err == nil && !reflect.DeepEqual(got, want):
			t.Fatal("2 workers read something else than 1")
		case err == nil:
			checkCorpus(t, want)
		}
	})
}

// A table without a text column is read as numbers if all other columns contain numbers. Otherwise
// the error suggests views.
func TestNumericTable(t *testing.T) {
	read := func(content string, opt Options) (*Corpus, error) {
		opt.MinDF = 1
		return ReadFrom(t.Context(), strings.NewReader(content), "a.csv", opt)
	}
	const rows = "1,2.5,7,x\n2,-1e3,None,y\n"
	for _, c := range []struct {
		content, view string
		opt           Options
	}{
		{"a,b,c,class\n" + rows, "a,b,c=numbers", Options{}},
		{"a;b;c;class\n" + strings.ReplaceAll(rows, ",", ";"), "a,b,c=numbers", Options{}},
		{",b,c,Class\n" + rows, "b,c=numbers", Options{}}, // column of row numbers, as written by pandas
		{"a,b,\"c, d\",y\n" + rows, "a,b,\"c, d\"=numbers", Options{FormatOptions: FormatOptions{LabelColumn: "y"}}},
		{"a,b,c,y\n" + rows, "a,b,c=numbers", Options{FormatOptions: FormatOptions{LabelColumn: "4"}}},
		{"a,class\n1,x\n2,y\n", "a=numbers", Options{}},
		{"a;class\n1;x\n2;y\n", "a=numbers", Options{}},
		{"a,b,Y\n1,,x\n2,,y\n", "a=numbers", Options{FormatOptions: FormatOptions{LabelColumn: "y"}}}, // b is empty
		{"\"a\", \"b\", \"class\"\n1, 2, \"x\"\n2, \"3\", \"y\"\n", "a,b=numbers", Options{}},
		// Repeated values are categories, with and without number columns.
		{"a,b,c,class\n" + strings.Repeat("New York,2,M,x\nOhio,3,,y\n", 4), "2*a,c=categories + b=numbers", Options{}},
		{"a,b,class\n" + strings.Repeat("no,red,x\nyes,blue,y\n", 4), "a,b=categories", Options{}},
	} {
		got, err := read(c.content, c.opt)
		if err != nil {
			t.Errorf("%q: %v", c.content, err)
			continue
		}
		opt := c.opt
		opt.Tokenizer = musttest.Get(token.ParseViews(c.view))(t)
		want := musttest.Get(read(c.content, opt))(t)
		if !reflect.DeepEqual(got.Documents, want.Documents) || got.Tokenizer != want.Tokenizer ||
			!reflect.DeepEqual(got.Classes, []string{"x", "y"}) {
			t.Errorf("%q is cut by %s, expected %s", c.content, got.Tokenizer, want.Tokenizer)
		}
	}
	for _, c := range []struct {
		content, want string
		opt           Options
	}{
		{"a,b,c\n1,2,x\n", "the name of the label column", Options{}},     // no label
		{"1,2,class\n1,2,x\n", "the name of the label column", Options{}}, // column numbers instead of names
		{"a,a,class\n1,2,x\n", "the name of the label column", Options{}}, // not unique
		{"text,1,class\nx y,b c,x\n", `a column called "1", expected another name, because`, Options{}},
		{"text,a,a\n1,2,x\n", `two columns called "a", expected different names`, Options{}},
		{"a,b,class\n1,2\n", "2 fields, expected 3 fields as in the first line", Options{}},
		{"a,b,class\n1,2,x\n", "the name of the text column", Options{Vocabulary: []string{"z"}}}, // a text model
		{"a,b,class\n1,2,x\n", "column b as label and as ignore",
			Options{FormatOptions: FormatOptions{Columns: "b=label,b=ignore"}}},
		{"a,b,class\n1,2,x\n", `a column called "d"`, Options{FormatOptions: FormatOptions{Columns: "a=text, d=ignore"}}},
		{"a,b,class\n1,2,x\n", `" b=words" must be COLUMN=KIND`,
			Options{FormatOptions: FormatOptions{Columns: "a=text, b=words"}}},
	} {
		musttest.WantError(read(c.content, c.opt))(t, c.content, c.want)
	}
}

// Each column has a kind, inferred from name and values or set by an option.
func TestKinds(t *testing.T) {
	const reds = "red,a car,1,x\nblue,a bike,2,y\nred,a red car,3,x\n"
	const tickets = "id,subject,body,product,priority,queue\n7,a jam,all of it,A,1,x\n8,toner,is out,B,2,y\n" +
		"9,paper,none,A,3,x\n10,fire,the printer is on fire,B,1,x\n11,fire,is out,A,2,y\n12,a jam,again,B,NA,x\n" +
		"13,ink,blue,A,4,x\n14,ink,red,B,5,y\n"
	for _, c := range []struct {
		content, want, views string
		opt                  Options
	}{
		{tickets, "label: queue; id: id; text: subject, body; category: product; number: priority; ignored: none",
			"subject=word + body=word + product=categories + priority=numbers",
			Options{FormatOptions: FormatOptions{LabelColumn: "queue"}}},
		{tickets, "label: queue; id: id; text: body; number: priority; ignored: subject, product",
			"body=word + priority=numbers",
			Options{FormatOptions: FormatOptions{Columns: "queue=label, subject=ignore, product=ignore"}}},
		{tickets, "label: queue; group: id; text: subject, body, product; ignored: priority",
			"subject=word + body=word + product=word",
			Options{FormatOptions: FormatOptions{Columns: "queue=label,id=group,priority=ignore,product=text"}}},
		{tickets, "label: queue; id: id; text: body; ignored: subject, product, priority", "",
			Options{FormatOptions: FormatOptions{LabelColumn: "queue", TextColumn: "body"}}},
		{tickets, "label: product; id: id; text: subject; ignored: body, priority, queue", "subject=char_wb:ngrams=3",
			Options{FormatOptions: FormatOptions{LabelColumn: "product"}, Tokenizer: Tokenizer{Views: "subject=chars:3"}}},
		{tickets, "label: queue; id: id; text: subject, body; category: product; number: priority; ignored: none",
			"subject=word:ngrams=1..2 + body=word:ngrams=1..2 + product=categories + priority=numbers",
			Options{FormatOptions: FormatOptions{LabelColumn: "queue"}, Tokenizer: Tokenizer{MinN: 1, MaxN: 2}}},
		{tickets, "label: queue; id: id; text: subject, body; category: product; number: priority; ignored: none",
			"subject=word + body=word + 2*subject=char_wb:ngrams=3 + 2*body=char_wb:ngrams=3 + " +
				"product=categories + priority=numbers",
			Options{FormatOptions: FormatOptions{LabelColumn: "queue"}, Tokenizer: Tokenizer{Views: "words + 2*chars:3"}}},
		{"a,b,c,class\n1,big car,3,x\n2,3,NA,y\n", "label: class; text: b; number: a, c; ignored: none",
			"b=word + a,c=numbers", Options{}},
		{"a,b,d,class\n" + strings.Repeat(reds, 3) + "red,a boat,1,x\n",
			"label: class; text: b; category: a; number: d; ignored: none", "b=word + a=categories + d=numbers", Options{}},
		{"a,b,class\n" + strings.Repeat(strings.Repeat("far ", 17)+",red,x\n", 8),
			"label: class; text: a; category: b; ignored: none", "a=word + b=categories", Options{}},
		{"a,b,class\n" + strings.Repeat("1,red,x\n2,blue,y\nlots,red,y\n", 9),
			"label: class; text: a; category: b; ignored: none", "a=word + b=categories", Options{}},
		{"a,target,class\n1,2,x\n", "label: class; number: a, target; ignored: none", "a,target=numbers", Options{}},
		{"5.13,NA,x\n4,2,y\n5,3,x\n", "label: 3; number: 1, 2; ignored: none", "1,2=numbers",
			Options{FormatOptions: FormatOptions{LabelColumn: "3"}}},
		{strings.Repeat("male,third,S,no\nfemale,first,C,yes\n", 9), "label: 4; category: 1, 2, 3; ignored: none",
			"1,2,3=categories", Options{FormatOptions: FormatOptions{LabelColumn: "4"}}},
		{",b,c,class\n0,NA,a d,x\n1,,e,y\n", `label: class; id: ""; text: c; ignored: b`, "", Options{}},
		{"text,2020,2021,class,\na,1,9,x,\nb,2,8,y,\n",
			`label: class; text: text; number: 2020, 2021; ignored: ""`, "text=word + 2020,2021=numbers", Options{}},
		{"customer_id,text,class\n4,a,x\n4,b,y\n", "label: class; text: text; number: customer_id; ignored: none",
			"text=word + customer_id=numbers", Options{}},
		{"id,text\n4,a\n5,b\n", "id: id; text: text; ignored: none", "", Options{}},
		{"a,headline,class\n4,a b,x\n5,c d,y\n", "label: class; text: headline; ignored: a", "",
			Options{Vocabulary: []string{"z"}}},
		{"class,code\nx,A\ny,B\n", "label: class; text: code; ignored: none", "", Options{}},
	} {
		if c.opt.MinDF = 1; c.opt.Tokenizer.Views != "" {
			c.opt.Tokenizer = musttest.Get(token.ParseViews(c.opt.Tokenizer.Views))(t)
		}
		got, err := ReadFrom(t.Context(), strings.NewReader(c.content), "a.csv", c.opt)
		if err != nil {
			t.Errorf("%q: %v", c.content, err)
			continue
		}
		cut := got.Tokenizer.WithoutScales()
		if cut.HasColumns() != (c.views != "") || c.views != "" && cut.String() != c.views {
			t.Errorf("%q is cut by %s, expected %s", c.content, cut, c.views)
		}
		if found := got.DescribeTable(); found != c.want {
			t.Errorf("%q: %s, expected %s", c.content, found, c.want)
		}
	}
}

// JSON objects have columns like tables, in lines or in an array. Nested and rare keys are ignored.
func TestKindsOfObjects(t *testing.T) {
	lines := []string{
		`{"id":7,"subject":"a jam","product":"A","priority":1.50,"queue":"x","tags":["u"],"rare":1}`,
		`{"id":8,"Subject":"toner","product":"B","priority":null,"queue":"y","tags":[]}`,
		`{"queue":"x","id":9,"subject":"paper","product":"A","priority":"3"}`,
		`{"id":10,"subject":null,"product":true,"queue":"y"}`,
	}
	const want = "label: queue; id: id; text: subject; category: product; number: priority; ignored: tags, rare"
	opt := Options{MinDF: 1, KeepTextBytes: 1 << 20, FormatOptions: FormatOptions{LabelColumn: "queue",
		Columns: "product=category"}}
	for _, content := range []string{strings.Join(lines, "\n"), " [" + strings.Join(lines, ",\n") + "]\n"} {
		c := musttest.Get(ReadFrom(t.Context(), strings.NewReader(content), "a.json", opt))(t)
		rows := [][]string{{"a jam", "A", "1.50"}, {"toner", "B", ""}, {"paper", "A", "3"}, {"", "true", ""}}
		if c.DescribeTable() != want || !reflect.DeepEqual(c.Rows, rows) ||
			!reflect.DeepEqual(c.Names, []string{"7", "8", "9", "10"}) {
			t.Errorf("%s, rows %q, names %q, expected %s, %q", c.DescribeTable(), c.Rows, c.Names, want, rows)
		}
		again := Options{ModelTokenizer: &c.Tokenizer, Vocabulary: c.Vocabulary, FormatOptions: opt.FormatOptions}
		got := musttest.Get(ReadFrom(t.Context(), strings.NewReader(content), "a.json", again))(t)
		if !reflect.DeepEqual(got.Documents, c.Documents) {
			t.Error("read again by the tokenizer it has other documents")
		}
	}
}

// Decimal commas and thousands separators are recognised from the whole column.
func TestNumberForms(t *testing.T) {
	for _, c := range []struct {
		content, want string
		fields        []string
	}{
		{"a;b;class\n1,5;2;x\n-2,25;1.234,5;y\n", "label: class; number: a (1.234,5), b (1.234,5); ignored: none",
			[]string{"1.5", "2", "-2.25", "1234.5"}},
		{"a;b;class\n1,234;2;x\n2,345;3;y\n", "label: class; number: a (1.234,5), b (1.234,5); ignored: none",
			[]string{"1.234", "2", "2.345", "3"}},
		{"a;b;class\n1.5;2;x\n2,345;3;y\n", "label: class; number: a, b; ignored: none", []string{"1.5", "2", "2345", "3"}},
		{"a,b,class\n\"1,234\",0.5,x\n\"12,345,678.5\",NA,y\n", "label: class; number: a, b; ignored: none",
			[]string{"1234", "0.5", "12345678.5", "NA"}},
		{"a,b,class\n\"1,5\",0.5,x\n\"2,75\",0.25,y\n", "label: class; number: a (1.234,5), b; ignored: none",
			[]string{"1.5", "0.5", "2.75", "0.25"}},
		{"1,5;2;x\n2,25;3;y\n", "label: 3; number: 1 (1.234,5), 2 (1.234,5); ignored: none",
			[]string{"1.5", "2", "2.25", "3"}},
		{"a,b,class\n\"1,5\",1,x\n0.75,2,y\n", "label: class; text: a; number: b; ignored: none",
			[]string{"1,5", "1", "0.75", "2"}},
	} {
		opt := Options{MinDF: 1, KeepTextBytes: 1 << 20}
		if !strings.Contains(c.content, "class") {
			opt.LabelColumn = "3"
		}
		got := musttest.Get(ReadFrom(t.Context(), strings.NewReader(c.content), "a.csv", opt))(t)
		if got.DescribeTable() != c.want || !reflect.DeepEqual(append(got.Rows[0], got.Rows[1]...), c.fields) {
			t.Errorf("%q: %s, rows %q, expected %s, %q", c.content, got.DescribeTable(), got.Rows, c.want, c.fields)
		}
	}
}

// Numbers with decimal commas in JSON strings and in rows in memory have the same values as in a
// CSV table, also as test documents.
func TestNumberFormsOfRows(t *testing.T) {
	rows := [][]string{{"1,5", "a"}, {"1.200,25", "b"}, {"", "a"}}
	want := [][]string{{"1.5", "a"}, {"1200.25", "b"}, {"", "a"}}
	opt := Options{MinDF: 1, KeepTextBytes: 1 << 20, FormatOptions: FormatOptions{Columns: "kind=category"}}
	names := []string{"price", "kind"}
	c := musttest.Get(FromRows(t.Context(), names, rows, nil, opt))(t)
	content := ""
	for _, row := range rows {
		content += fmt.Sprintf("{\"price\":%q,\"kind\":%q}\n", row[0], row[1])
	}
	j := musttest.Get(ReadFrom(t.Context(), strings.NewReader(content), "a.jsonl", opt))(t)
	counter := musttest.Get(NewCounter(c.Tokenizer, c.Vocabulary))(t)
	again := musttest.Get(FromRows(t.Context(), names, rows, nil,
		Options{KeepTextBytes: 1 << 20, Tokenizer: c.Tokenizer, Vocabulary: c.Vocabulary}))(t)
	counted, _, err := counter.CountUnknown(t.Context(), Raw{Columns: names, Rows: rows})
	musttest.NoError(t, err)
	for name, got := range map[string]Raw{"rows": c.Raw, "JSON": j.Raw, "test rows": again.Raw} {
		want := musttest.Get(Raw{Columns: names, Rows: want}.arrangeFor(c.Tokenizer))(t)
		if !reflect.DeepEqual(got.Rows, want.Rows) {
			t.Errorf("%s: %q, expected %q", name, got.Rows, want.Rows)
		}
	}
	if !slices.Equal(counted.Values, c.Documents.Values) || !slices.Equal(counted.Terms, c.Documents.Terms) {
		t.Errorf("counted %v, expected %v", counted, c.Documents)
	}
	if rows[0][0] != "1,5" {
		t.Errorf("the rows of the caller are %q", rows)
	}
	musttest.WantError(counter.CountUnknown(t.Context(), Raw{Columns: names, Rows: [][]string{{"1,234", "a"}}}))(t,
		"1,234 alone, which has both forms", `"1,234" in the column price`)
}

// Retokenize with a different width keeps the same terms.
func TestRecutKeepsFrequencies(t *testing.T) {
	var table strings.Builder
	table.WriteString("a,b,class\n")
	for i := range 40 {
		fmt.Fprintf(&table, "%d,v%d,x\n", i, max(i, 37))
	}
	for _, bounds := range [][2]int{{0, 0}, {1, 0}, {0, 20}, {1, 20}, {3, 20}} {
		opt := columnsOptions(t, "a=numbers + b=categories", 1)
		opt.MinDF, opt.MaxDF, opt.KeepRowBytes = bounds[0], bounds[1], 1<<20
		c := musttest.Get(ReadFrom(t.Context(), strings.NewReader(table.String()), "a.csv", opt))(t)
		own := Options{Tokenizer: c.Tokenizer}
		if again := musttest.Get(c.Retokenize(t.Context(), nil, own))(t); !reflect.DeepEqual(again.Vocabulary, c.Vocabulary) {
			t.Errorf("from %d to %d documents: %q, and cut again %q", bounds[0], bounds[1], c.Vocabulary, again.Vocabulary)
		}
		own.MinDF = 2
		want := opt
		want.MinDF, want.MaxDF, want.Tokenizer = 2, 0, c.Tokenizer
		fresh := musttest.Get(ReadFrom(t.Context(), strings.NewReader(table.String()), "a.csv", want))(t)
		if got := musttest.Get(c.Retokenize(t.Context(), nil, own))(t); !reflect.DeepEqual(got.Vocabulary, fresh.Vocabulary) {
			t.Errorf("with MinDF 2: %q, expected %q", got.Vocabulary, fresh.Vocabulary)
		}
	}
}

// One of two columns is still a text if its words are repeated very often.
func TestTextsThatRecur(t *testing.T) {
	text := "label,word\n" + strings.Repeat("x,spam\ny,ham\n", 9)
	got := musttest.Get(ReadFrom(t.Context(), strings.NewReader(text), "a.csv", Options{}))(t)
	if got.Tokenizer.HasColumns() || len(got.Warnings) > 0 {
		t.Errorf("cut by %s, warnings %v", got.Tokenizer, got.Warnings)
	}
}

// If a later line has no number in a number column, the error suggests another kind.
func TestNoNumericTable(t *testing.T) {
	text := "query,label\n" + strings.Repeat("1234567,x\n", 9000) + "red bike,y\n"
	_, err := ReadFrom(t.Context(), strings.NewReader(text), "a.csv", Options{})
	if err == nil || !strings.Contains(err.Error(), `a.csv:9002: "red bike" in the column query`) ||
		!strings.HasSuffix(err.Error(), "(Options.Columns sets the kind of a column, as in price=text)") {
		t.Error(err)
	}
}

// If one of two columns has a usual name for labels, it contains the labels, and the first line is
// a header, unless another document has that label.
func TestTwoNamedColumns(t *testing.T) {
	const want = "x good:1\ny bad:1\nx good:1\n"
	for _, content := range []string{
		"category,headline\nx,good\ny,bad\nx,good\n", "headline,Class\ngood,x\nbad,y\ngood,x\n",
		"\"topic\"\theadline\nx\tgood\ny\tbad\nx\tgood\n", "headline;topic\ngood;x\nbad;y\ngood;x\n",
	} {
		if got := show(texts(t, "a.csv", content, Options{})); got != want {
			t.Errorf("%q: read\n%swant\n%s", content, got, want)
		}
	}
	for content, rows := range map[string]int{
		"topic,good words\nx,bad\ntopic,worse\n": 3, "topic,target\nx,bad\n": 2, "topic,good\n": 1,
	} {
		if c := texts(t, "a.csv", content, Options{}); c.Documents.Rows() != rows {
			t.Errorf("%q: %d documents, expected %d", content, c.Documents.Rows(), rows)
		}
	}
	// Numbers in a column called text are texts.
	if c := texts(t, "a.csv", "text,label\n10,x\n11,y\n", Options{}); c.Tokenizer.HasColumns() {
		t.Errorf("cut by %s", c.Tokenizer)
	}
	// If such a label only occurs later in the file, there is a warning.
	far := "topic,good words\n" + strings.Repeat("x,bad\n", 20000) + "topic,worse\n"
	c := texts(t, "a.csv", far, Options{})
	if len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0].Message, "though later documents have the label topic") {
		t.Errorf("warnings %+v", c.Warnings)
	}
}

// A warning names views with too few terms, such as codes whose digits are removed.
func TestViewsWithoutTerms(t *testing.T) {
	const rows = "text,zip,zone,class\nred car,123,zone 1,x\nbig house,456,zone 2,y\n"
	for views, want := range map[string][]string{
		"text=words + zip=words": {"no term in the view zip=word"}, "text=words + zip=words:digits + zone=words:digits": nil,
		"zone=words + text=words": {"only one term in the view zone=word"}, "text=words": nil,
		"zip=words + text=words + zone=words": {"no term in the view zip=word", "only one term in the view zone=word"},
	} {
		c := musttest.Get(ReadFrom(t.Context(), strings.NewReader(rows), "a.csv", columnsOptions(t, views, 1)))(t)
		var got []string
		for _, w := range c.Warnings {
			got = append(got, w.Message)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: warnings %q, expected %q", views, got, want)
		}
	}
}

// A row of the wrong length gives an error instead of a panic.
func TestShortRow(t *testing.T) {
	tokenizer := musttest.Get(token.Parse("a=word + b=word"))(t)
	const want = "row 1 has 1 fields, but there are 2 columns"
	for _, columns := range [][]string{{"a", "b"}, {"b", "a"}} {
		rows := [][]string{{"x", "y"}, {"z"}}
		for _, opt := range []Options{{}, {Tokenizer: tokenizer}} {
			musttest.WantError(FromRows(t.Context(), columns, rows, nil, opt))(t,
				fmt.Sprintf("columns %v, tokenizer %s", columns, opt.Tokenizer), want)
		}
		counter := musttest.Get(NewCounter(tokenizer, nil))(t)
		musttest.WantError(counter.CountUnknown(t.Context(), Raw{Columns: columns, Rows: rows}))(t,
			fmt.Sprintf("columns %v, counter", columns), want)
	}
}

// Labels aren't among the columns of rows, so that the second column can hold categories.
func TestKindsOfTwoColumns(t *testing.T) {
	var rows [][]string
	for i := range 40 {
		rows = append(rows, []string{fmt.Sprint("text number ", i), []string{"red", "blue"}[i%2]})
	}
	c := musttest.Get(FromRows(t.Context(), []string{"notes", "colour"}, rows, nil, Options{}))(t)
	if got, want := c.DescribeTable(), "text: notes; category: colour; ignored: none"; got != want {
		t.Errorf("found %s, expected %s", got, want)
	}
}

// A column of weights becomes the weights of documents in all kinds of tables.
func TestWeightColumn(t *testing.T) {
	opt := Options{MinDF: 1, FormatOptions: FormatOptions{Columns: "w=weight"}}
	for name, content := range map[string]string{
		"a.csv": "w,text,label\n2,a b,x\n0.5,b,y\n", "a.jsonl": `{"w":2,"text":"a b","label":"x"}` + "\n" +
			`{"w":"0.5","text":"b","label":"y"}` + "\n",
	} {
		c := readWhole(t, writeFile(t, name, content), opt)
		kinds := "label: label; weight: w; text: text; ignored: none"
		if !slices.Equal(c.Weights, []float64{2, 0.5}) || c.DescribeTable() != kinds {
			t.Errorf("%s: weights %v of the columns %s", name, c.Weights, c.DescribeTable())
		}
		for _, bad := range []string{"0", "-1", "x", ""} {
			path := writeFile(t, name, strings.Replace(content, "0.5", bad, 1))
			musttest.WantError(Read(t.Context(), path, opt))(t,
				fmt.Sprintf("%s, weight %q", name, bad), "expected a positive number")
		}
	}
	rows := [][]string{{"2", "a b"}, {"0.5", "b"}}
	c, err := FromRows(t.Context(), []string{"w", "text"}, rows, []string{"x", "y"}, opt)
	if err != nil || !slices.Equal(c.Weights, []float64{2, 0.5}) {
		t.Errorf("rows have the weights %v, %v", c, err)
	}
}
