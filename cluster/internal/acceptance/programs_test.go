//go:build unix

package acceptance

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gramengine/gram/cluster/jobs/jobtest"
	"github.com/gramengine/gram/internal/musttest"
)

var folder string

func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() {
		fmt.Println("all of these tests build programs: make cluster-test runs them")
		return
	}
	for _, program := range []func() (string, error){jobtest.BuildGram, jobtest.BuildGramcluster} {
		path, err := program()
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		folder = filepath.Dir(path)
	}
	os.Setenv("PATH", folder+string(filepath.ListSeparator)+os.Getenv("PATH")) // for schedulers' scripts
	jobtest.RunTests(m)
}

func run(t *testing.T, stdin, program string, args ...string) string {
	t.Helper()
	cmd := exec.Command(program, args...)
	var out, problems strings.Builder
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &problems
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s%s", cmd, err, &out, &problems)
	}
	return out.String()
}

const documents = "synthetic:docs=400,terms=1500,length=50,classes=4,seed=5"

// kind is a job, with the gram command that writes the same output.
type kind struct {
	name string
	plan []string
	out  string
	gram []string // without -in and -o
	in   string   // default: documents
}

func (k *kind) source() string { return cmp.Or(k.in, documents) }

var kinds = []*kind{
	{"gram", []string{"-kernel", "diffusion:t=0.5", "-block-rows", "128", "-block-columns", "256"}, "K.npy",
		[]string{"matrix", "-kernel", "diffusion:t=0.5"}, ""},
	{"train", []string{"-kernel", "diffusion:t=0.5", "-c", "10"}, "m.model",
		[]string{"train", "-kernel", "diffusion:t=0.5", "-c", "10"}, ""},
	{"search", []string{"-kernel", "diffusion:t=0.1|0.5", "-c", "1,10", "-folds", "3"}, "scores.json",
		[]string{"grid", "-json", "-choose-time", "0", "-kernel", "diffusion:t=0.1|0.5", "-grid", "C=1,10", "-folds", "3"},
		""},
	{"predict", []string{"-documents", "100", "-model", "MODEL"}, "lines.txt", []string{"predict", "-model", "MODEL"}, ""},
	{"neighbours", []string{"-k", "5", "-block", "128"}, "near.tsv", []string{"neighbours", "-k", "5"}, ""},
	{"duplicates", []string{"-within", "0.4", "-block", "128"}, "groups.tsv",
		[]string{"duplicates", "-within", "0.4"}, ""},
}

type job struct {
	*kind
	store, digest string
	tasks         string // task lines
}

func plan(t *testing.T, store string, k *kind) *job {
	t.Helper()
	args := append([]string{"plan", k.name, "-q", "-store", store, "-in", k.source()}, models(t, k.plan)...)
	tasks := run(t, "", "gramcluster", args...)
	var first struct{ Job string }
	if err := json.Unmarshal([]byte(strings.SplitN(tasks, "\n", 2)[0]), &first); err != nil {
		t.Fatalf("%v: %s", err, tasks)
	}
	return &job{k, store, first.Job, tasks}
}

// models replaces MODEL in args by the path of a model, which it trains once.
func models(t *testing.T, args []string) []string {
	t.Helper()
	args = slices.Clone(args)
	for i := range args {
		if args[i] != "MODEL" {
			continue
		}
		args[i] = filepath.Join(folder, "test.model")
		if _, err := os.Stat(args[i]); err != nil {
			run(t, "", "gram", "train", "-q", "-in", documents, "-kernel", "diffusion:t=0.5", "-o", args[i])
		}
	}
	return args
}

var (
	wanted   = map[*kind][]byte{}
	wantedMu sync.Mutex
)

func want(t *testing.T, k *kind) []byte {
	t.Helper()
	wantedMu.Lock()
	defer wantedMu.Unlock()
	if wanted[k] == nil {
		path := filepath.Join(t.TempDir(), "want-"+k.out)
		args := append(k.gram[:1:1], append([]string{"-q", "-in", k.source()}, models(t, k.gram[1:])...)...)
		if k.name != "search" {
			run(t, "", "gram", append(args, "-o", path)...)
		} else if err := os.WriteFile(path, []byte(run(t, "", "gram", args...)), 0o644); err != nil {
			t.Fatal(err)
		}
		wanted[k] = read(t, k.name, path)
	}
	return wanted[k]
}

func (j *job) check(t *testing.T) {
	t.Helper()
	path := filepath.Join(t.TempDir(), j.out)
	run(t, "", "gramcluster", "gather", "-q", "-store", j.store, "-job", j.digest, "-o", path)
	if !bytes.Equal(read(t, j.name, path), want(t, j.kind)) {
		t.Errorf("%s: what is gathered isn't what gram writes", j.name)
	}
}

// read returns the contents of a file. For a search, it returns only the fields that grid and jobs
// have in common.
func read(t *testing.T, kind, path string) []byte {
	t.Helper()
	b := musttest.Get(os.ReadFile(path))(t)
	if kind != "search" {
		return b
	}
	var report struct {
		Rows []map[string]json.RawMessage `json:"rows"`
	}
	if err := json.Unmarshal(b, &report); err != nil || len(report.Rows) == 0 {
		t.Fatalf("%v: %s", err, b)
	}
	for _, row := range report.Rows {
		delete(row, "seconds") // only grid writes seconds
	}
	return musttest.Get(json.Marshal(report.Rows))(t)
}
