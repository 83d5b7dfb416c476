package learners

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/learn/model"
	"github.com/gramengine/gram/internal/report"
)

// libsvmFlags holds the kernel flags of svm-train.
type libsvmFlags struct {
	kernelNumber int // value of -t; -1 if -t isn't set
	gamma, coef0 float64
	degree       int
	hasGammaList bool // true if -grid contains a list for gamma
}

// kernelNames lists the kernels in the order of svm-train's -t.
var kernelNames = []string{"linear", "polynomial", "rbf", "sigmoid", model.Precomputed}

const libsvmTopic = "svm-train"

// LIBSVMTopic is the help topic on svm-train's flags.
var LIBSVMTopic = cli.Topic{Name: libsvmTopic, Summary: "one-letter flags of train, cv and grid, as in LIBSVM", Text: `
svm-train's one-letter flags have the same meaning in train, cv and grid; -wCLASS W is -weight
CLASS=W. Source and model follow the flags. -m limits the memory of the whole command instead of the
cache. The default kernel is diffusion:t=0.5 for text and counts, bhattacharyya for tf-idf vectors,
and rbf:embed=standard for other vectors. With -t 4 the source is a Gram matrix, in lines
label 0:i 1:K(i,1) 2:K(i,2) ..., or .npy with -labels; predict reads such rows of test documents.
With -s, -t, -g, -d, -r, -n or -p, train selects no settings automatically.`,
	Declare: func(f *cli.Flags) { (&trainingFlags{f: f}).declareLIBSVM(f) }}

func (m *trainingFlags) declareLIBSVM(f *cli.Flags) {
	f.StartGroup("As in svm-train", libsvmTopic)
	m.kernelNumber = -1
	f.Var(&intFlag{set: func(n int) { m.learnerType = string(model.Types[n]) }, n: len(model.Types)}, "s",
		"SVM type `NUMBER`: 0 c_svc, 1 nu_svc, 2 one_class, 3 epsilon_svr, 4 nu_svr")
	f.Var(&intFlag{set: func(n int) { m.kernelNumber = n }, n: len(kernelNames)}, "t",
		"kernel `NUMBER`: 0 linear, 1 polynomial, 2 rbf, 3 sigmoid (on raw values, possibly negative), "+
			"4 precomputed (each document is a row of kernel values)")
	f.Float64Var(&m.gamma, "g", 0, "`GAMMA` of kernels -t 1, 2 and 3; without -t, implies -t 2 (default: 1/columns)")
	f.IntVar(&m.degree, "d", 3, "`DEGREE` of kernel -t 1")
	f.Float64Var(&m.coef0, "r", 0, "constant `COEF0` in kernels -t 1 and 3")
	m.declareParameters("tolerance", "shrinking")
	for _, p := range parameterFlags {
		if p.letter != "" {
			m.declareParameter(p.letter, p.name, p.owner, fmt.Sprintf("`%s`: same as -%s", p.value, p.name))
		}
	}
	f.RewriteArgs = m.rewriteArgs
}

// intFlag is a flag that takes an integer in [0, n).
type intFlag struct {
	set  func(int)
	n    int
	text string
}

func (c *intFlag) String() string { return c.text }

func (c *intFlag) Set(v string) error {
	n, err := strconv.Atoi(v)
	if err != nil || n < 0 || n >= c.n {
		var all []string
		for i := range c.n - 1 {
			all = append(all, strconv.Itoa(i))
		}
		return fmt.Errorf("must be %s or %d", report.Join(all), c.n-1)
	}
	c.text = v
	c.set(n)
	return nil
}

func (m *trainingFlags) checkLIBSVM() error {
	if m.kernelNumber < 0 && (m.f.IsSet("g") || m.hasGammaList) && len(m.Specs) == 0 {
		m.kernelNumber = 2
	}
	for _, letter := range []string{"g", "d", "r"} {
		if m.f.IsSet(letter) && m.kernelNumber < 0 {
			return cli.Usagef(
				"-%s requires -t; with -kernel, set the parameter after a colon, as in -kernel rbf:gamma=0.5",
				letter,
			)
		}
	}
	if m.isPrecomputed() {
		m.Signed = true
		return m.checkPrecomputed()
	}
	m.Signed = m.Signed || m.kernelNumber >= 0
	return nil
}

// libsvmKernel returns the specification of the kernel that -t selects. c may be nil.
func (m *trainingFlags) libsvmKernel(c *corpus.Corpus) string {
	if m.isPrecomputed() {
		return model.Precomputed
	}
	var parameters []string
	number := func(key string, v float64) { parameters = append(parameters, key+"="+report.FormatFloat(v)) }
	if m.kernelNumber > 0 {
		if m.gamma > 0 {
			number("gamma", m.gamma)
		} else if c != nil && (c.Vocabulary == nil || c.Tokenizer.HasValues()) {
			number("gamma", 1/float64(max(c.Documents.Cols, 1)))
		}
	}
	if m.kernelNumber == 1 {
		number("degree", float64(m.degree))
	}
	if m.kernelNumber == 1 || m.kernelNumber == 3 {
		number("r", m.coef0)
	}
	if parameters == nil {
		return kernelNames[m.kernelNumber]
	}
	return kernelNames[m.kernelNumber] + ":" + strings.Join(parameters, ",")
}

// rewriteArgs converts svm-train's flags that package flag can't parse: -wCLASS WEIGHT, and -h,
// which means help unless 0 or 1 follows.
func (m *trainingFlags) rewriteArgs(args []string) ([]string, error) {
	var out []string
	for i := 0; i < len(args); i++ {
		arg := args[i]
		name := strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-")
		if name == arg || name == "" {
			out = append(out, arg)
			continue
		}
		name, _, assigned := strings.Cut(name, "=")
		class, isWeight := strings.CutPrefix(name, "w")
		known := m.f.Lookup(name) != nil
		switch next := slices.Concat(args[i+1:], []string{""})[0]; {
		case name == "h" && !assigned && next != "0" && next != "1":
			return []string{"-help"}, nil
		case known && (assigned || m.f.IsBool(name)):
			out = append(out, arg)
		case known:
			out = append(out, args[i:min(i+2, len(args))]...)
			i++
		case isWeight && class != "" && assigned:
			out = append(out, "-weight", strings.TrimLeft(arg, "-")[1:])
		case isWeight && class != "":
			if i++; i == len(args) {
				return nil, cli.Usagef("%s requires a weight, as in -wCLASS WEIGHT", arg)
			}
			out = append(out, "-weight", class+"="+next)
		default:
			out = append(out, arg)
		}
	}
	return out, nil
}
