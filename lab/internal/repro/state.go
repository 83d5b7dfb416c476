package repro

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"

	"github.com/gramengine/gram/tiles/atomicfile"
)

// State keeps results in a file while a long experiment runs, so that an interrupted one needn't
// begin anew. A nil State keeps nothing. It may be used concurrently, but by one process: a file
// has one writer at a time.
//
// The file has one JSON object per line: first what the results belong to, then the results, each
// with its own checksum. It is written anew for each result, under a temporary name, so that it is
// whole at any time. A line that isn't as it was written is left out, which [State.Dropped] says:
// its result is computed again.
type State struct {
	mu      sync.Mutex
	name    string // empty for a state in memory
	text    []byte // of the file, whole lines
	dropped string
	head    stateHead // empty until something is kept
	have    map[string]json.RawMessage
}

// stateHead is the first line.
type stateHead struct {
	Experiment string `json:"experiment"`
	Of         string `json:"of"` // settings and digests of the data, in words
}

// stateLine is one result.
type stateLine struct {
	Key   string          `json:"key"`
	Value json.RawMessage `json:"value"`
	Sum   string          `json:"sum"`
}

// checksum is the Sum of a line.
func (l *stateLine) checksum() string { return fmt.Sprintf("%016x", Hash(l.Key+"\n"+string(l.Value))) }

// OpenState opens a file of results, or returns a state that begins one. An empty name gives nil. A
// file that isn't one of results is an error and stays as it is.
func OpenState(path string) (*State, error) {
	if path == "" {
		return nil, nil
	}
	s := NewState()
	s.name = path
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file, expected a file of results or none", path)
	}
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return s, s.read(text)
}

// NewState returns a state that keeps results in memory, for one run.
func NewState() *State { return &State{have: map[string]json.RawMessage{}} }

// read reads the lines of a file.
func (s *State) read(text []byte) error {
	var torn []int // numbers of lines
	number := 0
	for line := range bytes.Lines(text) {
		number++
		whole := bytes.HasSuffix(line, []byte{'\n'})
		if number == 1 {
			if !whole || !isObject(line, &s.head) || s.head.Experiment == "" {
				return fmt.Errorf("%s:1: %.40q, expected the first line of a file of results, {\"experiment\":…}",
					s.name, line)
			}
		} else if v := (stateLine{}); !whole || !isObject(line, &v) || v.Key == "" || v.Sum != v.checksum() {
			torn = append(torn, number)
			continue
		} else {
			s.have[v.Key] = v.Value
		}
		s.text = append(s.text, line...)
	}
	if len(torn) > 0 {
		s.dropped = fmt.Sprintf("%s:%d: no whole result, left out", s.name, torn[0])
	}
	if len(torn) > 1 {
		s.dropped += fmt.Sprintf(", and so are %d more lines", len(torn)-1)
	}
	return nil
}

// Dropped says which lines of the file were left out since they hold no whole result, in words; ""
// for none.
func (s *State) Dropped() string {
	if s == nil {
		return ""
	}
	return s.dropped
}

// isObject reads a line that is one JSON object of known fields and nothing else.
func isObject(line []byte, into any) bool {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if d.Decode(into) != nil {
		return false
	}
	_, err := d.Token()
	return errors.Is(err, io.EOF)
}

// Begin says what the results belong to: an experiment and, in words, everything that they depend
// on, such as settings and digests of corpora. Results of something else are an error.
func (s *State) Begin(experiment, of string) error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	want, got := stateHead{experiment, of}, s.head
	if got == want {
		return nil
	}
	if got.Experiment != "" {
		return fmt.Errorf("%s holds results of %s with %s, expected %s with %s; name another file, or remove it",
			s.name, got.Experiment, got.Of, experiment, of)
	}
	if err := s.write(want); err != nil {
		return err
	}
	s.head = want
	return nil
}

// write appends a line to the file, which is on the disk then. After an error the file is what it
// was before.
func (s *State) write(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return err
	}
	text := append(append(slices.Clip(s.text), line...), '\n')
	if s.name != "" {
		f, err := atomicfile.Create(s.name, "")
		if err != nil {
			return err
		}
		defer f.Abort()
		if _, err := f.Write(text); err != nil {
			return err
		}
		if err := f.Commit(); err != nil {
			return err
		}
	}
	s.text = text
	return nil
}

// Load sets v to the result of a key, as json.Unmarshal does, and reports whether there is one.
func (s *State) Load(key string, v any) (bool, error) {
	if s == nil {
		return false, nil
	}
	s.mu.Lock()
	value, ok := s.have[key]
	s.mu.Unlock()
	if !ok {
		return false, nil
	}
	if err := json.Unmarshal(value, v); err != nil {
		return false, fmt.Errorf("%s: result %s: %w", s.name, key, err)
	}
	return true, nil
}

// Kept returns the result of a key that s has, or otherwise calls compute and saves what it returns.
func Kept[T any](s *State, key string, compute func() (T, error)) (v T, err error) {
	if ok, err := s.Load(key, &v); ok || err != nil {
		return v, err
	}
	if v, err = compute(); err != nil {
		return v, err
	}
	return v, s.Save(key, v)
}

// Save keeps the result of a key, which isn't empty. After an error it isn't kept, and an earlier
// one of that key still is.
func (s *State) Save(key string, v any) error {
	if s == nil {
		return nil
	}
	if key == "" {
		return fmt.Errorf("%s: a result without a key", s.name)
	}
	value, err := json.Marshal(v)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.head.Experiment == "" {
		return fmt.Errorf("%s: result %s before Begin has said what it belongs to", s.name, key)
	}
	line := stateLine{Key: key, Value: value}
	line.Sum = line.checksum()
	if err := s.write(line); err != nil {
		return err
	}
	s.have[key] = value
	return nil
}

// Results is the number of results that are kept.
func (s *State) Results() int {
	if s == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.have)
}
