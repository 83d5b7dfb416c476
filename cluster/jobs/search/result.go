package search

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/gramengine/gram/learn/svm"
)

// encode writes what a task has found; JSON passes its numbers on without loss.
func encode(found *svm.SearchOutcome) ([]byte, error) { return json.Marshal(found) }

// decode reads what encode has written. Whoever puts outcomes together checks them.
func decode(b []byte) (*svm.SearchOutcome, error) {
	found := &svm.SearchOutcome{}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(found); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("data after its end")
	}
	return found, nil
}
