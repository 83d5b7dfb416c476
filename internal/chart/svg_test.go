package chart

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"gonum.org/v1/plot/plotter"

	"github.com/gramengine/gram/internal/musttest"
)

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
