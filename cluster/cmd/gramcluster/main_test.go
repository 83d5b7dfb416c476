package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gramengine/gram/cluster/jobs/jobtest"
	"github.com/gramengine/gram/cluster/work"
	"github.com/gramengine/gram/internal/cli"
	"github.com/gramengine/gram/internal/musttest"
)

// cluster runs a command in this process.
func cluster(t *testing.T, stdin string, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	status = run(args, strings.NewReader(stdin), &out, &errs)
	return status, out.String(), errs.String()
}

func must(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	status, stdout, stderr := cluster(t, stdin, args...)
	if status != cli.ExitSuccess {
		t.Fatalf("gramcluster %s: status %d, %s%s", strings.Join(args, " "), status, stdout, stderr)
	}
	return stdout
}

func states(t *testing.T, out string) map[string]int {
	t.Helper()
	count := map[string]int{}
	for line := range strings.Lines(out) {
		var r work.TaskReport
		musttest.NoError(t, json.Unmarshal([]byte(line), &r))
		count[r.State]++
	}
	return count
}

func TestMain(m *testing.M) { jobtest.RunTests(m) }

func binary(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("builds programs")
	}
	return musttest.Get(jobtest.BuildGramcluster())(t)
}

func gram(t *testing.T) func(args ...string) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	return func(args ...string) { jobtest.RunGram(t, "", args...) }
}

func same(t *testing.T, a, b string) {
	t.Helper()
	x := musttest.Get(os.ReadFile(a))(t)
	y := musttest.Get(os.ReadFile(b))(t)
	if !bytes.Equal(x, y) {
		t.Errorf("%s of %d bytes and %s of %d differ", filepath.Base(a), len(x), filepath.Base(b), len(y))
	}
}

func jobOf(t *testing.T, tasks string) string {
	t.Helper()
	var l struct{ Job string }
	first, _, _ := strings.Cut(tasks, "\n")
	musttest.NoError(t, json.Unmarshal([]byte(first), &l))
	return l.Job
}

// A gathered matrix has the same bytes as the matrix written by gram, for each instruction set and
// block size. Each task runs once. Damaged results are reported and computed again.
func TestGram(t *testing.T) {
	bench, dir := gram(t), t.TempDir()
	const in = "synthetic:docs=700,terms=900,length=30,classes=3,seed=4"
	for i, c := range []struct{ block, of string }{
		{"-block-rows 128 -block-columns 256", "-kernel diffusion:t=0.5"},
		{"-block-rows 128 -block-columns 384", "-kernel linear -embed tfidf-l2 -isa generic"}, {"", "-kernel rbf"},
	} {
		of, block := strings.Fields(c.of), append([]string{"-store", filepath.Join(dir, fmt.Sprint("store", i)), "-in", in},
			strings.Fields(c.block)...)
		store, want := filepath.Join(dir, fmt.Sprint("store", i)), filepath.Join(dir, fmt.Sprint("want", i, ".npy"))
		bench(append([]string{"matrix", "-in", in, "-o", want}, of...)...)
		tasks := must(t, "", slices.Concat([]string{"plan", "gram", "-q"}, block, of)...)
		if again := must(t, "", slices.Concat([]string{"plan", "gram"}, block, of)...); again != tasks {
			t.Error("planned twice, there are two jobs")
		}
		n := strings.Count(tasks, "\n")
		lines := strings.SplitAfter(tasks, "\n")
		if got := states(t, must(t, strings.Join(lines[:n/2], ""), "work", "-store", store)); got["done"] != n/2 {
			t.Errorf("the first half: %v, expected %d done", got, n/2)
		}
		got := filepath.Join(dir, fmt.Sprint("got", i, ".npy"))
		status, _, stderr := cluster(t, "", "gather", "-store", store, "-o", got)
		if status != cli.ExitFailure || !strings.Contains(stderr, fmt.Sprintf("%d of %d tasks are missing", n-n/2, n)) {
			t.Errorf("half a job: status %d, %s", status, stderr)
		}
		musttest.WantError(os.Stat(got))(t, "the file of half a job")
		rest := must(t, "", "gather", "-store", store, "-missing")
		if rest != strings.Join(lines[n/2:], "") {
			t.Errorf("missing: %s", rest)
		}
		// Run the other tasks in shards, with a cache.
		count := map[string]int{}
		for share := range 3 {
			out := must(t, "", "work", "-store", store, "-job", jobOf(t, tasks)[:8], "-shard", fmt.Sprintf("%d/3", share),
				"-workers", "2", "-cache", filepath.Join(dir, "cache"))
			for state, k := range states(t, out) {
				count[state] += k
			}
		}
		if count["done"] != n-n/2 || count["there"] != n/2 {
			t.Errorf("shares: %v", count)
		}
		must(t, "", "gather", "-store", store, "-o", got)
		same(t, want, got)
		if i > 0 {
			continue
		}
		object := filepath.Join(store, "results", jobOf(t, tasks), "000000001.a0")
		b := musttest.Get(os.ReadFile(object))(t)
		b[len(b)/2] ^= 8
		musttest.NoError(t, os.WriteFile(object, b, 0o666))
		musttest.NoError(t, os.Remove(got))
		status, _, stderr = cluster(t, "", "gather", "-store", store, "-o", got)
		if status != cli.ExitFailure || !strings.Contains(stderr, "000000001.a0 is damaged") ||
			!strings.Contains(stderr, `"task":1}`) {
			t.Errorf("damage: status %d, %s", status, stderr)
		}
		if got := states(t, must(t, tasks, "work", "-store", store)); got["done"] != 1 || got["there"] != n-1 {
			t.Errorf("after damage: %v", got)
		}
		must(t, "", "gather", "-store", store, "-o", got)
		same(t, want, got)
		if out := must(t, "", "status", "-store", store, "-check"); !strings.Contains(out, "100.0%") ||
			!strings.Contains(out, "1 rewritten") {
			t.Errorf("status: %s", out)
		}
		must(t, "", "clean", "-store", store, "-job", jobOf(t, tasks)[:6], "-unused")
		if left, err := filepath.Glob(filepath.Join(store, "*")); err != nil || len(left) != 1 {
			t.Errorf("clean leaves %v, error %v", left, err)
		}
	}
}

