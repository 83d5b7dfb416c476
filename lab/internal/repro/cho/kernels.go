package cho

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gramengine/gram/internal/report"
)

// row is a table row. If it has several kernels, only the kernel with the smallest validation error
// is tested.
type row struct {
	family string
	curve  string    // curve in the family's chart, such as "degree 0"; empty for none
	x      float64   // x coordinate on the curve: number of layers or factors, degree, or multiple of the mean norm
	label  string    // name in the table
	specs  []string  // kernel specifications without embedding
	scales []float64 // parameter value of each spec; nil if there is only one spec
}

// Kernel families, in the order of the tables.
const (
	familyPlain    = "plain"    // linear, Gaussian
	familyComposed = "composed" // layers of the same degree
	familyMixed    = "mixed"    // one layer of degree 0 or 2, then layers of degree 1
	familySquare   = "square"   // layers of degree 2 without normalisation
	familyProduct  = "product"  // powers of a kernel
	familyFactors  = "factors"  // products of a kernel and a power of the degree-0 kernel
	familyAverage  = "average"  // sums of kernels
	familyDegree   = "degree"   // fractional degrees
	familyBias     = "bias"     // biases (moved thresholds)
	familySmooth   = "smooth"   // smoothed thresholds
)

var families = []string{familyPlain, familyComposed, familyMixed, familySquare, familyProduct, familyFactors,
	familyAverage, familyDegree, familyBias, familySmooth}

// These are the names of rows with several biases or σ, of which validation selects one.
const bestBias, bestSigma = "degree 0, best bias", "degree 0, best σ"

var axisTitles = map[string]string{
	familyComposed: "layers", familyMixed: "layers, of degree 1 from the second on", familySquare: "layers",
	familyProduct: "factors",
	familyFactors: "factors, of degree 0 from the second on", familyDegree: "degree", familyBias: "bias / mean norm",
	familySmooth: "σ / mean norm",
}

// kernelRows returns the table rows for a set. norm and squared are the mean norm and the mean
// squared norm of the embedded training documents.
func (p *settings) kernelRows(norm, squared float64) []row {
	var rows []row
	for _, family := range p.Kernels {
		add := func(curve string, x float64, shown, spec string) {
			rows = append(rows, row{family: family, curve: curve, x: x, label: shown, specs: []string{spec}})
		}
		switch family {
		case familyPlain:
			add("", 0, "linear", "linear")
			gaussian := row{family: family, label: "Gaussian", scales: p.Gammas}
			for _, g := range p.Gammas {
				gaussian.specs = append(gaussian.specs, fmt.Sprintf("rbf:gamma=%v", g/squared))
			}
			rows = append(rows, gaussian)
		case familyComposed:
			for _, n := range p.Degrees {
				for l := 1; l <= p.MaxLayers; l++ {
					shown := fmt.Sprintf("degree %s, %s", n, report.FormatCountOf(l, "layer", "layers"))
					spec := fmt.Sprintf("arccos:n=%s,layers=%d", n, l)
					if n == "2" && l > 1 { // k(x,x) would be |x|^(2·2^l), which is 10^60 for a digit and six layers
						shown, spec = shown+", normalised", "normalise("+spec+")"
					}
					add("degree "+n, float64(l), shown, spec)
				}
			}
		case familyMixed: // degree 1 in all layers is in the family composed
			for _, n := range p.Degrees {
				for l := 2; l <= p.MaxLayers && n != "1"; l++ {
					add("degree "+n, float64(l), fmt.Sprintf("degree %s, then 1, %d layers", n, l),
						fmt.Sprintf("compose(arccos:n=%s,arccos:n=1):layers=%d", n, l))
				}
			}
		case familySquare:
			for l := 1; l <= p.MaxLayers && slices.Contains(p.Degrees, "2") && squareFits(norm, l); l++ {
				add("degree 2", float64(l), fmt.Sprintf("degree 2, %s, as it is", report.FormatCountOf(l, "layer", "layers")),
					fmt.Sprintf("arccos:n=2,layers=%d", l))
			}
		case familyProduct, familyFactors: // starts at 2 factors; powers of degree 0 are in the family product
			for _, n := range p.Degrees {
				by := n
				if family == familyFactors {
					by = "0"
				}
				for f := 2; f <= p.MaxFactors && (family == familyProduct || n != "0"); f++ {
					shown := fmt.Sprintf("degree %s, %d factors", n, f)
					if family == familyFactors {
						shown = fmt.Sprintf("degree %s, times degree 0, %d factors", n, f)
					}
					add("degree "+n, float64(f), shown,
						"product(arccos:n="+n+strings.Repeat(",arccos:n="+by, f-1)+")")
				}
			}
		case familyAverage:
			rows = append(rows, p.averageRows()...)
		case familyDegree:
			for _, n := range append([]float64{-0.25, 0}, p.Fractions...) {
				add("fractional", n, fmt.Sprintf("degree %v", n), fmt.Sprintf("arccos:n=%v", n))
			}
		case familyBias, familySmooth:
			key, sign, scales, best := "bias", "bias ", p.Biases, row{family: family, label: bestBias}
			if family == familySmooth {
				key, sign, scales, best.label = "sigma", "σ = ", p.Sigmas, bestSigma
			}
			best.scales = scales
			for _, v := range scales {
				spec := fmt.Sprintf("arccos:n=0,%s=%v", key, v*norm)
				add(family, v, fmt.Sprintf("degree 0, %s%v", sign, v), spec)
				best.specs = append(best.specs, spec)
			}
			rows = append(rows, best)
		}
	}
	return rows
}

