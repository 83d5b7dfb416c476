package search

import (
	"encoding/json"

	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/internal/learn/svm"
)

// encode encodes the result of a task as JSON, which preserves its numbers.
func encode(found *svm.TaskOutcome) ([]byte, error) { return json.Marshal(found) }

// decode decodes a result of encode. The caller checks it when it merges results.
func decode(b []byte) (*svm.TaskOutcome, error) {
	found := &svm.TaskOutcome{}
	return found, job.Decode(b, found)
}
