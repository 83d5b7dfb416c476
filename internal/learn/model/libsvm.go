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

// keywords begin the lines of LIBSVM's header. Source: svm.cpp of LIBSVM 3.37, svm_save_model.
var keywords = []string{
	"svm_type", "kernel_type", "degree", "gamma", "coef0", "nr_class", "total_sv", "rho", "label", "probA", "probB",
	"prob_density_marks", "nr_sv", "SV",
}

// IsLIBSVM reports whether a file that begins so is in LIBSVM's form.
func IsLIBSVM(begin []byte) bool {
	words := bytes.Fields(begin)
	return len(words) > 0 && slices.Contains(keywords, string(words[0]))
}

// SyntaxError says where a file isn't a LIBSVM model.
type SyntaxError struct {
	File     string // as the user named it
	Line     int64  // counted from 1
	Found    string
	Expected string
}

// Error returns "model: FILE:LINE: found FOUND, expected EXPECTED".
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("model: %s:%d: found %s, expected %s", e.File, e.Line, e.Found, e.Expected)
}

// libsvmKernel is a kernel in LIBSVM's words.
type libsvmKernel struct {
	typ          string // linear, polynomial, rbf, sigmoid, precomputed
	degree       int
	gamma, coef0 float64
}

// kernelKeys lists LIBSVM's kernels with the header lines that each has.
var kernelKeys = map[string][]string{
	"linear": nil, "polynomial": {"degree", "gamma", "coef0"}, "rbf": {"gamma"}, "sigmoid": {"gamma", "coef0"},
	Precomputed: nil,
}

// kernelNames lists them in LIBSVM's order.
var kernelNames = []string{"linear", "polynomial", "rbf", "sigmoid", Precomputed}

// parseKernel finds a kernel that LIBSVM knows from its specification, such as
// polynomial:gamma=0.5,r=1,degree=2,embed=tf-l2. LIBSVM sees embedded vectors, so the embedding is
// ignored.
func parseKernel(spec string) (libsvmKernel, error) {
	typ, list, _ := strings.Cut(strings.TrimSpace(spec), ":")
	k := libsvmKernel{typ: strings.TrimSpace(typ), degree: 3}
	known, ok := kernelKeys[k.typ]
	if !ok {
		return k, fmt.Errorf("LIBSVM doesn't know kernel %s, expected one of %s; any kernel can be written as "+
			"precomputed, for the use with its matrix",
			spec, strings.Join(kernelNames[:len(kernelNames)-1], ", "))
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
		if value == "pi" { // as package engine writes it
			v, err = math.Pi, nil
		}
		switch {
		case !slices.Contains(known, key):
			return k, fmt.Errorf("kernel %s: LIBSVM's has no parameter %q", spec, key)
		case err != nil || !finite(v) || key == "degree" && (v != math.Trunc(v) || v < 0 || v > math.MaxInt32):
			return k, fmt.Errorf("kernel %s: %s is %q, expected a number that LIBSVM takes", spec, key, value)
		case key == "degree":
			k.degree = int(v)
		case key == "gamma":
			k.gamma, gamma = v, true
		default:
			k.coef0 = v
		}
	}
	if !gamma && slices.Contains(known, "gamma") {
		return k, fmt.Errorf("kernel %s: gamma isn't there", spec)
	}
	return k, nil
}

// String writes the kernel as package engine reads it, on raw values.
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

// formatFloat writes the fewest digits that give the same float64 back, as package engine does in
// specifications.
func formatFloat(v float64) string {
	if v == math.Pi {
		return "pi"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// Labels returns the number that stands for each class in LIBSVM's files, which know integers only:
// the name if all names are integers, otherwise 1, 2, … in the order of classes. If all names
// are numbers, they must be different 32-bit integers: files of documents have them as they are.
func Labels(classes []string) ([]int32, error) {
	labels := make([]int32, len(classes))
	all := true
	var bad error
	seen := map[int32]string{}
	for i, name := range classes {
		v, err := strconv.ParseFloat(name, 64)
		if err != nil || !finite(v) {
			all = false
			break
		}
		if v != math.Trunc(v) || math.Abs(v) > math.MaxInt32 {
			bad = cmp.Or(bad, fmt.Errorf("class %q: LIBSVM's labels are 32-bit integers", name))
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
