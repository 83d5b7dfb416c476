package train

import (
	"encoding/json"
	"fmt"

	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/solver"
)

// result is the result of a task: some decision functions of a classifier. JSON preserves float64
// values exactly.
type result struct {
	Scheme          solver.Scheme       `json:"scheme"`
	Classes         int                 `json:"classes"`
	NumFunctions    int                 `json:"of"` // number of decision functions in the classifier
	Functions       []indexedFunction   `json:"machines"`
	Thresholds      *solver.Thresholds  `json:"thresholds,omitempty"`
	Temperature     *solver.Temperature `json:"temperature,omitempty"`
	AtLeastOneLabel bool                `json:"at_least_one,omitempty"`
}

type indexedFunction struct {
	Index    int                      `json:"number"`
	Function *solver.DecisionFunction `json:"machine"`
}

// encodeFunctions encodes the decision functions of c that aren't nil.
func encodeFunctions(c *solver.Classifier) ([]byte, error) {
	r := result{Scheme: c.Scheme, Classes: c.Classes, NumFunctions: len(c.Functions), Thresholds: c.Thresholds,
		Temperature: c.Temperature, AtLeastOneLabel: c.AtLeastOneLabel}
	for i, m := range c.Functions {
		if m != nil {
			r.Functions = append(r.Functions, indexedFunction{i, m})
		}
	}
	return json.Marshal(r)
}

// decodeFunctions decodes the output of encodeFunctions. The classifier must have numFunctions
// decision functions, which are validated when results are merged.
func decodeFunctions(b []byte, numFunctions int) (*solver.Classifier, error) {
	var r result
	if err := job.Decode(b, &r); err != nil {
		return nil, err
	}
	if r.NumFunctions != numFunctions {
		return nil, fmt.Errorf("result must be for %[2]d decision functions, got %[1]d", r.NumFunctions, numFunctions)
	}
	c := &solver.Classifier{Scheme: r.Scheme, Classes: r.Classes,
		Functions:  make([]*solver.DecisionFunction, r.NumFunctions),
		Thresholds: r.Thresholds, Temperature: r.Temperature, AtLeastOneLabel: r.AtLeastOneLabel}
	for _, m := range r.Functions {
		switch {
		case m.Index < 0 || m.Index >= r.NumFunctions:
			return nil, fmt.Errorf("index of a decision function must be between 0 and %d, got %d", r.NumFunctions-1, m.Index)
		case m.Function == nil || c.Functions[m.Index] != nil:
			return nil, fmt.Errorf("decision function %d is repeated or missing", m.Index)
		}
		c.Functions[m.Index] = m.Function
	}
	return c, nil
}
