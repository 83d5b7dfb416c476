package repro

import "math"

// llPrinted are the figures that Lafferty and Lebanon, JMLR 6 (2005), print in Table 1 for 600 training documents, by class and features: linear, then diffusion.
// What else the paper prints isn't here, since it was not at hand to be copied from, and nothing is quoted from memory.
var llPrinted = map[string]map[string][2]float64{
	"course":  {"tf": {0.0362, 0.0213}, "tfidf": {0.0267, 0.0162}},
	"faculty": {"tf": {0.1308, 0.0931}, "tfidf": {0.1372, 0.0933}},
	"project": {"tf": {0.0702, 0.0449}, "tfidf": {0.0719, 0.0504}},
	"student": {"tf": {0.1173, 0.0818}, "tfidf": {0.1063, 0.0802}},
}

// llPrintedError is what the paper prints for a cell of Tables 1 to 4, NaN where it isn't known here.
func llPrintedError(table, class, features string, documents, kernel int) float64 {
	if have, ok := llPrinted[class][features]; ok && table == "1" && documents == 600 {
		switch kernel {
		case llLinear:
			return have[0]
		case llDiffusion:
			return have[1]
		}
	}
	return math.NaN()
}
