package search

import (
	"encoding/json"

	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/internal/learn/svm"
)

// encode writes what a task has found; JSON passes its numbers on without loss.
func encode(found *svm.SearchOutcome) ([]byte, error) { return json.Marshal(found) }

// decode reads what encode has written. Whoever puts outcomes together checks them.
func decode(b []byte) (*svm.SearchOutcome, error) {
	found := &svm.SearchOutcome{}
	return found, job.Decode(b, found)
}
