package repro

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
)

// State keeps results in a file while a long experiment goes on, so that an interrupted one needn't begin anew. A nil State keeps nothing. It may be used
// concurrently.
//
// The file has one JSON object a line: first what the results belong to, then a result a line. A line that was being written when the machine stopped is
// recognised, being the last and not complete, and left out.
type State struct {
	mu   sync.Mutex
	file *os.File
	made bool // the file wasn't there before
	have map[string]json.RawMessage
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
}

// OpenState opens a file of results or begins one; the name may be empty, which gives nil. Errors: a file that isn't one of results.
func OpenState(path string) (*State, error) {
	if path == "" {
		return nil, nil
	}
	_, err := os.Stat(path)
	made := errors.Is(err, fs.ErrNotExist)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	s := &State{file: f, made: made, have: map[string]json.RawMessage{}}
	if err := s.load(path); err != nil {
		f.Close()
		return nil, err
	}
	return s, nil
}

// headKey is the key of the first line, which no result has.
const headKey = ""

// load reads the lines and stands behind the last complete one.
func (s *State) load(path string) error {
	in := bufio.NewReader(s.file)
	var end int64
	for number := 1; ; number++ {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			break // what is there is no whole line
		}
		if err != nil {
			return err
		}
		var v stateLine
		if number == 1 {
			var head stateHead
			if !isObject(line, &head) || head.Experiment == "" {
				return fmt.Errorf("%s:1: %.40q, expected the first line of a file of results, {\"experiment\":…}", path, line)
			}
			s.have[headKey] = json.RawMessage(bytes.TrimSpace(line))
		} else {
			if !isObject(line, &v) || v.Key == headKey || v.Value == nil {
				return fmt.Errorf("%s:%d: %.40q, expected a result, {\"key\":…,\"value\":…}", path, number, line)
			}
			s.have[v.Key] = v.Value
		}
		end += int64(len(line))
	}
	if info, err := s.file.Stat(); err == nil && end == 0 && info.Size() > 0 {
		return fmt.Errorf("%s:1: no line end, expected a file of results or an empty one", path)
	}
	if err := s.file.Truncate(end); err != nil {
		return err
	}
	_, err := s.file.Seek(end, io.SeekStart)
	return err
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

// Begin says what the results belong to: an experiment, and in words everything that they depend on, such as settings and digests of corpora. Results of
// something else are an error.
func (s *State) Begin(experiment, of string) error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	want := stateHead{experiment, of}
	if line, ok := s.have[headKey]; ok {
		var got stateHead
		if err := json.Unmarshal(line, &got); err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("%s holds results of %s with %s, expected %s with %s; name another file, or remove it", s.file.Name(), got.Experiment, got.Of, experiment, of)
		}
		return nil
	}
	line, err := json.Marshal(want)
	if err != nil {
		return err
	}
	s.have[headKey] = line
	return s.write(line)
}

// write appends a line at once: what a program that is ended has handed over, the system brings to the disk.
func (s *State) write(line []byte) error {
	_, err := s.file.Write(append(line, '\n'))
	return err
}

// Load sets v to the result of a key, and says whether there is one. v is as json.Unmarshal wants it.
func (s *State) Load(key string, v any) (bool, error) {
	if s == nil {
		return false, nil
	}
	s.mu.Lock()
	value, ok := s.have[key]
	s.mu.Unlock()
	if !ok || key == headKey {
		return false, nil
	}
	if err := json.Unmarshal(value, v); err != nil {
		return false, fmt.Errorf("%s: result %s: %w", s.file.Name(), key, err)
	}
	return true, nil
}

// LoadFitting is Load of a result that is used only if fits, called when v is set, finds nothing wrong with it: a file may have been written by hand, or damaged.
func (s *State) LoadFitting(key string, v any, fits func() error) (bool, error) {
	ok, err := s.Load(key, v)
	if !ok || err != nil {
		return ok, err
	}
	if err := fits(); err != nil {
		return false, fmt.Errorf("%s: result %s: %w", s.file.Name(), key, err)
	}
	return true, nil
}

// Save keeps the result of a key, which isn't empty.
func (s *State) Save(key string, v any) error {
	if s == nil {
		return nil
	}
	value, err := json.Marshal(v)
	if err != nil {
		return err
	}
	line, err := json.Marshal(stateLine{key, value})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.have[key] = value
	return s.write(line)
}

// Results is the number of results that are kept.
func (s *State) Results() int {
	if s == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.have)
	if _, ok := s.have[headKey]; ok {
		n--
	}
	return n
}

// Close closes the file, and removes one that it began and that nothing was written into, such as where the data were missing.
func (s *State) Close() error {
	if s == nil {
		return nil
	}
	info, err := s.file.Stat()
	if closed := s.file.Close(); err == nil {
		err = closed
	}
	if errors.Is(err, fs.ErrClosed) {
		return nil
	}
	if err == nil && s.made && info.Size() == 0 {
		err = os.Remove(s.file.Name())
	}
	return err
}