// squareFits reports whether float32 can hold k(x,x) = 3^(2^l-1) |x|^(2·2^l). l is the number of
// layers of degree 2, and |x| is 1.5 times the mean norm of the documents.
func squareFits(norm float64, layers int) bool {
	power := math.Exp2(float64(layers))
	return (power-1)*math.Log(3)+2*power*math.Log(1.5*norm) < math.Log(math.MaxFloat32)
}

// averageRows returns the rows for sums of kernels over degrees, layers and factors. Kernels are
// normalised to k(x,x) = 1 and have equal weights.
func (p *settings) averageRows() (rows []row) {
	add := func(shown string, parts []string) {
		if len(parts) > 1 {
			for i, part := range parts {
				parts[i] = "1*normalise(" + part + ")"
			}
			rows = append(rows, row{family: familyAverage, label: shown, specs: []string{strings.Join(parts, "+")}})
		}
	}
	var degrees, powers []string
	for _, n := range p.Degrees {
		degrees = append(degrees, "arccos:n="+n)
	}
	add("average of degrees "+strings.Join(p.Degrees, ", "), degrees)
	for _, n := range p.Degrees {
		var layers []string
		for l := 1; l <= p.MaxLayers; l++ {
			layers = append(layers, fmt.Sprintf("arccos:n=%s,layers=%d", n, l))
		}
		add(fmt.Sprintf("average of degree %s, 1 to %d layers", n, p.MaxLayers), layers)
	}
	for f := 1; f <= p.MaxFactors && p.Degrees.Has("0"); f++ {
		powers = append(powers, fmt.Sprintf("power(arccos:n=0):p=%d", f))
	}
	add(fmt.Sprintf("average of degree 0, 1 to %d factors", p.MaxFactors), powers)
	return rows
}

// curveFamilies returns the families whose curves contain the row. A composed kernel with one layer
// is also the first point of the curves of mixed kernels and products.
func (r *row) curveFamilies() []string {
	switch {
	case r.curve == "":
		return nil
	case r.family == familyComposed && r.x == 1:
		return []string{familyComposed, familyMixed, familyProduct, familyFactors}
	}
	return []string{r.family}
}
