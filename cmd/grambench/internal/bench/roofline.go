package bench

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/cmd/grambench/internal/chart"
	"github.com/gramengine/gram/cmd/grambench/internal/report"
)

// mapMadds is what a value of the diffusion map counts for where it stands in a roofline, each
// addition, product or multiply-add as one: 10 for arccos² by a polynomial, 1 for the division by
// -t, 10 for the exponential; mapValueBytes is read and written for it.
const (
	mapMadds      = 21
	mapValueBytes = 8
)

// A ceiling is what no computation can exceed: rate multiply-adds per second or, where slope is
// set, that many bytes per second.
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

// isaColors are those of the instruction sets; what is of the machine is gray.
var isaColors = map[string]color.Color{
	string(asm.Generic): chart.Colors[0], string(asm.AVX2): chart.Colors[1], string(asm.AVX512): chart.Colors[2],
}

// ofFirst returns the rows of the processor with the first number of workers, by instruction set in
// the order of the report.
func (r *pairsReport) ofFirst() (isas []string, rows map[string][]*pairsRow) {
	rows = map[string][]*pairsRow{}
	for _, row := range r.Rows {
		if row.first == row && row.table != nil {
			if rows[row.ISA] == nil {
				isas = append(isas, row.ISA)
			}
			rows[row.ISA] = append(rows[row.ISA], row)
		}
	}
	return isas, rows
}

// draw draws the roofline: ceilings are the most that was measured in any round, points medians.
func (r *pairsReport) draw(path string) error {
	_, most := ends(r.Memory[0].rounds)
	var roof roofline
	for _, m := range []struct {
		name string
		rate float64
	}{{"L1", most.L1}, {"L2", most.L2}, {"memory", most.Read}} {
		label := m.name + " " + report.Rate(m.rate) + "B/s"
		roof.ceilings = append(roof.ceilings, ceiling{label, m.rate, true, chart.Gray})
	}
	isas, rows := r.ofFirst()
	for _, isa := range isas {
		peak, of := 0.0, isaColors[isa]
		add := func(name string, intensity, rate float64, shape draw.GlyphDrawer) {
			if intensity > 0 && rate > 0 {
				roof.points = append(roof.points, rooflinePoint{isa + " " + name, intensity, rate, of, shape})
			}
		}
		head := rows[isa][0]
		add("head stage", float64(head.Panel)/headValueBytes, head.HeadPerS, draw.BoxGlyph{})
		for _, row := range rows[isa] {
			peak = max(peak, row.PeakPerS)
			add(row.Kernel, report.Ratio(float64(row.madds()), float64(row.Bytes)), row.MaddsPerS, draw.CircleGlyph{})
			if row.family == "diffusion" {
				add("map of "+row.Kernel, float64(mapMadds)/mapValueBytes, mapMadds*row.MapValuesPerS,
					draw.PyramidGlyph{})
			}
		}
		roof.ceilings = append(roof.ceilings, ceiling{isa + " peak " + report.Rate(peak), peak, false, of})
	}
	title := fmt.Sprintf("%s\n%s, %s, %s; lines: the most of %s, points: medians", r.Corpus, report.Known(r.CPU), r.Go,
		report.Counted(r.Memory[0].Workers, "worker", "workers"), report.Counted(r.Rounds, "round", "rounds"))
	p := chart.New(title, "arithmetic intensity (multiply-adds per byte)", "multiply-adds per second")
	chart.Logarithmic(report.Rate, &p.X, &p.Y)
	p.Add(&roof)
	return chart.Save(path, 27, 19, p)
}

// roofline draws ceilings as lines and points below them, each with its label next to it. It is a
// plot.Plotter and a plot.DataRanger.
type roofline struct {
	ceilings []ceiling
	points   []rooflinePoint
}

// DataRange leaves room around the points for their labels, and shows where the slopes meet the
// highest peak.
func (r *roofline) DataRange() (xmin, xmax, ymin, ymax float64) {
	peak, read, lowest := 0.0, math.Inf(1), math.Inf(1)
	for _, c := range r.ceilings {
		if c.slope {
			read = min(read, c.rate)
		} else {
			peak, lowest = max(peak, c.rate), min(lowest, c.rate)
		}
	}
	xmin, xmax, ymin = 0.1, 3*peak/read, lowest
	for _, p := range r.points {
		xmin, xmax, ymin = min(xmin, p.intensity/2), max(xmax, 4*p.intensity), min(ymin, p.rate)
	}
	return xmin, xmax, ymin / 2.5, 2.5 * peak
}

