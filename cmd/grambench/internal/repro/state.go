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
	"slices"
	"sync"
)

// State keeps results in a file while a long experiment runs, so that an interrupted one needn't
// begin anew. A nil State keeps nothing. It may be used concurrently, but by one process: a file
// has one writer at a time.
//
// The file has one JSON object per line: first what the results belong to, then the results. A
// result counts once its line is on the disk. A line that was torn, by a full disk or a machine
// that stopped, is left out, which [State.Dropped] says: its result is computed again.
type State struct {
	mu      sync.Mutex
	name    string
	file    stateFile // nil for a state in memory
	made    bool      // whether the file wasn't there before
	end     int64     // of the last whole line, where the next one begins
	behind  bool      // whether something may be behind end: a line that couldn't be written
	begun   []byte    // a first line without an end
	dropped string
	head    stateHead // empty until something is kept
	have    map[string]json.RawMessage
}

// stateFile is what a State asks of an *os.File.
type stateFile interface {
	io.ReadCloser
	io.WriterAt
	Stat() (fs.FileInfo, error)
	Sync() error
	Truncate(size int64) error
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

// OpenState opens a file of results or begins one. An empty name gives nil. A file that isn't one
// of results is an error and stays as it is.
func OpenState(path string) (*State, error) {
	if path == "" {
		return nil, nil
	}
	info, err := os.Stat(path)
	made := errors.Is(err, fs.ErrNotExist)
	if err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file, expected a file of results or none", path)
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	s := &State{name: path, file: f, made: made, have: map[string]json.RawMessage{}}
	if err := s.read(); err != nil {
		f.Close()
		return nil, err
	}
	return s, nil
}

// NewState returns a state that keeps results in memory, for one run.
func NewState() *State { return &State{have: map[string]json.RawMessage{}} }

// read reads the lines. It writes nothing: what is behind the last whole line goes when the next
// one is written.
func (s *State) read() error {
	in := bufio.NewReader(s.file)
	var torn []int // numbers of lines
	for number := 1; ; number++ {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) { // what is there is no whole line
			switch {
			case len(line) == 0:
			case number == 1 && !beginsHead(line):
				return fmt.Errorf("%s:1: no line end, expected a file of results or an empty one", s.name)
			case number == 1:
				s.begun = line
				fallthrough
			default:
				s.behind = true
				torn = append(torn, number)
			}
			break
		}
		if err != nil {
			return err
		}
		var v stateLine
		switch {
		case number == 1:
			if !isObject(line, &s.head) || s.head.Experiment == "" {
				return fmt.Errorf("%s:1: %.40q, expected the first line of a file of results, {\"experiment\":…}",
					s.name, line)
			}
		case !isObject(line, &v) || v.Key == "" || v.Value == nil:
			torn = append(torn, number)
		default:
			s.have[v.Key] = v.Value
		}
		s.end += int64(len(line))
	}
	if len(torn) > 0 {
		s.dropped = fmt.Sprintf("%s:%d: no whole result, left out", s.name, torn[0])
	}
	if len(torn) > 1 {
		s.dropped += fmt.Sprintf(", and so are %d more lines", len(torn)-1)
	}
	return nil
}

// beginsHead reports whether text may be the beginning of a first line.
func beginsHead(text []byte) bool {
	const head = `{"experiment":"`
	n := min(len(text), len(head))
	return string(text[:n]) == head[:n]
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
	line, err := json.Marshal(want)
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(line, s.begun) {
		return fmt.Errorf(
			"%s: %.40q, expected the first line of results of %s with %s; name another file, or remove it",
			s.name,
			s.begun,
			experiment,
			of,
		)
	}
	if err := s.write(line); err != nil {
		return err
	}
	s.head = want
	return nil
}

// write appends a line and waits until it is on the disk. After an error the file goes on from the
// last whole line: what was written of this one is taken back, now or before the next.
func (s *State) write(line []byte) error {
	if s.file == nil {
		return nil
	}
	if s.behind {
		if err := s.file.Truncate(s.end); err != nil {
			return err
		}
	}
	s.behind = true
	_, err := s.file.WriteAt(append(slices.Clip(line), '\n'), s.end)
	if err == nil {
		err = s.file.Sync()
	}
	if err != nil {
		s.behind = s.file.Truncate(s.end) != nil
		return err
	}
	s.end += int64(len(line)) + 1
	s.behind = false
	return nil
}

// Load sets v to the result of a key, as json.Unmarshal does, and says whether there is one.
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

// Kept returns the result of a key. If s has one, fits must find nothing wrong with it: a file may
// be damaged, or written by hand. Otherwise Kept calls compute and saves what it returns.
func Kept[T any](s *State, key string, fits func(T) error, compute func() (T, error)) (v T, err error) {
	switch ok, err := s.Load(key, &v); {
	case err != nil:
		return v, err
	case ok:
		if err := fits(v); err != nil {
			return v, fmt.Errorf("%s: result %s: %w", s.name, key, err)
		}
		return v, nil
	}
	if v, err = compute(); err != nil {
		return v, err
	}
	return v, s.Save(key, v)
}

// Within reports a number that isn't one of 0 to most. It is for the checks that [Kept] makes.
func Within[T int | float64](what string, v, most T) error {
	if !(v >= 0 && v <= most) {
		return fmt.Errorf("%s: %v, expected 0 to %v", what, v, most)
	}
	return nil
}

// Each checks the entries of a list in order, after their number. It is for the checks that [Kept]
// makes.
func Each[T any](what string, list []T, want int, check func(i int, v T) error) error {
	err := Length(what, len(list), want)
	for i := 0; err == nil && i < want; i++ {
		err = check(i, list[i])
	}
	return err
}

// Length reports a list that hasn't the wanted number of entries. It is for the checks that [Kept]
// makes.
func Length(what string, n, want int) error {
	if n != want {
		return fmt.Errorf("%d %s, expected %d", n, what, want)
	}
	return nil
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
	line, err := json.Marshal(stateLine{key, value})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.head.Experiment == "" {
		return fmt.Errorf("%s: result %s before Begin has said what it belongs to", s.name, key)
	}
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

// Close closes the file. It removes one that it made and that nothing was written into, such as
// where the data were missing.
func (s *State) Close() error {
	if s == nil || s.file == nil {
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
		err = os.Remove(s.name)
	}
	return err
}
