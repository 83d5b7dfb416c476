package hyperbolic

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/gramengine/gram/corpus"
)

// Sets assigns the points of a corpus to sets. Each set has one class, or "" for none.
type Sets struct {
	Names []string // of the sets, in the order of their first points
	Of    []int    // Of[i] is the set of point i, an index into Names
	Class []string // by set

	number map[string]int
}

// add assigns the next point.
func (s *Sets) add(name, class string) error {
	if s.number == nil {
		s.number = map[string]int{}
	}
	set, known := s.number[name]
	if !known {
		set = len(s.Names)
		s.number[name] = set
		s.Names, s.Class = append(s.Names, name), append(s.Class, class)
	}
	if s.Class[set] != class {
		return fmt.Errorf("set %s has the class %q, expected %q, the class of its points before", name, class, s.Class[set])
	}
	s.Of = append(s.Of, set)
	return nil
}

// SetsOf assigns the points of c to sets. how is qid, where the label is the set's class; label, where
// sets have no class; or a file with one line per point, set[<TAB>class]. Errors name file and line.
func SetsOf(c *corpus.Corpus, how string) (*Sets, error) {
	s := &Sets{}
	switch how {
	case "qid":
		if c.Groups == nil {
			return nil, fmt.Errorf("%s has no qid, expected a file in LIBSVM's format with qid:N", c.Source)
		}
	case "label":
	default:
		return s, s.read(how, c.Documents.Rows())
	}
	for i := range c.Documents.Rows() {
		label := ""
		if ids := c.Labels.Of(i); len(ids) > 1 || len(ids) == 0 && how == "label" {
			return nil, fmt.Errorf("point %d of %s has %d labels, expected one", i+1, c.Source, len(ids))
		} else if len(ids) == 1 {
			label = c.Classes[ids[0]]
		}
		name, class := label, ""
		if how == "qid" {
			name, class = strconv.FormatInt(c.Groups[i], 10), label
		}
		if err := s.add(name, class); err != nil {
			return nil, fmt.Errorf("point %d of %s: %w", i+1, c.Source, err)
		}
	}
	return s, nil
}

// read reads the file that assigns points to sets.
func (s *Sets) read(path string, points int) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		name, class, _ := strings.Cut(lines.Text(), "\t")
		name, class = strings.TrimSpace(name), strings.TrimSpace(class)
		if name == "" {
			return fmt.Errorf("%s:%d: no name of a set, expected set<TAB>class, or a set alone", path, len(s.Of)+1)
		}
		if err := s.add(name, class); err != nil {
			return fmt.Errorf("%s:%d: %w", path, len(s.Of)+1, err)
		}
	}
	if len(s.Of) != points {
		return fmt.Errorf("%s: %d lines, expected %d, one per point", path, len(s.Of), points)
	}
	return lines.Err()
}
