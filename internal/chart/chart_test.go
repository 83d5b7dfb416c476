package chart

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gramengine/gram/internal/musttest"
)

// labels returns the labels of an axis, and the number of its ticks.
func labels(a Axis) (string, int) {
	var of []string
	ticks := a.ticks()
	for _, t := range ticks {
		if t.label != "" {
			of = append(of, t.label)
		}
	}
	return strings.Join(of, " "), len(ticks)
}

// Ticks are multiples of round steps, including 0 if it is on the axis. A logarithmic axis has
// ticks at all digits of all decades, with labels at powers of ten.
func TestTicks(t *testing.T) {
	for _, c := range []struct {
		axis  Axis
		want  string
		ticks int
	}{
		{Axis{Min: -2.6, Max: 10.4}, "0 5 10", 3}, {Axis{Min: -16, Max: 8}, "-15 -10 -5 0 5", 5},
		{Axis{Min: -0.11, Max: 0.85}, "0 0.2 0.4 0.6 0.8", 5}, {Axis{Min: 1, Max: 2, MinTickStep: 1}, "1 2", 2},
		{Axis{Min: 0, Max: 100}, "0 20 40 60 80 100", 6}, {Axis{Min: -9.5, Max: 21.5}, "0 10 20", 3},
		{Axis{Min: math.Inf(1), Max: math.Inf(-1)}, "0 0.2 0.4 0.6 0.8 1", 6}, {Axis{Min: 3, Max: 3}, "2 2.5 3 3.5 4", 5},
		{Axis{Min: 0.3, Max: 2e5, IsLog: true}, "1 10 100 1000 10000 100000", 7 + 5*9 + 2},
		{Axis{Min: 3, Max: 30, IsLog: true}, "5 10 20", 10}, {Axis{Min: 0, Max: 9, TickValues: []float64{1, 8}}, "1 8", 2},
		{Axis{Categories: []string{"a", "b"}, Max: 1}, "a b", 2},
	} {
		if got, n := labels(c.axis); got != c.want || n != c.ticks {
			t.Errorf("%+v: %q, %d ticks, expected %q, %d", c.axis, got, n, c.want, c.ticks)
		}
	}
}

// On a page the legend is right of all lines. The y label isn't rotated, but long bar names are.
func TestLegend(t *testing.T) {
	c := New("ROC", "x", "a y label")
	c.AddCurve("the class", Palette[1], []Point{{0, 100}, {100, 100}}, false)
	text := SVG(c, "", 16, 11)
	line := regexp.MustCompile(`M([0-9.]+),[0-9.]+L([0-9.]+),[0-9.]+" style="[^"]*curve-1`)
	lines := line.FindAllStringSubmatch(text, -1)
	name := regexp.MustCompile(`<text x="([0-9.]+)"[^>]*>the class<`).FindStringSubmatch(text)
	if len(lines) != 2 || name == nil {
		t.Fatalf("%d lines, expected the legend's and the curve\n%s", len(lines), text)
	}
	number := func(s string) float64 { return musttest.Get(strconv.ParseFloat(s, 64))(t) }
	if legend, end := number(lines[0][1]), number(lines[1][2]); !(legend > end && number(name[1]) > legend) {
		t.Errorf("the curve ends at %v, the legend begins at %v, its text at %s", end, legend, name[1])
	}
	if strings.Contains(text, "rotate") || !strings.Contains(text, ">a y label<") {
		t.Errorf("turned text in\n%s", text)
	}
	for name, turned := range map[string]bool{"a": false, "a name that takes much room": true} {
		c := New("", "", "")
		c.AddBars([]string{name, name, name, name}, []string{"", "b"}, func(int, int) float64 { return 1 })
		if got := strings.Contains(SVG(c, "", 16, 11), "rotate"); got != turned {
			t.Errorf("bars with %q: turned %v", name, got)
		}
	}
}

// wellFormed checks that a text is well-formed XML.
func wellFormed(t *testing.T, text string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// A chart is well-formed and self-contained, with a description and the page's colours and font.
func TestSVG(t *testing.T) {
	c := New("Risk <1>", "part", "error")
	c.AddCurve("", Palette[1], []Point{{0, 0}, {100, 1}}, true)
	c.AddCurve("", Gray, []Point{{0, 1}, {50, math.NaN()}, {100, 0}}, false)
	text := SVG(c, `falls by "half"`, 10, 8)
	wellFormed(t, text)
	for _, want := range []string{`aria-label="Risk &lt;1&gt;: falls by &#34;half&#34;"`, "<title>Risk &lt;1&gt;</title>",
		"stroke:currentColor", "stroke:var(--curve-1)", "stroke:var(--quiet)", `viewBox="0 0 283.46 226.77"`,
		">part</text>"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
	for _, bad := range []string{"font-family", "#", "http", "<?xml", "NaN"} {
		if strings.Contains(strings.ReplaceAll(text, "&#34;", ""), bad) {
			t.Errorf("%s in it", bad)
		}
	}
}

// A file is well-formed XML, too, with each shape, and with charts and titles side by side.
func TestSave(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.svg")
	c := New("shapes", "x", "y")
	for s := Circle; s <= Cross; s++ {
		c.AddPoints("", Palette[s], s, 2, []Point{{float64(s), 1}})
	}
	musttest.NoError(t, Save(path, 10, 10, c, New("none & nothing", "", "")))
	text := string(musttest.Get(os.ReadFile(path))(t))
	wellFormed(t, text)
	for _, want := range []string{`viewBox="0 0 566.93 283.46"`, ">none &amp; nothing</text>", string(Palette[0]),
		string(Palette[4])} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}
