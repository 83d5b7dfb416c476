package token

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/gramengine/gram/internal/musttest"
)

// Valid text forms are parsed and have one canonical form; invalid ones give an error.
func TestViewsParse(t *testing.T) {
	for in, want := range map[string]string{
		"words:1..2 + chars:2..5":                "word:ngrams=1..2 + char_wb:ngrams=2..5",
		" words+0.5 * chars : 3":                 "",
		"words+0.5*chars:3":                      "word + 0.5*char_wb:ngrams=3",
		"2*word":                                 "2*word",
		`word:pattern="a+b*c",case + char:2`:     `word:case,pattern="a+b*c" + char:ngrams=2`,
		"words:2,digits + words:stop=\"a + b\"":  `word:ngrams=2,digits + word:stop="+ a b"`,
		"words + ":                               "",
		"words + 0*chars":                        "",
		"words + NaN*chars":                      "",
		"words + runes":                          "",
		strings.Repeat("words + ", 9) + "chars":  "",
		"+":                                      "",
		"*":                                      "",
		"chars:2..4":                             "char_wb:ngrams=2..4",
		"word:ngrams=1..2 + char_wb:ngrams=2..5": "word:ngrams=1..2 + char_wb:ngrams=2..5",
		"title=words:1..2 + body = words + price,age=numbers": "title=word:ngrams=1..2 + body=word + price,age=numbers",
		"0.5*title,body=chars:2..5":                           "0.5*title,body=char_wb:ngrams=2..5",
		`"a + b","c=d"=words + x=numbers:1|2.5`:               `"a + b","c=d"=word + x=numbers:1|2.5`,
		`"b*c"=words`:                                         `"b*c"=word`,
		"x,y=numbers:-1|0|1e9,3":                              "x,y=numbers:-1|0|1e09,3",
		"x=numbers:width=2.0 + y,z=numbers:width=1.5,1|2,3":   "x=numbers:width=2 + y,z=numbers:width=1.5,1|2,3",
		"x=numbers:width=0.5":                                 "",
		"x=numbers:width=9":                                   "",
		"x=numbers:width=NaN":                                 "",
		"x=numbers:width=":                                    "",
		"x=numbers:1|2,width=2":                               "",
		"title=words + chars:2":                               "", // without columns
		"words + title=chars:2":                               "",
		"title,=words":                                        "",
		"title,title=words":                                   "",
		"title=":                                              "",
		`"title"words`:                                        "",
		`"title`:                                              "",
		"x=numbers:2|1":                                       "",
		"x=numbers:1|NaN":                                     "",
		"x,y=numbers:1|2":                                     "",
		"x=numbers:1|2|3|4|5|6|7|8|9|10":                      "",
		"x=numbers:a":                                         "",
		"numbers":                                             "",
		"x=words + y=numbers,z=words":                         "",
		"x=word:ngrams=2 + x=numbers + y=char":                "x=word:ngrams=2 + x=numbers + y=char",
	} {
		got, err := ParseViews(in)
		if (err != nil) != (want == "") {
			t.Errorf("%q: %v, %v", in, got, err)
		}
		if err != nil {
			continue
		}
		again, err := Parse(got.String())
		if got.String() != want || err != nil || again != got || again.Canonical() != got || again.WithPairs(false) != got {
			t.Errorf("%q is %q, and read again %q, %v, expected %q", in, got, again, err, want)
		}
	}
	musttest.WantError((Tokenizer{Views: "words + chars:2", Digits: true}).Validate())(t, "views with digits")
}

// scanned returns the counts of a row's terms in readable form. The row is a JSON object.
func scanned(t *testing.T, from Tokenizer, text string) map[string]int {
	t.Helper()
	s := musttest.Get(from.NewScanner())(t)
	musttest.NoError(t, s.FeedRow(musttest.Get(from.Columns().ParseObject([]byte(text)))(t)))
	counts := map[string]int{}
	for term := s.Next(); term != nil; term = s.Next() {
		counts[from.FormatTerm(string(term))]++
	}
	for _, added := range s.RowTerms() {
		counts[from.FormatTerm(string(added.Term))] = int(added.Value)
	}
	return counts
}

// check reads a row, a JSON object.
func check(t *testing.T, from Tokenizer, text string) error {
	t.Helper()
	fields, err := from.Columns().ParseObject([]byte(text))
	if err != nil {
		return err
	}
	return musttest.Get(from.NewScanner())(t).FeedRow(fields)
}

