package jobs_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/cluster/jobs"
	"github.com/gramengine/gram/cluster/jobs/jobtest"
	"github.com/gramengine/gram/cluster/work"
	"github.com/gramengine/gram/internal/musttest"
)

// anyValue lists numbers that may be huge, because neither computation nor memory grows with them.
// Examples are seeds, solver parameters (iterations are bounded), parameters of other types, k
// (bounded by the number of documents), cache sizes (checked elsewhere) and vectors of a pass.
var anyValue = map[string]bool{
	"seed": true, "c": true, "nu": true, "epsilon": true, "tolerance": true, "c_values": true, "k": true, "min": true,
	"l1": true, "l2": true, "iterations": true, "at": true, "step": true,
}

// numbers calls yield for each number in v, with the number's path and a function that replaces the
// number.
func numbers(path string, v any, set func(any), yield func(path string, n json.Number, set func(any))) {
	switch v := v.(type) {
	case json.Number:
		yield(path, v, set)
	case []any:
		for i := range min(len(v), 3) {
			numbers(fmt.Sprintf("%s[%d]", path, i), v[i], func(to any) { v[i] = to }, yield)
		}
	case map[string]any:
		for name := range v {
			numbers(strings.TrimPrefix(path+"."+name, "."), v[name], func(to any) { v[name] = to }, yield)
		}
	}
}

// numbersOf parses JSON, and calls yield for each number with its path, its value and a function
// that returns the JSON with a replaced number.
func numbersOf(t *testing.T, text []byte, yield func(path string, n json.Number, with func(string) []byte)) {
	t.Helper()
	var v any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	musttest.NoError(t, d.Decode(&v))
	numbers("", v, nil, func(path string, n json.Number, set func(any)) {
		yield(path, n, func(other string) []byte {
			defer set(n)
			set(json.Number(other))
			return musttest.Get(json.Marshal(v))(t)
		})
	})
}

// TestHugeNumbers replaces each number in a description by huge values, and runs the tasks.
// Impossible values are rejected with little time and memory.
func TestHugeNumbers(t *testing.T) {
	model := filepath.Join(t.TempDir(), "model")
	for _, c := range []struct{ kind, out, flags string }{
		{"gram", "K.npy", "-kernel diffusion:t=0.5 -block-rows 128 -block-columns 256"},
		{"train", "m.model", "-kernel diffusion:t=0.5 -c 10"},
		{"train", "m.model", "-kernel diffusion:t=0.5 -type nu_svc -nu 0.3"},
		{"search", "s.json", "-kernel diffusion:t=0.1|0.5 -c 1,10 -folds 3"},
		{"search", "s.json", "-kernel diffusion:t=0.5 -type nu_svc -nu 0.1,0.2 -folds 2"},
		{"predict", "p.txt", "-documents 50 -names -model " + model},
		{"neighbours", "n.tsv", "-k 5 -block 64 -min 0.1"},
		{"duplicates", "d.tsv", "-within 0.4 -block 64"},
	} {
		k := musttest.Get(job.FindKind(jobs.Kinds, c.kind))(t)
		j, gathered, err := jobtest.Run(t, k, "synthetic:docs=150,terms=100,length=20,classes=3,seed=5", c.out,
			strings.Fields(c.flags)...)
		if err != nil {
			t.Fatalf("%s %s: %v", c.kind, c.flags, err)
		}
		if c.kind == "train" {
			musttest.NoError(t, os.WriteFile(model, gathered, 0o600))
		}
		huge(t, j)
	}
	for _, j := range passes(t, asm.Generic, "-landmarks", "20", "-tasks", "2", "-loss", "logistic")[:3] {
		var of map[string]any
		musttest.NoError(t, j.DecodeSpec(&of))
		huge(t, j)
		request := musttest.Get(j.Host.File(t.Context(), of["request"].(string)))(t)
		hugeIn(t, j, "request ", request, func(text []byte) (d job.Description, err error) {
			of["request"] = job.Digest(text)
			musttest.Get(j.Host.Store.Put(t.Context(), job.FilePrefix+job.Digest(text), text))(t)
			d = j.Description
			return d, d.SetSpec(of)
		})
	}
}

func huge(t *testing.T, j *job.Job) {
	text := musttest.Get(j.Encode())(t)
	hugeIn(t, j, "", text, func(text []byte) (d job.Description, err error) { return d, json.Unmarshal(text, &d) })
}

// hugeIn tests huge values for each number in a JSON text. The function of returns the description
// for a changed text.
func hugeIn(t *testing.T, j *job.Job, in string, text []byte, of func(text []byte) (job.Description, error)) {
	numbersOf(t, text, func(path string, n json.Number, with func(string) []byte) {
		for _, v := range []string{"1000000000", "9223372036854775807", "1e300"} {
			name := j.Kind + " " + in + path + "=" + v
			d, err := of(with(v))
			if err != nil {
				continue // the value doesn't fit the field's type
			}
			err = do(t, name, j.Host, d)
			field, _, _ := strings.Cut(path[strings.LastIndexByte(path, '.')+1:], "[")
			if err == nil && !anyValue[strings.ToLower(field)] {
				t.Errorf("%s: done, expected an error", name)
			}
		}
	})
}

// do runs the first tasks of a job, and checks that time and memory are small.
func do(t *testing.T, name string, h *job.Host, d job.Description) error {
	other, err := h.Save(t.Context(), d)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var reports bytes.Buffer
	r := work.NewRunner(h, jobs.Kinds, &reports)
	for task := range min(other.NumTasks, 5) {
		if err := r.Run(ctx, job.TaskLine{Job: other.Digest, Task: task}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	musttest.NoError(t, r.Close())
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
		t.Errorf("%s: took %d bytes, expected at most %d", name, took, 64<<20)
	}
	if strings.Contains(reports.String(), "panic") {
		t.Errorf("%s: %.300s", name, &reports)
	}
	if r.NumFailed() > 0 {
		return fmt.Errorf("%s", &reports)
	}
	return nil
}
