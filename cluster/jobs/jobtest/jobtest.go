// Package jobtest runs jobs in tests, in one process, and runs gram for comparison.
package jobtest

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/cluster/shards"
	"github.com/gramengine/gram/cluster/store"
	"github.com/gramengine/gram/cluster/work"
	"github.com/gramengine/gram/corpus"
	"github.com/gramengine/gram/internal/musttest"
)

// Run plans a job on the documents in source, runs the job's tasks on two hosts in random order,
// and gathers the results into a file called name. It returns the job, the output, and any error of
// planning or gathering.
func Run(t testing.TB, k job.Kind, source, name string, flags ...string) (*job.Job, []byte, error) {
	t.Helper()
	return RunISA(t, asm.BestKernels().ISA, k, source, name, flags...)
}

// RunISA is like Run, but uses the given instruction set.
func RunISA(
	t testing.TB, isa asm.ISA, k job.Kind, source, name string, flags ...string,
) (*job.Job, []byte, error) {
	t.Helper()
	ctx := t.Context()
	s := musttest.Get(store.Create(ctx, t.TempDir()))(t)
	f := flag.NewFlagSet(k.Name, flag.ContinueOnError)
	f.SetOutput(io.Discard)
	planner := k.DeclareFlags(f)
	if err := f.Parse(flags); err != nil {
		return nil, nil, err
	}
	opt := corpus.Options{}
	if r, ok := planner.(job.ReadConfigurer); ok {
		if err := r.ConfigureRead(ctx, &opt); err != nil {
			return nil, nil, err
		}
	}
	c := musttest.Get(corpus.Read(ctx, source, opt))(t)
	hosts := []*job.Host{{Store: s, Workers: 1}, {Store: s, Workers: 3}}
	digest := musttest.Get(shards.Write(ctx, s, c))(t)
	spec, tasks, err := planner.Plan(ctx, &job.PlanArgs{
		Host: hosts[0], Source: source, Corpus: c, CorpusDigest: digest, Warnf: t.Logf,
	})
	if err != nil {
		return nil, nil, err
	}
	text := musttest.Get(json.Marshal(spec))(t)
	j := musttest.Get(hosts[0].Save(ctx, job.Description{
		Version: job.Version, Kind: k.Name, CorpusDigest: digest, ISA: string(isa), NumTasks: tasks, Spec: text,
	}))(t)
	var reports bytes.Buffer
	for h, host := range hosts {
		r := work.NewRunner(host, []job.Kind{k}, &reports)
		for at, task := range rand.New(rand.NewPCG(1, 1)).Perm(tasks) {
			if at%len(hosts) == h {
				musttest.NoError(t, r.Run(ctx, job.TaskLine{Job: j.Digest, Task: task}))
			}
		}
		if r.NumFailed() > 0 {
			t.Fatalf("tasks failed:\n%s", &reports)
		}
		musttest.NoError(t, r.Close())
	}
	out := newOutput(t, name)
	if err := work.Gather(ctx, []job.Kind{k}, j, out); err != nil {
		return j, nil, err
	}
	return j, readPath(t, out.Path), nil
}

func newOutput(t testing.TB, name string) *job.Output {
	path := filepath.Join(t.TempDir(), name)
	return &job.Output{Path: path, Logf: t.Logf, Progress: func(int64, int64) {}}
}

// CheckRejected checks that jobs fail. says maps each job's flags to a substring of the expected
// error.
func CheckRejected(t testing.TB, k job.Kind, source, name string, says map[string]string) {
	t.Helper()
	for flags, want := range says {
		_, _, err := Run(t, k, source, name, strings.Fields(flags)...)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got error %v, want an error that contains %q", flags, err, want)
		}
	}
}

// CheckChangedRejected checks that Open and Gather fail for a job whose description was modified by
// change. It returns both errors.
func CheckChangedRejected(
	t testing.TB, k job.Kind, j *job.Job, change func(d *job.Description),
) (opened, gathered error) {
	t.Helper()
	d := j.Description
	change(&d)
	other := musttest.Get(j.Host.Save(t.Context(), d))(t)
	if _, opened = k.Open(t.Context(), other); opened == nil {
		t.Error("Open accepted a changed description")
	}
	if gathered = k.Gather(t.Context(), other, newOutput(t, "out")); gathered == nil {
		t.Error("Gather accepted a changed description")
	}
	return opened, gathered
}