// A category with any content is a single term, also with other views of the same column.
func TestCategories(t *testing.T) {
	musttest.WantError(Parse("a=categories:2"))(t, "categories with options", `categories takes no options, got "2"`)
	for _, bad := range []string{"categories", "a=category"} {
		musttest.WantError(Parse(bad))(t, bad)
	}
	spec := musttest.Get(Parse(`city,"b c"=categories + city=words + n=numbers`))(t)
	if spec.String() != `city,"b c"=categories + city=word + n=numbers` || !spec.Columns().HasNumbers() {
		t.Errorf("read as %s", spec)
	}
	fitted := musttest.Get(fitRows(spec, [][]string{{"", "", "1"}}))(t)
	for text, want := range map[string]string{
		`{"city":" New  York 1\n","b c":"+\u0000\ud800","n":1}`: `b c: "+\x00` + "\uFFFD\", city: New  York 1, city: new, " +
			"city: york, n ≈ 1",
		`{"city":"Ohio","b c":null,"n":1}`: "b c missing, city: Ohio, city: ohio, n ≈ 1",
		`{"city":"Ohio","b c":true,"n":1}`: "b c: true, city: Ohio, city: ohio, n ≈ 1",
		`{"city":"Ohio","b c":1.50,"n":1}`: "b c: 1.50, city: Ohio, city: ohio, n ≈ 1",
		`{"city":"Ohio","n":1}`:            "b c missing, city: Ohio, city: ohio, n ≈ 1",
		`{"b c":"x"}`:                      "b c: x, city missing, n missing",
	} {
		got := scanned(t, fitted, text)
		if found := strings.Join(slices.Sorted(maps.Keys(got)), ", "); found != want || got["city: Ohio"] > 1 {
			t.Errorf("%s has %q, expected %q", text, found, want)
		}
	}
	for text, want := range map[string]string{`{"city":["x"],"b c":""}`: "column city: the value \"[x]\"",
		`{"city":"x","n":true}`:  "column n: the value \"true\"",
		`{"city":"x","b d":"y"}`: `column b c: missing key, but unknown key "b d"`} {
		musttest.WantError(check(t, fitted, text))(t, text, want)
	}
	if words := fitted.WordFunc(); !words([]byte("\x01city\x00Ohio")) || !words([]byte("\x02ohio")) ||
		words([]byte("\x09a")) {
		t.Error("categories and words don't count as words")
	}
}

// fitRows fits the scales to rows.
func fitRows(from Tokenizer, rows [][]string) (Tokenizer, error) {
	scan, err := from.NewScanner()
	if err != nil {
		return from, err
	}
	values := make([][]float64, len(from.Columns()))
	for _, row := range rows {
		if err := scan.FeedRow(row); err != nil {
			return from, err
		}
		for k, x := range scan.Numbers() {
			if !math.IsNaN(x) {
				values[k] = append(values[k], x)
			}
		}
	}
	return from.Fit(values)
}

