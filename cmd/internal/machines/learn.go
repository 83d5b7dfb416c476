package machines

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/internal/params"
	"github.com/gramengine/gram/internal/report"
)

// LearnersTopic is what help says of learners.
var LearnersTopic = cli.Topic{Name: "learners", Summary: "what -type names, other than support vector machines", Text: `
For train, cv and grid, -type also names learners other than support vector machines, with their
parameters after a colon: -type NAME:parameter=value,parameter=value, or each by -set
parameter=value. predict recognises their models. -grid takes lists of their parameters, and of C.

` + learn.Help()}

// learner is what -type names.
type learner struct {
	*learn.Learner
	trainer learn.Trainer
}

// parameter is the value of a flag that sets a parameter of the learner.
type parameter struct {
	m          *machine
	flag, name string
	text       string // the default, until it is given
}

// assigned is a parameter that a flag sets.
type assigned struct{ flag, name, text string }

func (p *parameter) String() string { return p.text }

// Set implements flag.Value.
func (p *parameter) Set(text string) error {
	p.text = text
	p.m.assign(p.flag, p.name, text)
	return nil
}

// assign sets a parameter when the learner is known.
func (m *machine) assign(flag, name, text string) {
	switch {
	case name == "kernel":
		m.Specs = append(m.Specs, text)
		return
	case name == "embed":
		m.Embedding = text
		return
	case name == "weight" && text == "balanced":
		name, text = "balanced", "true"
	case name == "shrinking":
		name = "keep_all"
		if at := strings.Index("01", text); at >= 0 && len(text) == 1 {
			text = "10"[at : at+1]
		}
	}
	m.assigned = append(m.assigned, assigned{flag, name, text})
}

// several is a parameter that may be set several times.
type several struct{ *parameter }

func (several) Several() {}

// declareParameter declares a flag for a parameter, whose default is that of a learner; "" for no default.
func (m *machine) declareParameter(flag, name, of, usage string) {
	p := &parameter{m: m, flag: flag, name: name}
	if of != "" {
		_, t, _ := learn.Parse(of)
		p.text = params.Default(t, name)
	}
	if name == "weight" {
		m.f.Var(several{p}, flag, usage)
		return
	}
	m.f.Var(p, flag, usage)
}

// set is the flag -set.
type set struct{ m *machine }

func (set) String() string { return "" }
func (set) Several()       {}

// Set implements flag.Value.
func (s set) Set(text string) error {
	name, value, ok := strings.Cut(text, "=")
	if !ok {
		return errors.New("expected NAME=VALUE, the name of a parameter")
	}
	s.m.assign("set", strings.TrimSpace(name), value)
	return nil
}

// setParameters sets the parameters that flags name.
func (m *machine) setParameters() error {
	t := m.learner.trainer
	all := m.assigned
	for _, q := range []struct {
		name string
		to   *string
	}{{"embed", &m.Embedding}, {"kernel", m.first()}} {
		switch {
		case q.name == "embed" && m.scale != "":
			all = append(all, assigned{"scale", q.name, *q.to})
		case *q.to != "":
			all = append(all, assigned{q.name, q.name, *q.to})
		case t.Given(q.name) && q.name == "kernel":
			m.Specs = []string{fmt.Sprint(params.Get(t, q.name))}
		case t.Given(q.name):
			*q.to = fmt.Sprint(params.Get(t, q.name))
		}
	}
	for _, a := range all {
		flag := a.flag
		if flag == "set" {
			flag += " " + a.name
		}
		if !params.Has(t, a.name) {
			return cli.Usagef("-%s does not apply to -type %s, which takes %s", flag, m.learner.Name,
				report.Join(params.Names(t)))
		}
		var wrong *params.ValueError
		if err := params.Set(t, a.name, a.text); errors.As(err, &wrong) {
			return cli.Usagef("-%s %s, expected %s", flag, a.text, wrong.Wanted)
		} else if err != nil {
			return cli.Usagef("-%s: %w", flag, err)
		}
	}
	return nil
}

// first returns the first kernel that is named.
func (m *machine) first() *string {
	if len(m.Specs) == 0 {
		return new(string)
	}
	return &m.Specs[0]
}

// numberOf returns a parameter of support vector machines as it was given, or its default.
func (m *machine) numberOf(name string) float64 {
	own := svm.Settings{}
	if m.learner.trainer.Given(name) {
		v, _ := params.Get(m.learner.trainer, name).(float64)
		return v
	}
	v, _ := strconv.ParseFloat(params.Default(own, name), 64)
	return v
}
