package job

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/gramengine/gram/asm"
	"github.com/gramengine/gram/cluster/store"
	"github.com/minio/sha256-simd"
)

// Version is the version of descriptions and results. It must be raised when the result of any task
// changes, see TestDigests in package jobs. Jobs of other versions are rejected.
const Version = 6

const maxCacheBytes = 1 << 30

// MaxTasks is the maximum number of tasks of a job.
const MaxTasks = 1_000_000_000

// Description holds everything that the results of a job depend on. Equal descriptions have the
// same digest, so repeated planning gives the same job.
type Description struct {
	Version      int             `json:"version"`
	Kind         string          `json:"kind"`
	CorpusDigest string          `json:"corpus,omitempty"` // digest of the documents; empty if there are none
	ISA          string          `json:"isa"`              // instruction set; results depend on it
	Caches       asm.Caches      `json:"caches"`           // cache sizes; results depend on them
	NumTasks     int             `json:"tasks"`
	Spec         json.RawMessage `json:"spec"` // settings of the kind, such as the kernel
}

// Encode returns the JSON text that is stored and hashed. It compacts Spec. If Caches is zero, it
// inserts the cache sizes of this computer.
func (d *Description) Encode() ([]byte, error) {
	var spec bytes.Buffer
	if err := json.Compact(&spec, d.Spec); err != nil {
		return nil, fmt.Errorf("job: Spec: %w", err)
	}
	own := *d
	own.Spec = spec.Bytes()
	if own.Caches == (asm.Caches{}) {
		own.Caches = asm.DetectCaches()
	}
	if err := own.validate(); err != nil {
		return nil, err
	}
	return json.Marshal(own)
}

// validate checks all fields except Spec, which the kind checks.
func (d *Description) validate() error {
	switch {
	case d.Version != Version:
		return fmt.Errorf("job: the description has version %d, but this program reads version %d; plan the job "+
			"again with this program", d.Version, Version)
	case d.Kind == "":
		return errors.New("job: the description has no kind")
	case d.CorpusDigest != "" && !IsDigest(d.CorpusDigest):
		return fmt.Errorf("job: corpus must be a digest of 64 hexadecimal digits, got %q", d.CorpusDigest)
	case d.ISA == "":
		return errors.New("job: the description has no instruction set")
	case min(d.Caches.L1, d.Caches.L2) < 1 || max(d.Caches.L1, d.Caches.L2) > maxCacheBytes:
		return fmt.Errorf("job: sizes of the L1 and L2 caches must be between 1 and %d bytes, got %d and %d", maxCacheBytes,
			d.Caches.L1, d.Caches.L2)
	case d.NumTasks < 0 || d.NumTasks > MaxTasks:
		return fmt.Errorf("job: number of tasks must be between 0 and %d, got %d", MaxTasks, d.NumTasks)
	}
	return nil
}

// CheckRange returns an error unless lower <= v <= upper. what is the name of v in the error.
func CheckRange(what string, v, lower, upper int) error {
	if v < lower || v > upper {
		return fmt.Errorf("%s must be between %d and %d, got %d", what, lower, upper, v)
	}
	return nil
}

// ParseDescription parses b, which must have the canonical form that Encode writes.
func ParseDescription(b []byte) (*Description, error) {
	d := &Description{}
	if err := Decode(b, d); err != nil {
		return nil, fmt.Errorf("job: description: %w", err)
	}
	again, err := d.Encode()
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(again, b) {
		return nil, errors.New("job: the description is not in the canonical form")
	}
	return d, nil
}

// Decode unmarshals b into to. b must be a single JSON value without unknown fields.
func Decode(b []byte, to any) error {
	r := json.NewDecoder(bytes.NewReader(b))
	r.DisallowUnknownFields()
	if err := r.Decode(to); err != nil {
		return err
	}
	if _, err := r.Token(); err != io.EOF {
		return errors.New("there is data after the JSON value")
	}
	return nil
}

// SetSpec sets d.Spec to the JSON text of spec.
func (d *Description) SetSpec(spec any) (err error) {
	if d.Spec, err = json.Marshal(spec); err != nil {
		return fmt.Errorf("job: spec of kind %s: %w", d.Kind, err)
	}
	return nil
}