// CheckTasksRejected checks that a kind rejects a job with an additional task, and the output
// format "x". It returns the valid job.
func CheckTasksRejected(t testing.TB, k job.Kind, file, format string, flags ...string) *job.Job {
	t.Helper()
	j, _, err := Run(t, k, "synthetic:docs=60,terms=90,length=20,classes=3,seed=5", file, flags...)
	musttest.NoError(t, err)
	opened, gathered := CheckChangedRejected(t, k, j, func(d *job.Description) { d.NumTasks++ })
	for _, err := range []error{opened, gathered} {
		if err == nil || !strings.Contains(err.Error(), fmt.Sprint("tasks, got ", j.NumTasks+1)) {
			t.Errorf("got error %v, want an error about the number of tasks", err)
		}
	}
	out := newOutput(t, "out")
	out.Format = "x"
	if err := k.Gather(t.Context(), j, out); err == nil || !strings.Contains(err.Error(), "-to must be "+format) {
		t.Errorf("unknown format: got error %v", err)
	}
	return j
}

// CheckBlocksRejected checks that a kind rejects a job with a wrong number of tasks or documents.
// The kind must use the blocks of package blocks, and write .tsv files.
func CheckBlocksRejected(t testing.TB, k job.Kind, file string) {
	t.Helper()
	j := CheckTasksRejected(t, k, file, "tsv", "-block", "40")
	opened, _ := CheckChangedRejected(t, k, j, func(d *job.Description) {
		d.Spec = bytes.Replace(d.Spec, []byte(`"rows":60`), []byte(`"rows":50`), 1)
	})
	if opened == nil || !strings.Contains(opened.Error(), "found 60 documents, but the job has 50") {
		t.Errorf("got error %v, want an error about the number of documents", opened)
	}
}

// readPath returns the contents of a file, or the names and contents of all files in a folder.
func readPath(t testing.TB, path string) (b []byte) {
	t.Helper()
	if entries, err := os.ReadDir(path); err == nil {
		for _, e := range entries {
			b = append(append(b, e.Name()...), readPath(t, filepath.Join(path, e.Name()))...)
		}
		return b
	}
	return musttest.Get(os.ReadFile(path))(t)
}

// programFolder returns the temporary folder for compiled programs. The first call creates it.
var programFolder = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "gramcluster-test-") })

// RunTests runs the tests of a package, removes the compiled programs, and exits.
func RunTests(m *testing.M) {
	code := m.Run()
	if dir, err := programFolder(); err == nil {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

// BuildGram and BuildGramcluster return the paths of gram and gramcluster. The first call of each
// function builds the program.
var (
	BuildGram        = buildOnce("github.com/gramengine/gram", "gram")
	BuildGramcluster = buildOnce("github.com/gramengine/gram/cluster", "gramcluster")
)

func buildOnce(module, name string) func() (string, error) {
	return sync.OnceValues(func() (string, error) {
		path, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", module).Output()
		if err != nil {
			return "", fmt.Errorf("go list: %w", err)
		}
		dir, err := programFolder()
		if err != nil {
			return "", err
		}
		program := filepath.Join(dir, name)
		build := exec.Command("go", "build", "-C", strings.TrimSpace(string(path)), "-o", program, "./cmd/"+name)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			return "", fmt.Errorf("%v: %w\n%s", build, err, out)
		}
		return program, nil
	})
}

// RunGram runs gram and returns its output. If name isn't empty, RunGram sets -o to a file called
// name and returns the contents of the file.
func RunGram(t testing.TB, name string, args ...string) []byte {
	t.Helper()
	program := musttest.Get(BuildGram())(t)
	path := filepath.Join(t.TempDir(), name)
	if name != "" {
		args = append(args, "-o", path)
	}
	var stdout, stderr bytes.Buffer
	command := exec.CommandContext(t.Context(), program, args...)
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		t.Fatalf("gram %v: %v\n%s", args, err, &stderr)
	}
	if name != "" {
		return readPath(t, path)
	}
	return stdout.Bytes()
}
