package model

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// keywords start the lines of LIBSVM's header. Source: svm.cpp of LIBSVM 3.37, svm_save_model.
var keywords = []string{
	"svm_type", "kernel_type", "degree", "gamma", "coef0", "nr_class", "total_sv", "rho", "label", "probA", "probB",
	"prob_density_marks", "nr_sv", "SV",
}

// IsLIBSVM reports whether a file that starts with begin is in LIBSVM's format.
func IsLIBSVM(begin []byte) bool {
	words := bytes.Fields(begin)
	return len(words) > 0 && slices.Contains(keywords, string(words[0]))
}

// SyntaxError describes the first invalid line of a file in LIBSVM's format.
type SyntaxError struct {
	File     string // name of the file
	Line     int64  // line number, from 1
	Found    string
	Expected string
}

// Error returns "model: FILE:LINE: found FOUND, expected EXPECTED".
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("model: %s:%d: found %s, expected %s", e.File, e.Line, e.Found, e.Expected)
}

type libsvmKernel struct {
	typ          string // linear, polynomial, rbf, sigmoid, precomputed
	degree       int
	gamma, coef0 float64
}

var kernelKeys = map[string][]string{
	"linear": nil, "polynomial": {"degree", "gamma", "coef0"}, "rbf": {"gamma"}, "sigmoid": {"gamma", "coef0"},
	Precomputed: nil,
}

var kernelNames = []string{"linear", "polynomial", "rbf", "sigmoid", Precomputed}

// parseKernel parses the specification of a kernel that LIBSVM supports, such as
// polynomial:gamma=0.5,r=1,degree=2,embed=tf-l2. It ignores the embedding, because LIBSVM's vectors
// are embedded already.
func parseKernel(spec string) (libsvmKernel, error) {
	typ, list, _ := strings.Cut(strings.TrimSpace(spec), ":")
	k := libsvmKernel{typ: strings.TrimSpace(typ), degree: 3}
	known, ok := kernelKeys[k.typ]
	if !ok {
		return k, fmt.Errorf("LIBSVM does not support kernel %s; use %s, or write a precomputed kernel", spec,
			strings.Join(kernelNames[:len(kernelNames)-1], ", "))
	}
	gamma := false
	for pair := range strings.SplitSeq(list, ",") {
		key, value, _ := strings.Cut(pair, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		if key == "r" {
			key = "coef0"
		}
		if key == "embed" || key == "" && list == "" {
			continue
		}
		v, err := strconv.ParseFloat(value, 64)
		if value == "pi" { // kernel specifications allow pi as a number
			v, err = math.Pi, nil
		}
		switch {
		case !slices.Contains(known, key):
			return k, fmt.Errorf("kernel %s: LIBSVM does not support the parameter %q", spec, key)
		case key == "degree" && (err != nil || v != math.Trunc(v) || !(v >= 0 && v <= math.MaxInt32)):
			return k, fmt.Errorf("kernel %s: degree must be an integer from 0 to %d, got %q", spec, math.MaxInt32, value)
		case err != nil || !isFinite(v):
			return k, fmt.Errorf("kernel %s: %s must be a finite number, got %q", spec, key, value)
		case key == "degree":
			k.degree = int(v)
		case key == "gamma":
			k.gamma, gamma = v, true
		default:
			k.coef0 = v
		}
	}
	if !gamma && slices.Contains(known, "gamma") {
		return k, fmt.Errorf("kernel %s: gamma is missing", spec)
	}
	return k, nil
}

// String returns the specification for package kernel, without an embedding.
func (k libsvmKernel) String() string {
	gamma, r := formatFloat(k.gamma), formatFloat(k.coef0)
	switch k.typ {
	case "polynomial":
		return fmt.Sprintf("polynomial:gamma=%s,r=%s,degree=%d", gamma, r, k.degree)
	case "rbf":
		return "rbf:gamma=" + gamma
	case "sigmoid":
		return "sigmoid:gamma=" + gamma + ",r=" + r
	}
	return k.typ
}

func formatFloat(v float64) string {
	if v == math.Pi {
		return "pi"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// LIBSVMLabels returns LIBSVM's integer label for each class: the class names if all are integers,
// otherwise 1, 2, … in class order. If all names are numbers, they must be different 32-bit
// integers, because LIBSVM's data files contain the same labels.
func LIBSVMLabels(classes []string) ([]int32, error) {
	labels := make([]int32, len(classes))
	all := true
	var bad error
	seen := map[int32]string{}
	for i, name := range classes {
		v, err := strconv.ParseFloat(name, 64)
		if err != nil || !isFinite(v) {
			all = false
			break
		}
		if v != math.Trunc(v) || math.Abs(v) > math.MaxInt32 {
			bad = cmp.Or(bad, fmt.Errorf("class %q is not a 32-bit integer, as required for LIBSVM labels", name))
			continue
		}
		labels[i] = int32(v)
		if other, twice := seen[labels[i]]; twice {
			bad = cmp.Or(bad, fmt.Errorf("classes %q and %q are the same number", other, name))
		}
		seen[labels[i]] = name
	}
	if all {
		return labels, bad
	}
	for i := range labels {
		labels[i] = int32(i + 1)
	}
	return labels, nil
}
