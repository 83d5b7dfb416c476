// The tests of the manifest are a module of their own: Kubernetes' types are no dependency of gramcluster.
package kubernetes

import (
	"os"
	"testing"

	batch "k8s.io/api/batch/v1"
	"sigs.k8s.io/yaml"
)

// readJob reads the manifest as Kubernetes does. Unknown and repeated fields are errors.
func readJob(t *testing.T) *batch.Job {
	t.Helper()
	data, err := os.ReadFile("job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var j batch.Job
	if err := yaml.UnmarshalStrict(data, &j); err != nil {
		t.Fatal(err)
	}
	return &j
}

// TestJob checks the manifest against the API's types and what the API server would refuse.
func TestJob(t *testing.T) {
	j := readJob(t)
	if j.APIVersion != "batch/v1" || j.Kind != "Job" || j.Name == "" {
		t.Errorf("%s %s %q: not a named batch/v1 Job", j.APIVersion, j.Kind, j.Name)
	}
	s := j.Spec
	if s.CompletionMode == nil || *s.CompletionMode != batch.IndexedCompletion {
		t.Fatal("completionMode isn't Indexed: pods would have no JOB_COMPLETION_INDEX")
	}
	if s.Completions == nil || s.BackoffLimitPerIndex == nil || *s.MaxFailedIndexes > *s.Completions {
		t.Error("completions, backoffLimitPerIndex and maxFailedIndexes don't fit")
	}
	pod := s.Template.Spec
	if pod.RestartPolicy != "Never" {
		t.Errorf("restartPolicy is %q, backoffLimitPerIndex needs Never", pod.RestartPolicy)
	}
}