// Errors state what was found and what is allowed.
func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "unlabelled.svm")
	musttest.NoError(t, os.WriteFile(file, []byte(" 1:1 2:1\n 1:2\n 1:-1\n"), 0o666))
	drive := "drive landmarks -landmarks 5 -store " + dir + " -in " + file
	small := []string{"-in", "synthetic:docs=20,terms=50,length=5,classes=2,seed=1"}
	tasks := must(t, "", append([]string{"plan", "gram", "-q", "-store", dir}, small...)...)
	for _, c := range []struct {
		stdin, args string
		status      int
		want        string
	}{
		{"", "", cli.ExitUsage, "Commands:"},
		{"", "nonsense", cli.ExitUsage, `unknown command "nonsense"; valid names are plan, drive, work`},
		{"", "plan", cli.ExitUsage, "plan KIND; valid kinds are gram"},
		{"", "plan nonsense", cli.ExitUsage, "valid kinds are gram"},
		{"", "plan landmarks", cli.ExitUsage, "use drive landmarks"},
		{"", "drive gram", cli.ExitUsage, "use plan gram"},
		{"", "drive", cli.ExitUsage, "valid kinds are landmarks"},
		{"", "drive landmarks -store " + dir + " -in synthetic:docs=20", cli.ExitUsage, "-o FILE is required"},
		{"", "drive landmarks -o x -store " + dir, cli.ExitUsage, "-in SOURCE is required"},
		{"", "drive landmarks -wait -1s -o x -in goroot -store " + dir, cli.ExitUsage, "-wait"},
		{"", drive + " -o -", cli.ExitUsage, "-o must be a file"},
		{"", drive + " -o " + file, cli.ExitUsage, "would overwrite"},
		{"", drive + " -o " + dir + "/none/x", cli.ExitFailure, "cannot write x in folder " + dir + "/none"},
		{"", drive + " -o x -signed", cli.ExitFailure, "has no labels; read them"},
		{"", "plan train -signed -store " + dir + " -in " + file, cli.ExitFailure, "has no labels; read them"},
		{"", "plan train -type nu_svr -kernel linear -signed -store " + dir + " -in " + file, cli.ExitFailure,
			"has no label, but regression requires a number"},
		{"", "plan gram -store " + dir + " -in " + file, cli.ExitFailure, "(-signed accepts negative values)"},
		{"", "plan gram -m 50 -store " + dir + " -in " + file, cli.ExitFailure, "65 MiB of memory, but -m allows 50 MiB"},
		{"", "gather -m 50 -o x -store " + dir, cli.ExitFailure, "65 MiB of memory, but -m allows 50 MiB"},
		{"", "plan gram", cli.ExitUsage, "-store URL is required"},
		{"", "plan gram -store " + dir, cli.ExitFailure, "-in SOURCE is required"},
		{"", "plan gram -nonsense", cli.ExitUsage, "-nonsense"},
		{"", "plan gram -store " + dir + " more yet", cli.ExitUsage, `argument "yet"`},
		{"", "plan gram -store ftp://x -in goroot", cli.ExitFailure, "valid schemes are file, s3, gs and azblob"},
		{"", "plan gram -store " + dir + " -in synthetic:docs=20 -kernel nonsense", cli.ExitFailure, "nonsense"},
		{"", "plan gram -store " + dir + " -in synthetic:docs=20 -block-rows 100", cli.ExitFailure,
			"-block-rows must be a multiple of 128 up to"},
		{"", "plan gram -store " + dir + " -in synthetic:docs=20 -block-columns 2048", cli.ExitFailure,
			"-block-columns must be a multiple of 128"},
		{"", "plan gram -store " + dir + " -in synthetic:docs=20 -isa nonsense", cli.ExitUsage, "-isa"},
		{"", "plan gram -store " + dir + " -in /nowhere", cli.ExitFailure, "/nowhere"},
		{"", "plan gram -store " + dir + " -in goroot -m nonsense", cli.ExitUsage, "is not a size"},
		{"x\n", "work -store " + dir, cli.ExitFailure, "task line 1"},
		{"\n", "work -store " + dir, cli.ExitSuccess, "no task lines"},
		{`{"job":"` + strings.Repeat("0", 64) + `","task":0}`, "work -store " + dir, cli.ExitFailure, "missing"},
		{strings.Replace(tasks, `"task":0`, `"task":7`, 1), "work -store " + dir, cli.ExitFailure,
			"task must be between 0 and 0, got 7"},
		{"", "work -store " + dir + " -shard 0/2", cli.ExitUsage, "-shard requires -job"},
		{"", "work -store " + dir + " -job 0 -shard 2/2", cli.ExitUsage, "-shard must be I/N"},
		{"", "work -store " + dir + " -job 0 -shard auto", cli.ExitUsage, "JOB_COMPLETION_INDEX"},
		{"", "work -store " + dir + " -job xyz", cli.ExitFailure, "hexadecimal"},
		{"", "gather -store " + dir, cli.ExitUsage, "-o FILE is required"},
		{"", "gather -store " + dir + " -o x -missing", cli.ExitUsage, "-o and -missing cannot be combined"},
		{"", "gather -store " + dir + " -o -", cli.ExitUsage, "-o must be a file"},
		{"", "gather -store " + dir + " -o " + dir + "/K.txt", cli.ExitFailure, "1 of 1 tasks are missing"},
		{"", "status -store " + dir + " -job 00000", cli.ExitFailure, "no job 00000"},
		{"", "clean -store " + dir, cli.ExitUsage, "nothing to delete"},
		{"", "help nonsense", cli.ExitUsage, "nonsense"},
	} {
		status, stdout, stderr := cluster(t, c.stdin, strings.Fields(c.args)...)
		if status != c.status || !strings.Contains(stdout+stderr, c.want) {
			t.Errorf("gramcluster %s: status %d, %s%s\nexpected %d, %s", c.args, status, stdout, stderr, c.status, c.want)
		}
	}
	must(t, tasks, "work", "-store", dir)
	status, _, stderr := cluster(t, "", "gather", "-store", dir, "-o", filepath.Join(dir, "K.txt"))
	if status != cli.ExitFailure || !strings.Contains(stderr, "use -o FILE.npy") {
		t.Errorf("an unknown form: status %d, %s", status, stderr)
	}
}