// Plot implements plot.Plotter.
func (r *roofline) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	style := p.X.Tick.Label
	style.Font.Size = 11
	style.XAlign, style.YAlign = draw.XLeft, draw.YBottom
	peak := 0.0
	for _, t := range r.ceilings {
		if !t.slope {
			peak = max(peak, t.rate)
		}
	}
	l := &labeller{area: c.Rectangle}
	for _, t := range r.ceilings {
		from, to := p.X.Min, p.X.Max
		if t.slope { // no computation is above the highest peak, and nothing is drawn below the picture
			from, to = max(from, p.Y.Min/t.rate), min(to, peak/t.rate)
		}
		a, b := vg.Point{X: x(from), Y: y(t.at(from))}, vg.Point{X: x(to), Y: y(t.at(to))}
		c.StrokeLine2(draw.LineStyle{Color: t.color, Width: 1.2}, a.X, a.Y, b.X, b.Y)
		l.lines = append(l.lines, [2]vg.Point{a, b})
		s := style
		s.Color = t.color
		width := s.Width(t.label)
		s.Rotation = math.Atan2(float64(b.Y-a.Y), float64(b.X-a.X))
		cos, sin := vg.Length(math.Cos(s.Rotation)), vg.Length(math.Sin(s.Rotation))
		// along a slope, from its lower end, a little above it
		at := a.Add(vg.Point{X: 8*cos - 4*sin, Y: 8*sin + 4*cos})
		if !t.slope {
			at.X = b.X - width - 8 // at the right end of a peak
		}
		c.FillText(s, at, t.label)
		for d := vg.Length(0); d <= width; d += 6 { // the room that turned letters take
			l.taken = append(l.taken, around(at.Add(vg.Point{X: d * cos, Y: d*sin + 5}), 8, 9))
		}
	}
	const radius = 4
	var places []vg.Point
	for i, q := range r.points {
		places = append(places, vg.Point{X: x(q.intensity), Y: y(q.rate)})
		c.DrawGlyph(draw.GlyphStyle{Color: q.color, Radius: radius, Shape: q.shape}, places[i])
		l.taken = append(l.taken, around(places[i], radius, radius))
	}
	for i, q := range r.points {
		s := style
		s.Color = q.color
		at := places[i]
		box := l.place(at, s.Width(q.label), s.Font.Size)
		nearest := vg.Point{X: min(max(at.X, box.Min.X), box.Max.X), Y: min(max(at.Y, box.Min.Y), box.Max.Y)}
		if d := nearest.Sub(at); math.Hypot(float64(d.X), float64(d.Y)) > 3*radius {
			c.StrokeLine2(draw.LineStyle{Color: q.color, Width: 0.5}, at.X, at.Y, nearest.X, nearest.Y)
		}
		c.FillText(s, box.Min, q.label)
	}
}

// labeller finds room for labels: beside each other, the points and the lines.
type labeller struct {
	area  vg.Rectangle
	taken []vg.Rectangle
	lines [][2]vg.Point
}

// place returns the box of a label of the given size near a point: the nearest one that nothing
// stands in or, where there is none, the one with the least.
func (l *labeller) place(at vg.Point, width, height vg.Length) vg.Rectangle {
	var best vg.Rectangle
	least := math.Inf(1)
	for ring := range 24 {
		distance := vg.Length(8 + 8*ring)
		for turn := range 16 {
			angle := float64(turn) * math.Pi / 8
			cos, sin := vg.Length(math.Cos(angle)), vg.Length(math.Sin(angle))
			by := vg.Point{X: cos * (distance + width/2), Y: sin * (distance + height/2)}
			box := around(at.Add(by), width/2, height/2)
			if bad := l.cost(box) + float64(ring)/10; bad < least {
				best, least = box, bad
			}
		}
	}
	l.taken = append(l.taken, best)
	return best
}

// cost counts what stands in a box: 100 for the edge of the picture, 10 for a label or a point, 3
// for a line.
func (l *labeller) cost(box vg.Rectangle) float64 {
	sum := 0.0
	if box.Min.X < l.area.Min.X+2 || box.Max.X > l.area.Max.X-2 || box.Min.Y < l.area.Min.Y+2 ||
		box.Max.Y > l.area.Max.Y-2 {
		sum += 100
	}
	for _, t := range l.taken {
		if overlaps(box, t, 2) {
			sum += 10
		}
	}
	for _, line := range l.lines {
		const steps = 400
		for i := range steps + 1 {
			q := line[0].Add(line[1].Sub(line[0]).Scale(vg.Length(i) / steps))
			if overlaps(box, vg.Rectangle{Min: q, Max: q}, 1) {
				sum += 3
				break
			}
		}
	}
	return sum
}

// around is the box of the given half width and half height around a point.
func around(p vg.Point, w, h vg.Length) vg.Rectangle {
	return vg.Rectangle{Min: vg.Point{X: p.X - w, Y: p.Y - h}, Max: vg.Point{X: p.X + w, Y: p.Y + h}}
}

// overlaps reports whether two boxes come closer than a margin.
func overlaps(a, b vg.Rectangle, margin vg.Length) bool {
	return a.Min.X < b.Max.X+margin && b.Min.X < a.Max.X+margin && a.Min.Y < b.Max.Y+margin && b.Min.Y < a.Max.Y+margin
}
