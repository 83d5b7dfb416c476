package cho

import (
	"fmt"
	"strings"

	"github.com/gramengine/gram/cmd/grambench/internal/report"
)

// row is a row of a table: a kernel, or several of which the best on the validation set is taken.
type row struct {
	family string
	curve  string    // of the family, such as "degree 0"; empty for none
	x      float64   // place on the curve: layers, factors, the degree, a multiple of the mean norm
	shown  string    // what stands in the table
	specs  []string  // without embedding
	scales []float64 // of the specs, as they stand in the table; nil where there is one kernel
}

// The families of kernels, in the order of the tables.
const (
	plain    = "plain"    // linear, Gaussian
	composed = "composed" // layers of the same degree
	mixed    = "mixed"    // a layer of degree 0 or 2, degree 1 above it
	product  = "product"  // powers of a kernel
	degree   = "degree"   // fractional degrees
	bias     = "bias"     // thresholds moved
	smooth   = "smooth"   // thresholds smoothed
)

var families = []string{plain, composed, mixed, product, degree, bias, smooth}

// axes are the axes of the figures.
var axes = map[string]string{
	composed: "layers", mixed: "layers, of degree 1 from the second on", product: "factors", degree: "degree",
	bias: "bias / mean norm", smooth: "σ / mean norm",
}

// kernels lists the rows of a set whose embedded training documents have the given mean norm and
// mean squared norm. Gammas, biases and σ are multiples of what these give, so that they mean the
// same for images and for texts.
func (p *protocol) kernels(norm, squared float64) []row {
	var rows []row
	for _, family := range p.families.Chosen {
		add := func(curve string, x float64, shown, spec string) {
			rows = append(rows, row{family: family, curve: curve, x: x, shown: shown, specs: []string{spec}})
		}
		switch family {
		case plain:
			add("", 0, "linear", "linear")
			gaussian := row{family: family, shown: "Gaussian", scales: p.gammas}
			for _, g := range p.gammas {
				gaussian.specs = append(gaussian.specs, fmt.Sprintf("rbf:gamma=%v", g/squared))
			}
			rows = append(rows, gaussian)
		case composed:
			for _, n := range p.degrees.Chosen {
				for l := 1; l <= p.layers; l++ {
					shown := fmt.Sprintf("degree %s, %s", n, report.Counted(l, "layer", "layers"))
					spec := fmt.Sprintf("arccos:n=%s,layers=%d", n, l)
					if n == "2" && l > 1 { // k(x,x) would be |x|^(2·2^l): 10^60 for a digit and six layers
						shown, spec = shown+", normalised", "normalise("+spec+")"
					}
					add("degree "+n, float64(l), shown, spec)
				}
			}
		case mixed: // degree 1 above degree 1 is composed of the same
			for _, n := range p.degrees.Chosen {
				for l := 2; l <= p.layers && n != "1"; l++ {
					add("degree "+n, float64(l), fmt.Sprintf("degree %s, then 1, %d layers", n, l),
						fmt.Sprintf("compose(arccos:n=%s,arccos:n=1,layers=%d)", n, l))
				}
			}
		case product: // one factor is one layer
			for _, n := range p.degrees.Chosen {
				for f := 2; f <= p.factors; f++ {
					factors := strings.Repeat(",arccos:n="+n, f)[1:]
					add("degree "+n, float64(f), fmt.Sprintf("degree %s, %d factors", n, f), "product("+factors+")")
				}
			}
		case degree:
			add("fractional", 0, "degree 0", "arccos:n=0")
			for _, n := range p.fractions {
				add("fractional", n, fmt.Sprintf("degree %v", n), fmt.Sprintf("arccos:n=%v", n))
			}
		case bias:
			for _, b := range p.biases {
				add("bias", b, fmt.Sprintf("degree 0, bias %v", b), fmt.Sprintf("arccos:n=0,bias=%v", b*norm))
			}
		case smooth:
			for _, s := range p.sigmas {
				add("smooth", s, fmt.Sprintf("degree 0, σ = %v", s), fmt.Sprintf("arccos:n=0,sigma=%v", s*norm))
			}
		}
	}
	return rows
}

// curveFamilies are the families with a curve through the row. The single layer of the composed
// kernels also begins the curves of mixed ones and products.
func (r *row) curveFamilies() []string {
	switch {
	case r.curve == "":
		return nil
	case r.family == composed && r.x == 1:
		return []string{composed, mixed, product}
	}
	return []string{r.family}
}

// curves says whether a family has a curve of two points.
func (p *protocol) curves() bool {
	points := map[[2]string]int{}
	for _, row := range p.kernels(1, 1) {
		for _, family := range row.curveFamilies() {
			at := [2]string{family, row.curve}
			if points[at]++; points[at] > 1 {
				return true
			}
		}
	}
	return false
}