// N consecutive indices of a Slurm array cover all shards. A resubmitted array element gets the
// same shard again.
func TestShare(t *testing.T) {
	for _, c := range []struct {
		shard, env  string
		first, step int
	}{
		{"0/1", "", 0, 1}, {"3/8", "", 3, 8}, {"auto/8", "JOB_COMPLETION_INDEX=5", 5, 8},
		{"auto", "SLURM_ARRAY_TASK_ID=7 SLURM_ARRAY_TASK_MIN=5 SLURM_ARRAY_TASK_COUNT=4", -1, 0},
		{"auto/3", "SLURM_ARRAY_TASK_ID=x", -1, 0}, {"auto/0", "SLURM_ARRAY_TASK_ID=1", -1, 0},
		{"auto/4", "SLURM_ARRAY_TASK_ID=4", 0, 4}, {"auto/4", "SLURM_ARRAY_TASK_ID=7", 3, 4},
		{"auto/4", "SLURM_ARRAY_TASK_ID=7 SLURM_ARRAY_TASK_MIN=5 SLURM_ARRAY_TASK_MAX=8 SLURM_ARRAY_TASK_COUNT=4", 3, 4},
		{"auto", "JOB_COMPLETION_INDEX=5", -1, 0}, {"8/8", "", -1, 0},
		{"-1/8", "", -1, 0}, {"1", "", -1, 0},
		{"x/y", "", -1, 0}, {"auto/4", "JOB_COMPLETION_INDEX=4", -1, 0},
	} {
		env := map[string]string{}
		for _, e := range strings.Fields(c.env) {
			name, value, _ := strings.Cut(e, "=")
			env[name] = value
		}
		first, step, err := parseShard(c.shard, func(name string) string { return env[name] })
		if c.first < 0 != (err != nil) || err == nil && (first != c.first || step != c.step) {
			t.Errorf("-shard %s with %s: %d, %d, error %v", c.shard, c.env, first, step, err)
		}
	}
}