func TestColumnsScan(t *testing.T) {
	spec := musttest.Get(Parse("title=words + title,body=chars:3 + price,age=numbers"))(t)
	rows := []string{
		`{"title":"Bike","body":"red","price":"1","age":2}`, `{"title":"Bike","body":"red","price":9,"age":null}`,
		`{"title":"","body":null,"price":5,"age":" NaN "}`,
	}
	if !spec.NeedsScales() {
		t.Error("numbers without a scale pass for fitted")
	}
	fields := func(rows ...string) (of [][]string) {
		for _, row := range rows {
			of = append(of, musttest.Get(spec.Columns().ParseObject([]byte(row)))(t))
		}
		return of
	}
	fitted, err := fitRows(spec, fields(rows...))
	if err != nil || fitted.NeedsScales() || !strings.HasSuffix(fitted.String(), "price,age=numbers:1|5|9,2") {
		t.Fatalf("%v, %v", fitted, err)
	}
	if again, err := fitRows(fitted, fields(rows[0])); err != nil || again != fitted {
		t.Errorf("fitted again it is %v, %v", again, err)
	}
	got := scanned(t, fitted, rows[1])
	for term, n := range map[string]int{"title: bike": 1, `title,body: chars "bik"`: 1, "price ≈ 5": 8, "price ≈ 9": 56,
		"age missing": 64, "age ≈ 2": 0} {
		if got[term] != n {
			t.Errorf("%q counts %d, expected %d of %v", term, got[term], n, got)
		}
	}
	for _, far := range []string{"-1e300", "1"} {
		got := scanned(t, fitted, `{"title":"","body":"","price":`+far+`,"age":7}`)
		if got["price ≈ 1"] != 56 || got["age ≈ 2"] != 64 {
			t.Errorf("%s counts %v", far, got)
		}
	}
	// A missing key is a missing number, like null, but a row without any number is an error.
	null, absent := `{"title":"a","body":"b","price":1,"age":null}`, `{"title":"a","body":"b","price":1}`
	musttest.NoError(t, check(t, spec, absent))
	if x, y := scanned(t, fitted, null), scanned(t, fitted, absent); !maps.Equal(x, y) {
		t.Errorf("%v with null, %v without the key", x, y)
	}
	numbers := Tokenizer{Views: "price,age=numbers"}
	musttest.WantError(check(t, numbers, `{}`))(t, "no number", "column age: no such column")
	for text, want := range map[string]string{
		"Bike": "a JSON object", `{"title":"a","price":1}`: "column body: no such", `{}`: "column title: no such",
		`{"title":"a","body":"b","price":1,"aeg":2,"x":3}`: `column age: missing key, but unknown key "aeg"`,
		`{"title":["a"],"body":"b","price":1,"age":2}`:     "title",
		`{"title":"a","body":"b","price":"cheap","age":2}`: `column price: "cheap"`,
		`{"title":"a","body":"b","price":"Inf","age":2}`:   `column price: "Inf"`, "null": "a JSON object",
	} {
		musttest.WantError(check(t, spec, text))(t, text, want)
	}
	musttest.WantError(fitRows(spec, [][]string{{"", "", "?", "1"}}))(t, "a scale of no numbers")
	got2, err := spec.Columns().Arrange([]string{"body", "age", "x", "title"}, [][]string{{"b", "2", "y", "a"}})
	if err != nil || !slices.Equal(got2[0], []string{"a", "b", "", "2"}) {
		t.Errorf("arranged as %q, %v", got2, err)
	}
	musttest.WantError(spec.Columns().Arrange([]string{"title", "age"}, nil))(t,
		"without a body", "column body: no such column among title, age")
}

// WithWidth sets missing widths of number views, and WithoutScales removes scales; other views are
// kept.
func TestWidth(t *testing.T) {
	for in, want := range map[string][2]string{
		"word:ngrams=1..2":            {"word:ngrams=1..2", "word:ngrams=1..2"},
		"title=words + body=chars":    {"title=word + body=char_wb", "title=word + body=char_wb"},
		"x=numbers:1|2 + title=words": {"x=numbers:width=2,1|2 + title=word", "x=numbers + title=word"},
		"x=numbers:width=3,1 + 2*y=numbers": {"x=numbers:width=3,1 + 2*y=numbers:width=2",
			"x=numbers:width=3 + 2*y=numbers"},
	} {
		from := musttest.Get(Parse(in))(t)
		if got := from.WithWidth(2); got.String() != want[0] {
			t.Errorf("%s with a width: %s, expected %s", in, got, want[0])
		}
		if got := from.WithoutScales(); got.String() != want[1] {
			t.Errorf("%s without scales: %s, expected %s", in, got, want[1])
		}
		for _, width := range []float64{math.NaN(), -1, 100} {
			if got := from.WithWidth(width); got != from {
				t.Errorf("%s with the width %v: %s, expected it unchanged", in, width, got)
			}
		}
	}
	for in, want := range map[string]string{
		"a,b,c=numbers:1|2,3,4 + t=words:1..2":                  "a,b,c=numbers + t=word:ngrams=1..2",
		`2*"a ","b","c",d=numbers:width=2 + a,b,c,d=categories`: `2*"a ",… 3 more=numbers:width=2 + a,… 3 more=categories`,
		"word:ngrams=1..2": "word:ngrams=1..2", "words + chars": "word + char_wb",
	} {
		if got := musttest.Get(Parse(in))(t).ShortString(); got != want {
			t.Errorf("%s in brief: %s, expected %s", in, got, want)
		}
	}
	bad := Tokenizer{Views: "x=numbers + words"}
	if got := bad.WithWidth(2); got != bad {
		t.Errorf("a bad tokenizer with a width: %v", got)
	}
}

