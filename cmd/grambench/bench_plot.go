package main

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/cmd/grambench/internal/matrixio"
)

// mapMadds is what a value of the diffusion map counts for where it stands in a roofline, each addition, product or multiply-add as one: 10 for
// arccos² by a polynomial, 1 for the division by -t, 10 for the exponential; mapValueBytes is read and written for it.
const (
	mapMadds      = 21
	mapValueBytes = 8
)

// A ceiling is what no computation can exceed: rate multiply-adds per second or, where slope is set, that many bytes per second.
type ceiling struct {
	label string
	rate  float64
	slope bool
	color color.Color
}

// at is the height of the ceiling above an arithmetic intensity, in multiply-adds per second.
func (c ceiling) at(intensity float64) float64 {
	if c.slope {
		return c.rate * intensity
	}
	return c.rate
}

// A rooflinePoint is a stage or a kernel.
type rooflinePoint struct {
	label     string
	intensity float64 // multiply-adds per byte
	rate      float64 // multiply-adds per second
	color     color.Color
	shape     draw.GlyphDrawer
}

// colors of the instruction sets, and of what holds for all of them.
var (
	isaColors = map[string]color.Color{
		string(asm.Generic): color.RGBA{0x1f, 0x77, 0xb4, 0xff}, string(asm.AVX2): color.RGBA{0xc4, 0x3c, 0x1a, 0xff}, string(asm.AVX512): color.RGBA{0x2c, 0x8a, 0x3c, 0xff},
	}
	gray = color.Gray{0x60}
)

// ceilings are the most that was measured in any round with the first number of workers.
func (r *pairsReport) ceilings() []ceiling {
	m := r.Memory[0]
	var most bandwidth
	for _, b := range m.rounds {
		most = bandwidth{read: max(most.read, b.read), l2: max(most.l2, b.l2), l1: max(most.l1, b.l1)}
	}
	list := []ceiling{
		{"L1 " + formatRate(most.l1) + "B/s", most.l1, true, gray},
		{"L2 " + formatRate(most.l2) + "B/s", most.l2, true, gray},
		{"memory " + formatRate(most.read) + "B/s", most.read, true, gray},
	}
	peaks := map[string]float64{}
	var isas []string
	for _, row := range r.Rows {
		if row.Workers != m.Workers || row.table == nil {
			continue
		}
		if peaks[row.ISA] == 0 {
			isas = append(isas, row.ISA)
		}
		for _, s := range row.rounds {
			peaks[row.ISA] = max(peaks[row.ISA], s.peak)
		}
	}
	for _, isa := range isas {
		list = append(list, ceiling{isa + " peak " + formatRate(peaks[isa]), peaks[isa], false, isaColors[isa]})
	}
	return list
}

// points are the medians with the first number of workers.
func (r *pairsReport) points() []rooflinePoint {
	var list []rooflinePoint
	seen := map[string]bool{}
	for _, row := range r.Rows {
		if row.Workers != r.Memory[0].Workers {
			continue
		}
		of := func(name string, intensity, rate float64, shape draw.GlyphDrawer) {
			if intensity > 0 && rate > 0 {
				list = append(list, rooflinePoint{row.ISA + " " + name, intensity, rate, isaColors[row.ISA], shape})
			}
		}
		if !seen[row.ISA] {
			seen[row.ISA] = true
			of("head stage", float64(row.Panel)/headValueBytes, row.HeadPerS, draw.BoxGlyph{})
		}
		of(row.Kernel, over(float64(row.HeadMadds+row.TailMadds), float64(row.Bytes)), row.MaddsPerS, draw.CircleGlyph{})
		if row.diffusion {
			of("map of "+row.Kernel, float64(mapMadds)/mapValueBytes, mapMadds*row.MapValuesPerS, draw.PyramidGlyph{})
		}
	}
	return list
}

// writeRoofline draws the report into a PNG file, through a temporary name.
func writeRoofline(path string, r *pairsReport) error {
	p := plot.New()
	p.Title.Text = fmt.Sprintf("%s\n%s, %s, %s; lines: the most of %s, points: medians", r.Corpus, orUnknown(r.CPU), r.Go, counted(r.Memory[0].Workers, "worker", "workers"),
		counted(r.Rounds, "round", "rounds"))
	p.Title.Padding = 8
	p.X.Label.Text, p.Y.Label.Text = "arithmetic intensity (multiply-adds per byte)", "multiply-adds per second"
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Scale, axis.Tick.Marker = plot.LogScale{}, plot.TickerFunc(decades)
		axis.Label.TextStyle.Font.Size, axis.Tick.Label.Font.Size, axis.Label.Padding = 12, 11, 6
		axis.Label.TextStyle.Font.Variant, axis.Tick.Label.Font.Variant = "Sans", "Sans"
	}
	p.Title.TextStyle.Font.Size, p.Title.TextStyle.Font.Variant = 12, "Sans"
	p.Add(&roofline{ceilings: r.ceilings(), points: r.points()})
	image, err := p.WriterTo(27*vg.Centimeter, 19*vg.Centimeter, "png")
	if err != nil {
		return fmt.Errorf("drawing %s: %w", path, err)
	}
	return matrixio.Save(path, image)
}

// decades marks powers of ten with a label, and what lies between them without.
func decades(least, most float64) []plot.Tick {
	var ticks []plot.Tick
	for e := math.Floor(math.Log10(least)); e <= math.Log10(most); e++ {
		for d := 1; d < 10; d++ {
			v := float64(d) * math.Pow(10, e)
			if v < least || v > most {
				continue
			}
			label := ""
			if d == 1 {
				label = formatRate(v)
			}
			ticks = append(ticks, plot.Tick{Value: v, Label: label})
		}
	}
	return ticks
}
