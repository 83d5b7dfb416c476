package search

import (
	"encoding/json"

	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/internal/learn/svm"
)

// encode encodes the result of a task as JSON, which preserves float64 values exactly.
func encode(found *svm.TaskOutcome) ([]byte, error) { return json.Marshal(found) }

// decode decodes the result of encode. The values are checked when results are merged.
func decode(b []byte) (*svm.TaskOutcome, error) {
	found := &svm.TaskOutcome{}
	return found, job.Decode(b, found)
}
