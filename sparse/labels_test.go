package sparse

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

func setFile(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	musttest.Do(t, os.WriteFile(path, []byte(content), 0o666))
	return path
}

// The three ways to say which points belong together.
func TestSets(t *testing.T) {
	want := &Sets{Names: []string{"7", "3"}, Of: []int32{0, 1, 0}, Class: []int32{0, 1}, Classes: []string{"a", "b"}}
	file := setFile(t, "points.svm", "a qid:7 1:1\nb qid:3 1:2 2:1\n# between\na qid:007 2:1\n")
	c, err := Read(t.Context(), file, Options{Groups: true})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.SetsByGroup(); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("by qid: %+v, %v, expected %+v", got, err, want)
	}
	if len(c.Warnings) > 0 {
		t.Errorf("warnings %v for qids that are kept", c.Warnings)
	}
	c.Weights = make([]float64, c.Documents.Rows())
	for i := range c.Weights {
		c.Weights[i] = float64(i + 1)
	}
	if got := c.Select([]int{2, 1}); !reflect.DeepEqual(got.Weights, []float64{3, 2}) {
		t.Errorf("selected, the weights are %v", got.Weights)
	}
	if got := c.Select([]int{2, 1}); !reflect.DeepEqual(got.Groups, []int64{7, 3}) {
		t.Errorf("selected, the groups are %v", got.Groups)
	}
	if got, err := ReadSets(t.Context(), setFile(t, "sets", "7\ta\r\n3\t b\n7\ta"), 3, Options{}); err != nil ||
		!reflect.DeepEqual(got, want) {
		t.Errorf("from a file: %+v, %v, expected %+v", got, err, want)
	}
	for _, end := range []string{"", "\n", "\r\n"} { // which doesn't count as length
		if got, err := ReadSets(t.Context(), setFile(t, "sets", "10 letters"+end), 1,
			Options{MaxLineBytes: 10}); err != nil ||
			!reflect.DeepEqual(got.Names, []string{"10 letters"}) {
			t.Errorf("ten letters and %q: %+v, %v", end, got, err)
		}
	}
	if got, err := ReadSets(t.Context(), setFile(t, "sets.gz", gzipped("x\nx\ny y\n")), 3, Options{}); err != nil ||
		!reflect.DeepEqual(got.Names, []string{"x", "y y"}) ||
		got.Class[1] != -1 {
		t.Errorf("without classes: %+v, %v", got, err)
	}
	want = &Sets{Names: []string{"a", "b"}, Of: []int32{0, 1, 0}, Class: []int32{-1, -1}}
	if got, err := c.SetsByLabel(); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("by label: %+v, %v, expected %+v", got, err, want)
	}
	if c, err = Read(t.Context(), file, Options{}); err != nil || c.Groups != nil || len(c.Warnings) != 1 {
		t.Errorf("unasked, groups are %v, %v", c.Groups, err)
	}
	if _, err := c.SetsByGroup(); err == nil {
		t.Error("a corpus without qids has sets by qid")
	}
}

func TestSetsRefused(t *testing.T) {
	for content, want := range map[string]string{
		"1 qid:7 1:1\n2 qid:7 1:1\n": "point 2 of FILE, qid 7, has the class 2, " +
			"expected that of the points before, 1",
		"1 qid:7 1:1\n 1:1\n": "FILE:2: no qid, expected label qid:N index:value ... " +
			"(Options.Groups asks for it)",
		"1 qid:x 1:1\n":                   `FILE:1: "qid:x", expected qid: and a whole number`,
		"1 qid: 1:1\n":                    `FILE:1: "qid:", expected qid: and a whole number`,
		"1 qid:-1 1:1\n":                  `FILE:1: "qid:-1", expected qid: and a whole number`,
		"1 qid:9999999999999999999 1:1\n": `FILE:1: "qid:9999999999999999999", expected qid: and a whole number`,
		"1 qid:1 qid:1 1:1\n":             `FILE:1: "qid:1" after another qid, expected one qid a line`,
		"1,2 qid:1 1:1\n":                 "point 1 of FILE has 2 classes, expected one at most",
		"1 qid:1 1:1\n- qid:1 1:1\n": "point 2 of FILE, qid 1, has the class none, " +
			"expected that of the points before, 1",
	} {
		file := setFile(t, "points.svm", content)
		c, err := Read(t.Context(), file, Options{Groups: true})
		if err == nil {
			_, err = c.SetsByGroup()
		}
		if err == nil || !strings.Contains(err.Error(), strings.ReplaceAll(want, "FILE", file)) {
			t.Errorf("%q: %v, expected %s", content, err, want)
		}
	}
	for content, want := range map[string]string{
		"1 1:1\n- 1:1\n": "point 2 of FILE has no label",
		"1,2 1:1\n":      "point 1 of FILE has 2 classes",
	} {
		file := setFile(t, "points.svm", content)
		c, err := Read(t.Context(), file, Options{})
		if err == nil {
			_, err = c.SetsByLabel()
		}
		if err == nil || !strings.Contains(err.Error(), strings.ReplaceAll(want, "FILE", file)) {
			t.Errorf("%q by label: %v, expected %s", content, err, want)
		}
	}
	for content, want := range map[string]string{
		"a\n":                "FILE:2: the end of the file, expected 2 lines, one a point",
		"":                   "FILE:1: the end of the file",
		"a\nb\nc\n":          "FILE:3: another line, expected 2 lines",
		"a\n\n":              `FILE:2: "", expected set<TAB>class`,
		"a\n\tb\n":           `FILE:2: "\tb", expected set<TAB>class`,
		"a\tx\na\ty\n":       `FILE:2: set "a" with the class y, expected that of its points before, x`,
		"a\tx\na\n":          `FILE:2: set "a" with the class none, expected that of its points before, x`,
		"a\n\xff\n":          `FILE:2: "\xff" is not UTF-8`,
		"a\nlonger than ten": "FILE:2: a line of more than 10 B",
		"a\n11 letters.":     "FILE:2: a line of more than 10 B",
	} {
		file := setFile(t, "sets", content)
		if s, err := ReadSets(t.Context(), file, 2, Options{MaxLineBytes: 10}); err == nil ||
			!strings.Contains(err.Error(), strings.ReplaceAll(want, "FILE", file)) {
			t.Errorf("%q: %v, %v, expected %s", content, s, err, want)
		}
	}
	_, err := ReadSets(t.Context(), filepath.Join(t.TempDir(), "nothing"), 2, Options{})
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that isn't there: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = ReadSets(ctx, setFile(t, "sets", strings.Repeat("a\n", 5000)), 5000, Options{})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("after the end of the context: %v", err)
	}
}

