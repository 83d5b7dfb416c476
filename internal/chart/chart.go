// Package chart sets up plots in the house's way, and saves them as PNG files.
package chart

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"

	"github.com/gramengine/gram/internal/matrixio"
)

// Colors tell curves apart; more curves than these share them.
var Colors = []color.Color{
	color.RGBA{0x1f, 0x77, 0xb4, 0xff}, color.RGBA{0xc4, 0x3c, 0x1a, 0xff}, color.RGBA{0x2c, 0x8a, 0x3c, 0xff},
	color.RGBA{0x8c, 0x56, 0xb0, 0xff}, color.RGBA{0xd6, 0x8b, 0x00, 0xff}, color.RGBA{0x17, 0x9c, 0xa8, 0xff},
	color.RGBA{0x7f, 0x5a, 0x4b, 0xff}, color.RGBA{0x33, 0x33, 0x33, 0xff},
}

// Gray is for what isn't a curve; Red marks the best.
var (
	Gray = color.Gray{0x60}
	Red  = color.RGBA{0xd6, 0x27, 0x28, 0xff}
)

// New makes a plot with the titles of it and of its axes.
func New(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.Padding = 8
	p.Title.TextStyle.Font.Size, p.Title.TextStyle.Font.Variant = 12, "Sans"
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Label.TextStyle.Font.Size, axis.Tick.Label.Font.Size, axis.Label.Padding = 12, 11, 6
		axis.Label.TextStyle.Font.Variant, axis.Tick.Label.Font.Variant = "Sans", "Sans"
	}
	p.Legend.TextStyle.Font.Variant = "Sans"
	return p
}

// Logarithmic makes axes logarithmic, with a label, as write has it, at each power of ten.
func Logarithmic(write func(v float64) string, axes ...*plot.Axis) {
	for _, axis := range axes {
		axis.Scale = plot.LogScale{}
		axis.Tick.Marker = plot.TickerFunc(func(least, most float64) []plot.Tick {
			var ticks []plot.Tick
			for e := math.Floor(math.Log10(least)); e <= math.Log10(most); e++ {
				for d := 1; d < 10; d++ {
					tick := plot.Tick{Value: float64(d) * math.Pow(10, e)}
					if d == 1 {
						tick.Label = write(tick.Value)
					}
					if tick.Value >= least && tick.Value <= most {
						ticks = append(ticks, tick)
					}
				}
			}
			return ticks
		})
	}
}

// Curve draws points, joined by a line, with marks on them if asked; without a name it isn't in the
// legend.
func Curve(p *plot.Plot, name string, of color.Color, points plotter.XYs, marks bool) {
	line := &plotter.Line{XYs: points, LineStyle: draw.LineStyle{Color: of, Width: 1.2}}
	p.Add(line)
	if marks {
		glyph := draw.GlyphStyle{Color: of, Radius: 2.5, Shape: draw.CircleGlyph{}}
		p.Add(&plotter.Scatter{XYs: points, GlyphStyle: glyph})
	}
	if name != "" {
		p.Legend.Add(name, line)
	}
}

// Save draws plots side by side into a PNG file, each of a size in centimeters, through a temporary
// name.
func Save(path string, width, height float64, panels ...*plot.Plot) error {
	const mm = vg.Millimeter
	img := vgimg.New(vg.Length(width*float64(len(panels)))*vg.Centimeter, vg.Length(height)*vg.Centimeter)
	canvas := draw.New(img)
	canvas.SetColor(color.White)
	canvas.Fill(canvas.Rectangle.Path())
	tiles := draw.Tiles{
		Rows:      1,
		Cols:      len(panels),
		PadX:      10 * mm,
		PadTop:    4 * mm,
		PadBottom: 4 * mm,
		PadLeft:   4 * mm,
		PadRight:  6 * mm,
	}
	for i, c := range plot.Align([][]*plot.Plot{panels}, tiles, canvas)[0] {
		panels[i].Draw(c)
	}
	return matrixio.Save(path, vgimg.PngCanvas{Canvas: img})
}
