package learners

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gramengine/gram/engine/kernel"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/internal/source"
)

// gridLists is the value of the repeatable flag -grid: lists of numbers, embeddings, schemes,
// n-grams and other parameters of the learner.
type gridLists struct {
	numbers                     []kernel.ParamGrid
	embeddings, schemes, ngrams []string
	parameterLists              []learn.ParameterValues // other parameters of the learner
}

func (g *gridLists) String() string { return "" }
func (g *gridLists) Several()       {}

func (g *gridLists) Set(v string) error {
	name, values, _ := strings.Cut(v, "=")
	for list, known := range map[*[]string]string{&g.embeddings: "embed", &g.schemes: "scheme", &g.ngrams: "ngrams"} {
		if strings.TrimSpace(name) == known {
			return appendList(list, known, values)
		}
	}
	list, err := source.ParseValues(v)
	if name = strings.TrimSpace(name); err == nil || !learn.HasParameter(name) {
		return g.add(list, err)
	}
	if g.has(name) {
		return fmt.Errorf("%s occurs twice; put all values in one list", name)
	}
	words := learn.ParameterValues{Name: name}
	err = appendList(&words.Values, name, values)
	g.parameterLists = append(g.parameterLists, words)
	return err
}

// appendList splits values at commas, and appends the parts to list.
func appendList(list *[]string, name, values string) error {
	if *list != nil {
		return fmt.Errorf("%s occurs twice; put all values in one list", name)
	}
	for value := range strings.SplitSeq(values, ",") {
		value = strings.TrimSpace(value)
		switch {
		case value == "":
			return fmt.Errorf("%s has an empty value", name)
		case slices.Contains(*list, value):
			return fmt.Errorf("%s has the value %s twice", name, value)
		}
		*list = append(*list, value)
	}
	return nil
}

func (g *gridLists) add(list kernel.ParamGrid, err error) error {
	switch {
	case err != nil:
		return err
	case g.has(list.Name):
		return fmt.Errorf("%s occurs twice; put all values in one list", list.Name)
	}
	g.numbers = append(g.numbers, list)
	return nil
}

func (g *gridLists) has(name string) bool {
	return slices.ContainsFunc(g.numbers, func(other kernel.ParamGrid) bool { return other.Name == name }) ||
		slices.ContainsFunc(g.parameterLists, func(other learn.ParameterValues) bool { return other.Name == name })
}

func (g *gridLists) all() []learn.ParameterValues {
	lists := slices.Clone(g.parameterLists)
	for _, list := range g.numbers {
		w := learn.ParameterValues{Name: list.Name}
		for _, v := range list.Values {
			w.Values = append(w.Values, report.FormatFloat(v))
		}
		lists = append(lists, w)
	}
	for name, values := range map[string][]string{"embed": g.embeddings, "scheme": g.schemes, "ngrams": g.ngrams} {
		if values != nil {
			lists = append(lists, learn.ParameterValues{Name: name, Values: values})
		}
	}
	return lists
}

// log2Flag is the flag -log2c or -log2g of LIBSVM's grid.py.
type log2Flag struct {
	lists *gridLists
	name  string
}

func (l log2Flag) String() string { return "" }

func (l log2Flag) Set(v string) error { return l.lists.add(parseLog2List(l.name, v)) }

// parseLog2List parses BEGIN,END,STEP, a list of exponents of 2, as in -log2c and -log2g of
// grid.py.
func parseLog2List(name, s string) (kernel.ParamGrid, error) {
	var numbers []float64
	for part := range strings.SplitSeq(s, ",") {
		v, err := source.ParseNumber(part)
		if err != nil {
			return kernel.ParamGrid{}, err
		}
		numbers = append(numbers, v)
	}
	if len(numbers) != 3 {
		return kernel.ParamGrid{}, fmt.Errorf("%q is not of the form BEGIN,END,STEP, such as -5,15,2", s)
	}
	count := (numbers[1] - numbers[0]) / numbers[2]
	if !(count >= 0 && count < source.MaxValues) {
		return kernel.ParamGrid{}, fmt.Errorf("%q: steps must lead from %[2]v to %[3]v in at most %[4]d values", s,
			numbers[0], numbers[1], source.MaxValues)
	}
	list := kernel.ParamGrid{Name: name}
	for i := range int(count+1e-9) + 1 {
		list.Values = append(list.Values, math.Exp2(numbers[0]+float64(i)*numbers[2]))
	}
	return list, nil
}
