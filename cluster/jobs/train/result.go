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
	Scheme      solver.Scheme       `json:"scheme"`
	Classes     int                 `json:"classes"`
	Of          int                 `json:"of"` // number of decision functions in the classifier
	Machines    []numbered          `json:"machines"`
	Thresholds  *solver.Thresholds  `json:"thresholds,omitempty"`
	Temperature *solver.Temperature `json:"temperature,omitempty"`
	AtLeastOne  bool                `json:"at_least_one,omitempty"`
}

// numbered is a decision function with its index.
type numbered struct {
	Number  int                      `json:"number"`
	Machine *solver.DecisionFunction `json:"machine"`
}

// encode encodes the decision functions of c that aren't nil.
func encode(c *solver.Classifier) ([]byte, error) {
	r := result{Scheme: c.Scheme, Classes: c.Classes, Of: len(c.Functions), Thresholds: c.Thresholds,
		Temperature: c.Temperature, AtLeastOne: c.AtLeastOne}
	for i, m := range c.Functions {
		if m != nil {
			r.Machines = append(r.Machines, numbered{i, m})
		}
	}
	return json.Marshal(r)
}

// decode decodes the result of encode. The argument of is the classifier's number of decision
// functions. The functions are checked when results are merged.
func decode(b []byte, of int) (*solver.Classifier, error) {
	var r result
	if err := job.Decode(b, &r); err != nil {
		return nil, err
	}
	if r.Of != of {
		return nil, fmt.Errorf("the classifier has %d decision functions instead of %d", r.Of, of)
	}
	c := &solver.Classifier{Scheme: r.Scheme, Classes: r.Classes, Functions: make([]*solver.DecisionFunction, r.Of),
		Thresholds: r.Thresholds, Temperature: r.Temperature, AtLeastOne: r.AtLeastOne}
	for _, m := range r.Machines {
		switch {
		case m.Number < 0 || m.Number >= r.Of:
			return nil, fmt.Errorf("decision function must be between 0 and %d, got %d", r.Of-1, m.Number)
		case m.Machine == nil || c.Functions[m.Number] != nil:
			return nil, fmt.Errorf("decision function %d is repeated or empty", m.Number)
		}
		c.Functions[m.Number] = m.Machine
	}
	return c, nil
}