// Whatever the bytes: no panic, an error that says where, or sets that hold every point and,
// written out, are read again.
func FuzzReadSets(f *testing.F) {
	f.Add([]byte("a\tx\nb\ty\na\tx\n"), uint8(3))
	f.Add([]byte("1\r\n2"), uint8(2))
	f.Add([]byte("\t\n"), uint8(1))
	f.Add([]byte(gzipped("a\n")), uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, most uint8) {
		points := int(most)
		read := func(data []byte) (*Sets, error) {
			in := &input{name: "fuzz", line: 1}
			if err := in.decode(bytes.NewReader(data), nil); err != nil {
				return nil, err
			}
			return in.sets(t.Context(), points, 1000)
		}
		s, err := read(data)
		if err != nil {
			var syntax *SyntaxError
			if !errors.As(err, &syntax) || syntax.Line < 0 || syntax.Found == "" || syntax.Expected == "" {
				t.Fatalf("%#v", err)
			}
			return
		}
		if len(s.Of) != points || len(s.Class) != len(s.Names) {
			t.Fatalf("%d points of %d, %d classes of %d sets", len(s.Of), points, len(s.Class), len(s.Names))
		}
		var out bytes.Buffer
		for _, id := range s.Of {
			out.WriteString(s.Names[id])
			if class := s.Class[id]; class >= 0 {
				fmt.Fprintf(&out, "\t%s", s.Classes[class])
			}
			out.WriteByte('\n')
		}
		if again, err := read(out.Bytes()); err != nil || !reflect.DeepEqual(again, s) {
			t.Fatalf("%+v, written and read: %+v, %v", s, again, err)
		}
	})
}

// With groups, the number of workers makes no difference either.
func FuzzReadGroups(f *testing.F) {
	for _, s := range []string{
		"1 qid:4 4:2\n2 qid:5\n", "1 qid:4 4:2\n2 5:1\n", "1 qid:4 qid:4\n", "1 qid:99999999999999999999 1:1\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		opt := Options{Workers: 1, MinDF: 1, MaxLineBytes: 1000, Groups: true}
		want, wantErr := readBytes(readSVMLight, data, opt)
		opt.Workers = 2
		got, err := readBytes(readSVMLight, data, opt)
		if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() ||
			err == nil && !reflect.DeepEqual(got, want) {
			t.Fatalf("%v, and from 2 workers %v", wantErr, err)
		}
		if err == nil && len(want.Groups) != want.Documents.Rows() {
			t.Fatalf("%d groups of %d documents", len(want.Groups), want.Documents.Rows())
		}
	})
}

// Labels that are numbers are the same however they are written, and whole ones keep all their digits.
func TestCanonicalNumber(t *testing.T) {
	for name, want := range map[string]string{
		"1": "1", "+1": "1", "1.0": "1", "01": "1", "-0": "0", "0.0": "0", "-0.0": "0", "00": "0", "-7": "-7",
		"1e6": "1000000", "1234567": "1234567", "1000000": "1000000", "9007199254740993": "9007199254740993",
		"-12345678901234567890": "-12345678901234567890", "0.10": "0.1", "1e300": "1e+300", "1e-7": "1e-07", "+-1": "+-1",
		"--1": "--1", "+": "+", "-": "-", "": "", "a": "a", "Inf": "Inf", "NaN": "NaN", "1 2": "1 2",
	} {
		if got := canonicalNumber(name); got != want {
			t.Errorf("%q is %q, expected %q", name, got, want)
		}
	}
}