// The product of two numbers is a Gaussian of their distance, within the documented error. The
// terms of a number are a Gaussian of half the variance.
func TestNumbersAreGaussian(t *testing.T) {
	for knots, most := range map[int]float64{2: 0.08, 3: 0.16, 4: 0.21, 5: 0.2, 7: 0.111, 9: 0.111} {
		scale := musttest.MakeSlice(knots, func(k int) float64 { return float64(k) })
		for _, width := range []float64{1, 2, 3} {
			worst := 0.0
			for x := 0.0; x <= float64(knots-1); x += 0.05 {
				for y := 0.0; y <= x; y += 0.05 {
					var product float64
					b := numberCounts(scale, width, y)
					for k, n := range numberCounts(scale, width, x) {
						product += math.Sqrt(float64(n)*float64(b[k])) / numberTerms
					}
					worst = max(worst, math.Abs(product-math.Exp(-(x-y)*(x-y)/(2*width*width))))
					if width == 1 && x-y >= 3 && product != 0 {
						t.Errorf("%d knots: %v and %v have %v, expected 0", knots, x, y, product)
					}
				}
			}
			if !(worst <= most) {
				t.Errorf("%d knots, width %v: an error of %v, expected at most %v", knots, width, worst, most)
			}
		}
	}
	knots := []float64{0, 1, 2, 3, 4, 5, 6, 7, 8}
	rows := musttest.MakeSlice(len(knots), func(i int) []string { return []string{fmt.Sprint(i)} })
	for _, width := range []float64{1, 1.25, 2, 3, 4} {
		fitted := musttest.Get(fitRows(musttest.Get(Parse(fmt.Sprintf("x=numbers:width=%v", width)))(t), rows))(t)
		for x := 0.0; x <= 8; x += 0.4 {
			got := scanned(t, fitted, fmt.Sprintf(`{"x":%v}`, x))
			share := func(k float64) float64 { return math.Exp(-2 * (x - k) * (x - k) / (width * width)) }
			var all float64
			for _, k := range knots {
				all += share(k)
			}
			for _, k := range knots {
				want := numberTerms * share(k) / all
				if n := got[fmt.Sprintf("x ≈ %v", k)]; !(math.Abs(float64(n)-want) <= 1) { // two rounded ends
					t.Errorf("width %v: %v counts knot %v %d times, expected %.1f", width, x, k, n, want)
				}
			}
		}
	}
	for _, knots := range [][]float64{{3}, {1, 2}, {-1e308, 1e308}} {
		for _, x := range []float64{-1e308, 1.5, 1e308} {
			n := 0
			for _, c := range numberCounts(knots, 1, x) {
				n += c
			}
			if n != numberTerms {
				t.Errorf("%v among %v counts %d terms, expected %d", x, knots, n, numberTerms)
			}
		}
	}
}

// A column of values has its number minus the mean, or a term of a missing number.
func TestValues(t *testing.T) {
	bins := musttest.Get(Parse("2*a,b=numbers:width=2,1|2,3|4 + c=categories"))(t)
	spec, ok := bins.WithValues()
	if !ok || spec.String() != "a,b=values + c=categories" || !spec.HasValues() || bins.HasValues() ||
		!spec.NeedsScales() {
		t.Fatalf("%s, %v", spec, ok)
	}
	fitted := musttest.Get(fitRows(spec, [][]string{{"1", "7", "x"}, {"", "7", "y"}, {"2", "7", "x"}, {"6", "", ""}}))(t)
	if fitted.String() != "a,b=values:1|3|6,7 + c=categories" || fitted.WithoutScales() != spec ||
		fitted.WithWidth(2) != fitted {
		t.Fatal(fitted)
	}
	s := musttest.Get(fitted.NewScanner())(t)
	for _, of := range []struct {
		row  []string
		want string
	}{
		{[]string{"1", "7", "x"}, "a -2 true; c: x 1 true; "},
		{[]string{"3", "7.5", "z"}, "b 1 false; b 0.5 true; c: z 1 true; "},
		{[]string{"NA", "-1e300", ""},
			"a missing 1 false; b 1 false; b -3.4028235e+38 true; c missing 1 true; "},
	} {
		err := s.FeedRow(of.row)
		got, isWord := "", fitted.WordFunc()
		for _, added := range s.RowTerms() {
			got += fmt.Sprintf("%s %v %v; ", fitted.FormatTerm(string(added.Term)), added.Value, isWord(added.Term))
		}
		if got != of.want || err != nil || s.Next() != nil {
			t.Errorf("%q: %q, %v, expected %q", of.row, got, err, of.want)
		}
	}
	views, err := fitted.SplitViews()
	if lo, hi := views[0].NumberRange("a"); lo != 1 || hi != 6 || err != nil {
		t.Errorf("a is from %v to %v, %v", lo, hi, err)
	}
	if _, ok := musttest.Get(Parse("a=numbers + c=words"))(t).WithValues(); ok {
		t.Error("a table with text has values")
	}
	if _, ok := musttest.Get(Parse("a=categories"))(t).WithValues(); ok {
		t.Error("a table without numbers has values")
	}
	for bad, want := range map[string]string{
		"a=values + b=words": `view "b=word": values can be combined only with categories`,
		"2*a=values":         "without weights", "a=values + b=numbers": `view "b=numbers": values can be combined only`,
		"a=values:width=2": "values:width=2 has no valid width; use a form such as numbers:width=2",
	} {
		musttest.WantError(Parse(bad))(t, bad, want)
	}
}

