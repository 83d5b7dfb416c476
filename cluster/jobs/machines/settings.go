package machines

import (
	"fmt"

	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/learn"
	"github.com/gramengine/gram/internal/learn/svm"
	"github.com/gramengine/gram/internal/params"
)

// Settings is the part of a description with the type and parameters of a support vector machine.
type Settings struct {
	Type       string              `json:"type"`
	Parameters map[string][]string `json:"parameters"` // values by parameter name; json.Marshal sorts the names
	Seed       uint64              `json:"seed"`
}

// SolverSettings converts the type, parameters and seed to settings of package svm.
func (s *Settings) SolverSettings() (out svm.Settings, err error) {
	_, t, err := learn.Parse(s.Type)
	if err == nil {
		err = params.SetAll(t, s.Parameters)
	}
	if err != nil {
		return out, err
	}
	return learn.SettingsOf(t, learn.Options{Seed: s.Seed})
}

// CheckLabelled returns an error unless the documents have labels.
func CheckLabelled(c *corpus.Corpus) error {
	if len(c.Classes) == 0 {
		return fmt.Errorf("%s has no labels; read them with -labels FILE", c.Source)
	}
	return nil
}
