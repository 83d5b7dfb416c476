package learners

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/internal/params"
	"github.com/gramengine/gram/internal/report"
	"github.com/gramengine/gram/sparse"
)

// LearnersTopic returns the help topic on all registered learners.
func LearnersTopic() cli.Topic {
	return cli.Topic{Name: "learners", Summary: "learners for -type, in addition to support vector machines", Text: `
In train, cv and grid, -type can also be one of the following learners. Parameters follow a colon,
-type NAME:parameter=value,parameter=value, or are set by -set parameter=value. predict reads their
models, too. -grid accepts lists for their parameters and for C.

` + learn.Help()}
}

// learner is the learner that -type selects, with its parameters.
type learner struct {
	*learn.Learner
	trainer learn.Trainer
}

type parameterFlag struct {
	flags      *trainingFlags
	flag, name string
	text       string // value of the flag; initially the default
}

// assigned is a parameter that a flag or -type sets. origin is the flag as written by the user.
type assigned struct{ flag, name, text, origin string }

func (p *parameterFlag) String() string { return p.text }

func (p *parameterFlag) Set(text string) error {
	p.text = text
	p.flags.assign(p.flag, p.name, text, "-"+p.flag+" "+text)
	return nil
}

// assign records a parameter, which is set after -type is parsed.
func (m *trainingFlags) assign(flag, name, text, origin string) {
	if name == "weight" && text == "balanced" {
		name, text = "balanced", "true"
	}
	m.assigned = append(m.assigned, assigned{flag, name, text, origin})
}

type repeatableFlag struct{ *parameterFlag }

func (repeatableFlag) Several() {}

// parameterFlags lists the flags for SVM parameters. letter is the flag of svm-train, if any. owner
// is the learner that determines the default of the flag.
var parameterFlags = []struct{ name, letter, owner, value, usage string }{
	{"scheme", "", "", "SCHEME", "one-vs-one, one-vs-rest or labels (a classifier per label)"},
	{"c", "", "c_svc", "C", "regularization parameter; larger values fit the data more closely"},
	{"nu", "n", "nu_svc", "NU", "bound on the fraction of errors, for nu_svc, one_class, nu_svr"},
	{"epsilon", "p", "epsilon_svr", "WIDTH", "width of the epsilon-tube, for epsilon_svr"},
	{"weight", "", "", "CLASS=W", "multiply C by W for a class (repeatable); balanced = by class size"},
	{"probabilities", "b", "", "0|1", "calibrate probabilities by 5-fold cross-validation"},
	{"thresholds", "", "", "0|1", "tune label thresholds by cross-validation (default: 1 if C is chosen, else 0)"},
	{"tolerance", "e", "c_svc", "E", "stop when the KKT conditions are violated by at most E"},
	{"shrinking", "h", "c_svc", "0|1", "use the shrinking heuristics"},
	{"reject", "", "", "TARGET", "predict ? when unsure, to reach TARGET, such as error=2% or coverage=90%"},
}

func (m *trainingFlags) declareParameters(names ...string) {
	for _, p := range parameterFlags {
		if slices.Contains(names, p.name) {
			m.declareParameter(p.name, p.name, p.owner, fmt.Sprintf("`%s`: %s", p.value, p.usage))
		}
	}
}

// declareParameter declares a flag for a parameter. owner is the learner that determines the
// default of the flag; "" for no default.
func (m *trainingFlags) declareParameter(flag, name, owner, usage string) {
	p := &parameterFlag{flags: m, flag: flag, name: name}
	if owner != "" {
		_, t, _ := learn.Parse(owner)
		p.text = params.Default(t, name)
	}
	if name == "weight" {
		m.f.Var(repeatableFlag{p}, flag, usage)
		return
	}
	m.f.Var(p, flag, usage)
}

type assignmentFlag struct{ flags *trainingFlags }

func (assignmentFlag) String() string { return "" }
func (assignmentFlag) Several()       {}

func (s assignmentFlag) Set(text string) error {
	name, value, ok := strings.Cut(text, "=")
	if !ok {
		return errors.New("value must be of the form NAME=VALUE")
	}
	s.flags.assign("set", strings.TrimSpace(name), value, "-set "+text)
	return nil
}

// collectAssigned adds the parameters in -type, and records which flag sets each parameter. It
// fails if a parameter is set to two different values.
func (m *trainingFlags) collectAssigned() error {
	_, list, _ := strings.Cut(m.learnerType, ":")
	own, err := params.Split(list)
	if err != nil {
		return err
	}
	var all []assigned
	for _, s := range own {
		all = append(all, assigned{"type", s.Name, s.Value, "-type " + m.learnerType})
	}
	m.assigned = append(all, m.assigned...)
	all = m.assigned
	for _, q := range [][2]string{{"type", "type"}, {"s", "type"}, {"kernel", "kernel"}, {"t", "kernel"},
		{"embed", "embed"}, {"scale", "embed"}, {"ngrams", "ngrams"}, {"g", "gamma"}, {"d", "degree"}, {"r", "r"},
		{"r", "coef0"}} {
		if flag, name := q[0], q[1]; m.f.IsSet(flag) {
			text := m.f.Lookup(flag).Value.String()
			all = append(all, assigned{flag, name, text, "-" + flag + " " + text})
		}
	}
	m.assignedByName = map[string]assigned{}
	for _, a := range all {
		name := a.name
		if at := strings.LastIndexByte(a.text, '='); name == "weight" && at >= 0 {
			name = "weight of " + a.text[:at]
		}
		if other, twice := m.assignedByName[name]; twice && other.text != a.text {
			return conflictError(name, other.origin, a.origin)
		}
		m.assignedByName[name] = a
	}
	return nil
}

func conflictError(name, one, other string) error {
	return cli.Usagef("%s is set by both %s and %s", name, one, other)
}

func (m *trainingFlags) setParameters() error {
	t := m.learner.trainer
	all := m.assigned
	if m.Embedding != "" {
		all = append(all, assigned{flag: m.assignedByName["embed"].flag, name: "embed", text: m.Embedding})
	}
	if len(m.Specs) > 0 {
		all = append(all, assigned{flag: "kernel", name: "kernel", text: m.Specs[0]})
	}
	for _, a := range all {
		flag := a.flag
		if flag == "set" {
			flag += " " + a.name
		}
		if !params.Has(t, a.name) {
			return cli.Usagef("-%s does not apply to -type %s; valid parameters are %s", flag, m.learner.Name,
				report.Join(params.Names(t)))
		}
		var wrong *params.ValueError
		if err := params.Set(t, a.name, a.text); errors.As(err, &wrong) {
			return cli.Usagef("-%s must be %s, got %s", flag, wrong.Allowed, a.text)
		} else if err != nil {
			return cli.Usagef("-%s: %w", flag, err)
		}
	}
	if len(m.Specs) == 0 && t.IsSet("kernel") {
		m.Specs = []string{fmt.Sprint(params.Get(t, "kernel"))}
	}
	if t.IsSet("embed") {
		m.Embedding = fmt.Sprint(params.Get(t, "embed"))
	}
	e, err := sparse.ParseEmbedding(m.Embedding)
	m.Signed = m.Signed || err == nil && e.Scales()
	return nil
}

// parameterValue returns a numeric SVM parameter: the value set by the user, or the default.
func (m *trainingFlags) parameterValue(name string) float64 {
	own := svm.Settings{}
	if m.learner.trainer.IsSet(name) {
		v, _ := params.Get(m.learner.trainer, name).(float64)
		return v
	}
	v, _ := strconv.ParseFloat(params.Default(own, name), 64)
	return v
}