// A row of a JSON object is tokenised, or gives an error if a number isn't valid; likewise for Fit.
func FuzzRows(f *testing.F) {
	f.Add("title=words + price=numbers", `{"title":"a b","price":1}`, "a", "1")
	f.Add("x,y=categories + x=words + n=numbers:1|2", `{"x":"A b","y":true,"n":1}`, "3", "")
	f.Add("x=numbers", "", "", "0")
	f.Add("x=values + y=categories", `{"x":1.5,"y":"a"}`, "3", "b")
	f.Add("x,y=values:1|2|4,3", `{"x":-1e300}`, "", "1e308")
	f.Add("x=numbers:width=2,1|2 + y=numbers:width=3", `{"x":1,"y":2}`, "3", "")
	f.Add(`"x y",z=chars:2 + z=numbers:1|2`, `{"x y":"手机","z":null}`, "\xff", "?")
	f.Fuzz(func(t *testing.T, spec, text, first, second string) {
		from, err := Parse(spec)
		if err != nil {
			return
		}
		if again, err := Parse(from.String()); err != nil || again != from {
			t.Fatalf("%q is %q, read again %q, %v", spec, from, again, err)
		}
		columns := from.Columns()
		if columns == nil {
			return
		}
		row := append([]string{first, second}, make([]string, len(columns))...)[:len(columns)]
		rows := [][]string{row}
		if fields, err := columns.ParseObject([]byte(text)); err == nil {
			rows = append(rows, fields)
		}
		for _, row := range rows {
			s := musttest.Get(from.NewScanner())(t)
			bad := s.FeedRow(row)
			fitted, err := fitRows(from, [][]string{row})
			if bad != nil && from.NeedsScales() && err == nil {
				t.Fatalf("%q is no row, %v, and gives the scales %s", row, bad, fitted)
			}
			terms := [][]byte{}
			for term := s.Next(); bad == nil && term != nil; term = s.Next() {
				terms = append(terms, slices.Clone(term))
			}
			for _, added := range s.RowTerms() {
				if terms = append(terms, added.Term); added.Value == 0 || math.IsInf(float64(added.Value), 0) {
					t.Fatalf("%q has the value %v", row, added.Value)
				}
			}
			for _, term := range terms {
				if !utf8.Valid(term) {
					t.Fatalf("%q has the term %q, which is not UTF-8", row, term)
				}
			}
		}
	})
}

// selectRanks gives the numbers of a sorted list, for equal, ordered and random numbers, at any
// depth.
func TestSelectRanks(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 33, 100, 1000, 5000} {
		for kind := range 4 {
			for _, depth := range []int{0, 1, 3, 64} {
				x := make([]float64, n)
				for i := range x {
					x[i] = [...]float64{1, float64(i), float64(-i), math.Floor(random.NormFloat64() * 100)}[kind]
				}
				sorted := slices.Sorted(slices.Values(x))
				ranks := []int{0, n / 8, n / 8, n / 3, n - 1}
				selectRanks(x, ranks, 0, depth)
				for _, rank := range ranks {
					if x[rank] != sorted[rank] {
						t.Errorf("%d numbers of kind %d, depth %d: rank %d is %v, expected %v", n, kind, depth, rank, x[rank],
							sorted[rank])
					}
				}
			}
		}
	}
}

// lowerLetter returns the results of package unicode.
func TestLower(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if small, letter := lowerLetter(r); small != unicode.ToLower(r) || letter != unicode.IsLetter(r) {
			t.Errorf("%U: %U, letter %v", r, small, letter)
		}
	}
}
