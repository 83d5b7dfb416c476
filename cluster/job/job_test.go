package job_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/cluster/job"
	"github.com/gramengine/gram/cluster/store"
	"github.com/gramengine/gram/cluster/store/storetest"
	"github.com/gramengine/gram/internal/musttest"
)

func description() job.Description {
	return job.Description{Version: job.Version, Kind: "gram", CorpusDigest: strings.Repeat("0a", 32), ISA: "generic",
		NumTasks: 3,
		Spec:     json.RawMessage(`{ "kernel": "linear" }`)}
}

// A saved description can be loaded. Its digest doesn't depend on the layout of Spec.
func TestSaveLoad(t *testing.T) {
	h := &job.Host{Store: store.New(&storetest.MemoryBucket{}), Workers: 1}
	j := musttest.Get(h.Save(t.Context(), description()))(t)
	d := description()
	d.Spec = json.RawMessage(`{"kernel":"linear"}`)
	again, err := h.Save(t.Context(), d)
	if err != nil || again.Digest != j.Digest {
		t.Errorf("digests %s and %s, error %v", j.Digest, again.Digest, err)
	}
	got, err := h.Load(t.Context(), j.Digest)
	if err != nil || got.Kind != "gram" || got.NumTasks != 3 || string(got.Spec) != `{"kernel":"linear"}` {
		t.Errorf("%+v comes back, error %v", got, err)
	}
	for i, change := range []func(d *job.Description){
		func(d *job.Description) { d.NumTasks++ }, func(d *job.Description) { d.ISA = "avx2" },
		func(d *job.Description) { d.Caches = asm.Caches{L1: 48 << 10, L2: 2 << 21} },
		func(d *job.Description) { d.CorpusDigest = "" }, func(d *job.Description) { d.Spec = json.RawMessage(`{}`) },
	} {
		d := description()
		change(&d)
		if other, err := h.Save(t.Context(), d); err != nil || other.Digest == j.Digest {
			t.Errorf("change %d: the same digest, error %v", i, err)
		}
	}
	for i, wrong := range []func(d *job.Description){
		func(d *job.Description) { d.Version++ }, func(d *job.Description) { d.ISA = "" },
		func(d *job.Description) { d.CorpusDigest = "x" }, func(d *job.Description) { d.Spec = json.RawMessage(`{`) },
		func(d *job.Description) { d.NumTasks = -1 }, func(d *job.Description) { d.NumTasks = job.MaxTasks + 1 },
		func(d *job.Description) { d.Kind = "" }, func(d *job.Description) { d.Caches.L1 = -1 },
		func(d *job.Description) { d.Caches = asm.Caches{L1: 1, L2: 1 << 40} },
	} {
		d := description()
		wrong(&d)
		musttest.WantError(h.Save(t.Context(), d))(t, fmt.Sprintf("wrong description %d", i))
	}
	for _, digest := range []string{"", "x", strings.Repeat("0", 64), strings.ToUpper(j.Digest)} {
		musttest.WantError(h.Load(t.Context(), digest))(t, fmt.Sprintf("Load of %q", digest))
	}
	if _, err := j.Result(t.Context(), 3, nil); err == nil || job.IsMissing(err) {
		t.Errorf("task 3 of 3: error %v", err)
	}
	if _, err := j.Result(t.Context(), 2, nil); !job.IsMissing(err) {
		t.Errorf("a task that isn't done: error %v", err)
	}
}

func FuzzDescription(f *testing.F) {
	d := description()
	good := musttest.Get(d.Encode())(f)
	f.Add(good)
	f.Add([]byte(`{"version":2}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		d, err := job.ParseDescription(b)
		if err != nil {
			return
		}
		if again, err := d.Encode(); err != nil || !bytes.Equal(again, b) {
			t.Errorf("%q is written as %q, error %v", b, again, err)
		}
	})
}

func FuzzLine(f *testing.F) {
	f.Add(job.TaskLine{Job: strings.Repeat("0a", 32), Task: 12}.String())
	f.Add(`{"job":1,"task":"x"} more`)
	f.Fuzz(func(t *testing.T, s string) {
		l, err := job.ParseTaskLine([]byte(s))
		if err != nil {
			return
		}
		if again, err := job.ParseTaskLine([]byte(l.String())); err != nil || again != l {
			t.Errorf("%q reads as %v and then as %v, error %v", s, l, again, err)
		}
	})
}

// Errors about lines name JSON types.
func TestParseLine(t *testing.T) {
	ofJob := `"job":"` + strings.Repeat("0a", 32) + `"`
	for text, want := range map[string]string{
		"[]": "found array; a task line is", `"x"`: "found string; a task line",
		"{" + ofJob + `,"task":1.5}`: `number 1.5 as "task"`, `{"job":7}`: `found number as "job"`,
		"{" + ofJob + `,"ta`: "unexpected EOF", "x": "invalid character",
	} {
		if _, err := job.ParseTaskLine([]byte(text)); err == nil || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), "struct") {
			t.Errorf("%s: error %v, want one with %s", text, err, want)
		}
	}
}

// Invalid lines are passed to yield with their number and error, and reading continues.
func TestReadLines(t *testing.T) {
	good := job.TaskLine{Job: strings.Repeat("0a", 32), Task: 5}
	text := good.String() + "\n \t\nnonsense\n" + `{"job":"` + good.Job + `"}` + "\n" +
		`{"job":"` + good.Job + `","task":-1}` + "\n" +
		`{"job":"` + good.Job + `","task":1,"more":2}` + "\n" + good.String()
	var got []string
	err := job.ReadTaskLines(t.Context(), strings.NewReader(text), func(number int, l job.TaskLine, err error) error {
		got = append(got, fmt.Sprint(number, " ", l.Task, " ", err != nil))
		return nil
	})
	want := "[1 5 false 3 0 true 4 0 true 5 0 true 6 0 true 7 5 false]"
	if err != nil || fmt.Sprint(got) != want {
		t.Errorf("lines %v, expected %s; error %v", got, want, err)
	}
	long := strings.NewReader(strings.Repeat("x", 5000))
	musttest.WantError(job.ReadTaskLines(t.Context(), long, func(int, job.TaskLine, error) error { return nil }))(t,
		"a line of 5000 bytes", "line 1")
	stop := errors.New("stop")
	err = job.ReadTaskLines(t.Context(), strings.NewReader(text), func(int, job.TaskLine, error) error { return stop })
	if err != stop {
		t.Errorf("error %v, expected that of yield", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	musttest.WantError(job.ReadTaskLines(ctx, strings.NewReader(text),
		func(int, job.TaskLine, error) error { return nil }))(t,
		"after the end", context.Canceled)
}

func TestFloats(t *testing.T) {
	v := []float32{0, 1, float32(math.Inf(-1)), 1e-45}
	b := job.FloatBytes(v)
	if want := "00000000 0000803f 000080ff 01000000"; fmt.Sprintf("%x %x %x %x", b[:4], b[4:8], b[8:12], b[12:]) != want {
		t.Errorf("bytes %x, expected %s", b, want)
	}
	for skip := range 4 { // for any alignment
		at := append(make([]byte, skip), b...)[skip:]
		if w := job.Floats(append(at, 7)); fmt.Sprint(w) != fmt.Sprint(v) {
			t.Errorf("%v comes back as %v", v, w)
		}
	}
	if job.FloatBytes(nil) != nil || job.Floats(nil) != nil {
		t.Error("nothing comes back as something")
	}
}
