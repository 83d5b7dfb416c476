package predict

import (
	"encoding/json"
	"testing"

	"github.com/gramengine/gram/cluster/job"
)

// A description must have a corpus digest and a first document for each task.
func TestSpecOf(t *testing.T) {
	for spec, good := range map[string]bool{
		`{"model":"m","output":"labels","pieces":["a","b"],"first":[0,7]}`:          true,
		`{"model":"m","output":"labels","pieces":["a"],"first":[0,7]}`:              false,
		`{"model":"m","output":"labels","pieces":["a","b"],"first":[0]}`:            false,
		`{"model":"m","output":"labels","pieces":["a","b"],"first":[0,7],"more":1}`: false,
	} {
		if _, err := decodeSpec(&job.Description{NumTasks: 2, Spec: json.RawMessage(spec)}); (err == nil) != good {
			t.Errorf("%s: error %v", spec, err)
		}
	}
}
