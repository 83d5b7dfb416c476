// This is a separate module so that gramcluster doesn't depend on Kubernetes.
package kubernetes

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	batch "k8s.io/api/batch/v1"
	"sigs.k8s.io/yaml"
)

// readJob parses the manifest as Kubernetes does. Unknown and repeated fields are errors.
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

// TestJob checks the manifest against the API's types and the rules of the API server.
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

// TestIndexes runs the container's command for each completion index, with a folder as store.
func TestIndexes(t *testing.T) {
	j := readJob(t)
	dir := t.TempDir()
	program, store := filepath.Join(dir, "gramcluster"), filepath.Join(dir, "store")
	build := exec.Command("go", "build", "-C", "..", "-o", program, "./cmd/gramcluster")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	run := func(cmd *exec.Cmd) string {
		t.Helper()
		var problems strings.Builder
		cmd.Stderr = &problems
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", cmd, err, &problems)
		}
		return string(out)
	}
	run(build)
	lines := run(exec.Command(program, "plan", "gram", "-q", "-store", store, "-block-rows", "128",
		"-block-columns", "256", "-in", "synthetic:docs=900,terms=500,length=20,classes=2,seed=5"))
	digest, _, _ := strings.Cut(strings.TrimPrefix(lines, `{"job":"`), `"`)
	args := j.Spec.Template.Spec.Containers[0].Command
	for i, arg := range args {
		switch {
		case arg == "JOB":
			args[i] = digest
		case strings.HasPrefix(arg, "s3://"):
			args[i] = store
		}
	}
	done := 0
	for index := range *j.Spec.Completions {
		work := exec.Command(program, args[1:]...)
		work.Env = append(os.Environ(), fmt.Sprint("JOB_COMPLETION_INDEX=", index))
		done += strings.Count(run(work), `"state":"done"`)
	}
	if want := strings.Count(lines, "\n"); done != want || want < int(*j.Spec.Completions) {
		t.Errorf("%d tasks are done, expected %d", done, want)
	}
	run(exec.Command(program, "gather", "-q", "-store", store, "-o", filepath.Join(dir, "K.npy")))
}