// DecodeSpec decodes d.Spec into the struct to. Unknown fields are errors.
func (d *Description) DecodeSpec(to any) error {
	if err := Decode(d.Spec, to); err != nil {
		return fmt.Errorf("job: spec of kind %s: %w", d.Kind, err)
	}
	return nil
}

// Digest returns the SHA-256 of b, in hexadecimal.
func Digest(b []byte) string {
	d := sha256.Sum256(b)
	return hex.EncodeToString(d[:])
}

// IsDigest reports whether s has the format of a digest: 64 lower-case hexadecimal digits.
func IsDigest(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == sha256.Size && hex.EncodeToString(b) == s
}

// Job is a planned job. The job's description and results are in the store of Host.
type Job struct {
	Description
	Digest string // SHA-256 of the encoded description; identifies the job
	Host   *Host
}

// Save stores a description under its digest and returns the job. Like [Host.Load], it sets the
// cache sizes of the process.
func (h *Host) Save(ctx context.Context, d Description) (*Job, error) {
	b, err := d.Encode()
	if err != nil {
		return nil, err
	}
	digest := Digest(b)
	if _, err := h.Store.Put(ctx, descriptionName(digest), b); err != nil {
		return nil, err
	}
	saved, err := ParseDescription(b)
	if err != nil {
		return nil, err
	}
	asm.SetCaches(saved.Caches)
	return &Job{*saved, digest, h}, nil
}

// Load returns the job with the given digest. Load passes the description's cache sizes to
// asm.SetCaches, because results depend on cache sizes.
func (h *Host) Load(ctx context.Context, digest string) (*Job, error) {
	if !IsDigest(digest) {
		return nil, fmt.Errorf("job: digest of a job must have 64 hexadecimal digits, got %q", digest)
	}
	b, err := h.Store.Get(ctx, descriptionName(digest), nil)
	if err != nil {
		return nil, withPlanHint(err)
	}
	if d := Digest(b); d != digest {
		return nil, fmt.Errorf("job: object %s is damaged: digest must match the name, got %s", descriptionName(digest), d)
	}
	d, err := ParseDescription(b)
	if err != nil {
		return nil, err
	}
	asm.SetCaches(d.Caches)
	return &Job{*d, digest, h}, nil
}

// DescriptionPrefix is the name prefix of job descriptions in the store.
const DescriptionPrefix = "jobs/"

func descriptionName(digest string) string { return DescriptionPrefix + digest }

// ResultsPrefix is the name prefix of all results in the store.
const ResultsPrefix = "results/"

// JobResultsPrefix returns the name prefix of a job's results in the store.
func JobResultsPrefix(digest string) string { return ResultsPrefix + digest + "/" }

// ResultName returns the name of a task's result.
func (j *Job) ResultName(task int) string {
	return fmt.Sprintf("%s%09d", JobResultsPrefix(j.Digest), task)
}

// Result returns the result of a task. It uses the memory of buf if buf is large enough. If the
// result is missing or damaged, [IsMissing] returns true for the error.
func (j *Job) Result(ctx context.Context, task int, buf []byte) ([]byte, error) {
	if task < 0 || task >= j.NumTasks {
		return nil, fmt.Errorf("job: task must be between 0 and %d, got %d", j.NumTasks-1, task)
	}
	return j.Host.Store.Get(ctx, j.ResultName(task), buf)
}

// EachResult calls do with the result b of each task, in order, and reports progress to out. b is
// valid until do returns.
func (j *Job) EachResult(ctx context.Context, out *Output, do func(task int, b []byte) error) (err error) {
	var b []byte
	for task := range j.NumTasks {
		if b, err = j.Result(ctx, task, b[:0]); err != nil {
			return err
		}
		if err := do(task, b); err != nil {
			return fmt.Errorf("%s: result of task %d: %w", j.Kind, task, err)
		}
		out.Progress(int64(task+1), int64(j.NumTasks))
	}
	return ctx.Err()
}

// IsMissing reports whether err means that an object, such as a result, is missing or damaged.
func IsMissing(err error) bool { return errors.Is(err, store.ErrMissing) }
