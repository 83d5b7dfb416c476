package repro

import (
	"fmt"
	"strings"
)

// choKernel is a row of a table: a kernel, or several of which the best on the validation set is taken, in a family.
type choKernel struct {
	family string
	curve  string    // of the family, such as "degree 0"
	x      float64   // place on the curve: layers, factors, the degree, a multiple of the mean norm
	shown  string    // what stands in the table
	specs  []string  // without embedding
	scales []float64 // of the specs, as they stand in the table; nil where there is one kernel
}

// The families of kernels, in the order of the tables.
const (
	choPlain    = "plain"    // linear, Gaussian
	choComposed = "composed" // layers of the same degree
	choMixed    = "mixed"    // a layer of degree 0 or 2, degree 1 above it
	choProduct  = "product"  // powers of a kernel
	choDegree   = "degree"   // fractional degrees
	choBias     = "bias"     // thresholds moved
	choSmooth   = "smooth"   // thresholds smoothed
)

var choFamilies = []string{choPlain, choComposed, choMixed, choProduct, choDegree, choBias, choSmooth}

// choFamilyTitles are the axes of the figures.
var choFamilyTitles = map[string]string{choComposed: "layers", choMixed: "layers, of degree 1 from the second on", choProduct: "factors", choDegree: "degree",
	choBias: "bias / mean norm", choSmooth: "σ / mean norm"}

// kernels lists the rows of a set whose embedded training documents have the given mean norm and mean squared norm: gamma, bias and σ are multiples of what
// these give, so that they mean the same for images and for texts.
func (p *choProtocol) kernels(norm, squared float64) []choKernel {
	var rows []choKernel
	add := func(family, curve string, x float64, shown, spec string) {
		rows = append(rows, choKernel{family: family, curve: curve, x: x, shown: shown, specs: []string{spec}})
	}
	for _, family := range p.families.Chosen {
		switch family {
		case choPlain:
			add(family, "", 0, "linear", "linear")
			gaussian := choKernel{family: family, shown: "Gaussian"}
			for _, g := range p.gammas {
				gaussian.specs = append(gaussian.specs, fmt.Sprintf("rbf:gamma=%v", g/squared))
				gaussian.scales = append(gaussian.scales, g)
			}
			rows = append(rows, gaussian)
		case choComposed:
			for _, n := range p.degrees.Chosen {
				for l := 1; l <= p.layers; l++ {
					shown, spec := fmt.Sprintf("degree %s, %s", n, counted(l, "layer")), fmt.Sprintf("arccos:n=%s,layers=%d", n, l)
					if n == "2" && l > 1 { // |x|^(2·2^l) would stand in k(x,x): 10^60 for a digit and six layers
						shown, spec = shown+", normalised", "normalise("+spec+")"
					}
					add(family, "degree "+n, float64(l), shown, spec)
				}
			}
		case choMixed: // degree 1 above degree 1 is composed of the same
			for _, n := range p.degrees.Chosen {
				for l := 2; l <= p.layers && n != "1"; l++ {
					add(family, "degree "+n, float64(l), fmt.Sprintf("degree %s, then 1, %s", n, counted(l, "layer")), fmt.Sprintf("compose(arccos:n=%s,arccos:n=1,layers=%d)", n, l))
				}
			}
		case choProduct: // one factor is one layer
			for _, n := range p.degrees.Chosen {
				for f := 2; f <= p.factors; f++ {
					factors := strings.TrimSuffix(strings.Repeat("arccos:n="+n+",", f), ",")
					add(family, "degree "+n, float64(f), fmt.Sprintf("degree %s, %s", n, counted(f, "factor")), "product("+factors+")")
				}
			}
		case choDegree:
			add(family, "fractional", 0, "degree 0", "arccos:n=0")
			for _, n := range p.fractions {
				add(family, "fractional", n, fmt.Sprintf("degree %v", n), fmt.Sprintf("arccos:n=%v", n))
			}
		case choBias:
			for _, b := range p.biases {
				add(family, "bias", b, fmt.Sprintf("degree 0, bias %v", b), fmt.Sprintf("arccos:n=0,bias=%v", b*norm))
			}
		case choSmooth:
			for _, s := range p.sigmas {
				add(family, "smooth", s, fmt.Sprintf("degree 0, σ = %v", s), fmt.Sprintf("arccos:n=0,sigma=%v", s*norm))
			}
		}
	}
	return rows
}

// curves says whether a family has a curve of two points; the single layer of the composed kernels is the first of mixed ones and products, too.
func (p *choProtocol) curves() bool {
	points := map[string]int{}
	for _, row := range p.kernels(1, 1) {
		if row.curve == "" {
			continue
		}
		points[row.family+row.curve]++
		if row.family == choComposed && row.x == 1 {
			points[choMixed+row.curve]++
			points[choProduct+row.curve]++
		}
	}
	for _, n := range points {
		if n > 1 {
			return true
		}
	}
	return false
}

// counted writes a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
