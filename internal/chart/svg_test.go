package chart

import (
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/plotter"

	"github.com/gramengine/gram/internal/musttest"
)

// In a page the legend is right of all lines, the y label isn't turned, and names of bars are turned if they are long.
func TestPagePlots(t *testing.T) {
	p := New("ROC", "x", "a y label")
	Curve(p, "the class", Colors[1], plotter.XYs{{X: 0, Y: 100}, {X: 100, Y: 100}}, false)
	text := musttest.Get(SVG(p, "", 16, 11))(t)
	most, at := 0.0, 0.0
	of := regexp.MustCompile(`M[0-9.]+,[0-9.]+L([0-9.]+),[0-9.]+" style="[^"]*curve-1`)
	for _, m := range of.FindAllStringSubmatch(text, -1) {
		x := musttest.Get(strconv.ParseFloat(m[1], 64))(t)
		if at = max(at, x); most == 0 || x < most {
			most = x // the curve; the other one is in the legend
		}
	}
	of = regexp.MustCompile(`<text x="([0-9.]+)"[^>]*>\s*(the class|a y label)<`)
	for _, m := range of.FindAllStringSubmatch(text, -1) {
		if x := musttest.Get(strconv.ParseFloat(m[1], 64))(t); m[2] == "the class" && !(x > most) {
			t.Errorf("the legend is at %v, lines end at %v", x, most)
		}
	}
	if !regexp.MustCompile(`the class<`).MatchString(text) || !(at > most) {
		t.Errorf("no legend right of %v: %v\n%s", most, at, text)
	}
	if strings.Contains(text, "rotate") {
		t.Errorf("turned text in\n%s", text)
	}
	for name, turned := range map[string]bool{"a": false, "a name that takes much room": true} {
		p := New("", "", "")
		Bars(p, []string{name, name, name, name}, []string{"", "b"}, func(int, int) float64 { return 1 })
		if got := strings.Contains(musttest.Get(SVG(p, "", 16, 11))(t), "rotate"); got != turned {
			t.Errorf("bars with %q: turned %v", name, got)
		}
	}
}

// A picture for a page is well-formed, takes the page's colours and font, fetches nothing, and says what is seen.
func TestSVG(t *testing.T) {
	p := New("Risk <1>", "part", "error")
	Curve(p, "", Colors[1], plotter.XYs{{X: 0, Y: 0}, {X: 100, Y: 1}}, true)
	Curve(p, "", Gray, plotter.XYs{{X: 0, Y: 1}, {X: 100, Y: 0}}, false)
	text := musttest.Get(SVG(p, `falls by "half"`, 10, 8))(t)
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{`aria-label="Risk &lt;1&gt;: falls by &#34;half&#34;"`, "<title>Risk &lt;1&gt;</title>",
		"stroke:currentColor", "stroke:var(--curve-1)", "stroke:var(--quiet)", `viewBox="0 0 283.46 226.77"`,
		">part</text>"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s", want)
		}
	}
	for _, bad := range []string{"font-family", "#", "http", "<?xml"} {
		if strings.Contains(strings.ReplaceAll(text, "&#34;", ""), bad) {
			t.Errorf("%s in it", bad)
		}
	}
}
