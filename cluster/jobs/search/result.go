package search

import (
	"encoding/json"

	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/internal/learn/svm"
)

// encodeOutcome encodes the result of a task as JSON, which preserves float64 values exactly.
func encodeOutcome(found *svm.TaskOutcome) ([]byte, error) { return json.Marshal(found) }

// decodeOutcome decodes the result of encodeOutcome. The values are checked when results are
// merged.
func decodeOutcome(b []byte) (*svm.TaskOutcome, error) {
	found := &svm.TaskOutcome{}
	return found, job.Decode(b, found)
}
