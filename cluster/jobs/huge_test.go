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

// anyValue are the numbers that may be huge, since neither work nor memory grows with them: seeds, prices and widths
// of solvers whose steps are bounded, settings of another type of machine, neighbours, of which there are at most the
// other documents, caches, which have a bound of their own, and vectors of a pass.
var anyValue = map[string]bool{
	"seed": true, "c": true, "nu": true, "epsilon": true, "tolerance": true, "c_values": true, "k": true, "least": true,
	"l1": true, "l2": true, "iterations": true, "at": true, "step": true,
}

// numbers calls yield with each number in a JSON value, by its path, and set, which gives it another value.
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

// numbersOf reads JSON text, and calls yield with the path and value of each number, and what returns the text
// with another in its place.
func numbersOf(t *testing.T, text []byte, yield func(path string, n json.Number, with func(string) []byte)) {
	t.Helper()
	var v any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	musttest.Do(t, d.Decode(&v))
	numbers("", v, nil, func(path string, n json.Number, set func(any)) {
		yield(path, n, func(other string) []byte {
			defer set(n)
			set(json.Number(other))
			b := musttest.Get(json.Marshal(v))(t)
			return b
		})
	})
}

// TestHugeNumbers gives each number of the descriptions of each kind huge values, and does its tasks: what can't be
// is refused with little work and memory.
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
		k := musttest.Get(job.KindOf(jobs.Kinds, c.kind))(t)
		j, gathered, err := jobtest.Run(t, k, "synthetic:docs=150,terms=100,length=20,classes=3,seed=5", c.out,
			strings.Fields(c.flags)...)
		if err != nil {
			t.Fatalf("%s %s: %v", c.kind, c.flags, err)
		}
		if c.kind == "train" {
			musttest.Do(t, os.WriteFile(model, gathered, 0o600))
		}
		huge(t, j)
	}
	for _, j := range passes(t, asm.Generic, "-landmarks", "20", "-tasks", "2", "-loss", "logistic")[:3] {
		var of map[string]any
		musttest.Do(t, j.DecodeSpec(&of))
		huge(t, j)
		request := musttest.Get(j.Host.File(t.Context(), of["request"].(string)))(t)
		hugeIn(t, j, "request ", request, func(text []byte) (d job.Description, err error) {
			of["request"] = job.Digest(text)
			if _, err := j.Host.Store.Put(t.Context(), job.Files+job.Digest(text), text); err != nil {
				t.Fatal(err)
			}
			d = j.Description
			return d, d.SetSpec(of)
		})
	}
}

// huge gives each number of a job's description, and of the file that it names, huge values.
func huge(t *testing.T, j *job.Job) {
	text := musttest.Get(j.Encode())(t)
	hugeIn(t, j, "", text, func(text []byte) (d job.Description, err error) { return d, json.Unmarshal(text, &d) })
}

// hugeIn gives each number of a text huge values, and does the jobs that have it.
func hugeIn(t *testing.T, j *job.Job, in string, text []byte, of func(text []byte) (job.Description, error)) {
	numbersOf(t, text, func(path string, n json.Number, with func(string) []byte) {
		for _, v := range []string{"1000000000", "9223372036854775807", "1e300"} {
			name := j.Kind + " " + in + path + "=" + v
			d, err := of(with(v))
			if err != nil {
				continue // its type has no such value
			}
			err = do(t, name, j.Host, d)
			field, _, _ := strings.Cut(path[strings.LastIndexByte(path, '.')+1:], "[")
			if err == nil && !anyValue[strings.ToLower(field)] {
				t.Errorf("%s: done, expected an error", name)
			}
		}
	})
}

// do does the first tasks of a description, and checks that they took little.
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
	for task := range min(other.Tasks, 5) {
		if err := r.Do(ctx, job.Line{Job: other.Digest, Task: task}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 64<<20 {
		t.Errorf("%s: took %d bytes, expected at most %d", name, took, 64<<20)
	}
	if strings.Contains(reports.String(), "panic") {
		t.Errorf("%s: %.300s", name, &reports)
	}
	if r.Failed() > 0 {
		return fmt.Errorf("%s", &reports)
	}
	return nil
}
